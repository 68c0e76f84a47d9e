"""Twins of a claim that is true: one number, name, arm, direction or negation turned. Pure, seeded.

`twins` turns the claim, and where the same turn can be made in the passage also the passage, so
that a turned claim is false beside the passage as it was and true beside the turned one: neither
its words nor its being edited gives a claim's label away.
"""

import re
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import NamedTuple

from benchmarks.claims import edits

KINDS = ("number", "negation", "arm", "direction", "name")

_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:[.,]\d+)*(?![\w/]|[.,]\d)")
_NAME = re.compile(
    r"\b(?:[A-Z][a-z]*[A-Z0-9][\w-]*|[A-Z]{2,}[\w-]*|[a-z]{4,}[a-z]+|[A-Z][a-z]{4,})\b"
)
_HEAD = r"(?:in|with|on|for|after|by|of|from|among|under|the|of the|in the|with the)"
_ENDS_ARM = "than|versus|vs|was|were|had"
_ARM = (
    rf"(?:(?!{_ENDS_ARM}|and|or|in|with)[\w%-]+"
    rf"(?: (?!{_ENDS_ARM})[\w%-]+){{0,3}}?)"
)
_COMPARED = re.compile(
    rf"\b(?:in|with|on|for|after|by|among|of|under) (?P<a>{_ARM}),? "
    r"(?:than|versus|vs\.?|compared with|compared to|as compared with|and not|rather than|against"
    r"|but not) "
    rf"(?:(?:{_HEAD}) )?(?P<b>{_ARM})(?=[,.;:)]|$"
    r"| (?:in|at|after|with|for|by|and|during|over|of|on|group|groups|patients)\b)"
)
_GROUPS = re.compile(
    r"\b(?:the |an? )?(?P<x>[\w+-]{3,}) "
    r"(?:group|arm|patients|participants|women|men|children|recipients|users)\b"
)
_COMMON = frozenset(
    [
        "than", "with", "from", "that", "this", "those", "these", "were", "was", "have", "been",
        "being", "their", "there", "which", "while", "when", "where", "after", "before", "during",
        "between", "among", "within", "without", "under", "over", "about", "above", "below", "both",
        "each", "every", "either", "neither", "also", "only", "more", "most", "less", "least",
        "fewer", "higher", "lower", "greater", "smaller", "larger", "longer", "shorter", "better",
        "worse", "other", "another", "some", "many", "much", "such", "very", "into", "onto", "upon",
        "compared", "versus", "against", "because", "since", "although", "though", "whereas",
        "however", "therefore", "study", "studies", "trial", "trials", "patient", "patients",
        "group", "groups", "would", "could", "should", "might", "must", "will", "shall", "does",
        "did", "done", "make", "made", "used", "using", "control",
    ]
)  # fmt: skip


class Twin(NamedTuple):
    """A turned claim, how it was turned, and the passage turned alike where that can be done."""

    kind: str
    claim: str
    passage: str | None


def twins(claim: str, passage: str, elsewhere: str, rng: Random) -> Iterator[Twin]:
    """At most one twin of each of `KINDS`; names come from a text on another matter."""
    for make in (_number, _negation, _arm, _direction):
        twin = make(claim, passage, rng)
        if twin and twin.claim != claim:
            yield twin
    twin = _name(claim, passage, elsewhere, rng)
    if twin:
        yield twin


def _exchange(text: str, pairs: dict[str, str]) -> str:
    """`text` with whole words exchanged, all at once."""
    words = sorted(pairs, key=len, reverse=True)
    found = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, words)) + r")(?![\w]|\.\d)")
    return found.sub(lambda match: pairs[match.group()], text)


def _number(claim: str, passage: str, rng: Random) -> Twin | None:
    """A number of the claim replaced by another of the passage, or by one near it."""
    own = list(_NUMBER.finditer(claim))
    rng.shuffle(own)
    there = _NUMBER.findall(passage)
    held = {match.group().replace(",", "") for match in own}
    for at in own:
        number = at.group()
        alike = [other for other in dict.fromkeys(there) if ("." in other) == ("." in number)]
        alike = [other for other in alike if other.replace(",", "") not in held]
        if alike and rng.random() < 0.6:
            other = rng.choice(alike)
        else:
            other = edits.change_number(number, rng) or ""
        if not other or other.replace(",", "") in held:
            continue
        turned = claim[: at.start()] + other + claim[at.end() :]
        if number not in there or number in _NUMBER.findall(turned):
            return Twin("number", turned, None)
        return Twin("number", turned, _exchange(passage, {number: other, other: number}))
    return None


def _negation(claim: str, passage: str, rng: Random) -> Twin | None:
    turned = edits.negate(claim, rng)
    if turned is None:
        return None
    both = None
    if len(passage) < 1.6 * len(claim) and not re.search(r"[.!?]\s+[A-Z]", passage.strip()):
        other = edits.negate(passage, rng)
        if other and (len(other) > len(passage)) == (len(turned) > len(claim)):
            both = other
    return Twin("negation", turned, both)


def _arm(claim: str, passage: str, rng: Random) -> Twin | None:
    """The two things that a claim compares, exchanged."""
    compared = _COMPARED.search(claim)
    if compared:
        a, b = compared.group("a"), compared.group("b")
        if a.lower() != b.lower():
            turned = (
                claim[: compared.start("a")] + b + claim[compared.end("a") : compared.start("b")]
                + a + claim[compared.end("b") :]
            )  # fmt: skip
            both = _exchange(passage, {a: b, b: a}) if a in passage and b in passage else None
            return Twin("arm", turned, both)
    named = [match.group("x") for match in _GROUPS.finditer(claim)]
    named = [name for name in dict.fromkeys(named) if name.lower() not in _COMMON]
    if len(named) == 2 and all(_times(name, claim) == 1 for name in named):
        exchanged = {named[0]: named[1], named[1]: named[0]}
        both = _exchange(passage, exchanged) if all(name in passage for name in named) else None
        return Twin("arm", _exchange(claim, exchanged), both)
    return _figures(claim, passage, rng)


def _times(name: str, text: str) -> int:
    """How often a text has a name."""
    return len(re.findall(rf"\b{re.escape(name)}\b", text))


def _figures(claim: str, passage: str, rng: Random) -> Twin | None:
    """Two figures of one form, each given once, exchanged: every group gets the other's."""
    there = _NUMBER.findall(passage)
    own = _NUMBER.findall(claim)
    once = [
        figure
        for figure in own
        if own.count(figure) == 1 and figure in there and not re.match(r"(19|20)\d\d$", figure)
    ]

    def form(figure: str) -> tuple[bool, bool]:
        return "." in figure, bool(re.search(re.escape(figure) + r" ?%", claim))

    options = [pair for pair in combinations(once, 2) if form(pair[0]) == form(pair[1])]
    if not options:
        return None
    first, second = rng.choice(options)
    exchanged = {first: second, second: first}
    return Twin("arm", _exchange(claim, exchanged), _exchange(passage, exchanged))


def _direction(claim: str, passage: str, rng: Random) -> Twin | None:
    turned = edits.reverse_word(claim, rng)
    if turned is None:
        return None
    text, word = turned
    both = edits.reverse_word(passage, rng, word)
    same = edits.reverse_word(claim, rng, word) if both else None
    if both and same and len(re.findall(rf"\b{word}\b", passage.lower())) == 1:
        return Twin("direction", same[0], both[0])
    return Twin("direction", text, None)


def _name(claim: str, passage: str, elsewhere: str, rng: Random) -> Twin | None:
    """A rarer word of the claim that the passage has, replaced by one of the same shape that
    neither has."""
    inside = set(re.findall(r"[\w-]+", passage.lower()))
    own = dict.fromkeys(match.group() for match in _NAME.finditer(claim))
    names = [name for name in own if name.lower() in inside and name.lower() not in _COMMON]
    names = [name for name in names if not name.islower() or len(name) > 6]
    rng.shuffle(names)
    held = inside | set(re.findall(r"[\w-]+", claim.lower()))
    strange = [name for name in dict.fromkeys(_NAME.findall(elsewhere)) if name.lower() not in held]
    for name in names[:5]:
        options = [other for other in strange if _alike(name, other)]
        if options:
            changed = {name: rng.choice(options)}
            return Twin("name", _exchange(claim, changed), _exchange(passage, changed))
    return None


def _alike(name: str, other: str) -> bool:
    """Whether two words have one case and, in lower case, one ending."""
    case = name.islower() == other.islower() and name.isupper() == other.isupper()
    return case and (not name.islower() or name[-3:] == other[-3:])
