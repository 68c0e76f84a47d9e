"""An endpoint is not another one of its family."""

import pytest

from workers.verify.guards.endpoints import guard
from workers.verify.guards.grounds import Grounds

PASSAGE = (
    "Five-year recurrence-free survival was 88% with guidance and 87% without. "
    "Five-year overall survival was 93.8% against 93.3%."
)


@pytest.mark.parametrize(
    ("claim", "strange"),
    [
        ("Recurrence-free survival was 88%.", False),
        ("RFS was 88%.", False),
        ("Relapse-free survival was 88%.", False),
        ("Overall survival was 93.8%.", False),
        ("OS was 93.8%.", False),
        ("Overall survival was 88%.", True),
        ("Recurrence-free survival was 93.8%.", True),
        ("Progression-free survival was 88%.", True),
        ("Survival was 88%.", False),
    ],
)
def test_a_value_of_one_survival_is_not_that_of_another(claim: str, strange: bool) -> None:
    assert bool(guard(claim, Grounds(PASSAGE, text=PASSAGE))) is strange


def test_a_secondary_endpoint_is_no_primary_one() -> None:
    passage = "Clearance of ctDNA was a secondary endpoint."
    assert [one.code for one in guard("Clearance was the primary endpoint.", Grounds(passage))] == [
        "endpoint"
    ]
    assert guard("Clearance was a secondary end point.", Grounds(passage)) == []


def test_an_endpoint_that_only_the_rest_of_the_source_names_may_be_meant() -> None:
    passage, text = "It was 88%.", "Overall survival was looked at. It was 88%."
    assert guard("Overall survival was 88%.", Grounds(passage, text=text)) == []
    assert guard("Overall survival was 88%.", Grounds(passage, text=passage)) != []
