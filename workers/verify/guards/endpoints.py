"""An endpoint of a claim is the one of which its passage tells: overall survival is not
recurrence-free survival, a secondary endpoint no primary one. Pure."""

from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from knowledge.loader import load
from workers.reading.quantities import quantities
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, fold, sentences


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    families: dict[str, dict[str, tuple[str, ...]]]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Endpoints that the passage does not tell of, or not where it has the claim's values."""
    findings = []
    for sentence in sentences(fold(claim)):
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


def _with_its_values(sentence: str, passage: str) -> str:
    """The sentences of the passage that have values of the claim's sentence; all, if none has."""
    wanted = _values(sentence)
    having = [one for one in sentences(passage) if wanted & _values(one)] if wanted else []
    return "\n\n".join(having) or passage


def _values(text: str) -> set[object]:
    """Shares and decimals: other numbers ("5-year") stand in many sentences."""
    return {one.value for one in quantities(text) if "%" in one.raw or "." in one.raw}


def _named(text: str) -> dict[tuple[str, str], str]:
    found = {}
    for mention in _lexicon().find(text):
        family, _, name = mention.name.partition(": ")
        found[family, name] = text[mention.start : mention.end]
    return found


@cache
def _lexicon() -> Lexicon:
    policy = _Policy.model_validate(load("guards/endpoints"))
    return Lexicon(
        {
            f"{family}: {name}": forms
            for family, members in policy.families.items()
            for name, forms in members.items()
        }
    )
