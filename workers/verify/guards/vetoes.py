"""All deterministic vetoes on one claim, in one order (DESIGN section 2, invariant 6). Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from workers.verify.guards import (
    arms,
    closeness,
    compared,
    content,
    crossing,
    dates,
    designs,
    direction,
    drugs,
    endpoints,
    framing,
    measures,
    modality,
    named,
    negation,
    numbers,
    omissions,
    population,
    significance,
    trials,
)
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read

Guard = Callable[[str, Grounds], list[Finding]]

_REFERENCE = re.compile(r"(?i)\[\s*see\s[^\[\]]{1,300}\]")
"""Where a label sends its reader: "[see Warnings and Precautions (5.1)]" """


def _numbers(claim: str, grounds: Grounds) -> list[Finding]:
    passage = f"{grounds.passage}\n\n{trials.titled(grounds.title)}"
    return numbers.guard(claim, passage, frozenset(grounds.identifiers.values()))


FACTS: Sequence[Guard] = (
    _numbers,
    named.guard,
    dates.guard,
    drugs.guard,
    arms.guard,
    compared.guard,
    endpoints.guard,
    measures.guard,
    designs.guard,
    population.guard,
)
"""They ask whether what a claim names and counts is the source's."""
MEANINGS: Sequence[Guard] = (
    direction.guard,
    crossing.guard,
    negation.guard,
    modality.guard,
    significance.guard,
    framing.guard,
    content.guard,
)
"""They compare what two texts say."""
_LONGEST = 4000
"""Characters of a claim or a passage that are compared (ours: 3 of 10,000 sentences of our real
texts have more than 1,100)."""
_MOST_WORDS = 100_000
_MOST_SENTENCES = 150
"""Words, and sentences, of a claim times those of its passage: each meets each (ours)."""
QUOTED: Sequence[Guard] = (named.numbers,)
"""Whole sentences of the passage say what the passage says and name what it names; but a source may
itself give a trial a number that is another one's."""


def vetoes(claim: str, grounds: Grounds) -> tuple[Finding, ...]:
    """Everything that speaks against `claim`, given what it leans on; the guards' order, then each
    guard's own. Any finding forbids the claim; none does not mean that it is supported."""
    return tuple(dict.fromkeys(objections(claim, grounds)))


def objections(claim: str, grounds: Grounds) -> Iterator[Finding]:
    """The same, one guard asked after the other: who only wants to know whether anything speaks
    against the claim asks no further than the first finding."""
    claim, grounds = _without_references(claim, grounds)
    guards: Sequence[Guard] = (*FACTS, *MEANINGS)
    if is_quoted_whole(claim, grounds.passage):
        guards = () if claim == grounds.passage else QUOTED  # nothing differs from itself
    elif (found := too_much(claim, grounds)) is not None:
        return iter([found])
    return (one for guard in guards for one in guard(claim, grounds))


def too_much(claim: str, grounds: Grounds) -> Finding | None:
    """What says that the two are too long to be compared: what is not compared does not pass."""
    longest = max(len(claim), len(grounds.passage))
    if longest <= _LONGEST:
        said, source = read(claim), read(grounds.passage)
        words = max(map(len, said.sentences), default=0) * max(
            map(len, source.sentences), default=0
        )
        if words <= _MOST_WORDS and len(said.sentences) * len(source.sentences) <= _MOST_SENTENCES:
            return None
    return Finding("too_long", "the claim or its passage is too long to be compared", unsaid=True)


def vetoes_of_model(claim: str, grounds: Grounds) -> tuple[Finding, ...]:
    """As `vetoes`, for a claim that a language model wrote and a language model will judge: with
    both of them lying nothing else is left to stop it, so it must stay close to its source, and
    leave nothing of it out."""
    return tuple(dict.fromkeys(objections_of_model(claim, grounds)))


def objections_of_model(claim: str, grounds: Grounds) -> Iterator[Finding]:
    """As `objections`, of `vetoes_of_model`."""
    yield from objections(claim, grounds)
    claim, grounds = _without_references(claim, grounds)
    if not is_quoted_whole(claim, grounds.passage) and too_much(claim, grounds) is None:
        yield from closeness.guard(claim, grounds)
        yield from omissions.guard(claim, grounds)


def _without_references(claim: str, grounds: Grounds) -> tuple[str, Grounds]:
    """Both without the references of the passage to other sections, which say nothing of what it
    tells; a reference of the claim's own is a part of the claim."""
    found = _REFERENCE.findall(grounds.passage)
    if not found:
        return claim, grounds
    for one in found:
        claim = claim.replace(one, " ").replace(" ".join(one.split()), " ")
    return claim, replace(grounds, passage=_REFERENCE.sub(" ", grounds.passage))


def is_quoted_whole(claim: str, passage: str) -> bool:
    """Whether `claim` is, character for character, one or more whole sentences of `passage`."""
    if claim == passage:
        return any(map(str.isalnum, claim))  # it has words
    ours, source, at = read(claim).tokens, read(passage), passage.find(claim)
    if at < 0 or not ours or passage[at + len(claim) :].lstrip()[:1] == "?":
        return False  # a question is not quoted without its mark
    begins = {source.tokens[members[0]].start for members in source.sentences}
    ends = {source.tokens[members[-1]].end for members in source.sentences}
    return at + ours[0].start in begins and at + ours[-1].end in ends
