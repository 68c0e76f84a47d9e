"""Whether a line tells where something is approved, and not where the question asks. Pure.

What one regulator decided says nothing of another (`regulators` of knowledge/conflicts.yaml).
"""

import re
from collections.abc import Iterable
from functools import cache

from knowledge.conflicts import conflict_policy
from knowledge.loader import load


class Approval:
    """Whose approval a question asks for; of one that names nobody, anybody's."""

    def __init__(self, questions: Iterable[str]) -> None:
        """The parts of one question."""
        text = "\n".join(questions)
        self._asked = _regulators(text) if _on_approval().search(text) else frozenset[str]()

    def is_elsewhere(self, line: str, title: str, publisher: str) -> bool:
        """Whether a line tells of an approval by others only: by its words, else by its source."""
        if not self._asked or not _on_approval().search(line):
            return False
        told = _regulators(line) or _regulators(f"{title}\n{publisher}")
        return bool(told) and told.isdisjoint(self._asked)


def _regulators(text: str) -> frozenset[str]:
    found = conflict_policy().regulators.items()
    return frozenset(name for name, pattern in found if pattern.search(text))


@cache
def _on_approval() -> re.Pattern[str]:
    return re.compile(load("answers")["on_approval"], re.IGNORECASE)
