"""A status, or a heading over a list, that nobody knows leaves it open whether a drug is taken."""

import pytest

from workers.extract.evaluation.evaluator import evaluate
from workers.extract.loop.extraction import extract_by_rules
from workers.extract.loop.loop import iterate
from workers.extract.parts import Parts
from workers.extract.rubrics import rubric

TABLE = """\
Discharge medicines
Drug            Dose     Route   {head}
Ramipril        5 mg     PO      {status}
Bisoprolol      2.5 mg   PO      active
Aspirin         75 mg    PO      active
"""
RECORD = """\
Medicine: Ramipril
Dose: 5 mg
Status: {status}

Medicine: Bisoprolol
Dose: 2.5 mg
Status: active
"""
EXPORT = """\
{{"medications":[{{"name":"Ramipril","dose":"5 mg","status":"{status}"}},
{{"name":"Bisoprolol","dose":"2.5 mg","status":"active"}}]}}
"""
LIST = """\
Northfield Practice
Date: 12/03/2024

{heading}:
Ramipril 5 mg once daily
"""


def asked(text: str) -> bool:
    """Whether a person is asked if ramipril is taken; it is no silent "taken" in any case."""
    parts = Parts(text)
    made = iterate(parts, rubric("prescription"), None, extract_by_rules, evaluate)
    return any(
        "amipril" in words and "is it taken now" in words
        for one in made.evaluation.score.breakdown
        for words in one.issues
    )


@pytest.mark.parametrize("status", ["lapsed", "suspended", "weaned", "deprescribed", "struck off"])
@pytest.mark.parametrize("layout", [TABLE, RECORD, EXPORT])
def test_a_status_that_nobody_knows_is_asked(layout: str, status: str) -> None:
    assert asked(layout.format(status=status, head="Status"))


def test_a_column_is_of_statuses_where_another_cell_is_one() -> None:
    assert asked(TABLE.format(status="archived", head="Where it stands"))


@pytest.mark.parametrize("status", ["active", "taking", "continue", "dose increased", "unchanged"])
@pytest.mark.parametrize("layout", [TABLE, RECORD, EXPORT])
def test_a_status_that_is_known_to_mean_taken_is_not(layout: str, status: str) -> None:
    assert not asked(layout.format(status=status, head="Status"))


@pytest.mark.parametrize(
    "heading", ["Deprescribed", "Drugs retired at this visit", "Lapsed medicines"]
)
def test_a_heading_that_may_say_that_drugs_ended_is_asked(heading: str) -> None:
    assert asked(LIST.format(heading=heading))


@pytest.mark.parametrize("heading", ["Regular tablets", "What she takes", "Medicines to take home"])
def test_a_heading_of_what_is_taken_is_not(heading: str) -> None:
    assert not asked(LIST.format(heading=heading))


def test_cells_of_other_things_are_no_statuses() -> None:
    assert not asked(TABLE.format(status="bd", head="Freq"))
