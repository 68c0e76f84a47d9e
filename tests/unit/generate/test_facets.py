"""What a question asks for, and what a sentence states of it."""

import pytest

from store.index.terms import term_set
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
