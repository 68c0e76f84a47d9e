"""The storm harness: it draws the same again, finds a sound system sound, and sees sabotage."""

import itertools
import os
import random
import re
from collections.abc import Sequence

import pytest

from tests.chaos.storm.launch import SABOTAGES
from tests.chaos.storm.run import storm
from tests.chaos.storm.schedule import LASTING, Act, schedule

PAUSES = (1.0, 6.0, 11.0)
# While one worker is frozen beyond its lease, the other is given what it holds.
PAUSING = [Act(at, "pause worker", 4.0, n % 2) for n, at in enumerate(PAUSES)] + [
    Act(at + 1.8 + 0.4 * n, "deliver again", 0.0, n) for at in PAUSES for n in range(5)
]
STOPPING = [Act(1.0 + n, "stop reader", 0.0, n) for n in range(3)]
KILLING = [Act(at, "kill runner", 0.0, 0) for at in (2.0, 3.0, 4.0)]
DELIVERING = [Act(2.0 + 0.5 * n, "deliver again", 0.0, n) for n in range(12)]
CASES: dict[str, tuple[dict[str, str], Sequence[Act]]] = {
    "nobody checks who holds the lease": (
        {"no token check": "other than once|neither done nor dead", "sealing is slow": ""},
        PAUSING,
    ),
    "what was done is done again": (
        {"done is done again": "other than once|not read, or more than once"},
        DELIVERING,
    ),
    "who runs on is killed": (
        {
            "what is run on is not promised": r"did not end: \S+ is running",
            "sealing is slow": "",
        },
        KILLING,
    ),
    "promises and questions are lost": (
        {
            "promises are lost": "did not end|ended neither",
            "accepted and forgotten": "an accepted question is lost",
        },
        (),
    ),
    "a text stops whoever reads it": (
        {"readers are not stopped": "a text that stops its reader was not found out"},
        STOPPING,
    ),
    "what is stored or shown is not what was decided": (
        {
            "spans are shifted": "citation is not its span",
            "links do not fit": "the audit chain is broken",
            "keys mean nothing": "one idempotency key, several questions",
            "vectors are missing": "a chunk has no vector",
        },
        (),
    ),
    "what was shown or stored is changed": (
        {
            "answers waver": "an answer changed after it was shown",
            "versions are edited": "a version's text changed",
        },
        (),
    ),
}
"""Each class of invariant, the sabotages that break it, and what must be found."""
PATIENCE = {"a text stops whoever reads it": 120.0}
"""Seconds in which a sound system has ended what such an act began; elsewhere 45."""


storms = pytest.mark.skipif(
    "ATTEST_TEST_STORMS" not in os.environ,
    reason="storms take minutes: `make chaos` runs them, or set ATTEST_TEST_STORMS=1",
)


def test_9_1_a_seed_draws_the_same_storm_again() -> None:
    assert schedule(7, 60) == schedule(7, 60)
    assert schedule(7, 60) != schedule(8, 60)


def test_9_1_every_kind_of_act_is_drawn_and_none_overlaps_on_the_same_thing() -> None:
    drawn = set()
    for seed in range(40):
        acts = schedule(seed, 60)
        drawn |= {act.name for act in acts}
        assert acts == sorted(acts, key=lambda one: one.at)
        for thing in ("postgres", "redis", "gateway", "scheduler", "disk"):
            mine = [act for act in acts if act.name.endswith(thing)]
            for one, after in itertools.pairwise(mine):
                assert one.end < after.at
    assert drawn == set(LASTING)


def test_9_1_every_sabotage_is_in_a_case() -> None:
    broken = {name for wanted, _ in CASES.values() for name in wanted}
    assert broken == set(SABOTAGES) - {"seals wait"}, "that breaks nothing: it holds a scene's seal"


@storms
@pytest.mark.timeout(400)
def test_9_1_a_storm_over_a_sound_system_finds_nothing() -> None:
    outcome = storm(random.SystemRandom().randrange(10**6), 10)
    assert outcome.found == [], outcome
    assert outcome.accepted > 0
    assert outcome.answered + outcome.failed >= outcome.accepted


@storms
@pytest.mark.timeout(400)
def test_29_texts_that_stop_their_readers_are_found_out_and_nothing_else_is_lost() -> None:
    outcome = storm(1, 8, planned=STOPPING)
    assert outcome.found == [], outcome
    assert outcome.answered >= outcome.accepted > 0


@storms
@pytest.mark.timeout(400)
@pytest.mark.parametrize("case", CASES)
def test_9_1_a_broken_invariant_makes_the_storm_red(case: str) -> None:
    wanted, planned = CASES[case]
    settle = PATIENCE.get(case, 45.0)
    outcome = storm(1, 8, planned=list(planned), sabotages=list(wanted), settle=settle)
    for name, words in wanted.items():
        if not any(re.search(words, one) for one in outcome.found):
            pytest.fail("\n".join([f"{name}: not seen in", *outcome.found, str(outcome)[:300]]))
