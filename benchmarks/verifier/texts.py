"""What training must not see: texts that share thirteen words in a row with an evaluation set."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RUN = 13
SHORTEST = 4  # words of a text that is one of evaluation as a whole

_WORD = re.compile(r"\w+")


def _runs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.lower())
    for begin in range(len(words) - RUN + 1):
        yield hash(tuple(words[begin : begin + RUN]))


def _short(text: str) -> list[str]:
    """The words of a text that is too short for a run, but long enough to mean something."""
    words = _WORD.findall(text.lower())
    return [" ".join(words)] if SHORTEST <= len(words) < RUN else []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


class Kept:
    """The evaluation texts below a folder, whatever their format."""

    def __init__(self, folder: Path) -> None:
        self._seen: set[int] = set()
        self._short: set[str] = set()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            if path.suffix == ".md":
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            if path.suffix == ".jsonl":
                for line in filter(str.strip, text.splitlines()):
                    for one in _strings(json.loads(line)):
                        self._seen.update(_runs(one))
                        self._short.update(_short(one))
            else:
                self._seen.update(_runs(text))

    def add(self, text: str) -> None:
        """Keeps one more text."""
        self._seen.update(_runs(text))

    def has(self, text: str) -> bool:
        """Whether `text` as a whole is a short evaluation text."""
        return not self._short.isdisjoint(_short(text))

    def shares(self, text: str) -> bool:
        """Whether `text` has thirteen words in a row of an evaluation text."""
        return any(run in self._seen for run in _runs(text))
