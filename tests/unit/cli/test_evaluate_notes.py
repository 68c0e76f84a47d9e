"""`attest evaluate notes DIR` and `attest summarize FILE --here`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app

RUN = CliRunner()
NOTE = "HPI\nShe coughs.\r\n\r\nPlan\nRest and fluids. Return if worse.\n"


def test_every_note_is_counted_and_the_last_line_is_one_object(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_bytes(NOTE.encode())
    (tmp_path / "a.json").write_text(json.dumps({"sections": ["HPI", "Meds", "PLAN"]}))
    run = RUN.invoke(app, ["evaluate", "notes", str(tmp_path)])
    assert run.exit_code == 0, run.output
    report = json.loads(run.stdout.splitlines()[-1])
    assert report["notes"] == 2
    assert report["items"] == report["items_inside_span"] == 2 * (3 + 2)
    faults = ("invalid_citations", "orphans", "section_mismatches", "out_of_bounds", "unsupported")
    assert [report[name] for name in faults] == [0] * 5
    assert report["section_recall"] == pytest.approx(2 / 3, abs=1e-4)
    assert report["sections_missed"] == {"a": 1}


def test_a_folder_without_notes_or_with_bytes_that_are_no_text_is_refused(tmp_path: Path) -> None:
    empty = RUN.invoke(app, ["evaluate", "notes", str(tmp_path)])
    assert isinstance(empty.exception, ValueError)
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8"):
        RUN.invoke(app, ["evaluate", "notes", str(tmp_path)], catch_exceptions=False)


def test_summarize_needs_no_server(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(NOTE.encode())
    nowhere = ["--data-dir", str(tmp_path / "nothing"), "summarize", str(path)]
    run = RUN.invoke(app, [*nowhere, "--json"])
    assert run.exit_code == 0, run.output
    result = json.loads(run.stdout)
    text = path.read_bytes().decode()
    for one in result["summary"]["assessment"]:
        start, end = one["source"].rpartition(":")[2].split("-")
        assert text[int(start) : int(end)] == one["text"]
    shown = RUN.invoke(app, nowhere)
    assert "Rest and fluids." in shown.stdout
    assert "Plan section, chunk_1:" in shown.stdout
