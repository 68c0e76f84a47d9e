"""Each fuzzing target over its corpus and a little damage to it, and proof that it can fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clinical_text import quotes
from clinical_text.chunks import Chunk
from clinical_text.normalize import Normalized, normalize
from clinical_text.structure import segment
from tests.fuzz import properties
from tests.fuzz.__main__ import NEEDS, available
from tests.fuzz.driver import inputs
from tests.fuzz.targets import CORPUS, TARGETS
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed, Problem

DAMAGED = int(os.environ.get("ATTEST_TEST_EXAMPLES", "30"))
"""Inputs for each target; `python -m tests.fuzz` looks further."""
MOST_BYTES = 16_000


@grid("name", TARGETS)
def test_what_is_kept_and_what_is_damaged_holds(name: str) -> None:
    target = TARGETS[name]
    for data in inputs(target, DAMAGED):
        target.run(data)


def test_each_target_has_a_small_corpus_and_each_corpus_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    for name, target in TARGETS.items():
        assert 0 < sum(map(len, target.corpus())) <= MOST_BYTES, name


@pytest.mark.skipif(not available(), reason=NEEDS)
def test_atheris_runs_a_target_and_reports_what_breaks(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz", "normalizer", "--seconds", "1"]
    run = subprocess.run(
        [*command, "--keep", tmp_path], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "all held" in run.stdout
    assert "stat::number_of_executed_units" in run.stdout


# The properties see what is wrong


def test_a_parser_that_raises_or_gives_rubbish_is_seen() -> None:
    def breaks(_: bytes) -> Parsed:
        raise KeyError("title")

    def two_lines(_: bytes) -> Parsed:
        raise Malformed("one\ntwo")

    def rubbish(_: bytes) -> Parsed:
        return Parsed(problems=[Problem(None, "")])

    for parse, error in (
        (breaks, KeyError),
        (two_lines, AssertionError),
        (rubbish, AssertionError),
    ):
        with pytest.raises(error):
            properties.a_payload_is_read_or_malformed(parse, b"")


TEXT = "# Title\n\nOf 130 patients, 5 relapsed. It rose again, as before.\n\nOther words."


@pytest.mark.parametrize(
    "spoil",
    [
        lambda chunks: chunks[1:],
        lambda chunks: [Chunk(c.ordinal, c.section, c.start + 1, c.end) for c in chunks],
        lambda chunks: [Chunk(c.ordinal + 1, c.section, c.start, c.end) for c in chunks],
        lambda chunks: [Chunk(c.ordinal, "Another", c.start, c.end) for c in chunks],
        lambda chunks: [*chunks[:-1], Chunk(chunks[-1].ordinal, "Title", 20, len(TEXT) - 1)],
    ],
)
def test_a_chunker_that_loses_or_shifts_is_seen(
    spoil: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = properties.chunk
    assert callable(spoil)
    monkeypatch.setattr(properties, "chunk", lambda *given, **sizes: spoil(cut(*given, **sizes)))
    with pytest.raises(AssertionError):
        properties.chunks_hold(TEXT, 10, 40, 60)


def test_an_offset_map_that_is_off_by_one_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(text: str) -> Normalized:
        found = normalize(text)
        one_on = [tuple(at + 1 for at in places) for places in (found.raw_starts, found.raw_ends)]
        return Normalized(found.text, found.starts, found.ends, *one_on)

    monkeypatch.setattr(properties, "normalize", shifted)
    with pytest.raises(AssertionError):
        properties.folded_characters_map_to_where_they_came_from("an e\ufb03cacy of")


def test_a_folding_that_drops_a_minus_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(text: str) -> Normalized:
        return normalize(text.replace("\u2212", ""))

    monkeypatch.setattr(properties, "normalize", careless)
    with pytest.raises(AssertionError):
        properties.folding_keeps_what_carries_meaning("by \u22120.5")


def test_a_check_that_is_content_with_close_enough_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def close_enough(quote: str, source: quotes.Source) -> quotes.QuoteCheck:
        return quotes.QuoteCheck(quotes.Verdict.VERBATIM, 0, len(source.text))

    monkeypatch.setattr(properties, "check", close_enough)
    with pytest.raises(AssertionError):
        properties.what_is_accepted_is_what_the_source_says("p < 0.05", "p > 0.05")


def test_a_structure_with_a_gap_is_seen() -> None:
    with pytest.raises(AssertionError):
        properties.structure_holds(TEXT + " More.", segment(TEXT))


# Found by fuzzing


@pytest.mark.parametrize("path", ["a\nb.pdf", "a" * 2000 + ".pdf"])
def test_a_guideline_file_of_any_name_is_a_problem_of_one_short_line(path: str) -> None:
    (kept,) = (data for data in TARGETS["guideline"].corpus() if b'"a.md"' in data)
    TARGETS["guideline"].run(json.dumps({**json.loads(kept), "path": path}).encode())
