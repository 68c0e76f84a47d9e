"""What a passage loses at its edges, and how far to widen it.

A quotation can be exact and still mislead when it begins after a `not` or inside a number. The
edges are looked at in the raw text, in a window of fixed size, so the cost does not grow with the
source.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from clinical_text.doc import doc
from clinical_text.vocabulary import Vocabulary, vocabulary
from store.core.spans import Span

# Code points looked at on either side of an edge: the longest number or phrase that matters is
# far shorter.
WINDOW = 80

_DIGIT_GROUP_SPACES = " \u00a0\u2009\u202f"
_SIGNS = "-+±\u2010\u2011\u2012\u2013\u2212"
_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2212"
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_NUMBER = (
    rf"(?:\d{{1,3}}(?:[{_DIGIT_GROUP_SPACES}]\d{{3}}){{1,9}}(?!\d)|\d{{1,80}}+)"
    rf"(?:[.,·]\d{{1,80}}+){{0,40}}[{_SUPERSCRIPTS}]{{0,20}}"
)
_LEADING_POINT = r"(?<!\d)[.·]\d{1,80}+"
# A number, a range of numbers, a number with its spread or its power of ten.
_NUMBER_GROUP = re.compile(
    rf"(?:{_NUMBER}|{_LEADING_POINT})"
    rf"(?:(?:\s?[{_DASHES}±×x]\s?|/)(?:{_NUMBER}|{_LEADING_POINT})){{0,40}}"
)
_SIGN_BEFORE = re.compile(rf"(?<!\w)[{_SIGNS}]\s?$")
_STARTS_NUMBER = re.compile(r"[$€£]?[.·]?\d")
_ENDS_NUMBER = re.compile(rf"\d[{_SUPERSCRIPTS}]{{0,80}}$")
_UNIT_AFTER = re.compile(r"[\s-]?(?P<unit>[%‰]|[^\W\d_]{1,80}\d?)(?![^\W_])")
_TAG_BEFORE = re.compile(r"</?[a-z][^<>]{0,200}>$|-->$")
"""The `>` of a tag or of a comment's end compares nothing."""
_JOINERS = "-'\u2010\u2011\u2019"


def cuts_at(text: str, start: int, end: int) -> tuple[str, ...]:
    """What the passage `[start, end)` of `text` cuts off, in raw code points.

    Any of: `number` (begins or ends inside a number, a range, a spread), `word`, `sign`,
    `comparator`, `negation` (one that stands outside reaches into it), `unit` (ends
    between a number and its unit). Empty when the passage stands on its own.
    """
    words = vocabulary()
    before, after = text[max(0, start - WINDOW) : start], text[end : end + WINDOW]
    inside = text[start:end] if end - start <= 2 * WINDOW else text[start : start + WINDOW]
    tail = text[max(start, end - WINDOW) : end]
    found: list[str] = []
    if _splits_number(before, inside) or _splits_number(tail, after):
        found.append("number")
    if _splits_word(before, inside) or _splits_word(tail, after):
        found.append("word")
    if _STARTS_NUMBER.match(inside) and _SIGN_BEFORE.search(before):
        found.append("sign")
    if _ends_with_comparator(before, words) or _ends_with_comparator(tail, words):
        found.append("comparator")
    if _loses_denial(text, start, end):
        found.append("negation")
    if _ENDS_NUMBER.search(tail) and _unit_follows(after, words):
        found.append("unit")
    return tuple(found)


def widen(text: str, start: int, end: int, sentences: Sequence[Span]) -> Span:
    """The smallest run of whole sentences around `[start, end)`.

    `sentences` are the ordered, disjoint sentence spans of `text`. Where the passage lies partly
    outside every sentence it keeps its own edges, so the result always holds the passage.

    Raises ValueError when `[start, end)` is not a place in `text`.
    """
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"[{start}, {end}) is not inside a text of {len(text)} characters")
    first = bisect_right(sentences, start, key=lambda span: span.end)
    last = bisect_left(sentences, end, key=lambda span: span.start) - 1
    if first > last:
        return Span(start, end)
    return Span(min(start, sentences[first].start), max(end, sentences[last].end))


def _splits_number(left: str, right: str) -> bool:
    """Whether the edge between the two texts falls inside a number or a group of numbers."""
    near = left[-WINDOW // 2 :]
    edge = len(near)
    for match in _NUMBER_GROUP.finditer(near + right[: WINDOW // 2]):
        if match.start() < edge < match.end():
            return True
        if match.start() >= edge:
            break
    return False


def _splits_word(left: str, right: str) -> bool:
    """Whether the edge falls inside a word or a compound joined by hyphens."""
    if not left or not right:
        return False
    a, b = left[-1], right[0]
    if _is_word(a) and _is_word(b):
        return not (a.isdigit() and b.isdigit())
    if a in _JOINERS and _is_word(b):
        return len(left) > 1 and left[-2].isalpha()
    if b in _JOINERS and _is_word(a):
        return len(right) > 1 and right[1].isalpha()
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or "\u0300" <= character <= "\u036f" or character == "\u00ad"


def _ends_with_comparator(left: str, words: Vocabulary) -> bool:
    tail = left.rstrip().lower()
    if _TAG_BEFORE.search(tail):
        return False
    for phrase in words.comparator_of:
        if tail.endswith(phrase):
            head = tail[: -len(phrase)]
            if not phrase[0].isalpha() or not head or not head[-1].isalnum():
                return True
    return False


def _loses_denial(text: str, start: int, end: int) -> bool:
    """Whether a denial outside the passage reaches into it."""
    if not text[:start].strip() and not text[end:].strip():
        return False  # there is nothing outside
    return doc(text).denied_from_outside(start, end)


def _unit_follows(after: str, words: Vocabulary) -> bool:
    match = _UNIT_AFTER.match(after)
    if match is None:
        return False
    return words.unit(match["unit"]) is not None
