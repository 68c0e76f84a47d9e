"""How a study was made, and where it stands, is what its source says of it. Pure.

A sentence that names a trial holds most words of "X was an open-label trial", whatever X was.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from knowledge.loader import load
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold
from workers.verify.guards.negation import negations
from workers.verify.guards.statements import read

Forms = tuple[str, ...]


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    designs: tuple[Forms, ...]
    states: tuple[Forms, ...]
    excluding: tuple[Forms, ...]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Words of design or state that the source does not have. Empty: no veto."""
    near = fold(f"{grounds.passage}\n\n{grounds.title}")
    denies = bool(negations(read(claim)).denying)
    return [
        Finding(
            "design",
            f"“{word}” is not in the passage",
            unsaid=denies or not _says_another(name, near),
        )
        for name, word in _lost(fold(claim), near, grounds)
    ]


def _lost(said: str, near: str, grounds: Grounds) -> Iterator[tuple[str, str]]:
    """What the claim says and its source does not: by the first form, and in the claim's words."""
    states = {forms[0] for forms in _policy().states}
    for name, forms in _patterns().items():
        found = forms.search(said)
        if found is None or forms.search(near):
            continue
        if name in states or not forms.search(fold(f"{grounds.neighbours}\n\n{grounds.text}")):
            yield name, found[0]


def _says_another(name: str, near: str) -> bool:
    """Whether the passage says one that excludes it."""
    others = {one for line in _policy().excluding if name in line for one in line} - {name}
    return any((_patterns().get(one) or _any_of((one,))).search(near) for one in others)


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/designs"))


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    policy = _policy()
    return {forms[0]: _any_of(forms) for forms in (*policy.designs, *policy.states)}


@cache
def _any_of(forms: Forms) -> re.Pattern[str]:
    words = "|".join(r"[\s-]+".join(map(re.escape, form.split())) for form in forms)
    return re.compile(rf"(?i)(?<![\w-])(?:{words})(?!\w)")
