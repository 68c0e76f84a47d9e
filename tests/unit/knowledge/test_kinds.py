"""What kind of work a document is: by its source, its publication type, or its title."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from knowledge.kinds import kind_of
from tests.grid import grid

SUBJECTS = st.sampled_from(
    ["aspirin in stroke", "atrial fibrillation", "gout", "made-up syndrome in children"]
)
TITLES = {
    "guideline": [
        "2024 ESC Guidelines for the management of {}",
        "KDIGO 2024 Clinical Practice Guideline on {}",
        "Consensus statement on {}",
        "Evidence-based guideline: {}",
        "European guidelines on the diagnosis and treatment of {}",
    ],
    "systematic_review": ["{}: a systematic review and meta-analysis of randomized trials"],
    "randomized_trial": [
        "{}: a randomised controlled trial",
        "{} (NAME): a multicentre, randomized, double-blind, placebo-controlled, phase 3 trial",
    ],
    "protocol": ["{}: study protocol for a randomised controlled trial"],
    "trial": ["A phase 2 study of {}", "{}: an open-label, phase 1/2 trial"],
    "cohort": ["{}: a prospective cohort study", "{}: a nationwide register-based cohort"],
    "case": ["{}: a case report"],
}
ABOUT = [
    *("Adherence to clinical practice guidelines in {}", "Guideline-directed therapy of {}"),
    *("Impact of the 2017 ACC/AHA guideline on {}", "Comparison of ESC and AHA guidelines for {}"),
    *("Why randomized trials of {} fail", "Patients randomized by nature: {}", "Mechanisms of {}"),
    *("Quality of systematic reviews on {}", "Cost of clinical practice guidelines on {}"),
]
GIVEN = st.sampled_from([(kind, title) for kind, titles in TITLES.items() for title in titles])


@given(
    subject=SUBJECTS, given_title=GIVEN, types=st.sampled_from(["Journal Article", None, "Review"])
)
def test_a_title_tells_what_its_types_do_not(
    subject: str, given_title: tuple[str, str], types: str | None
) -> None:
    kind, title = given_title
    assert kind_of("pubmed", types, None, title.format(subject)) == kind
    assert kind_of("pubmed", "Case Reports", None, title.format(subject)) == "case"


@given(subject=SUBJECTS, title=st.sampled_from(ABOUT))
def test_a_title_about_other_works_tells_no_kind(subject: str, title: str) -> None:
    assert kind_of("pubmed", "Journal Article", None, title.format(subject)) is None


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
        (("pubmed", "Retraction of Publication", None, "A randomized trial"), "notice"),
        (("preprint", "Preprint", None, "A: a randomized controlled trial"), "randomized_trial"),
        (("document", None, None, "A"), None),
    ],
)
def test_sources_and_publication_types_tell_first(given: Sequence[str], kind: str | None) -> None:
    assert kind_of(*given) == kind
