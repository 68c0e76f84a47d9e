"""What kind of work a document is: guideline, review, trial, label, … (`kinds.yaml`).

What its source or its indexers say goes first. What nobody says is read of its title and the
opening of its text by a small learned reader (`kinds.npz`; `benchmarks/kinds.py` fits it and says
on what and how well); where that is not sure, a work is of no kind that is known.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from knowledge.loader import Policy, load
from knowledge.matching.likeness import TextReader, text_reader
from knowledge.works.publication_types import most_telling

Kind = Literal[
    "notice",
    "protocol",
    "registry_entry",
    "label",
    "coverage_policy",
    "regulatory",
    "news",
    "guideline",
    "systematic_review",
    "randomized_trial",
    "trial",
    "cohort",
    "case",
    "review",
    "opinion",
]
LEARNED: tuple[Kind, ...] = (
    "guideline",
    "protocol",
    "systematic_review",
    "randomized_trial",
    "trial",
    "cohort",
    "case",
    "review",
)
"""What the reader tells: kinds of works that come without a source or a type that says so."""
TITLE, OPENING = 500, 2500
"""Characters of the title and of the text that are read: an abstract, or what stands before."""
_WORD = re.compile(r"[a-z]{2,}")
_HEADING = re.compile(r"^(?:#{1,4} ([^\n]{2,40})$|([A-Z][A-Za-z/&, ]{2,40}):)", re.MULTILINE)


class _Entry(Policy):
    kind: Kind
    sources: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    subjects: frozenset[str] = frozenset()


class _Sure(Policy):
    least: float = Field(gt=0, lt=1)
    apart: float = Field(ge=0, lt=1)


class _File(Policy):
    version: Literal[2]
    basis: Annotated[str, Field(min_length=1)]
    kinds: tuple[_Entry, ...]
    refines: dict[Kind, tuple[Kind, ...]]
    sure: _Sure


@cache
def _file() -> _File:
    return _File.model_validate(load("works/kinds"))


@cache
def _reader() -> TextReader:
    return text_reader("works", "kinds.npz")


def kind_of(
    source_type: str,
    publication_type: str | None,
    evidence_level: str | None,
    *,
    subjects: Iterable[str] = (),
    title: str = "",
    text: str = "",
) -> Kind | None:
    """The kind of a work, by its source, else by what its publication type, its level of evidence
    or its subject headings say, else as its title and text read; None: nothing tells."""
    file = _file()
    stated = most_telling([publication_type] if publication_type else [])
    levels = {(stated.level if stated else None) or "", (evidence_level or "").lower()}
    headings = {one.lower() for one in subjects}
    told = (
        next((one.kind for one in file.kinds if source_type in one.sources), None)
        or next((one.kind for one in file.kinds if levels & set(one.levels)), None)
        or next((one.kind for one in file.kinds if headings & one.subjects), None)
    )
    if told is not None and told not in file.refines:
        return told
    read = kind_by_reading(title, text) if title or text else None
    return read if told is None or read in file.refines[told] else told


def kind_by_reading(title: str, text: str, reader: TextReader | None = None) -> Kind | None:
    """The kind that title and text are likest, if the reader is sure of it."""
    likeness = (reader or _reader()).likeness(features_of(title, text))
    best, second = sorted(LEARNED, key=lambda kind: -likeness[kind])[:2]
    sure = _file().sure
    is_sure = likeness[best] >= max(sure.least, likeness[second] + sure.apart)
    return best if is_sure else None


def features_of(title: str, text: str) -> set[str]:
    """Words in small letters and pairs of words that follow each other, of the title (`^randomized
    trial`) and of the opening of the text, and the headings there (`#methods`)."""
    named, opening = _WORD.findall(title[:TITLE].lower()), text[:OPENING]
    words = _WORD.findall(opening.lower())
    headings = (mark or colon for mark, colon in _HEADING.findall(opening))
    return {
        *(f"^{one}" for one in (*named, *map(" ".join, pairwise(named)))),
        *words,
        *map(" ".join, pairwise(words)),
        *(f"#{one.lower()}" for one in headings),
    }
