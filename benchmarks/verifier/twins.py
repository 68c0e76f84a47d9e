"""Twins of a claim that is true: one number, name, arm, direction or negation turned. Pure, seeded.

`twins` turns the claim, and where the same turn can be made in the passage also the passage, so that
a turned claim is false beside the passage as it was and true beside the turned one: neither its words
nor its being edited gives a claim's label away.
"""

import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from benchmarks.claims import edits

KINDS = ("number", "negation", "arm", "direction", "name")

_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:[.,]\d+)*(?![\w/]|[.,]\d)")
_NAME = re.compile(
    r"\b(?:[A-Z][a-z]*[A-Z0-9][\w-]*|[A-Z]{2,}[\w-]*|[a-z]{4,}[a-z]+|[A-Z][a-z]{4,})\b"
)
_HEAD = r"(?:in|with|on|for|after|by|of|from|among|under|the|of the|in the|with the)"
_ARM = r"(?:(?!than|versus|vs|and|or|in|with|was|were|had)[\w%-]+(?: (?!than|versus|vs|was|were|had)[\w%-]+){0,3}?)"
_COMPARED = re.compile(
    rf"\b(?:in|with|on|for|after|by|among|of|under) (?P<a>{_ARM}),? "
    r"(?:than|versus|vs\.?|compared with|compared to|as compared with|and not|rather than|against|but not) "
    rf"(?:(?:{_HEAD}) )?(?P<b>{_ARM})(?=[,.;:)]|$| (?:in|at|after|with|for|by|and|during|over|of|on|group|groups|patients)\b)"
)
_GROUPS = re.compile(
    r"\b(?:the |an? )?(?P<x>[\w+-]{3,}) (?:group|arm|patients|participants|women|men|children|recipients|users)\b"
)
_COMMON = frozenset(
    ["than", "with", "from", "that", "this", "those", "these", "were", "was", "have", "been", "being", "their", "there", "which", "while", "when", "where", "after", "before", "during", "between", "among", "within", "without", "under", "over", "about", "above", "below", "both", "each", "every", "either", "neither", "also", "only", "more", "most", "less", "least", "fewer", "higher", "lower", "greater", "smaller", "larger", "longer", "shorter", "better", "worse", "other", "another", "some", "many", "much", "such", "very", "into", "onto", "upon", "compared", "versus", "against", "because", "since", "although", "though", "whereas", "however", "therefore", "study", "studies", "trial", "trials", "patient", "patients", "group", "groups", "would", "could", "should", "might", "must", "will", "shall", "does", "did", "done", "make", "made", "used", "using", "other", "control"]
)


class Twin(NamedTuple):
    """A turned claim, how it was turned, and the passage turned alike where that can be done."""

    kind: str
    claim: str
    passage: str | None


def twins(claim: str, passage: str, elsewhere: str, rng: Random) -> Iterator[Twin]:
    """At most one twin of each of `KINDS`; names come from `elsewhere`, a text on another matter."""
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
    own = [m for m in _NUMBER.finditer(claim)]
    rng.shuffle(own)
    there = [m.group() for m in _NUMBER.finditer(passage)]
    held = {m.group().replace(",", "") for m in own}
    for at in own:
        number = at.group()
        alike = [n for n in dict.fromkeys(there) if ("." in n) == ("." in number)]
        alike = [n for n in alike if n.replace(",", "") not in held]
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
    named = [m.group("x") for m in _GROUPS.finditer(claim)]
    named = [n for n in dict.fromkeys(named) if n.lower() not in _COMMON]
    if len(named) == 2 and all(len(re.findall(rf"\b{re.escape(n)}\b", claim)) == 1 for n in named):
        exchanged = {named[0]: named[1], named[1]: named[0]}
        both = _exchange(passage, exchanged) if all(n in passage for n in named) else None
        return Twin("arm", _exchange(claim, exchanged), both)
    return _figures(claim, passage, rng)


def _figures(claim: str, passage: str, rng: Random) -> Twin | None:
    """Two figures of one form, each given once, exchanged: every group gets the other's."""
    there = _NUMBER.findall(passage)
    own = _NUMBER.findall(claim)
    once = [n for n in own if own.count(n) == 1 and n in there and not re.match(r"(19|20)\d\d$", n)]
    options = [
        (a, b)
        for i, a in enumerate(once)
        for b in once[i + 1 :]
        if ("." in a) == ("." in b)
        and bool(re.search(re.escape(a) + r" ?%", claim)) == bool(re.search(re.escape(b) + r" ?%", claim))
    ]  # fmt: skip
    if not options:
        return None
    a, b = rng.choice(options)
    exchanged = {a: b, b: a}
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
    own = [m.group() for m in _NAME.finditer(claim)]
    own = [n for n in dict.fromkeys(own) if n.lower() in inside and n.lower() not in _COMMON]
    own = [n for n in own if not n.islower() or len(n) > 6]
    rng.shuffle(own)
    held = inside | set(re.findall(r"[\w-]+", claim.lower()))
    for name in own[:5]:
        options = [
            n
            for n in dict.fromkeys(_NAME.findall(elsewhere))
            if n.lower() not in held and n.islower() == name.islower() and n.isupper() == name.isupper()
            and (not name.islower() or n[-3:] == name[-3:])
        ]  # fmt: skip
        if options:
            other = rng.choice(options)
            changed = {name: other}
            return Twin("name", _exchange(claim, changed), _exchange(passage, changed))
    return None
