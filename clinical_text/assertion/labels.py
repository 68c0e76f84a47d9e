"""`label: value` places: "Metastases: none", "ER: positive, PR: negative", "| Fever | No |".

A heading that stands in the line of its words is a label, too. What the value answers is read by
the answers of the lexicon; a short value that is none of them tells nothing that code could know.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clinical_text.assertion.lexicon import lexicon, longest
from clinical_text.sentences.tokens import Token
from store.core.spans import Span

_SHORT = 4
"""Words of a value that says no more than a word of its own (ours)."""
_NAME = r"[^\W_][^:;|,\n]{0,70}?"
_COLON = re.compile(
    r"(?:^|(?<=[,;|\n•])|(?<=[.!?] )|(?<=[-–*] ))[ \t*_]{0,6}+"
    rf"(?P<name>{_NAME})[ \t*_]*+:(?![:/\d])[ \t*_]*+",
    re.MULTILINE,
)
_SIGNED = re.compile(
    rf"(?:^|(?<=[,;|\n•]))[ \t*_|-]{{0,6}}+(?P<name>{_NAME})"
    r"(?:[ \t]*+[|=]|[ \t]*+(?<=[ \t])[-–—](?=[ \t])|[-–—](?=[ \t]))[ \t]*+"
    r"(?P<value>[^:;|,\n.]{1,40}?)[ \t]*+(?=[|,;\n]|\.(?!\d)|$)",
    re.MULTILINE,
)
_VALUE_ENDS = re.compile(r"[;|]|\n")


class Label(NamedTuple):
    """A name and its value, trimmed; `loose` where a dash or the like joins them, which joins much
    else, too."""

    name: Span
    value: Span
    loose: bool = False


def labels(text: str, sentences: Sequence[Span]) -> tuple[Label, ...]:
    """The labels of a text, in order."""
    return tuple(
        label for number in range(len(sentences)) for label in _labels(text, sentences, number)
    )


def _labels(text: str, sentences: Sequence[Span], number: int) -> Iterator[Label]:
    start, end = sentences[number]
    if ":" not in text[start:end]:
        for match in _SIGNED.finditer(text, start, end):
            yield Label(Span(*match.span("name")), Span(*match.span("value")), loose=True)
        return
    found = list(_COLON.finditer(text, start, end))
    for index, match in enumerate(found):
        following = found[index + 1] if index + 1 < len(found) else None
        stop = following.start("name") if following else end
        ends = _VALUE_ENDS.search(text, match.end(), stop)
        value = _trimmed(text, match.end(), ends.start() if ends else stop)
        if value is None and following is None and number + 1 < len(sentences):
            value = _next_in_line(text, end, sentences[number + 1])
        if value is not None:
            yield Label(Span(*match.span("name")), value)


def _next_in_line(text: str, end: int, following: Span) -> Span | None:
    """The words behind a heading: in its line, or right below."""
    between = text[end : following.start]
    return following if between.count("\n") < 2 else None


def _trimmed(text: str, start: int, end: int) -> Span | None:
    words = text[start:end]
    if not words.strip(" \t\n*_,.-"):
        return None
    start += len(words) - len(words.lstrip(" \t\n*_"))
    return Span(start, start + len(text[start:end].rstrip(" \t\n*_,.")))


def answer(value: Sequence[Token]) -> str:
    """What the value of a label answers: "no", "yes", "unknown", "short" where it is none of them,
    or "" where it tells of its own."""
    words = [token.word for token in value if token.word not in ("-", '"')]
    while len(words) > 1 and words[0].endswith("ly"):  # immunohistochemically negative
        words.pop(0)
    if not words:
        return "unknown"
    lists = lexicon()
    length, name = longest(lists.answer_trie, words, 0)
    behind = words[length] if length < len(words) else ""
    ends = not behind or not behind[0].isalnum() or behind in lists.around
    if name == "unknown" or (name and ends):
        return str(name)
    if name == "yes":
        return "yes"
    if words[0] in "+" or any(word[0].isdigit() for word in words[:2]):
        return "yes"
    return "" if sum(word[0].isalnum() for word in words) > _SHORT else "short"
