"""An endpoint of a claim is the one of which its passage tells: overall survival is not
recurrence-free survival, a secondary endpoint no primary one. Pure."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict

from clinical_text.quantities import Quantity
from knowledge.loader import load
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, fold, quantities_of, sentences

_Name = tuple[str, str]
"""A family and its member."""
_DIGIT = re.compile(r"\d")
_JOINED = 18
"""Characters between endpoints that are named together, at most (ours)."""
_BEHIND = 40
"""Characters between a value and the endpoint behind it, at most (ours)."""


class _Bare(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    family: str
    means: str
    words: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    families: dict[str, dict[str, tuple[str, ...]]]
    bare: _Bare


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Endpoints that the passage does not tell of, or not where it has the claim's values."""
    findings: list[Finding] = []
    for sentence in sentences(fold(claim)):
        findings += _bare_findings(sentence, fold(grounds.passage))
        findings += _moved(sentence, fold(grounds.passage))
        said = _named(sentence)
        if not said:
            continue
        stated = _named(_with_its_values(sentence, fold(grounds.passage)))
        around: dict[tuple[str, str], str] | None = None
        for (family, name), words in said.items():
            if (family, name) in stated:
                continue
            rivals = any(other == family for other, _ in stated)
            if not rivals and around is None:
                around = _named(fold(f"{grounds.title}\n\n{grounds.neighbours}\n\n{grounds.text}"))
            if rivals or (family, name) not in (around or {}):
                detail = f"“{words}” is not that of the passage"
                findings.append(Finding("endpoint", detail, unsaid=not rivals))
    return list(dict.fromkeys(findings))


def _bare_findings(sentence: str, passage: str) -> Iterator[Finding]:
    """ "Survival" where the passage tells of survival without something."""
    bare = _policy().bare
    found = _bare().search(sentence)
    if found is None or any(family == bare.family for family, _ in _named(sentence)):
        return
    told = _with_its_values(sentence, passage)
    stated = {name for family, name in _named(told) if family == bare.family}
    if stated and bare.means not in stated and not _bare().search(told):
        yield Finding("endpoint", f"“{found[0]}” is not that of the passage")


def _moved(sentence: str, passage: str) -> Iterator[Finding]:
    """Values of one endpoint that the passage gives to another one of the same sentence."""
    ours = _governed(sentence)
    if not ours:
        return
    theirs: dict[object, list[frozenset[_Name]]] = {}
    for one in sentences(passage):
        for value, names in _governed(one):
            theirs.setdefault(value, []).append(names)
    for value, names in ours:
        for family, name in names:
            stated = [{n for f, n in one if f == family} for one in theirs.get(value, ())]
            mine = {n for f, n in names if f == family}
            if stated and all(one and not one & mine for one in stated):
                yield Finding("endpoint", f"{value} is not of “{name}” in the passage")


def _governed(sentence: str) -> list[tuple[object, frozenset[_Name]]]:
    """The values of a sentence with the endpoints that they may be of: those named last before
    them, together where they are joined, else the one right behind."""
    mentions = _lexicon().find(sentence)
    if not mentions:
        return []
    found: list[tuple[object, frozenset[_Name]]] = []
    for one in quantities_of(sentence):
        if not _is_value(one):
            continue
        before = [m for m in mentions if m.end <= one.start]
        names = set(before[-1:])
        for earlier, later in reversed(list(pairwise(before))):
            between = sentence[earlier.end : later.start]
            if len(between) > _JOINED or _DIGIT.search(between):
                break
            names.add(earlier)
        behind = next((m for m in mentions if m.start >= one.end), None)
        if behind and not before:
            between = sentence[one.end : behind.start]
            names |= {behind} if len(between) <= _BEHIND and not _DIGIT.search(between) else set()
        parts = [m.name.partition(": ") for m in names]
        found.append((one.value, frozenset((family, name) for family, _, name in parts)))
    return found


def _with_its_values(sentence: str, passage: str) -> str:
    """The sentences of the passage that have values of the claim's sentence; all, if none has."""
    wanted = _values(sentence)
    having = [one for one in sentences(passage) if wanted & _values(one)] if wanted else []
    return "\n\n".join(having) or passage


def _values(text: str) -> set[object]:
    """Shares and decimals: other numbers ("5-year") stand in many sentences."""
    return {one.value for one in quantities_of(text) if _is_value(one)}


def _is_value(one: Quantity) -> bool:
    return "%" in one.raw or "." in one.raw


def _named(text: str) -> dict[_Name, str]:
    found = {}
    for mention in _lexicon().find(text):
        family, _, name = mention.name.partition(": ")
        found[family, name] = text[mention.start : mention.end]
    return found


@cache
def _lexicon() -> Lexicon:
    return Lexicon(
        {
            f"{family}: {name}": forms
            for family, members in _policy().families.items()
            for name, forms in members.items()
        }
    )


@cache
def _bare() -> re.Pattern[str]:
    bare = _policy().bare
    before = "".join(rf"(?<!{word}[ -])" for word in bare.before)
    return re.compile(
        rf"(?i){before}(?<![\w-])(?:{'|'.join(bare.words)})(?![\w-])"
        rf"(?!\s+(?:{'|'.join(bare.behind)})\b)"
    )


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/endpoints"))
