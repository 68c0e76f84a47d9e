"""The figures of a load: arrivals that wait for nobody, times from when somebody meant to ask."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.load.figures import Asked, Depth, arrivals, quantile, step, table
from benchmarks.load.page import lines, write_part


def test_arrivals_are_those_of_a_poisson_process_and_the_same_for_the_same_seed() -> None:
    found = arrivals(20.0, 500.0, seed=3)
    assert found == arrivals(20.0, 500.0, seed=3)
    assert found != arrivals(20.0, 500.0, seed=4)
    assert found == sorted(found)
    assert found[0] > 0
    assert found[-1] < 500
    assert len(found) == pytest.approx(10_000, rel=0.05)
    gaps = [later - sooner for sooner, later in pairwise(found)]
    mean = sum(gaps) / len(gaps)
    variance = sum((one - mean) ** 2 for one in gaps) / len(gaps)
    assert variance == pytest.approx(mean**2, rel=0.1), "gaps of a Poisson process vary so much"


def test_the_time_counts_from_the_arrival_that_was_intended() -> None:
    """A client that was held up for nine seconds hides them nowhere."""
    found = step([Asked(1.0, 10.0, 10.5, "answered")], [], 20.0)
    assert found.p50 == pytest.approx(9500)
    assert found.late_ms_p99 == pytest.approx(9000)


def test_what_was_worked_off_after_the_step_is_no_throughput() -> None:
    asked = [Asked(0.1 * n, 0.1 * n, 0.1 * n + (0.05 if n < 50 else 30), "answered")
             for n in range(100)]  # fmt: skip
    found = step(asked, [], 10.0)
    assert (found.offered, found.answered) == (10.0, 5.0)


def test_a_question_that_never_ended_is_slower_than_all_that_did() -> None:
    asked = [Asked(0.0, 0.0, 1.0, "answered")] * 94 + [Asked(0.0, 0.0, None, "open")] * 6
    found = step(asked, [], 10.0)
    assert found.p50 == pytest.approx(1000)
    assert (found.p95, found.p99) == (None, None)
    assert "| – | – |" in table([found])


def test_refused_and_failed_are_counted_and_have_no_time() -> None:
    asked = [
        Asked(0.0, 0.0, 2.0, "answered"),
        Asked(0.0, 0.0, 0.01, "refused"),
        Asked(0.0, 0.0, 0.01, "failed"),
        Asked(0.0, 0.0, 2.0, "answered"),
    ]
    found = step(asked, [Depth(0.5, 3, 1.0), Depth(1.0, 2, 4.0)], 10.0)
    assert (found.refused, found.failed, found.p50) == (0.25, 1, 2000)
    assert (found.waiting_most, found.oldest_most) == (3, 4.0)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_what_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = quantile(values, share)
    assert found in values
    assert sum(one <= found for one in values) >= share * len(values)
    assert sum(one < found for one in values) < share * len(values)


def test_a_part_of_the_page_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "load.md"
    page.write_text("before\n<!-- rates -->\nold\n<!-- /rates -->\nafter\n")
    write_part("rates", "new\n", page)
    write_part("rates", "newer", page)
    assert page.read_text() == "before\n<!-- rates -->\nnewer\n<!-- /rates -->\nafter\n"
    with pytest.raises(ValueError, match="no marks for soak"):
        write_part("soak", "x", page)


def test_a_plot_is_svg_without_script() -> None:
    drawn = lines("A title", "x", {"p50": [(1.0, 10.0), (2.0, None), (4.0, 300.0)]})
    assert drawn.startswith(b"<svg") or b"<svg" in drawn[:200]
    assert b"<script" not in drawn
    assert b'aria-label="A title"' in drawn
