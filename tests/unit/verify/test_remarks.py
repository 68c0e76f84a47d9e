"""What is told beside an answer of the question itself."""

import pytest

from contracts import Retrieval
from contracts.retrieval import Asked, Meant, ReadAs
from tests.bodies import filled
from tests.grid import grid
from workers.retrieve.understanding.asked.read import read_asked
from workers.verify.answers.abstention import must_abstain
from workers.verify.answers.remarks import by_tags, names_nothing_else, offered, read_as, unnamed

ELIQUIS = Meant(word="eliqis", name="Eliquis", of="apixaban")
SIGNATERA = Meant(word="Signaterra", name="Signatera", of=None)


def missing(question: str, *sources: str) -> list[str]:
    retrieval = filled(Retrieval, asked=read_asked(question).as_body())
    return unnamed(question, retrieval, sources)


def test_a_misspelt_name_is_offered_with_the_drug_that_it_is() -> None:
    assert [one["detail"] for one in offered([ELIQUIS, SIGNATERA])] == [
        "Nothing held speaks of “eliqis”. Did you mean “Eliquis” (apixaban)?",
        "Nothing held speaks of “Signaterra”. Did you mean “Signatera”?",
    ]


def test_what_a_misspelt_word_was_read_as_is_told() -> None:
    (told,) = read_as([ReadAs(word="imunotherapy", name="immunotherapy")])
    assert (told["code"], told["word"], told["name"]) == (
        "read_as",
        "imunotherapy",
        "immunotherapy",
    )
    assert told["detail"] == "“imunotherapy” was read as “immunotherapy”."


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("eliqis dose in renal impairment", True),
        ("eliqis or warfarin in renal impairment", False),
    ],
)
def test_the_dose_of_another_drug_is_no_answer_for_a_misspelt_one(
    question: str, alone: bool
) -> None:
    assert names_nothing_else(question, filled(Retrieval, meant=[vars(ELIQUIS)])) is alone


def test_an_abstention_offers_the_name_and_asks_for_it() -> None:
    told = must_abstain(evidence_found=0, verified=[], asks_for_today=False, offered=["Did you?"])
    assert told is not None
    assert (told.reason, told.cure["action"]) == ("no_evidence", "rephrase")
    assert told.detail.endswith("misspelt. Did you?")


def test_a_question_in_another_language_is_told_why_it_has_no_answer() -> None:
    told = must_abstain(evidence_found=0, verified=[], asks_for_today=False, is_english=False)
    assert told is not None
    assert (told.reason, told.cure["detail"]) == ("out_of_scope", "Ask again in English.")
    assert "English only" in told.detail


@pytest.mark.parametrize(
    ("question", "source", "told"),
    [
        ("Signatera or warfarin?", "Warfarin is old.", ["Signatera"]),
        ("Is Eliquis used?", "Apixaban is used.", []),
        ("What did the VEGA trial find?", "A work on vega.", []),
        ("What did the VEGA trial find?", "A work on ALTAIR.", ["VEGA trial"]),
        ("Signatera vs Haystack", "Signatera found 89%.", ["Haystack"]),
        ("Signatera vs Haystack", "Signatera beside Haystack", []),
        ("Durvalumab in non-small-cell lung cancer?", "Durvalumab in NSCLC", []),
        (
            "How long before imaging does ctDNA detect recurrence?",
            "ctDNA led imaging.",
            ["recurrence"],
        ),
    ],
)
def test_a_name_that_no_source_of_the_answer_has_is_told(
    question: str, source: str, told: list[str]
) -> None:
    assert missing(question, source) == told


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("IMvigor011: disease-free survival", []),
        ("IMvigor011: overall survival", ["dfs imvigor011"]),
    ],
)
def test_initials_may_be_typed_without_capitals(source: str, told: list[str]) -> None:
    asked = filled(Asked, names=["dfs imvigor011"], required=["dfs imvigor011"])
    assert unnamed("hr for dfs imvigor011", filled(Retrieval, asked=asked), [source]) == told


def test_a_word_that_only_says_how_a_thing_is_is_no_name_unless_retrieval_knows_it() -> None:
    asked = filled(Asked, names=["implicated", "gout"], required=[])
    question, source = "Is gout implicated?", "A work on asthma."
    assert unnamed(question, filled(Retrieval, asked=asked), [source]) == ["gout"]
    known = filled(Retrieval, asked=asked, names=["implicated"])
    assert unnamed(question, known, [source]) == ["implicated", "gout"]


@grid(
    ("name", "spoken"),
    [
        ("MRD", True),
        ("molecular residual disease", True),
        ("Guardant Reveal", False),
        ("apixaban", False),
        ("leukemia", False),
    ],
)
def test_a_decision_may_go_by_another_name_and_a_drug_or_a_product_may_not(
    name: str, spoken: bool
) -> None:
    told = ["Niraparib in residual disease: patients were screened with Signatera, a ctDNA test."]
    assert by_tags(name, told) is spoken
