"""`attest evaluate questions FILE`: what counts as read, and one-line errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.evaluate.questions import Case, read_cases, score
from cli.main import app
from workers.retrieve.understanding.asked.model import Asked, Constraint

CASE: dict[str, Any] = {
    "id": "q1",
    "question": "eliquis dose for AF without CKD at eGFR 41?",
    "kind": "short",
    "primary_problem": "nonvalvular atrial fibrillation",
    "answer_type": "number",
    "must_name": [["apixaban", "Eliquis"], ["atrial fibrillation", "AF"], ["edoxaban"]],
    "constraints": [
        "chronic kidney disease is to be left out",
        "eGFR of 41 on two occasions",
    ],
    "should_not_be_taken_for": ["deep vein thrombosis"],
}


def _asked(**changed: Any) -> Asked:
    read = {"type": "number", "problem": "AF", "names": ("apixaban", "AF"), **changed}
    return Asked(**read)


def test_a_problem_is_right_by_any_of_its_names_and_wrong_beside_it() -> None:
    case = Case(**CASE)
    for problem, is_right in (
        ("AF", True),
        ("atrial fibrillation", True),
        ("fibrillation of the eyelid muscle", False),
        ("deep vein thrombosis", False),
        ("", False),
    ):
        assert score(case, _asked(problem=problem)).problem is is_right, problem


def test_names_and_constraints_are_counted_and_so_are_those_that_the_question_states() -> None:
    kidney = Constraint("kidney_function", "eGFR 41", 0, 7, value=41.0)
    found = score(Case(**CASE), _asked(constraints=(kidney,)))
    assert (found.names, found.names_stated) == ((2, 3), (2, 2))
    assert (found.constraints, found.constraints_stated) == ((1, 2), (1, 1))


def test_what_it_should_not_be_taken_for_is_told() -> None:
    taken = score(Case(**CASE), _asked(names=("Deep-vein thrombosis",)))
    assert taken.taken_for == ("deep vein thrombosis",)


def test_the_last_line_is_one_object(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(CASE) + "\n\n")
    run = CliRunner().invoke(app, ["evaluate", "questions", str(file)])
    assert run.exit_code == 0, run.output
    report = json.loads(run.stdout.splitlines()[-1])
    assert report["total"] == 1
    assert {"problem", "answer_type", "names", "constraints", "taken_for", "halves"} <= set(report)


def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    for written, told in (
        ("", "holds no question"),
        ("{", "line 1: not JSON"),
        (json.dumps({**CASE, "answer_type": "guess"}), "line 1: answer_type: .*'yesno'"),
        (json.dumps({"id": "q"}), "line 1: question"),
    ):
        file.write_text(written)
        with pytest.raises(ValueError, match=told):
            read_cases(file)
    with pytest.raises(ValueError, match="is missing"):
        read_cases(tmp_path / "none.jsonl")
