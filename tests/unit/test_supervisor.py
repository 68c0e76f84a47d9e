"""The supervisor's decisions, without processes."""

import itertools
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.supervise.guard import read_groups
from cli.supervise.output import LineBuffer
from cli.supervise.processes import (
    HEALTHY_AFTER_SECONDS,
    MAX_DELAY_SECONDS,
    Backoff,
    ProcessSpec,
    describe,
    start_order,
)


def spec(name: str, *after: str) -> ProcessSpec:
    return ProcessSpec(name=name, argv=("true",), after=after)


def names(specs: tuple[ProcessSpec, ...]) -> list[str]:
    return [one.name for one in specs]


def test_processes_start_behind_what_they_depend_on() -> None:
    order = start_order(
        [
            spec("gateway", "workers"),
            spec("workers", "postgres", "redis"),
            spec("redis"),
            spec("postgres"),
        ]
    )
    assert names(order) == ["redis", "postgres", "workers", "gateway"]


def test_independent_processes_keep_the_given_order() -> None:
    assert names(start_order([spec("c"), spec("a"), spec("b")])) == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([spec("a", "b"), spec("b", "a")], "never start: a after b, b after a"),
        ([spec("a", "nobody")], "never start: a after nobody"),
        ([spec("a"), spec("a")], "must differ"),
    ],
)
def test_an_impossible_order_is_refused_with_the_names(
    specs: list[ProcessSpec], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        start_order(specs)


def test_restart_delays_double_up_to_the_maximum() -> None:
    backoff = Backoff()
    delays = [backoff.delay_after(0.1) for _ in range(9)]
    assert delays == [0.5, 1, 2, 4, 8, 16, MAX_DELAY_SECONDS, MAX_DELAY_SECONDS, MAX_DELAY_SECONDS]


def test_a_healthy_run_forgets_earlier_crashes() -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff.delay_after(1)
    assert backoff.delay_after(HEALTHY_AFTER_SECONDS) == 0.5
    assert backoff.delay_after(HEALTHY_AFTER_SECONDS - 1) == 1


def test_an_exit_code_is_put_in_words() -> None:
    assert describe(3) == "with code 3"
    assert describe(-signal.SIGKILL) == "by SIGKILL"
    assert describe(-200) == "by signal 200"


def test_an_unknown_user_name_is_an_error_and_no_fallback_to_the_caller() -> None:
    with pytest.raises(KeyError):
        ProcessSpec(name="a", argv=("true",), user="no such user").command()


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_output_keeps_every_byte_and_its_order_however_it_is_cut(
    data: bytes, cuts: list[int]
) -> None:
    buffer = LineBuffer(max_line_bytes=1000)
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    lines = []
    for start, end in itertools.pairwise(bounds):
        lines += buffer.feed(data[start:end])
    rest = buffer.flush()
    assert b"".join(line + b"\n" for line in lines) + b"".join(rest) == data
    assert not any(b"\n" in line for line in lines + rest)


def test_a_line_without_end_comes_in_pieces() -> None:
    buffer = LineBuffer(max_line_bytes=4)
    assert buffer.feed(b"abcdefghij") == [b"abcd", b"efgh"]
    assert buffer.flush() == [b"ij"]


def test_the_guard_knows_the_groups_that_have_not_ended() -> None:
    told = ["+ 10 15 2.5\n", "+ 11 2 30\n", "- 10\n", "+ 12 15 1\n", "- 99\n"]
    assert read_groups(told) == {11: (2, 30.0), 12: (15, 1.0)}
