"""What kind of work a document is: guideline, review, trial, label, … (`kinds.yaml`)."""

import re
from functools import cache, lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load
from knowledge.publication_types import most_telling

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


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    sources: tuple[str, ...]
    levels: tuple[str, ...]
    title: str | None


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    basis: Annotated[str, Field(min_length=1)]
    kinds: tuple[_Entry, ...]
    about: str


@cache
def _file() -> _File:
    return _File.model_validate(load("kinds"))


@cache
def _titles() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return tuple(
        (one.kind, re.compile(one.title, re.IGNORECASE))
        for one in _file().kinds
        if one.title is not None
    )


@cache
def _about() -> re.Pattern[str]:
    return re.compile(rf"{_file().about}\Z", re.IGNORECASE)


@lru_cache(maxsize=4096)  # every rule of the ranking asks, and of many works the same
def kind_of(
    source_type: str, publication_type: str | None, evidence_level: str | None, title: str
) -> Kind | None:
    """The kind of a work, by its source, else by what its publication type or its level of evidence
    says, else by the words of its title; None: nothing tells.

    Raises pydantic.ValidationError if the file is invalid.
    """
    stated = most_telling([publication_type] if publication_type else [])
    levels = {(stated.level if stated else None) or "", (evidence_level or "").lower()}
    told = next((one.kind for one in _file().kinds if source_type in one.sources), None)
    told = told or next((one.kind for one in _file().kinds if levels & set(one.levels)), None)
    if told is not None and told not in ("review", "opinion"):
        return told
    return _by_title(title[:500]) or told


def _by_title(title: str) -> Kind | None:
    for kind, words in _titles():
        found = words.search(title)
        if found and not _about().search(title[max(0, found.start() - 100) : found.start()]):
            return kind
    return None
