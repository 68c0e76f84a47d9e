"""The arithmetic of large corpora: it adds up, scales as its formulas say, names its sources."""

import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from benchmarks.scaling.sizes import (
    MEASURED,
    Given,
    Measured,
    build_seconds,
    ends,
    estimate,
    fit,
    lines,
    read,
    search_fit,
    storage,
    words_fit,
)

PUBMED = Given(36_000_000)


@pytest.fixture(scope="module")
def measured() -> Measured:
    return read()


def test_9_5_every_constant_says_where_it_was_measured(measured: Measured) -> None:
    constants = {one.name for one in fields(Measured)} - {"source"}
    assert set(measured.source) == constants
    assert all(measured.source.values())
    assert [one.chunks for one in measured.curve] == [10_000, 100_000, 1_000_000]


def test_9_5_the_disk_is_the_sum_of_its_parts_and_grows_with_the_abstracts(
    measured: Measured,
) -> None:
    disk = storage(PUBMED, measured)
    assert disk["all"] == pytest.approx(sum(disk.values()) - disk["all"])
    assert disk["vectors"] == pytest.approx(36e6 * measured.windows * measured.vector_bytes / 1e9)
    twice = storage(replace(PUBMED, abstracts=72_000_000), measured)
    assert {name: twice[name] / disk[name] for name in disk} == pytest.approx(
        dict.fromkeys(disk, 2.0)
    )


def test_9_5_a_vector_takes_at_least_its_halves_and_the_index_at_least_a_copy(
    measured: Measured,
) -> None:
    assert measured.vector_bytes > 2 * 384
    assert measured.index_bytes > 2 * 384
    for point in measured.curve:
        assert point.vector_index_mb * 1e6 / point.chunks == pytest.approx(
            measured.index_bytes, rel=0.02
        )


def test_9_5_the_line_through_the_curve_fits_what_was_measured(measured: Measured) -> None:
    exact = fit([(1.0, 3.0), (2.0, 5.0), (4.0, 9.0)])
    assert (exact.at_zero, exact.slope) == pytest.approx((1.0, 2.0))
    assert exact.worst == pytest.approx(0.0)
    assert exact.at(10.0) == pytest.approx(21.0)
    assert fit([(0.0, 1.0), (1.0, 2.0), (2.0, 1.0)]).worst > 0.3
    assert search_fit(measured).worst < 0.1


def test_9_5_a_build_takes_as_long_as_it_was_measured_and_n_log_n_beyond(
    measured: Measured,
) -> None:
    largest = measured.curve[-1]
    as_measured = build_seconds(measured, largest.chunks, measured.build_cores)
    assert as_measured == pytest.approx(largest.build_seconds)
    grown = build_seconds(measured, 10 * largest.chunks, measured.build_cores)
    assert 10 < grown / as_measured < 13
    halved = build_seconds(measured, largest.chunks, 2 * measured.build_cores)
    assert halved == pytest.approx(as_measured / 2)
    # Against the smaller sizes that were measured: within a factor, and never too hopeful by more.
    for point in measured.curve[:-1]:
        foretold = build_seconds(measured, point.chunks, measured.build_cores)
        assert 0.5 < foretold / point.build_seconds < 2.0


def test_9_5_partitions_divide_what_a_build_needs_and_not_what_a_process_keeps(
    measured: Measured,
) -> None:
    whole = estimate(PUBMED, measured)
    parted = estimate(replace(PUBMED, partitions=8), measured)
    for name, divided in (("maintenance_work_mem_of_one_build", 8), ("each_retrieve_process", 1)):
        assert parted["memory_gb"][name] == pytest.approx(whole["memory_gb"][name] / divided)
    assert parted["disk_gb"] == whole["disk_gb"]
    assert (
        parted["first_fill_days"]["vector_index_builds"]
        < whole["first_fill_days"]["vector_index_builds"]
    )


def test_9_5_one_index_ends_where_its_limit_is_met(measured: Measured) -> None:
    found = ends(PUBMED, measured)
    at_end = Given(round(found["a_build_needs_more_than_maintenance_memory"]))
    needed = estimate(at_end, measured)["memory_gb"]["maintenance_work_mem_of_one_build"]
    assert needed == pytest.approx(PUBMED.maintenance_memory_gb, rel=1e-3)
    for end in ("at_worst", "at_best"):
        at_words = Given(round(found[f"scoring_words_takes_too_long_{end}"]))
        spent = estimate(at_words, measured)["search_ms_extrapolated"]
        assert spent[f"scoring_words_cpu_{end}"] == pytest.approx(100, rel=1e-3)
    assert (
        found["scoring_words_takes_too_long_at_worst"]
        < (found["scoring_words_takes_too_long_at_best"])
    )


def test_9_5_words_are_foretold_as_measured_and_between_two_ends_beyond(
    measured: Measured,
) -> None:
    words = words_fit(measured)
    for chunks, ms in measured.lexical_ms:
        assert words.at(chunks)[0] == pytest.approx(ms, rel=0.15)
    for chunks, ms in measured.lexical_ms[-2:]:
        assert words.at(chunks)[1] == pytest.approx(ms)
    at_best, at_worst = words.at(88_000_000)
    assert measured.lexical_ms[-1][1] < at_best < at_worst


def test_9_5_the_command_prints_it_for_people_and_for_programs(
    measured: Measured, tmp_path: Path
) -> None:
    own = tmp_path / "own.json"
    constants = json.loads(MEASURED.read_text("utf-8"))
    own.write_text(json.dumps({**constants, "vector_bytes": 10 * measured.vector_bytes}), "utf-8")
    command = [sys.executable, "-m", "benchmarks.scaling", "--abstracts", "1000000"]
    printed = subprocess.run(
        [*command, "--measured", str(own), "--json"], capture_output=True, text=True, check=True
    )
    body = json.loads(printed.stdout)
    assert body["given"]["abstracts"] == 1_000_000
    assert body["estimate"]["disk_gb"]["vectors"] == pytest.approx(
        10 * storage(Given(1_000_000), measured)["vectors"]
    )
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == lines(Given(1_000_000), measured)


def test_9_5_the_document_shows_what_the_command_prints(measured: Measured) -> None:
    document = (MEASURED.parents[2] / "docs" / "scaling.md").read_text("utf-8")
    assert "\n".join(lines(PUBMED, measured)) in document, "run the command and paste it anew"
