"""What `attest up` tells of a process that ended by itself."""

import json
from pathlib import Path

import pytest

from cli.commands.up import _with_last_words

INFO = json.dumps({"event": "worker_ready", "level": "info", "threads": 4})
DIED = json.dumps({"event": "stage_broke", "level": "error", "cause": "KeyError at x:1"})


def told(tmp_path: Path, log: str, what: str) -> str:
    (tmp_path / "questions.log").write_text(log, "utf-8")
    said: list[str] = []
    _with_last_words(lambda _, words: said.append(words), tmp_path)("questions", what)
    return said[0]


def test_one_that_was_killed_is_said_to_be_killed_and_not_what_it_said_while_all_was_well(
    tmp_path: Path,
) -> None:
    said = told(tmp_path, f"{INFO}\n{INFO}\n", "exited by SIGKILL, restarting in 2 s")
    assert "worker_ready" not in said
    assert "out of memory" in said
    assert str(tmp_path / "questions.log") in said


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (f"{INFO}\n{DIED}\n", "stage_broke: KeyError at x:1"),
        ("attest: set ATTEST_REDIS_URL\n", "attest: set ATTEST_REDIS_URL"),
        (f"{INFO}\nFATAL:  no space left on device\n", "FATAL:  no space left on device"),
    ],
)
def test_an_error_is_told_in_its_own_words_without_the_lines_around_it(
    tmp_path: Path, log: str, words: str
) -> None:
    said = told(tmp_path, log, "exited with code 1, restarting in 1 s")
    assert said.startswith(f"exited with code 1, restarting in 1 s: {words} (see ")


def test_one_that_said_nothing_bad_has_its_log_named_alone(tmp_path: Path) -> None:
    said = told(tmp_path, f"{INFO}\n", "exited with code 3")
    assert said == f"exited with code 3 (see {tmp_path / 'questions.log'})"


def test_what_is_no_end_is_told_as_it_is(tmp_path: Path) -> None:
    assert told(tmp_path, DIED, "ready") == "ready"
