"""One bad line of a JSON Lines file holds back no other line, and is told where it stands."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from cli.commands.evidence import ingest
from store.pipeline import circuits
from tests.integration.runtime.harness import count
from workers.inline import InlineWorker


def lines(total: int, bad: dict[int, str]) -> str:
    """A file of records; `bad` says what stands in some of its lines, counted from 1."""
    rows = [
        bad.get(n) or json.dumps({"title": f"Study {n}", "text": f"Cohort {n} had {n} people."})
        for n in range(1, total + 1)
    ]
    return "\n".join(rows) + "\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """130 lines, which are three packets; one is bad in the second, two in the third."""
    path = tmp_path / "studies.jsonl"
    path.write_text(lines(130, {70: '{"title": "t"}', 129: "{", 130: "[]"}))
    return path


@pytest.fixture
def report(inline: InlineWorker, file: Path) -> dict[str, Any]:
    """What `attest ingest` says of the file."""
    batch_id, items = ingest.submit(inline.store, [file], None)
    assert items == 3
    inline.run()
    return ingest.follow(inline.store, batch_id, items)


def test_every_other_line_is_stored(inline: InlineWorker, report: dict[str, Any]) -> None:
    assert report["documents"] == 127
    assert count(inline.store, "document") == 127


def test_the_bad_lines_are_told_with_their_numbers_in_the_file(report: dict[str, Any]) -> None:
    assert [(one["file"], one["line"]) for one in report["failed"]] == [
        ("studies.jsonl", 70),
        ("studies.jsonl", 129),
        ("studies.jsonl", 130),
    ]
    assert [one["error"].partition(":")[0] for one in report["failed"]] == [
        "line 70",
        "line 129, column 2",
        "line 130",
    ]
    assert "3 lines could not be read" in ingest.in_words(report)


def test_a_packet_of_bad_lines_only_is_told_with_its_place_too(
    inline: InlineWorker, tmp_path: Path
) -> None:
    path = tmp_path / "studies.jsonl"
    path.write_text(lines(66, {65: "{", 66: "{"}))
    batch_id, items = ingest.submit(inline.store, [path], None)
    inline.run()
    found = ingest.follow(inline.store, batch_id, items)
    assert found["documents"] == 64
    assert [(one["file"], one["line"]) for one in found["failed"]] == [
        ("studies.jsonl", 65),
        ("studies.jsonl", 66),
    ]


def test_what_could_not_be_read_is_kept_with_the_submission_and_counted_in_the_audit(
    inline: InlineWorker, report: dict[str, Any]
) -> None:
    with inline.store.engine.connect() as connection:
        rows = connection.execute(
            sa.text(
                "SELECT id, status, error, outcome -> 'problems' AS problems FROM ingest_item "
                "WHERE batch_id = :batch ORDER BY first_line"
            ),
            {"batch": UUID(report["batch_id"])},
        ).all()
        events = connection.execute(
            sa.text(
                "SELECT payload FROM audit_event WHERE event = 'document.ingested' "
                "AND subject = ANY(:ids)"
            ),
            {"ids": [str(row.id) for row in rows]},
        ).scalars()
        unreadable = sorted(payload.get("unreadable", 0) for payload in events)
    assert [row.status for row in rows] == ["done", "done", "failed"]
    assert rows[2].error.startswith("line 129, column 2: not valid JSON")
    assert rows[0].problems is None
    assert [one["line"] for one in rows[1].problems] == [70]
    assert [one["line"] for one in rows[2].problems] == [129, 130]
    assert unreadable == [0, 1]


def test_reading_again_tells_the_same(inline: InlineWorker, file: Path) -> None:
    """A stage may run twice: nothing is stored twice, and the same lines are told."""
    for _ in range(2):
        batch_id, items = ingest.submit(inline.store, [file], None)
        inline.run()
        found = ingest.follow(inline.store, batch_id, items)
        assert [one["line"] for one in found["failed"]] == [70, 129, 130]
    assert count(inline.store, "document_version") == 127


def test_what_died_is_told_with_what_to_do(inline: InlineWorker, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Some words.")
    batch_id, items = ingest.submit(inline.store, [path], None)
    with inline.store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ingest_item SET content_hash = 'broken'"))
    inline.run()
    found = ingest.follow(inline.store, batch_id, items)
    [failed] = found["failed"]
    assert (failed["file"], failed["line"], found["dead"]) == ("a.txt", None, 1)
    told = ingest.about_the_dead(found)
    assert told.startswith("1 message died, nothing is lost")
    assert "attest dead-letters replay" in told


def test_what_died_when_it_was_sent_before_is_told_when_it_is_sent_again(
    inline: InlineWorker, tmp_path: Path
) -> None:
    """Nothing is new of it, so nothing dies again; and still nobody finds it."""
    path = tmp_path / "one.jsonl"
    path.write_text(lines(1, {}))
    with inline.store.engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO index_encoder VALUES (true, 'another', 384)"))
    said = []
    for _ in range(2):
        batch_id, items = ingest.submit(inline.store, [path], None)
        inline.run()
        said.append(ingest.follow(inline.store, batch_id, items))
    assert [one["new_versions"] for one in said] == [1, 0]
    assert [one["dead"] for one in said] == [1, 1]
    assert "attest dead-letters replay" in ingest.about_the_dead(said[1])


def test_what_was_sent_before_and_is_not_indexed_yet_is_waited_for(
    inline: InlineWorker, tmp_path: Path
) -> None:
    """Who ends the waiting and sends it again is told of it once it can be found."""
    path = tmp_path / "one.jsonl"
    path.write_text(lines(1, {}))
    with inline.store.unit_of_work("test") as work:
        circuits.pause(work, "embed", "a test")
    ingest.submit(inline.store, [path], None)
    inline.run()
    batch_id, items = ingest.submit(inline.store, [path], None)
    inline.run()
    with ThreadPoolExecutor(1) as other:
        following = other.submit(ingest.follow, inline.store, batch_id, items)
        with pytest.raises(TimeoutError):
            following.result(timeout=1)
        with inline.store.unit_of_work("test") as work:
            circuits.resume(work, "embed")
        inline.run()
        assert following.result(timeout=30)["new_versions"] == 0
