"""How a study was made, and where it stands, is what its source says of it. Pure.

A sentence that names a trial holds most words of "X was an open-label trial", whatever X was.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from knowledge.loader import load
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold

Forms = tuple[str, ...]


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    designs: tuple[Forms, ...]
    states: tuple[Forms, ...]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Words of design or state that the source does not have. Empty: no veto."""
    return [Finding("design", f"“{word}” is not in the passage") for word in _lost(claim, grounds)]


def _lost(claim: str, grounds: Grounds) -> Iterator[str]:
    said, near = fold(claim), fold(f"{grounds.passage}\n\n{grounds.title}")
    for forms, of_state in _patterns():
        found = forms.search(said)
        if found is None or forms.search(near):
            continue
        if of_state or not forms.search(fold(f"{grounds.neighbours}\n\n{grounds.text}")):
            yield found[0]


@cache
def _patterns() -> Sequence[tuple[re.Pattern[str], bool]]:
    policy = _Policy.model_validate(load("guards/designs"))
    return [
        *((_any_of(forms), False) for forms in policy.designs),
        *((_any_of(forms), True) for forms in policy.states),
    ]


def _any_of(forms: Forms) -> re.Pattern[str]:
    words = "|".join(r"[\s-]+".join(map(re.escape, form.split())) for form in forms)
    return re.compile(rf"(?i)(?<![\w-])(?:{words})(?!\w)")
