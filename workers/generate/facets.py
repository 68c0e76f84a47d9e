"""What kind of thing a sentence states: a trial's status, a limitation, ... Pure.

Patterns: `facets` and `cues` in knowledge/questions/answers.yaml.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from clinical_text.labels import body_of
from knowledge.loader import load
from knowledge.matching.caseless import Caseless
from store.index.terms import term_set
from workers.generate.wording import is_fact, takes_side

_LIMITS = ("limitation", "open_question")
_PHRASES = ("phrase", "unless")
BY_PART = 50
"""The rank of a sentence that only its section's title makes what it is."""


@dataclass(frozen=True)
class _Facet:
    patterns: tuple[Caseless | re.Pattern[str], ...]
    part: Caseless | None
    words: Caseless | None


@cache
def _facets() -> Mapping[str, _Facet]:
    found = {}
    for name, one in load("questions/answers")["facets"].items():
        compiled = re.compile if one.get("case_sensitive") else Caseless
        part = one.get("parts")
        found[name] = _Facet(
            tuple(compiled(pattern) for pattern in one["patterns"]),
            Caseless(part["pattern"]) if part else None,
            Caseless(part["words"]) if part else None,
        )
    return found


def rank(name: str, sentence: str, section: str = "") -> int | None:
    """How surely a sentence states `name`, 0 the surest; None where it does not.

    Args:
        section: the title of the part it stands in, "" if unknown.
    """
    if name in _LIMITS and part_weight(section) < 0:
        return None  # what was unclear before the work is why it was done
    facet = _facets()[name]
    for place, pattern in enumerate(facet.patterns):
        if pattern.search(sentence):
            return place
    if facet.part and facet.words and facet.part.search(section) and facet.words.search(sentence):
        return BY_PART
    return None


def states(name: str, sentence: str, section: str = "") -> bool:
    """Whether a sentence states `name`."""
    return rank(name, sentence, section) is not None


def may_state(name: str, text: str) -> bool:
    """Whether a sentence of `text` may state `name`, whatever part it stands in: where none does,
    that is told sooner than of each by itself."""
    facet = _facets()[name]
    patterns = (*facet.patterns, facet.words) if facet.words else facet.patterns
    return any(not isinstance(one, Caseless) or one.may_be_in(text) for one in patterns)


def asked_for(asked: Collection[int], questions: Iterable[str] = ()) -> frozenset[str]:
    """The facets that a question with these terms, in these parts, asks for."""
    text = "\n".join(questions)
    found = [
        cue
        for cue, words, phrase, unless in _cues()
        if (not words.isdisjoint(asked) or (phrase and phrase.search(text)))
        and not (unless and unless.search(text))
    ]
    specific = [cue for cue in found if cue.get("specific")]
    return frozenset(facet for cue in specific or found for facet in cue["facets"])


@cache
def _cues() -> tuple[
    tuple[Mapping[str, Any], frozenset[int], Caseless | None, Caseless | None], ...
]:
    """What a question asks for, by the terms of the words, or the phrase, that ask for it; and the
    phrase with which they ask for something else."""
    return tuple(
        (
            cue,
            term_set(" ".join(cue.get("words", ()))),
            *(Caseless(cue[one]) if one in cue else None for one in _PHRASES),
        )
        for cue in load("questions/answers")["cues"]
    )


@lru_cache(maxsize=4096)  # a section is that of many sentences
def part_weight(section: str) -> float:
    """What a section of a publication adds to the score of its sentences."""
    return float(next((w for pattern, w in _parts() if pattern.match(section.strip())), 0.0))


def poses_question(sentence: str, section: str) -> bool:
    """Whether a sentence of a publication only says what was asked, and why."""
    if part_weight(section) > 0:
        return False
    return (
        _is_titled("poses_parts", section)
        or _labels("poses_labels").match(sentence) is not None
        or _titled("poses").match(body_of(sentence)) is not None
    )


def is_on_few(heading: str, question: str) -> bool:
    """Whether a part of a label is, by its heading, on few patients whom nobody asks about."""
    return any(
        part.search(heading) and not asked.search(question)
        for part, asked in _pairs("parts_on_few")
    )


@cache
def _parts() -> tuple[tuple[Caseless, float], ...]:
    parts = load("questions/answers")["parts"]
    return tuple((Caseless(one["pattern"]), one["weight"]) for one in parts)


@lru_cache(maxsize=4096)  # a section is that of many sentences
def _is_titled(name: str, section: str) -> bool:
    return _titled(name).match(section.strip()) is not None


@cache
def _labels(name: str) -> re.Pattern[str]:
    """Names of parts, which are in capitals."""
    return re.compile(load("questions/answers")[name])


@cache
def _titled(name: str) -> Caseless:
    return Caseless(load("questions/answers")[name])


def is_left_out(sentence: str, section: str, source_type: str) -> bool:
    """Whether a section holds references, funding and the like, or a registry's lists."""
    if _is_titled("parts_left_out", section):
        return True
    if source_type != "clinicaltrials":
        return False
    if _is_titled("registry_parts_of_fields", section):
        return not is_fact(sentence)
    return _is_titled("registry_parts_left_out", section)


def asks_for_use(question: str) -> bool:
    """Whether a question asks if a drug may be used."""
    return _titled("asks_for_use").search(question) is not None


def tells_of_use(sentence: str, section: str) -> float:
    """How surely a sentence of a label says if a drug may be used, 0..1: half, if only its part is
    on that."""
    if takes_side(sentence):
        return 1.0
    return 0.5 if is_on_use(section) else 0.0


def is_on_use(heading: str) -> bool:
    """Whether a part of a label tells, by its heading or number, when the drug must not be used."""
    return _is_titled("parts_on_use", heading)


def is_unasked(sentence: str, section: str, questions: Iterable[str]) -> bool:
    """Whether a line of a registry record is of a kind that answers only who asks for it."""
    line = f"{section.strip()}\n{sentence}"
    return any(
        kind.search(line) and not any(map(asked.search, questions))
        for kind, asked in _pairs("registry_when_asked")
    )


@cache
def _pairs(name: str) -> tuple[tuple[Caseless, Caseless], ...]:
    """What is left out, or yields, unless it is asked for, and what asks for it."""
    return tuple(
        (Caseless(one["pattern"]), Caseless(one["asked"]))
        for one in load("questions/answers")[name]
    )


def compares_arms(sentence: str) -> bool:
    """Whether a line of a registry's results compares the arms; others tell of one arm."""
    return _titled("compares_arms").match(sentence) is not None


def bodies(sentence: str) -> frozenset[str]:
    """The guideline bodies that a sentence names."""
    return frozenset(_bodies().findall(sentence))


@cache
def _bodies() -> re.Pattern[str]:
    return re.compile(load("questions/answers")["guideline_bodies"])
