"""A result is called significant only where its passage bears that out."""

import pytest

from tests.grid import grid
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.significance import guard

TREND = "Survival was somewhat greater with placebo than with levamisole, 68% vs 38% (P < 0.08)."
CHANCE = "Survival was longer with A than with B (hazard ratio 0.79; 95% CI 0.60 to 1.05)."
DENIED = "Survival was longer with A than with B, but statistical significance was not reached."
BARE = "Survival was longer with A than with B."


@pytest.mark.parametrize(
    ("passage", "unsaid"), [(TREND, False), (CHANCE, False), (DENIED, False), (BARE, True)]
)
def test_a_difference_that_may_be_chance_is_not_called_significant(
    passage: str, unsaid: bool
) -> None:
    found = guard("Survival was significantly longer with A than with B.", Grounds(passage))
    assert [(one.code, one.unsaid) for one in found] == [("modality", unsaid)]


@grid(
    "passage",
    [
        "Survival was significantly longer with A than with B.",
        "The gain in survival reached statistical significance.",
        "Survival was longer with A than with B (P = 0.03).",
        "Survival was longer with A than with B (p<10⁻⁴).",
        "Survival was longer with A than with B (P ≤ .05).",
        "Survival was longer with A than with B (hazard ratio 0.64; 95% CI 0.47 to 0.87).",
        "A was superior to B in survival.",
        "Survival was longer (P = 0.01), response was not significantly different (P = 0.4).",
    ],
)
def test_what_is_significant_may_be_called_so(passage: str) -> None:
    assert guard("Survival was significantly longer with A than with B.", Grounds(passage)) == []


@pytest.mark.parametrize(
    "claim",
    [
        "Survival was not significantly longer with A than with B.",
        "Survival did not reach statistical significance.",
        "Survival was longer with A than with B.",
        "No significant difference in survival was seen.",
    ],
)
def test_a_claim_that_denies_it_or_does_not_say_it_stands(claim: str) -> None:
    assert guard(claim, Grounds(DENIED)) == []
