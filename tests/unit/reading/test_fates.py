"""What a work says became of it; the bare words are medicine, and say nothing."""

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.fates import fate, fate_of_text, fate_of_title, without_fate
from clinical_text.titles import same_title
from store.documents.records import Notice, SourceRecord
from tests.grid import grid
from workers.ingest.fates import with_its_fate

TITLES = st.sampled_from(
    [
        "Aspirin in made-up disease: a randomized trial",
        "Withdrawal of opioids after made-up surgery",
        "Retraction pockets of the tympanic membrane in children",
        "Brain retraction pressure above 30 mmHg",
        "Removal of wisdom teeth under made-up sedation",
        "Patients withdrawn from dialysis (n = 40): a cohort",
        "Citation of retracted articles in made-up reviews",
        "Concern expressed by parents of children with asthma",
        "Drugs withdrawn from the market - a made-up survey",
    ]
)
LABELS = {
    "retraction": [
        *("RETRACTED: {}", "Retracted: {}", "RETRACTED ARTICLE: {}", "[RETRACTED] {}"),
        *("[Retracted] {}", "[RETRACTED ARTICLE] {}", "Retraction: {}", "Retraction Note: {}"),
        *("Retraction note to: {}", "Retraction notice to “{}”", "Notice of retraction: {}"),
        *("Statement of Retraction: {}", "{} [RETRACTED]", "{} (Retracted article. See vol. 3)"),
        *("{}: retracted article", "{} - RETRACTED", "RETRACTED CHAPTER: {}", "RETRACTED – {}"),
        "RETRACTED AND REPLACED: {}",
    ],
    "withdrawal": [
        *(
            "WITHDRAWN: {}",
            "Withdrawn: {}",
            "[WITHDRAWN] {}",
            "WITHDRAWN {}",
            "Withdrawn article: {}",
        ),
        *("Withdrawal notice to: {}", "{} (Withdrawn)", "WITHDRAWN—{}"),
    ],
    "removal": ["REMOVED: {}", "TEMPORARY REMOVAL: {}", "Removed article: {}"],
    "expression_of_concern": [
        *("Expression of concern: {}", "Editorial Expression of Concern: {}"),
        *("Expression of concern regarding “{}”", "Expression of Concern to: {}"),
    ],
}
"""Kind of notice → how publishers write it into a title."""
PAIRS = st.sampled_from([(kind, label) for kind, labels in LABELS.items() for label in labels])


@given(title=TITLES, pair=PAIRS)
def test_a_label_tells_the_fate_and_the_title_alone_none(title: str, pair: tuple[str, str]) -> None:
    kind, label = pair
    assert fate_of_title(title) is None
    assert fate_of_title(label.format(title)) == kind
    assert fate(label.format(title), "Words.") == kind
    assert fate("A title", f"{label.format(title)}\n\nWords.") == kind


@given(title=TITLES)
def test_a_title_is_the_same_without_its_label(title: str) -> None:
    for label in ("RETRACTED: {}", "[Retracted article] {}", "WITHDRAWN – {}", "REMOVED: {}"):
        assert without_fate(label.format(title)) == title
        assert same_title(label.format(title), title)


WORKS = ["article", "paper", "preprint", "review", "guideline", "manuscript", "research article"]
SAYINGS = {
    "retraction": [
        "This {} has been retracted by the editors because the data could not be verified.",
        "The above {}, published online on 3 May 2015, has been retracted by agreement.",
        "The Editor-in-Chief has retracted this {} because of made-up data.",
        "We hereby retract our {}.",
        "The publisher announces the retraction of this {}.",
        "The following {} from A Journal, “A title” by A. B. and C. D., has been retracted.",
    ],
    "withdrawal": [
        "This {} has been withdrawn at the request of the authors.",
        "The authors have withdrawn this {}.",
        "This {} was formally withdrawn on 3 May 2021.",
    ],
    "supersession": [
        "This {} has been replaced by another of 2021.",
        "This {} has been updated and superseded.",
        "This {} is archived.",
    ],
    "expression_of_concern": ["The editors issue an expression of concern about this {}."],
}
SAID = st.sampled_from([(kind, saying) for kind, some in SAYINGS.items() for saying in some])


@given(work=st.sampled_from(WORKS), said=SAID, heading=st.sampled_from(["", "## Abstract\n\n"]))
def test_first_lines_tell_the_fate(work: str, said: tuple[str, str], heading: str) -> None:
    kind, saying = said
    text = f"{heading}{saying.format(work)}\n\n## Results\n\nDeath fell by a third."
    assert fate_of_text(text) == kind
    assert fate_of_text(f"{'Words. ' * 400}{saying.format(work)}") is None, "far from the beginning"


@grid(
    "text",
    [
        "This drug has been withdrawn from the market.",
        "This study was withdrawn before enrollment.",
        "This review covers drugs that have been withdrawn.",
        "This article, which lists drugs that have been withdrawn, is new.",
        "We studied articles that have been retracted.",
        "This article has not been retracted.",
        "Check whether this article has been retracted.",
        "This guideline replaces the guideline of 2007.",
        "This article replaces a retracted article.",
        "Catheters were removed. Consent was withdrawn by three.",
        "Patients withdrew from this study.",
        "Retraction of the tongue was seen.",
        "Trials were removed from this review if they were small.",
    ],
)
def test_what_is_said_of_something_else_is_no_fate(text: str) -> None:
    assert fate("A title", text) is None


@grid(
    ("fields", "kinds"),
    [
        ({"publication_type": "Retracted Publication"}, ["retraction"]),
        ({"labels": ("withdrawn",)}, ["withdrawal"]),
        ({"facts": {"status": "Superseded"}}, ["supersession"]),
        ({"facts": {"is_retracted": True}}, ["retraction"]),
        ({"facts": {"status": "WITHDRAWN"}, "source_type": "clinicaltrials"}, []),
        ({"facts": {"status": "recruiting"}}, []),
        ({"facts": {"retraction_of": ["pmid:1"]}, "title": "Retraction: A"}, []),
        ({"evidence_level": "notice", "title": "RETRACTED: A"}, []),
        ({"title": "RETRACTED: A", "notices": (Notice(kind="withdrawal"),)}, ["withdrawal"]),
    ],
)
def test_a_record_says_it_in_its_fields_and_a_notice_has_no_fate(
    fields: dict[str, object], kinds: list[str]
) -> None:
    record = SourceRecord.model_validate({"title": "A", "text": "Words.", **fields})
    assert [notice.kind for notice in with_its_fate(record).notices] == kinds
