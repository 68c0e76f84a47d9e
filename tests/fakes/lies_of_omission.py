"""A thirteenth kind of fabrication: a sentence without the words that say how far it holds.

They register with `tests.fakes.lies`, as do the others. What is left out, or put in the place of a
word of grammar, is found by patterns of their own, apart from the guards' lists.
"""

import random
import re
from collections.abc import Sequence
from functools import partial

from tests.fakes.lies import Lie, Subject, kind, on

_PEOPLE = (
    r"(?:patients|women|men|adults|children|people|individuals|participants|subjects|carriers"
    r"|survivors|infants|smokers|mice|rats)"
)
_WORDS = r"[^,.;:()\d]{3,70}"


def _without(*patterns: str) -> Sequence[re.Pattern[str]]:
    return [re.compile(one) for one in patterns]


_LEFT_OUT = {
    "for whom": _without(
        rf"^(?:Among|In|For) (?:the )?(?:[\w-]+ ){{0,3}}{_PEOPLE} (?:with|who|aged){_WORDS}, ",
        rf" (?:in|among) (?:[\w-]+ ){{1,3}}{_PEOPLE}(?=[.,;])",
        rf"(?<=patients|children)(?: with| who){_WORDS}(?= (?:was|were|had) )",
    ),
    "compared with what": _without(
        rf",? (?:when |as )?compared (?:with|to) {_WORDS}(?=[.,;])", rf" than {_WORDS}(?=[.,;])"
    ),
    "until when": _without(
        r" (?:at|after|within|over|for) (?:\d+|one|two|three|five|six|ten) "
        r"(?:hours?|days?|weeks?|months?|years?)(?=[ .,;])",
        r"\b(?:\d+|one|two|five)-(?:day|week|month|year) ",
    ),
    "in how far": _without(
        r"\b(?:relative|absolute) (?=(?:risk|reduction|difference|increase|benefit))",
        r"\b(?:unadjusted|univariate|exploratory|preliminary|secondary|subgroup) ",
        r",? (?:only|solely|exclusively)(?= )",
        rf",? after (?:adjustment|adjusting|controlling) {_WORDS}(?=[.,;])",
    ),
    "the other side": _without(
        r",? (?:but|whereas|although|though) [^.;]{10,}(?=\.$)",
        rf"^(?:Although|While|Despite|Whereas) {_WORDS}, ",
        rf",? (?:rather than|instead of|without) {_WORDS}(?=[.,;])",
    ),
}
_EXCHANGED = {
    "words of grammar": (("or", "and"), ("and", "or"), ("during", "after"), ("was", "is")),
}


def _cut(variant: str, sentence: str, rng: random.Random) -> str | None:
    found = [match for one in _LEFT_OUT[variant] for match in one.finditer(sentence)]
    if not found:
        return None
    chosen = rng.choice(found)
    left = f"{sentence[: chosen.start()]}{sentence[chosen.end() :]}".strip()
    left = re.sub(r"\s+(?=[.,;])", "", left)
    return left[0].upper() + left[1:] if len(left) > 40 else None


def _lie(variant: str, subject: Subject, rng: random.Random) -> Lie | None:
    if variant in _LEFT_OUT:
        return on(subject, _cut(variant, subject.sentence, rng))
    pairs = [one for one in _EXCHANGED[variant] if f" {one[0]} " in subject.sentence]
    if not pairs:
        return None
    old, new = rng.choice(pairs)
    return on(subject, subject.sentence.replace(f" {old} ", f" {new} ", 1))


for _variant in (*_LEFT_OUT, *_EXCHANGED):
    kind("words left out", _variant)(partial(_lie, _variant))
