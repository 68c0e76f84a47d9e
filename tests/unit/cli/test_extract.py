"""`attest extract` and `attest evaluate extraction`, in this process and without a server."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.commands.clinical.extract import ExtractFailed
from cli.main import app
from tests.unit.extract.made import REPORT


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.txt"
    path.write_text(REPORT, encoding="utf-8")
    return path


def test_the_fields_of_a_file_as_json_with_their_spans(report: Path) -> None:
    result = CliRunner().invoke(app, ["extract", str(report), "--json", "--rules-only"])
    assert result.exit_code == 0
    body = json.loads(result.stdout)
    assert body["type"] == "pathology"
    grade = body["fields"]["grade"]
    assert grade["status"] == "found"
    assert REPORT[grade["start"] : grade["end"]] == "Nottingham grade 2"
    loop = body["parts"][0]["reliability_loop"]
    assert loop["met_threshold"]
    assert len(loop["iteration_history"]) == loop["iterations"]


def test_the_fields_for_people(report: Path) -> None:
    result = CliRunner().invoke(app, ["extract", str(report), "--rules-only"])
    assert result.exit_code == 0
    assert "histology" in result.stdout


def test_what_is_not_stated_stands_apart_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "lab.txt"
    path.write_text(
        "LABORATORY REPORT\nCollected 03/05/2024 at our hospital\nSodium 139 mmol/L (136-145)\n"
        "Potassium 4.1 mmol/L (3.5-5.1)\nCreatinine 0.9 mg/dL (0.6-1.2)\n",
        encoding="utf-8",
    )
    result = CliRunner().invoke(app, ["extract", str(path), "--rules-only"])
    table, _, apart = " ".join(result.stdout.split()).partition("not stated, ")
    assert "lab_values" in table
    assert "impression" not in table
    assert "the document speaks of it, but no value was read: institution" in apart
    assert "the document does not speak of it: specimen, impression" in apart


def test_debris_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "scan.txt"
    path.write_text("~^}{ ¤¦ xq |\\ §¬ zzk " * 30, encoding="utf-8")
    result = CliRunner().invoke(app, ["extract", str(path), "--rules-only"])
    assert result.exit_code == 1
    assert isinstance(result.exception, ExtractFailed)
    assert "Document quality too low for extraction" in str(result.exception)
    assert "\n" not in str(result.exception)


def test_an_evaluation_ends_with_one_json_object(report: Path) -> None:
    gold = {"type": "pathology", "fields": {"grade": "2", "ihcMarkers": {"ER": "95%"}}}
    report.with_suffix(".json").write_text(json.dumps(gold), encoding="utf-8")
    result = CliRunner().invoke(app, ["evaluate", "extraction", str(report.parent)])
    assert result.exit_code == 0
    body = json.loads(result.stdout.splitlines()[-1])
    assert body["documents"] == 1
    assert body["field_accuracy"] == pytest.approx(0.7)


def test_an_evaluation_names_the_wrong_documents_unless_it_is_told_not_to(tmp_path: Path) -> None:
    (tmp_path / "jane_doe.txt").write_text(REPORT, encoding="utf-8")
    gold = json.dumps({"type": "pathology", "fields": {"grade": "3"}})
    (tmp_path / "jane_doe.json").write_text(gold, encoding="utf-8")
    named = CliRunner().invoke(app, ["evaluate", "extraction", str(tmp_path)])
    assert json.loads(named.stdout.splitlines()[-1])["wrong"] == {"jane_doe": ["grade"]}
    silent = CliRunner().invoke(app, ["evaluate", "extraction", str(tmp_path), "--no-wrong"])
    assert silent.exit_code == 0
    assert "jane_doe" not in silent.stdout
    assert "wrong" not in json.loads(silent.stdout.splitlines()[-1])


def test_a_file_that_is_not_there_and_one_that_is_too_long_are_refused_in_one_line(
    tmp_path: Path,
) -> None:
    long = tmp_path / "long.txt"
    long.write_text("word " * 60_001, encoding="utf-8")
    for path, said in ((tmp_path / "none.txt", "No such file"), (long, "80,000")):
        result = CliRunner().invoke(app, ["extract", str(path), "--rules-only"])
        assert result.exit_code == 1
        assert isinstance(result.exception, ExtractFailed)
        assert said in str(result.exception)
