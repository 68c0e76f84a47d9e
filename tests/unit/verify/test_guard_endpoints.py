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
        ("Survival was 88%.", True),
        ("Survival was 93.8%.", False),
        ("After five years 88% were alive.", True),
        ("After five years 93.8% were alive.", False),
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


@pytest.mark.parametrize(
    ("claim", "strange"),
    [
        ("With sustained clearance, overall survival was 89.0%.", True),
        ("With sustained clearance, disease-free survival was 100.0%.", True),
        ("With sustained clearance, disease-free survival was 89.0%.", False),
        ("Overall survival was 100.0% with sustained clearance.", False),
        (
            "With clearance, 89.0% had disease-free survival, and overall survival was 100.0%.",
            False,
        ),
    ],
)
def test_of_two_endpoints_in_one_sentence_a_value_keeps_its_own(claim: str, strange: bool) -> None:
    passage = (
        "With sustained clearance, 24-month disease-free survival was 89.0%, with transient "
        "clearance 3.3%; the overall survival figures were 100.0% and 82.3%."
    )
    assert bool(guard(claim, Grounds(passage, text=passage))) is strange


def test_values_after_two_joined_endpoints_may_be_of_either() -> None:
    passage = "Median OS and PFS were 10.2 and 5.1 months, respectively."
    for claim in ("Median PFS was 5.1 months.", "Median OS was 10.2 months."):
        assert guard(claim, Grounds(passage, text=passage)) == []


@pytest.mark.parametrize(
    ("claim", "strange"),
    [
        ("Median survival was 4.8 months with A.", True),
        ("Patients lived a median of 4.8 months with A.", True),
        ("Median survival free of progression was 4.8 months with A.", False),
        ("Median progression-free survival was 4.8 months with A.", False),
    ],
)
def test_survival_without_progression_is_not_told_as_survival(claim: str, strange: bool) -> None:
    passage = "Median progression-free survival was 4.8 months with A and 1.5 months with B."
    assert bool(guard(claim, Grounds(passage, text=f"{passage} Survival was mature."))) is strange


def test_deaths_bear_out_survival() -> None:
    passage = "Mortality was lower with A (4.1%) than with B (6.2%)."
    assert guard("Survival was better with A (4.1%).", Grounds(passage, text=passage)) == []
