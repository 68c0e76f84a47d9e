"""The table says who is ahead, and by how much, whoever that is."""

import re

import pytest

from benchmarks.peers import report
from benchmarks.peers.figures import ahead, spread
from benchmarks.peers.plot import plot


def system(rate: float, p50: float, memory: float, **other: object) -> dict[str, object]:
    asked = {"asked": 4, "cited": 3, "p50": p50, "p95": p50 * 2, "cpu_ms": p50 / 2, **other}
    return {
        "ingest": {
            "200": {
                "documents": 200,
                "per_second": rate,
                "finished_per_second": rate / 2,
                "cpu_ms": 1.0,
            }
        },
        "questions": {"200": asked},
        "memory": {"200": {"pss": memory, "rss": memory}},
    }


@pytest.fixture
def result() -> dict[str, object]:
    stages = {"retrieve": 20.0, "generate": 10.0, "verify": 8.0, "audit": 4.0}
    return {
        "when": "22 November 2026, 18:00 UTC",
        "command": "make bench-peers",
        "machine": {
            "cores": 2,
            "cpu": "a CPU",
            "memory_gb": 24,
            "system": "Linux 6.1",
            "python": "3.11.7",
        },
        "plan": {"sizes": [200], "questions": 4, "characters": 2000},
        "versions": {"Attest": "0.1.0", "Haystack": "3.4.0"},
        "load": {"200": 1.5},
        "systems": {
            "attest": system(400.0, 60.0, 900.0, stages_p50=stages),
            "haystack": system(800.0, 120.0, 100.0),
            "paperqa": system(500.0, 90.0, 300.0),
        },
        "probes": {},
    }


def cells(text: str, label: str) -> list[str]:
    """The row of a table that begins with `label`."""
    row = next(line for line in text.splitlines() if line.startswith(f"| {label}"))
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(
    ("ours", "others", "more_is_better", "times"),
    [
        (400.0, [800.0, 500.0], True, 0.5),
        (60.0, [120.0, 90.0], False, 1.5),
        (900.0, [100.0], False, 0.11),
        (60.0, [], False, None),
    ],
)
def test_ahead_is_over_one_and_behind_under_it_against_the_best_peer(
    ours: float, others: list[float], more_is_better: bool, times: float | None
) -> None:
    assert ahead(ours, others, more_is_better=more_is_better) == times


def test_being_behind_is_printed_as_plainly_as_being_ahead(result: dict[str, object]) -> None:
    shown = report.speeds(result)
    assert cells(shown, "searchable, texts/s")[1:] == ["400", "800", "500", "0.50 ×"]
    assert cells(shown, "all done, texts/s")[1:] == ["200", "400", "250", "0.50 ×"]
    assert cells(shown, "question p50 ms")[1:] == ["60.0", "120", "90.0", "**1.50 ×**"]
    assert cells(shown, "memory MB")[1:] == ["900", "100", "300", "0.11 ×"]


def test_every_row_has_a_cell_for_every_system_and_the_ratio(result: dict[str, object]) -> None:
    rows = [line for line in report.speeds(result).splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {6}


def test_a_system_that_could_not_be_measured_is_left_open(result: dict[str, object]) -> None:
    result["systems"]["haystack"] = {"ingest": {}, "questions": {}, "memory": {}}  # type: ignore[index]
    assert cells(report.speeds(result), "searchable, texts/s")[1:] == ["400", "–", "500", "0.80 ×"]


def test_the_section_names_machine_load_versions_and_command(result: dict[str, object]) -> None:
    shown = report.section(result)
    for wanted in ("make bench-peers", "2 cores of a CPU", "200: 1.5", "Haystack 3.4.0", "2,000"):
        assert wanted in shown
    assert "Attest 3 of 4" in shown
    assert "retrieve 20.0, generate 10.0" in shown


def test_probes_say_what_a_system_has_not_got(result: dict[str, object]) -> None:
    ours = {
        "chunks": {"chunks": 9, "verbatim": 9, "placed": 9, "in_place": 9},
        "quotations": {"true": 5, "true_shown": 5, "altered": 5, "altered_shown": 0},
        "changed_file": {"before": "old", "after": "new", "earlier_answer": "superseded"},
    }
    theirs = {
        "chunks": {"chunks": 9, "verbatim": 8, "placed": 0, "in_place": 0},
        "quotations": {"true": 5, "true_shown": 5, "altered": 5, "altered_shown": 5},
        "changed_file": {"before": "old", "after": "old"},
    }
    result["probes"] = {"attest": ours, "paperqa": theirs, "haystack": {}}
    shown = report.probes(result)
    assert cells(shown, "chunks that are in their file")[1:] == ["9 of 9", "8 of 9"]
    assert cells(shown, "chunks that are where")[1:] == ["9 of 9", "it does not say"]
    assert cells(shown, "read again")[1:] == ["the new advice", "the old advice"]
    assert cells(shown, "the answer given before")[1:] == ["says “superseded”", "not kept"]
    assert cells(shown, "quotations with")[1:] == ["0 of 5", "5 of 5"]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([5.0], {"p50": 5.0, "p95": 5.0}),
        ([float(n) for n in range(1, 21)], {"p50": 10.5, "p95": 19.0}),
        ([float(n) for n in range(100, 0, -1)], {"p50": 50.5, "p95": 95.0}),
    ],
)
def test_percentiles(values: list[float], found: dict[str, float]) -> None:
    assert spread(values) == found


def test_nothing_measured_is_no_figure() -> None:
    with pytest.raises(ValueError, match="nothing"):
        spread([])


PAGE = "# Title\n\n<!-- peers -->\nold\n<!-- /peers -->\n\n## Others\n\ntheirs\n"


def test_writing_the_page_leaves_the_sections_of_others_alone() -> None:
    once = report.replaced(PAGE, "peers", "new")
    assert "old" not in once
    assert once.startswith("# Title\n\n<!-- peers -->\n\nnew\n\n<!-- /peers -->")
    assert once.endswith("\n\n## Others\n\ntheirs\n")
    assert report.replaced(once, "peers", "new") == once


@pytest.mark.parametrize(
    "page",
    ["", PAGE + PAGE, "<!-- /peers --> <!-- peers -->", "<!-- peers -->"],
)
def test_a_page_without_one_place_for_the_section_is_not_written(page: str) -> None:
    with pytest.raises(ValueError, match="no place for 'peers'"):
        report.replaced(page, "peers", "new")


def test_the_plot_names_every_system_and_asks_no_other_host(result: dict[str, object]) -> None:
    drawn = plot(result)
    assert all(name in drawn for name in ("Attest", "Haystack", "PaperQA"))
    assert "<script" not in drawn
    addresses = set(re.findall(r"https?://[^\"' )<]+", drawn))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
