"""Whether a line tells where something is approved or covered, and not where it is asked. Pure.

What one regulator decided says nothing of another (`regulators` of
knowledge/works/conflicts.yaml), nor what one payer covers, or in one state (`payers` of
knowledge/questions/answers.yaml).
"""

import re
from collections.abc import Iterable
from functools import cache

from knowledge.loader import load
from knowledge.matching.words import Words
from knowledge.works.conflicts import conflict_policy


class Approval:
    """Whose approval a question asks for; of one that names nobody, anybody's."""

    def __init__(self, questions: Iterable[str]) -> None:
        """The parts of one question."""
        text = "\n".join(questions)
        self._asked = _regulators(text) if _on_approval().search(text) else frozenset[str]()

    @property
    def asked(self) -> list[str]:
        """The regulators that the question names."""
        return sorted(self._asked)

    def is_elsewhere(self, line: str, title: str, publisher: str) -> bool:
        """Whether a line tells of an approval by others only: by its words, else by its source."""
        if not self._asked or not _on_approval().search(line):
            return False
        told = _regulators(line) or _regulators(f"{title}\n{publisher}")
        return bool(told) and told.isdisjoint(self._asked)


class Coverage:
    """Whose coverage a question asks for, and where; of one that names nobody, anybody's."""

    def __init__(self, questions: Iterable[str]) -> None:
        """The parts of one question."""
        text = "\n".join(questions)
        asks = re.search(
            load("questions/answers")["populations"]["payers"]["asked"], text, re.IGNORECASE
        )
        self._payers = _found("payers", text) if asks else frozenset[str]()
        self._regions = _found("regions", text) if asks else frozenset[str]()

    @property
    def asked(self) -> list[str]:
        """The payers, as they write themselves, and the states that the question names."""
        names = load("questions/answers")["populations"]["payers"]["names"]
        return sorted({names[one][0] for one in self._payers} | self._regions)

    def is_elsewhere(self, line: str, title: str, publisher: str) -> bool:
        """Whether a line is on other payers or states: by its words, else by its source."""
        around = f"{title}\n{publisher}"
        asked = {"payers": self._payers, "regions": self._regions}
        return any(
            told.isdisjoint(some)
            for kind, some in asked.items()
            if some and (told := _found(kind, line) or _found(kind, around))
        )

    def is_told(self, works: Iterable[tuple[str, str, str]]) -> bool:
        """Whether line, title or publisher of a work names the payer, if it must be named."""
        asked = self._payers & set(load("questions/answers")["populations"]["payers"]["strict"])
        return not asked or any(asked & _found("payers", "\n".join(one)) for one in works)


def _found(kind: str, text: str) -> frozenset[str]:
    return frozenset(one.name for one in _words()[kind].mentions(text))


@cache
def _words() -> dict[str, Words]:
    policy = load("questions/answers")["populations"]["payers"]
    return {
        "payers": Words(policy["names"]),
        "regions": Words({one: (one,) for one in policy["regions"]}),
    }


def _regulators(text: str) -> frozenset[str]:
    found = conflict_policy().regulators.items()
    return frozenset(name for name, pattern in found if pattern.search(text))


@cache
def _on_approval() -> re.Pattern[str]:
    return re.compile(load("questions/answers")["on_approval"], re.IGNORECASE)
