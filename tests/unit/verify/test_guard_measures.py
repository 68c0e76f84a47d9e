"""What a value is (a mean, a median, the most, a change) is what its passage says it is."""

import pytest

from workers.verify.guards.grounds import Grounds
from workers.verify.guards.measures import guard

LEAD = (
    "ctDNA revealed recurrence up to 16.5 months ahead of imaging (mean, 8.7 months; range, "
    "0.8-16.5 months)."
)
MEDIAN = "Median lead time from detection to recurrence was 90 days, in 12 of 40 patients."
LEVELS = "The attack rate was 36% in the first and 23% in the second policy (p = 0.002)."
CHANGE = "Pneumonia was reduced by 24%, dysentery fell 21%, and there was a 35% drop in otitis."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Recurrence was revealed a mean of 16.5 months ahead of imaging.", LEAD),
        ("Recurrence was revealed a median of 8.7 months ahead of imaging.", LEAD),
        ("Recurrence was revealed up to 8.7 months ahead of imaging.", LEAD),
        ("The mean lead time was 90 days.", MEDIAN),
        ("Detection preceded recurrence by at least 90 days.", MEDIAN),
        ("On average detection preceded recurrence by 90 days.", MEDIAN),
        ("The second policy reduced the attack rate by 36%.", LEVELS),
        ("The second policy cut the attack rate by about 23 percent.", LEVELS),
        ("It raised the response rate by 90%.", "It raised the response rate to 90% (P < 0.01)."),
        ("It cut the response rate by 60%.", "It cut the response rate from 60% to 20%."),
    ],
)
def test_a_value_that_is_another_measure_is_vetoed(claim: str, passage: str) -> None:
    assert [one.code for one in guard(claim, Grounds(passage))] == ["measure"]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Recurrence was revealed a mean of 8.7 months ahead of imaging.", LEAD),
        ("Recurrence was revealed on average 8.7 months ahead of imaging.", LEAD),
        ("Recurrence was revealed at most 16.5 months ahead of imaging.", LEAD),
        ("Detection preceded recurrence by a median of 90 days.", MEDIAN),
        ("In 12 of 40 patients the median lead time was 90 days.", MEDIAN),
        ("The policies had attack rates of 36% and 23%.", LEVELS),
        ("The attack rate was reduced from 36% to 23%.", LEVELS),
        ("Pneumonia fell by 24%.", CHANGE),
        ("Dysentery was reduced by 21%.", CHANGE),
        ("Otitis was reduced by 35%.", CHANGE),
        ("The mean lead time was 12 days.", "Patients gained 12 days."),
    ],
)
def test_the_same_measure_in_other_words_passes(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage)) == []
