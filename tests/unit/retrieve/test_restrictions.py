"""Language that confines to trials is demoted for questions on trials (MC-1.4)."""

import pytest

from workers.retrieve.ranking.restrictions import demotion, restricts

RESTRICTING = [
    "The test should be used only within a clinical trial.",
    "Use is advised only in clinical trials.",
    "ctDNA is not advised outside of clinical trials.",
    "The panel finds the evidence insufficient to recommend routine use of ctDNA assays.",
    "Serial testing is not recommended for routine surveillance.",
]
PLAIN = [
    "DYNAMIC randomized 455 patients; recurrence-free survival was the primary endpoint.",
    "The trial enrolls patients outside the United States.",
    "Evidence is insufficient. Clinical trials are under way.",
    "The arm was given the drug only in cycle one of this clinical trial.",
]


@pytest.mark.requirement("MC-1.4a")
@pytest.mark.parametrize("text", RESTRICTING)
def test_mc_1_4a_restriction_language_loses_a_tenth_for_trial_questions(text: str) -> None:
    assert restricts(text)
    assert demotion(text, "clinical_trials") == pytest.approx(0.1)


@pytest.mark.requirement("MC-1.4a")
@pytest.mark.parametrize("query_type", ["guidelines", "coverage_policy", "comparison", "general"])
def test_mc_1_4a_other_questions_may_well_ask_for_it(query_type: str) -> None:
    assert demotion(RESTRICTING[0], query_type) == 0.0


@pytest.mark.requirement("MC-1.4b")
@pytest.mark.parametrize("text", PLAIN)
def test_mc_1_4b_what_trials_report_is_not_demoted(text: str) -> None:
    assert demotion(text, "clinical_trials") == 0.0
