"""The soak's verdict: what grows is called so, and what only wavers is not."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.soak.samples import KINDS, role_of
from benchmarks.soak.verdict import Series, TooFew, judge, table

SECONDS = 540
EVERY = 2


def series(value: "list[float]", absolute: float = 6.0, share: float = 0.0) -> Series:
    points = [(float(number * EVERY), one) for number, one in enumerate(value)]
    return Series("memory: worker", "MiB", points, absolute, share)


def noisy(seed: int, spread: float = 1.0) -> list[float]:
    draw = random.Random(seed)
    return [300 + draw.gauss(0, spread) for _ in range(SECONDS // EVERY)]


@pytest.mark.parametrize("seed", range(5))
def test_what_only_wavers_is_flat(seed: int) -> None:
    assert not judge(series(noisy(seed))).grows


@pytest.mark.parametrize("seed", range(5))
def test_a_leak_is_found_among_noise_of_its_own_size(seed: int) -> None:
    """A kilobyte from each of some 11,000 messages, in noise as large as the whole leak."""
    leak = 11.0 / (SECONDS // EVERY)
    found = judge(series([one + leak * n for n, one in enumerate(noisy(seed, spread=4.0))]))
    assert found.grows
    assert found.growth == pytest.approx(11.0 * 0.7, rel=0.35)  # what of it is behind the warm-up


def test_a_leak_of_whole_blocks_is_found() -> None:
    """Memory is taken from the system in steps: most pairs of neighbours do not differ at all."""
    assert judge(series([300.0 + 4 * (n // 40) for n in range(SECONDS // EVERY)])).grows


def test_what_is_made_in_the_warm_up_is_no_growth() -> None:
    caches = [300 + 80 * (1 - math.exp(-n / 15)) for n in range(SECONDS // EVERY)]
    assert not judge(series(caches)).grows


def test_a_sawtooth_is_flat() -> None:
    """As dead rows are, that are vacuumed away again and again."""
    teeth = [float(n % 40) for n in range(SECONDS // EVERY)]
    assert not judge(series(teeth)).grows


def test_a_quarter_of_spikes_changes_nothing() -> None:
    draw = random.Random(7)
    values = [one + (400 if draw.random() < 0.25 else 0) for one in noisy(3)]
    assert not judge(series(values)).grows


def test_a_step_that_stays_is_growth_only_beyond_what_is_tolerated() -> None:
    half = SECONDS // EVERY // 2
    connections = [30.0] * half + [31.0] * half
    assert not judge(series(connections, absolute=1.5)).grows


def test_what_falls_is_flat() -> None:
    assert not judge(series([500.0 - n for n in range(SECONDS // EVERY)])).grows


def test_too_few_points_are_no_good_news() -> None:
    with pytest.raises(TooFew, match="memory: worker"):
        judge(series([300.0] * 10))


def test_what_is_shown_only_never_turns_it_red() -> None:
    points = [(float(n), float(n)) for n in range(100)]
    found = judge(Series("PostgreSQL database", "MiB", points, 0.0, judged=False))
    assert not found.grows
    assert "shown only" in table([found])


def test_the_table_has_what_grows_first_and_says_so() -> None:
    flat, red = judge(series(noisy(1))), judge(series([float(n) for n in range(270)]))
    rows = table([flat, red]).splitlines()[2:]
    assert rows[0].endswith("| **grows** |")
    assert rows[1].endswith("| flat |")


@given(
    st.lists(st.floats(0, 1000), min_size=40, max_size=60),
    st.floats(-1e5, 1e5),
)
def test_where_it_stands_does_not_matter_only_where_it_goes(
    values: list[float], shift: float
) -> None:
    here, there = judge(series(values)), judge(series([one + shift for one in values]))
    assert here.growth == pytest.approx(there.growth, abs=1e-6)


@given(st.lists(st.floats(0, 5), min_size=40, max_size=60))
def test_a_rise_far_above_all_noise_is_always_found(values: list[float]) -> None:
    assert judge(series([one + 10 * n for n, one in enumerate(values)])).grows


# --- what is looked at ----------------------------------------------------------------------------


def test_processes_are_known_by_their_command_lines() -> None:
    python = ["/opt/venv/bin/python", "-m", "cli.main"]
    assert role_of([*python, "gateway"]) == "gateway"
    assert role_of([*python, "worker", "--stage=retrieve", "--stage=audit"]) == "worker retrieve"
    assert role_of(["postgres: attest attest [local] idle"]) == "postgres"
    assert role_of(["/x/valkey-server unixsocket:/tmp/redis.sock"]) == "redis"
    assert role_of([*python, "up"]) is None
    assert role_of([]) is None


def test_everything_is_judged_but_what_is_kept_on_purpose_and_a_sum_of_what_is() -> None:
    """Rows are kept; a sum over processes is judged by their number and by what one takes."""
    assert {name for name, kind in KINDS.items() if not kind.judged} == {
        "PostgreSQL database",
        "PostgreSQL memory, all processes",
    }
