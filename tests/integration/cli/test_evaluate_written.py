"""`attest evaluate written DIR` as a user runs it (DESIGN section 5). No server is needed."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.evaluate.written import JUDGES, evaluate_written
from tests.commands import Attest

TEXT = (
    "Apixaban was given to 90 people. The rate of stroke fell by 12% with apixaban and by 3% with "
    "warfarin. Bleeding was not more frequent with apixaban than with warfarin in this trial."
)
STROKE = TEXT[33:104]
CLAIMS: list[dict[str, Any]] = [
    {"id": "t1", "claim": "Those on apixaban had a 12% fall in stroke, against 3% with warfarin.",
     "quote": STROKE, "label": "supported", "kind": "true", "judge": "SUPPORTED"},
    {"id": "f1", "claim": "The rate of stroke fell by 44% with apixaban.",
     "quote": STROKE, "label": "contradicted", "kind": "number", "judge": "UNSUPPORTED",
     "counter": "The rate of stroke fell by 44% with apixaban and by 3% with warfarin."},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One document with a true and a false claim."""
    document = {"set_id": "d1", "kind": "abstract", "title": "Apixaban", "text": TEXT}
    (tmp_path / "documents.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    lines = [json.dumps({"set_id": "d1", **one}) for one in CLAIMS]
    (tmp_path / "claims.jsonl").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("judge", JUDGES)
def test_the_last_line_is_the_report(tmp_path: Path, folder: Path, judge: str) -> None:
    attest = Attest({"ATTEST_DATA_DIR": str(tmp_path / "data")})
    done = attest("evaluate", "written", str(folder), "--judge", judge)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["judge"] == judge
    assert found["true"].keys() == {"own_words", "source_words", "hedged", "dropped", "total"}
    assert found["false"].keys() == {"accepted", "source_words", "hedged", "dropped", "total"}
    assert (found["true"]["total"], found["false"]["total"]) == (1, 1)
    assert found["false"]["accepted"] == 0  # 44 % stands nowhere
    assert ("contrast" in found, "balanced" in found) == (judge == "none", judge == "none")


def test_a_judge_that_is_right_lets_the_truth_through_in_its_own_words(folder: Path) -> None:
    for judge in ("labels", "recorded"):
        found = evaluate_written(folder, judge)
        assert (found["true_rate"], found["false_rate"]) == (1.0, 0.0)
        assert found["stopped_true_by"] == {}


def test_a_judge_that_agrees_to_everything_is_found_out(folder: Path) -> None:
    agreeing, alone = (evaluate_written(folder, judge) for judge in ("agreeing", "none"))
    assert (agreeing["true"], agreeing["false"]) == (alone["true"], alone["false"])


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("claims.jsonl", "{", "line 1: not JSON"),
        ("claims.jsonl", '{"id": "x"}', "line 1: set_id: "),
        ("claims.jsonl", json.dumps({"set_id": "d9", **CLAIMS[0]}), "is of “d9”"),
        ("documents.jsonl", "[]", "line 1: "),
    ],
)
def test_a_bad_file_is_named_in_one_line(folder: Path, file: str, line: str, message: str) -> None:
    (folder / file).write_text(line, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as raised:
        evaluate_written(folder, "labels")
    assert "\n" not in str(raised.value)


def test_an_unknown_judge_is_told_which_there_are(folder: Path) -> None:
    with pytest.raises(ValueError, match="there are none, labels, recorded, agreeing"):
        evaluate_written(folder, "kind")
