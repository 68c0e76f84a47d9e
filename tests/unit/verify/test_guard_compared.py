"""The second of two compared values belongs to what is compared with."""

import pytest

from workers.verify.guards.compared import guard
from workers.verify.guards.grounds import Grounds

INFECTIONS = "Serious infections occurred in 2.4% of treated patients against 0.9% with placebo."
HYPERKALEMIA = "Hyperkalemia was less frequent (5.2% against 7.0%)."
CLEARED = "Patients whose ctDNA persisted had a survival of 14%, against 79% where it cleared."


@pytest.mark.parametrize(
    ("claim", "passage", "vetoed"),
    [
        ("Serious infections occurred in 0.9% of patients on the drug.", INFECTIONS, True),
        ("Serious infections occurred in 0.9% with placebo.", INFECTIONS, False),
        ("Serious infections occurred in 2.4% of treated patients.", INFECTIONS, False),
        ("Serious infections occurred in 2.4% against 0.9%.", INFECTIONS, False),
        ("Hyperkalemia occurred in 7.0% of treated patients.", HYPERKALEMIA, True),
        ("Hyperkalemia occurred in 7.0% of those with placebo.", HYPERKALEMIA, False),
        ("Patients whose ctDNA persisted had a survival of 79%.", CLEARED, True),
        ("Patients whose ctDNA cleared had a survival of 79%.", CLEARED, False),
        ("Median follow-up was 37 months.", "Follow-up was 37 months.", False),
    ],
)
def test_a_second_value_alone_needs_what_it_is_the_value_of(
    claim: str, passage: str, vetoed: bool
) -> None:
    assert [one.code for one in guard(claim, Grounds(passage))] == ["arm"] * vetoed
