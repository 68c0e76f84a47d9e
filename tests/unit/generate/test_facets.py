"""What a question asks for, and what a sentence states of it."""

import pytest

from store.index.terms import term_set
from tests.grid import grid
from workers.generate.facets import asked_for, states


def wanted(question: str) -> frozenset[str]:
    return asked_for(term_set(question), [question])


@pytest.mark.parametrize(
    "sentence",
    [
        "Specificity was 100% but sensitivity only 44%.",
        "A negative postoperative test missed more than half of the recurrences.",
        "Plasma assays can miss fusions.",
        "A non-informative result can be falsely negative.",
    ],
)
def test_what_a_test_misses_is_a_limitation_of_tests(sentence: str) -> None:
    assert states("shortfall", sentence)
    assert "shortfall" in wanted("What are the limitations of current MRD tests?")
    assert "shortfall" not in wanted("What limitations do guidelines note?")


@pytest.mark.parametrize(
    ("question", "facet"),
    [
        ("why was ZEST stopped", "status"),
        ("Is COBRA still recruiting?", "status"),
        ("how many patients are in CIRCULATE", "enrollment"),
        ("endpoint and number of patients in CIRCULATE and DYNAMIC", "enrollment"),
        ("sample size of COBRA", "enrollment"),
        ("how many patients were randomised in ALTAIR", "enrollment"),
    ],
)
def test_a_trials_particulars_are_asked_for_in_many_words(question: str, facet: str) -> None:
    assert facet in wanted(question)


def test_how_many_relapsed_and_whether_a_drug_should_be_stopped_ask_for_none() -> None:
    assert "enrollment" not in wanted("how many patients relapsed")
    assert "status" not in wanted("should apixaban be stopped before surgery")


def test_what_a_trial_found_asks_for_its_main_result() -> None:
    assert wanted("What did ACTT-1 find about remdesivir?") == {"primary_result"}


@grid(
    ("question", "facet", "sentence"),
    [
        ("Who sponsors the COBRA trial?", "sponsor", "- Sponsor: Alliance Trials, LLC. (other)."),
        ("who funded DYNAMIC", "sponsor", "TRACC (NCT04050345) is run by the Royal Marsden."),
        ("sponsor of MERMAID-2", "sponsor", "MERMAID-2 is a phase III trial of AstraZeneca."),
        ("How many arms does MODERN have?", "arms", "Patients are randomized to A or to B."),
        ("what was the control arm in VEGA", "arms", "Arm 1 has surveillance, Arm 2 therapy."),
        ("was dynamic-iii blinded", "masking", "- Masking: none (open label)."),
        ("Is TOMBOLA open-label?", "masking", "TOMBOLA is an open-label, single-arm trial."),
        (
            "How long was follow-up in IMvigor011?",
            "follow_up",
            "At a median follow-up of 59.7 months.",
        ),
        (
            "secondary outcome of PALLAS",
            "secondary_endpoint",
            "- Secondary outcome: Overall Survival.",
        ),
        ("Who can take part in SURVIVE?", "population", "- Minimum age: 18 Years."),
        ("exclusion criteria of MERMAID-2", "population", "EGFR-mutant tumors were excluded."),
        ("When does VEGA end?", "status", "Active, not recruiting."),
        ("I missed a dose of Eliquis", "missed_dose", "If a dose is missed, take it the same day."),
        ("how is Humira stored", "storage", "Store in a refrigerator at 36°F to 46°F."),
    ],
)
def test_each_particular_is_asked_for_and_stated_in_many_words(
    question: str, facet: str, sentence: str
) -> None:
    assert facet in wanted(question)
    assert states(facet, sentence)


@grid(
    ("question", "facet"),
    [
        ("Does rifampin help pain in the arms?", "arms"),
        ("Who pays for Signatera?", "sponsor"),
        ("What follow-up is recommended after colon surgery?", "follow_up"),
        ("When does nausea start after chemotherapy?", "status"),
        ("Who is eligible for therapeutic shoes?", "population"),
        ("In blinded trials, does drug X help?", "masking"),
        ("secondary outcome of PALLAS", "endpoint"),
        ("I missed a dose of Eliquis", "dose"),
    ],
)
def test_words_of_a_particular_that_mean_something_else_do_not_ask_for_it(
    question: str, facet: str
) -> None:
    assert facet not in wanted(question)


@pytest.mark.parametrize(
    "question",
    [
        "At which hepatic function is atorvastatin not allowed?",
        "is alcohol forbidden with metformin",
        "Which drugs must not be taken together with atorvastatin?",
    ],
)
def test_what_is_not_allowed_asks_for_contraindications(question: str) -> None:
    assert "contraindication" in wanted(question)
