"""What kind of clinical document a text is, and its parts where it is several. Pure."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load
from workers.extract.parts import Parts
from workers.extract.rubrics import DOCUMENT_TYPES, any_of

_NARRATIVE = frozenset(["discharge-summary", "clinical-notes", "surgical-notes"])
"""These quote other reports under headings of one word, and stay one document."""
_WHOLE_DOCUMENT = re.compile(r"(?i)\b(?:report|summary|note|notes|prescription|letter|order)\b")
_LEAST_PART = 60
"""Characters below which a titled stretch is no document of its own (ours)."""


class _Words(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    titles: tuple[str, ...]
    strong: tuple[str, ...] = Field(alias="3")
    usual: tuple[str, ...] = Field(alias="2")
    weak: tuple[str, ...] = Field(alias="1")


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    full_confidence_weight: float
    unknown_below: float
    head_lines: int
    types: Mapping[str, _Words]


class Part(NamedTuple):
    """A stretch of a document that is of one type."""

    document_type: str
    start: int
    end: int


class Classification(NamedTuple):
    """The type, how sure that is (0-1), and the parts; several parts: a composite."""

    document_type: str
    confidence: float
    parts: Sequence[Part]

    @property
    def is_composite(self) -> bool:
        """Whether it is more than one document."""
        return len(self.parts) > 1


@cache
def _policy() -> _Policy:
    raw = dict(load("rubrics/classification"))
    raw["types"] = {
        name: {str(key): value for key, value in words.items()}
        for name, words in raw["types"].items()
    }
    found = _Policy.model_validate(raw)
    if set(found.types) != set(DOCUMENT_TYPES) - {"unknown"}:
        raise ValueError("classification.yaml does not list the types of documents that there are")
    return found


@cache
def _patterns() -> Mapping[str, Sequence[tuple[float, re.Pattern[str]]]]:
    return {
        name: [
            (weight, any_of((phrase,)))
            for weight, phrases in ((3.0, one.strong), (2.0, one.usual), (1.0, one.weak))
            for phrase in phrases
        ]
        for name, one in _policy().types.items()
    }


def classify(text: str) -> Classification:
    """The type of a document by its words; "unknown" where too few of them are there."""
    whole = _type_of(text)
    parts = _parts(text, whole[0])
    if len(parts) > 1:
        kinds = list(dict.fromkeys(one.document_type for one in parts))
        return Classification("+".join(kinds), 0.9, parts)
    return Classification(whole[0], whole[1], [Part(whole[0], 0, len(text))])


def kind_of(text: str) -> tuple[str, float]:
    """The one type that the words of a text are most of, and how sure that is, 0-1."""
    return _type_of(text)


def as_type(text: str, document_type: str) -> Classification:
    """The document as one of the type that somebody said it is.

    Raises:
        ValueError: there is no such type.
    """
    if document_type not in DOCUMENT_TYPES:
        raise ValueError(f"there is no document type {document_type}")
    return Classification(document_type, 1.0, [Part(document_type, 0, len(text))])


def _type_of(text: str) -> tuple[str, float]:
    policy = _policy()
    head = "\n".join(text.strip().splitlines()[: policy.head_lines])
    scores = {}
    for name, patterns in _patterns().items():
        score = sum(weight for weight, pattern in patterns if pattern.search(text))
        if any_of(policy.types[name].titles).search(head[:400]):
            score += 8.0 if _titled(head, name) else 4.0
        scores[name] = score
    ordered = sorted(scores.items(), key=lambda one: -one[1])
    (best, most), (_, second) = ordered[0], ordered[1]
    if most < policy.unknown_below:
        return "unknown", 0.0
    share = most / (most + second)
    return best, round(share * min(1.0, most / policy.full_confidence_weight), 3)


def _titled(head: str, name: str) -> bool:
    return any(name in _titles(line) for line in head.splitlines())


@cache
def _title_lines() -> Mapping[str, re.Pattern[str]]:
    return {name: any_of(one.titles) for name, one in _policy().types.items()}


def _titles(line: str) -> list[str]:
    """The types that a line is a title of: it holds a title and little else."""
    bare = line.strip(" \t#*=-_:|>[]").strip()
    if not bare or len(bare) > 80 or re.search(r"[.;?!]\s|[.;]$", bare):
        return []
    found = []
    for name, pattern in _title_lines().items():
        match = pattern.search(bare)
        if match and len(bare) - len(match.group()) <= 30 and ":" not in bare[match.end() :][:40]:
            found.append((len(match.group()), name))
    longest = max((length for length, _ in found), default=0)
    return [name for length, name in found if length == longest]


def _parts(text: str, whole: str) -> list[Part]:
    """The document cut at the titles of documents in it; one part where there is one title."""
    marks: list[tuple[int, str]] = []
    for match in re.finditer(r"[^\n]+", text):
        line = match.group()
        titles = _titles(line)
        if len(titles) != 1:
            continue
        alone = _WHOLE_DOCUMENT.search(line) or (whole not in _NARRATIVE and _decorated(line))
        if alone and (not marks or marks[-1][1] != titles[0]):
            marks.append((match.start(), titles[0]))
    if len({name for _, name in marks}) < 2:
        return []
    first = marks[0][0]
    begin = 0 if first < _LEAST_PART * 8 else first
    bounds = [*(at for at, _ in marks), len(text)]
    bounds[0] = begin
    parts = [Part(name, bounds[index], bounds[index + 1]) for index, (_, name) in enumerate(marks)]
    long = [one for one in parts if one.end - one.start >= _LEAST_PART and _supported(text, one)]
    return long if len({one.document_type for one in long}) > 1 else []


def _decorated(line: str) -> bool:
    bare = line.strip()
    return bool(re.search(r"[=#*_-]{2,}", bare)) and bare.upper() == bare


def _supported(text: str, part: Part) -> bool:
    """Whether the words of a part are of its title's type, too."""
    words = text[part.start : part.end]
    patterns = _patterns()[part.document_type]
    return sum(weight for weight, one in patterns if one.search(words)) >= 3.0


def parts_of(text: str, part: Part) -> Parts:
    """The words of a part, with their sections; places count from the part's start."""
    return Parts(text[part.start : part.end])
