"""Where the words stand that a claim leans on: in one piece or in several, in one source or more.
Pure.

Whoever drafts may put marks around a quotation, and an ellipsis where words are left out. Each
piece must stand to the letter, those of one source in their order. What is shown and judged are the
whole sentences that they stand in, so an ellipsis hides nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from clinical_text.quotes import ELLIPSIS, QuoteCheck, Source, exact
from store.core.spans import Span

MOST_PIECES = 6
LEAST_WORDS = 3
"""Of a piece; ours: fewer stand anywhere."""

_MARKS = {
    '"': '"',
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u2018": "\u2019",
    "'": "'",
    "`": "`",
}
"""Opening quotation marks, and what may close them."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Placed:
    """A piece of a quotation, where it stands."""

    key: str
    check: QuoteCheck

    @property
    def span(self) -> Span:
        """Its place in the text of its source."""
        assert self.check.start is not None
        assert self.check.end is not None
        return Span(self.check.start, self.check.end)


def placed(
    quote: str, sources: Mapping[str, Source], sentences: Mapping[str, Sequence[Span]]
) -> tuple[Placed, ...]:
    """The pieces of a quotation where they stand; none where one of them does not.

    Args:
        sources: by evidence key, those that the claim names, in its order.
        sentences: of each of them.
    """
    for words in _forms(quote):
        for key, source in sources.items():
            if (found := exact(words, source)) is not None:
                return (Placed(key, found),)
    for words in _forms(quote):
        pieces = [one.strip() for one in ELLIPSIS.split(" ".join(words.split())) if one.strip()]
        whole = 0 < len(pieces) <= MOST_PIECES and all(map(_says_something, pieces))
        if whole and (found_all := _in_order(pieces, sources)):
            return () if _is_stitched(found_all, sentences) else found_all
    return ()


def _forms(quote: str) -> Iterator[str]:
    """A quotation as it was written, and without the marks around it."""
    yield quote
    words = quote.strip().rstrip(".,;").rstrip()
    if len(words) > 2 and words[-1] in _MARKS.get(words[0], ""):
        yield words[1:-1]


def _says_something(piece: str) -> bool:
    return len(_WORD.findall(piece)) >= LEAST_WORDS


def _in_order(pieces: Sequence[str], sources: Mapping[str, Source]) -> tuple[Placed, ...]:
    """Each piece behind the one before it in the same source, else in another."""
    found: list[Placed] = []
    reached = dict.fromkeys(sources, 0)
    for piece in pieces:
        last = [found[-1].key] if found else []
        keys = [*last, *(key for key in sources if key not in last)]
        tries = ((key, _behind(piece, sources[key], reached[key])) for key in keys)
        hit = next((Placed(key, one) for key, one in tries if one is not None), None)
        if hit is None:
            return ()
        found.append(hit)
        reached[hit.key] = hit.span.end
    return tuple(found)


def _behind(piece: str, source: Source, at: int) -> QuoteCheck | None:
    found = exact(piece, Source(source.text[at:]) if at else source)
    if found is None or found.start is None or found.end is None:
        return None
    return replace(found, start=found.start + at, end=found.end + at)


def _is_stitched(found: Sequence[Placed], sentences: Mapping[str, Sequence[Span]]) -> bool:
    """Whether an ellipsis joins the beginning of a sentence and the end of another into one that
    nobody wrote: the words before it end within a sentence, those behind it begin within another.
    """
    for one, other in pairwise(found):
        if one.key != other.key:
            continue
        before = _around(sentences[one.key], one.span.end - 1)
        behind = _around(sentences[other.key], other.span.start)
        if before is None or behind is None or before == behind:
            continue
        text_ends = one.span.end >= before.end - 1  # but for its stop
        if not text_ends and other.span.start > behind.start:
            return True
    return False


def _around(sentences: Sequence[Span], at: int) -> Span | None:
    return next((one for one in sentences if one.start <= at < one.end), None)
