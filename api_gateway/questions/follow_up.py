"""A question that is asked on from another one, made to stand for itself. Pure.

"What about stage III?" says only what is to be different. Where it names a thing of a kind that the
question before names, it takes its place there; "in women" narrows that question; a question of its
own that says "it" gets the names that it leaves out, in parentheses, as retrieval reads several
questions in one text. What comes of it is shown and kept as the question: nothing is hidden in it.
"""

import re
from dataclasses import replace

from clinical_text.names import Name, names

_OPENER = re.compile(
    r"(?:(?:and|but|or|so|then|now|also)\b[\s,]{0,3})?(?:(?:what|how)\s(?:about|if)\s)?",
    re.IGNORECASE,
)
_CLOSER = re.compile(
    r"[\s,]{0,3}(?:too|as well|instead|then)?\s{0,3}[?.!]{0,3}\s{0,3}\Z", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(?:wh(?:at|ich|o|om|ose|en|ere|y)|how|is|are|was|were|am|be|do|does|did|has|have|had|can"
    r"|could|shall|should|will|would|may|might|must|compare|list|show|name|tell|give|find)\b",
    re.IGNORECASE,
)
"""The closed classes that make an English question or request: interrogatives, auxiliaries, and the
imperatives that ask to be told something."""
_POINTS_BACK = re.compile(
    r"\b(?:it(?![^?]{0,60}\s(?:to|that)\s)|its|this|these|those|they|them|their|(?:is|was|do(?:es)?|did)\sthat)\b",
    re.IGNORECASE,
)
"""Pronouns but for the "it" that stands for what follows ("is it safe to ...")."""
_NARROWS = re.compile(
    r"(?:in|for|among|after|before|during|with|without|at|by|on|under|over|within)\b", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"\b(?P<label>[a-z]{3,20})[\s-](?P<number>[ivx]{1,4}[abc]?|\d{1,3}[abc]?)\b", re.IGNORECASE
)
_PROPER = re.compile(r"(?<=\s)(?![IVX]+\b)[A-Z][\w+-]{1,40}(?:\s[A-Z][\w+-]{1,40}){0,3}")

_WORD = re.compile(r"(?!(?:the|a|an)\b)\b\w", re.IGNORECASE)


def asked_on(before: str, words: str) -> str:
    """`words` with what they leave to the question `before`; unchanged where they leave nothing."""
    opener = _OPENER.match(words)
    rest = _CLOSER.sub("", words[opener.end() if opener else 0 :].strip())
    if not rest or rest[-1] == ")":
        return words
    if not _ASKS.search(rest):
        narrows = _NARROWS.match(rest)
        rest = rest[0].lower() + rest[1:] if narrows else rest
        if (whole := _in_place(before, rest, narrows[0].lower() if narrows else "")) is not None:
            return whole
        if narrows:
            return f"{_CLOSER.sub('', before)} {rest}?"
    elif own := _named(rest):
        back = _POINTS_BACK.search(rest)
        if back is None or back.start() > own[0].start:
            return words
    subject = dict.fromkeys(before[one.start : one.end] for one in _named(before))
    return f"{words} ({', '.join(subject) or _CLOSER.sub('', before)})"


def _in_place(before: str, rest: str, preposition: str) -> str | None:
    """`before` with each thing that `rest` names in the place of the one thing of its kind that it
    names, of several of the one behind the same preposition; None if anything else is said."""
    there, whole, left = _things(before), before, rest
    for new in reversed(_things(rest)):
        alike = [old for old in there if _alike(old, new)]
        if preposition and len(alike) > 1:
            alike = [one for one in alike if before[: one.start].endswith(f" {preposition} ")]
        if len(alike) != 1:
            return None
        (old,) = alike
        there = [one for one in there if one.end <= old.start]
        whole = whole[: old.start] + rest[new.start : new.end] + whole[old.end :]
        left = left[: new.start] + left[new.end :]
    return None if left == rest or _WORD.search(_NARROWS.sub("", left, count=1)) else whole


def _things(text: str) -> list[Name]:
    """The names in a text and its numbered ones ("stage III"), each of which is of its own kind."""
    numbered = [
        Name(one.start(), one.end(), one["label"].lower()) for one in _NUMBERED.finditer(text)
    ]
    return _apart(numbered, _named(text))


def _named(text: str) -> list[Name]:
    """The names in a text, and what its capitals tell to be one."""
    proper = [Name(one.start(), one.end(), "") for one in _PROPER.finditer(text)]
    return _apart([replace(one, key="") for one in names(text, typed=True)], proper)


def _apart(first: list[Name], then: list[Name]) -> list[Name]:
    """All of the first and those of the others that share nothing with them, in order."""
    free = [one for one in then if all(o.end <= one.start or one.end <= o.start for o in first)]
    return sorted([*first, *free], key=lambda one: one.start)


def _alike(old: Name, new: Name) -> bool:
    """Whether two things are of one kind: the same label, a shared kind, or none known of both."""
    return old.key == new.key and bool(old.kinds & new.kinds or not (old.kinds or new.kinds))
