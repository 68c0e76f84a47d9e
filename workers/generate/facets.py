"""What kind of thing a sentence states: a trial's status, a limitation, ... Pure.

Patterns: `facets` and `cues` in knowledge/answers.yaml.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from knowledge.loader import load
from store.index.terms import term_set
from workers.generate.wording import is_fact

_LIMITS = ("limitation", "open_question")
BY_PART = 50
"""The rank of a sentence that only its section's title makes what it is."""


@dataclass(frozen=True)
class _Facet:
    patterns: tuple[re.Pattern[str], ...]
    part: re.Pattern[str] | None
    words: re.Pattern[str] | None
    needs: tuple[str, ...]

    def can_match(self, sentence: str) -> bool:
        """Whether a sentence holds one of the words without which none of the patterns matches."""
        if not self.needs:
            return True
        folded = sentence.casefold()
        return any(map(folded.__contains__, self.needs))


@cache
def _facets() -> Mapping[str, _Facet]:
    found = {}
    for name, one in load("answers")["facets"].items():
        flags = 0 if one.get("case_sensitive") else re.IGNORECASE
        part = one.get("parts")
        found[name] = _Facet(
            tuple(re.compile(pattern, flags) for pattern in one["patterns"]),
            re.compile(part["pattern"], re.IGNORECASE) if part else None,
            re.compile(part["words"], re.IGNORECASE) if part else None,
            tuple(one.get("needs", ())),
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
    if not facet.can_match(sentence):
        return None
    for place, pattern in enumerate(facet.patterns):
        if pattern.search(sentence):
            return place
    if facet.part and facet.words and facet.part.search(section) and facet.words.search(sentence):
        return BY_PART
    return None


def states(name: str, sentence: str, section: str = "") -> bool:
    """Whether a sentence states `name`."""
    return rank(name, sentence, section) is not None


def asked_for(asked: Collection[int]) -> frozenset[str]:
    """The facets that a question with these terms asks for."""
    found = [cue for cue, words in _cues() if not words.isdisjoint(asked)]
    specific = [cue for cue in found if cue.get("specific")]
    return frozenset(facet for cue in specific or found for facet in cue["facets"])


@cache
def _cues() -> tuple[tuple[Mapping[str, Any], frozenset[int]], ...]:
    """What a question asks for, by the terms of the words that ask for it."""
    return tuple((cue, term_set(" ".join(cue["words"]))) for cue in load("answers")["cues"])


@lru_cache(maxsize=4096)  # a section is that of many sentences
def part_weight(section: str) -> float:
    """What a section of a publication adds to the score of its sentences."""
    return float(next((w for pattern, w in _parts() if pattern.match(section.strip())), 0.0))


@cache
def _parts() -> tuple[tuple[re.Pattern[str], float], ...]:
    parts = load("answers")["parts"]
    return tuple((re.compile(one["pattern"], re.IGNORECASE), one["weight"]) for one in parts)


@cache
def _titled(name: str) -> re.Pattern[str]:
    return re.compile(load("answers")[name], re.IGNORECASE)


def is_left_out(sentence: str, section: str, source_type: str) -> bool:
    """Whether a section holds references, funding and the like, or a registry's lists."""
    title = section.strip()
    if _titled("parts_left_out").match(title):
        return True
    if source_type != "clinicaltrials":
        return False
    if _titled("registry_parts_of_fields").match(title):
        return not is_fact(sentence)
    return _titled("registry_parts_left_out").match(title) is not None


def bodies(sentence: str) -> frozenset[str]:
    """The guideline bodies that a sentence names."""
    return frozenset(re.findall(load("answers")["guideline_bodies"], sentence))
