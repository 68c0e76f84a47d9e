"""What a question names: drugs, conditions, tests, trials, bodies, known or not. Pure.

A name is found where a terminology has it, by the form of a condition's name, and where a word is
rare or written as names are. So none is missed for want of an entry.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from clinical_text.names import Name, names
from clinical_text.vocabulary import vocabulary
from knowledge.loader import load
from knowledge.names.tables import tables
from store.index.terms import stems
from workers.retrieve.understanding.asked.places import Places
from workers.retrieve.understanding.asked.words import is_name, is_ordinary

_TOKEN = re.compile(r"[^\W_](?:[\w/+'’-]{0,60}[\w+])?")
_NUMBERED = re.compile(
    r" (?:type|stage|grade|class|subtype) (?:[A-Z]\b|[IV]{1,4}\b|\d{1,2}[a-z]?\b)"
)
_MOST_BEFORE = 4
"""Words before the head of a condition's name that may belong to it."""


Kind = Literal["condition", "drug", "other"]
_WEIGHT: Mapping[Kind, int] = {"other": 0, "drug": 1, "condition": 2}
"""What a name is that is made of several: the greatest."""


@dataclass(frozen=True)
class Named:
    """A name at `[start, end)` of a question; `also`: what else it is known by."""

    start: int
    end: int
    text: str
    kind: Kind = "other"
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Token:
    start: int
    end: int
    text: str
    is_name: bool

    @property
    def is_rare(self) -> bool:
        """Whether it is a name that no dictionary has as a word."""
        lower = self.text.lower()
        return self.is_name and (self.text != lower or not tables().is_word(lower))


def named(question: str) -> tuple[Named, ...]:
    """The names of `question` in order, each as long as it stands there."""
    tokens = _tokens(question)
    known = list(_known(question))
    everything = Places((one.start, one.end) for one in known)
    sure = Places((one.start, one.end) for one in known if one.kind != "other")
    found = [*known, *_conditions(tokens, everything), *_unknown(question, tokens, sure)]
    return tuple(_merged(question, found))


@cache
def _functional() -> frozenset[str]:
    """Words that name nothing: those of asking and of people."""
    policy = load("questions")
    listed = [policy[name] for name in ("asking_words", "everyday", "populations")]
    words = [word for some in (*listed, load("asked")["asked_for"]) for word in some]
    return frozenset(map(str.lower, words))


def _tokens(question: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _TOKEN.finditer(question):
        text, at = match.group(), match.start()
        before = question[max(0, at - 5) : at].rstrip()[-1:]
        begins = before in ("", ".", "?", "!", "\n", ":")
        written = text.lower() if text.istitle() else text
        is_word = bool(stems(text)) and written not in _functional()
        is_word = is_word and vocabulary().unit(text) is None
        found.append(_Token(*match.span(), text, is_word and is_name(text, begins=begins)))
    return found


def _known(question: str) -> Iterator[Named]:
    """The names that terminologies have, and those that no table has."""
    for one in names(question, typed=True):
        text = question[one.start : one.end]
        is_common = bool(one.kinds) and one.kinds <= _COMMON and is_ordinary(text.lower())
        if is_common or text.lower() in _functional():
            continue
        if one.known and _is_other_name(text, one.preferred):
            yield Named(one.start, one.end, text, _kind(one), (one.preferred,))
        else:
            yield Named(one.start, one.end, text)


_COMMON = frozenset({"anatomy", "procedure", "device", "chemical"})
"""Kinds whose names are words of every day, too: treatment, tablet, heart."""


def _kind(one: Name) -> Kind:
    if one.kinds & {"disease", "tumor"}:
        return "condition"
    return "drug" if one.kinds & {"drug", "chemical"} else "other"


def _is_other_name(written: str, preferred: str) -> bool:
    """Whether a table's name for what is written can be told in its place. Short forms mean much;
    one counts only if its letters stand in the name in their order."""
    if not written.isupper():
        return True
    name = " ".join(reversed(preferred.split(", "))).lower()
    letters = iter(name)
    return name[:1] == written[:1].lower() and all(one in letters for one in written.lower())


@dataclass(frozen=True)
class _Forms:
    ending: re.Pattern[str]
    heads: frozenset[str]
    before: re.Pattern[str]


@cache
def _forms() -> _Forms:
    policy = load("asked")["conditions"]
    return _Forms(
        re.compile(rf"[\w-]{{0,40}}{policy['ending']}", re.IGNORECASE),
        frozenset(policy["heads"]),
        re.compile(policy["before"], re.IGNORECASE),
    )


def _conditions(tokens: Sequence[_Token], known: Places) -> Iterator[Named]:
    """Names whose head is that of a condition, with what stands before it."""
    for at, token in enumerate(tokens):
        word = token.text.lower()
        if word not in _forms().heads and not _forms().ending.fullmatch(word):
            continue
        first = at
        while first > max(0, at - _MOST_BEFORE) and _belongs(
            tokens[first - 1], tokens[first], known
        ):
            first -= 1
        if first < at or token.is_name or _forms().ending.fullmatch(word) or len(word) > _SHORT:
            yield Named(tokens[first].start, token.end, "", kind="condition")


_SHORT = 5
"""Letters of a head that alone names no condition: a tear, a mass."""


def _belongs(before: _Token, token: _Token, known: Places) -> bool:
    """Whether a word is part of the name that the next one continues."""
    return token.start - before.end == 1 and (
        before.is_rare
        or known.meet(before.start, before.end)
        or _forms().before.fullmatch(before.text) is not None
    )


def _unknown(question: str, tokens: Sequence[_Token], known: Places) -> Iterator[Named]:
    """Runs of words that are names by themselves. Beside a condition or drug that tables
    have, a word of the dictionary is no part of it ("psoriasis curable")."""
    run: list[_Token] = []
    for token in tokens:
        if run and token.is_name and _is_one(question, run[-1], token, known):
            run.append(token)
            continue
        if run:
            yield Named(run[0].start, run[-1].end, "")
        run = [token] if token.is_name else []
    if run:
        yield Named(run[0].start, run[-1].end, "")


def _is_one(question: str, one: _Token, token: _Token, known: Places) -> bool:
    gap = question[one.end : token.start]
    if gap == " ":
        first, second = (known.meet(part.start, part.end) for part in (one, token))
        return first == second or (token if first else one).is_rare
    return gap == "-"


def _merged(question: str, found: Iterable[Named]) -> Iterator[Named]:
    """Names that share a place as one."""
    last: Named | None = None
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if last is not None and one.start < last.end:
            kind = max(last.kind, one.kind, key=_WEIGHT.__getitem__)
            also = (*last.also, *(() if one.kind == "other" else one.also))
            last = Named(last.start, max(last.end, one.end), "", kind, also)
            continue
        if last is not None:
            yield _whole(question, last)
        last = one
    if last is not None:
        yield _whole(question, last)


def _whole(question: str, one: Named) -> Named:
    """A name with its number or letter behind: type C, stage IV."""
    behind = _NUMBERED.match(question, one.end)
    end = behind.end() if behind else one.end
    return replace(one, end=end, text=question[one.start : end])
