"""What kind of work a document is: by source, publication type, headings, or as it is read."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.works.kinds import LEARNED, Kind, features_of, kind_of
from tests.grid import grid

SUBJECTS = st.sampled_from(
    ["aspirin in stroke", "atrial fibrillation", "gout", "made-up syndrome in children"]
)
TITLES: dict[Kind, list[str]] = {
    "guideline": [
        "2024 ESC Guidelines for the management of {}",
        "KDIGO 2024 Clinical Practice Guideline on {}",
        "European guidelines on the diagnosis and treatment of {}",
    ],
    "systematic_review": ["{}: a systematic review and meta-analysis of randomized trials"],
    "randomized_trial": [
        "{}: a randomised controlled trial",
        "{} (NAME): a multicentre, randomized, double-blind, placebo-controlled, phase 3 trial",
    ],
}
TEXTS: dict[Kind, str] = {
    "randomized_trial": "## Background\n\nIt is not known whether it helps in {0}.\n\n## Methods"
    "\n\nIn this double-blind trial, we randomly assigned 412 patients with {0} to receive it or "
    "placebo for 24 weeks.\n\n## Results\n\nThe primary outcome occurred in 12% of patients in "
    "the treatment group and in 19% of those in the placebo group.",
    "systematic_review": "## Methods\n\nWe searched MEDLINE, Embase and CENTRAL to June 2023. Two "
    "reviewers independently selected studies of {0} and assessed their risk of bias.\n\n## Results"
    "\n\nFourteen studies with 2,310 participants were included. The pooled risk ratio was 0.82.",
    "cohort": "## Methods\n\nWe retrospectively reviewed the records of all patients with {0} who "
    "were seen between 2009 and 2016. Multivariable logistic regression was used.\n\n## Results\n\n"
    "Of 845 patients, 112 died. Older age was associated with mortality.",
    "case": "We report the case of a 43-year-old woman with {0} who presented with fever. She was "
    "treated with antibiotics and made a full recovery. To our knowledge this is the first report.",
    "guideline": "This guideline was developed by a multidisciplinary panel for those who treat "
    "{0}. We recommend treatment of adults (strong recommendation, moderate-quality evidence) and "
    "suggest against screening (conditional recommendation).",
}
OTHERS = [*("Mechanisms of {}", "Adherence to ESC guidelines in {}", "{}", "Some thoughts on {}")]


@given(
    subject=SUBJECTS,
    named=st.sampled_from([(kind, one) for kind, titles in TITLES.items() for one in titles]),
    types=st.sampled_from(["Journal Article", None, "Multicenter Study"]),
)
def test_a_title_tells_what_nobody_says(
    subject: str, named: tuple[Kind, str], types: str | None
) -> None:
    kind, title = named[0], named[1].format(subject)
    assert kind_of("pubmed", types, None, title=title, text=title) == kind
    assert kind_of("pubmed", "Case Reports", None, title=title) == "case"


@given(subject=SUBJECTS, told=st.sampled_from(sorted(TEXTS.items())))
def test_a_text_tells_what_its_title_does_not(subject: str, told: tuple[Kind, str]) -> None:
    kind, text = told
    assert kind_of("document", None, None, title=subject, text=text.format(subject)) == kind


@given(subject=SUBJECTS, title=st.sampled_from(OTHERS))
def test_what_is_not_known_is_no_kind(subject: str, title: str) -> None:
    assert kind_of("pubmed", "Journal Article", None, title=title.format(subject)) is None


@given(title=st.text(max_size=80), text=st.text(max_size=3000))
def test_any_text_is_read_and_one_reading_is_the_other(title: str, text: str) -> None:
    found = kind_of("document", None, None, title=title, text=text)
    assert found is None or found in LEARNED
    assert found == kind_of("document", None, None, title=title, text=text)


def test_words_of_a_title_are_not_those_of_a_text() -> None:
    assert features_of("A trial", "") == {"^trial"}
    assert features_of("", "## Methods\n\nA trial") == {
        *("methods", "trial", "methods trial", "#methods")
    }


@grid(
    ("given", "kind"),
    [
        (("pubmed", "Practice Guideline", None, "A"), "guideline"),
        (("europepmc", None, "meta-analysis", "A"), "systematic_review"),
        (("clinicaltrials", "Registry Record", None, "A randomized trial"), "registry_entry"),
        (("payer", None, None, "A guideline for use"), "coverage_policy"),
        (("label", None, None, "A"), "label"),
        (("regulator", "Recall", None, "A"), "regulatory"),
        (("esmo", None, None, "A"), "guideline"),
        (("news", None, None, "A randomized trial"), "news"),
        (("pubmed", "Review", None, "A"), "review"),
        (("pubmed", "Review", None, "A systematic review and meta-analysis"), "systematic_review"),
        (("pubmed", "Letter", None, "A systematic review and meta-analysis"), "opinion"),
        (("pubmed", "Retraction of Publication", None, "A randomized trial"), "notice"),
        (("preprint", "Preprint", None, "A: a randomized controlled trial"), "randomized_trial"),
        (("document", None, None, "A"), None),
        (("document", None, None, ""), None),
    ],
)
def test_sources_and_publication_types_tell_first(given: Sequence[str], kind: str | None) -> None:
    *stated, title = given
    assert kind_of(*stated, title=title) == kind


@pytest.mark.parametrize("heading", ["Retrospective Studies", "cohort studies"])
def test_headings_tell_the_design_where_types_do_not(heading: str) -> None:
    subjects = ["Humans", heading]
    assert kind_of("pubmed", "Journal Article", None, subjects=subjects) == "cohort"
    typed = kind_of("pubmed", "Randomized Controlled Trial", None, subjects=subjects)
    assert typed == "randomized_trial"
