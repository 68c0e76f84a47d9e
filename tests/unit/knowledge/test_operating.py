"""The numbers of the operators' desk, and what follows from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.operation.operating import CircuitPolicy, circuit_policy, replay_policy

POLICY = CircuitPolicy(
    window_seconds=60, least_deaths=3, share=0.5, probe_seconds=10, probe_cap_seconds=45
)


def test_the_file_is_valid() -> None:
    assert replay_policy().per_second > 0
    assert circuit_policy().probe_cap_seconds >= circuit_policy().probe_seconds


@pytest.mark.parametrize(
    ("deaths", "done", "opens"),
    [(2, 0, False), (3, 0, True), (3, 3, False), (4, 3, True), (200, 800, False), (0, 0, False)],
)
def test_a_circuit_opens_when_more_than_the_share_died_and_not_by_a_few(
    deaths: int, done: int, opens: bool
) -> None:
    assert POLICY.opens(deaths, done) is opens


def test_probes_become_rarer_up_to_the_cap() -> None:
    assert [POLICY.wait_seconds(n) for n in range(5)] == [10, 20, 40, 45, 45]


@given(failed=st.integers(0, 10**9))
def test_no_number_of_failed_probes_waits_longer_than_the_cap(failed: int) -> None:
    assert 0 < POLICY.wait_seconds(failed) <= POLICY.probe_cap_seconds
