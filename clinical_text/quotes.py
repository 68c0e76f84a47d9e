"""Is a quotation what its source says, to the letter?

`check` answers with a verdict and the place. Only `verbatim` and `normalized` are accepted, and
both rest on exact comparison, of the raw or of the folded texts: nothing here is "close enough"
(PEERS section 5 measured what that costs elsewhere). Details quote the source, which may be a
patient's note: they belong in answers, not in logs (DESIGN section 2, invariant 11).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from clinical_text.normalize import Normalized, normalize
from clinical_text.passages import MAX_PIECES, Closest, Piece, TokenIndex
from clinical_text.sentences.boundaries import cuts_at

# Nobody quotes more than a few pages; what is longer is not a quotation, and stays unchecked.
MAX_QUOTE_CHARS = 20_000
# Occurrences looked at for one that cuts nothing off.
MAX_OCCURRENCES = 16
# Labels among rejected quotations only: from this share of words in common a passage is "altered",
# below it the quotation is "fabricated"; up to so many changed tokens it is one passage altered
# rather than several stitched; so many may be left out before leaving out is stitching.
CLOSE = 0.6
FEW_CHANGED = 3
FEW_DROPPED = 4

# In a folded text, where one space stands for any run of them.
ELLIPSIS = re.compile(r"\s?[\[(]?\s?(?:…|\.\s?\.\s?\.(?:\s?\.)?)\s?[\])]?\s?")


class Verdict(StrEnum):
    """What a quotation is; only the first two may be shown as quotations."""

    VERBATIM = "verbatim"
    NORMALIZED = "normalized"
    ALTERED = "altered"
    MISATTRIBUTED = "misattributed"
    STITCHED = "stitched"
    FABRICATED = "fabricated"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """The verdict on one quotation.

    `[start, end)` are raw code points of the cited source (of `source` for misattributed): the
    quotation itself if accepted or misattributed, else the closest passage or the hull of the
    stitched parts; None when nothing was found. `detail` says in one line what is wrong. `cuts`
    names what an exact passage cuts off at its edges (see `boundaries.cuts_at`).
    """

    verdict: Verdict
    start: int | None = None
    end: int | None = None
    source: str | None = None
    detail: str = ""
    cuts: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the quotation is what the cited source says."""
        return self.verdict in (Verdict.VERBATIM, Verdict.NORMALIZED)


@dataclass(frozen=True, eq=False)
class Source:
    """A stored text that quotations are checked against; what is derived from it is kept."""

    text: str

    @cached_property
    def normalized(self) -> Normalized:
        """The folded text."""
        return normalize(self.text)

    @cached_property
    def tokens(self) -> TokenIndex:
        """The words of the folded text; needed only to explain a rejection."""
        return TokenIndex(self.normalized.text)


def check(quote: str, cited: Source, others: Mapping[str, Source] | None = None) -> QuoteCheck:
    """The verdict on `quote`, said to stand in `cited`.

    `others` are further sources, by any key, in which an exact match means a wrong attribution.
    Time is bounded by a fixed number of plain searches of each text.
    """
    if not quote.strip():
        return QuoteCheck(Verdict.UNCHECKED, detail="the quotation is empty")
    if len(quote) > MAX_QUOTE_CHARS:
        return QuoteCheck(
            Verdict.UNCHECKED,
            detail=f"{len(quote)} characters; quotations up to {MAX_QUOTE_CHARS} are checked",
        )
    if (exact := _best(cited.text, _verbatim(quote, cited.text))) is not None:
        return _accepted(Verdict.VERBATIM, *exact)
    folded = normalize(quote).text.strip()
    if not folded:
        return QuoteCheck(Verdict.UNCHECKED, detail="the quotation has no visible character")
    if (exact := _best(cited.text, _same_when_folded(folded, cited))) is not None:
        return _accepted(Verdict.NORMALIZED, *exact)
    for key, other in (others or {}).items():
        if (exact := _best(other.text, _same_when_folded(folded, other))) is not None:
            start, end, cuts = exact
            detail = "stands in another source than the cited one"
            return QuoteCheck(Verdict.MISATTRIBUTED, start, end, key, detail, cuts)
    return _explain(folded, cited)


def exact(quote: str, cited: Source) -> QuoteCheck | None:
    """`check` where it accepts `quote`, None where it does not: nothing is explained then."""
    if not quote.strip() or len(quote) > MAX_QUOTE_CHARS:
        return None
    if (found := _best(cited.text, _verbatim(quote, cited.text))) is not None:
        return _accepted(Verdict.VERBATIM, *found)
    folded = normalize(quote).text.strip()
    if folded and (found := _best(cited.text, _same_when_folded(folded, cited))) is not None:
        return _accepted(Verdict.NORMALIZED, *found)
    return None


def _accepted(verdict: Verdict, start: int, end: int, cuts: tuple[str, ...]) -> QuoteCheck:
    detail = f"cuts off: {', '.join(cuts)}" if cuts else ""
    return QuoteCheck(verdict, start, end, None, detail, cuts)


def _best(text: str, places: Iterator[tuple[int, int]]) -> tuple[int, int, tuple[str, ...]] | None:
    """The first place that cuts nothing off, else the first place, else None."""
    first: tuple[int, int, tuple[str, ...]] | None = None
    for start, end in places:
        cuts = cuts_at(text, start, end)
        if not cuts:
            return start, end, cuts
        first = first or (start, end, cuts)
    return first


def _occurrences(part: str, text: str) -> Iterator[int]:
    at = text.find(part)
    for _ in range(MAX_OCCURRENCES):
        if at < 0:
            return
        yield at
        at = text.find(part, at + 1)


def _verbatim(quote: str, text: str) -> Iterator[tuple[int, int]]:
    for at in _occurrences(quote, text):
        yield at, at + len(quote)


def _same_when_folded(folded: str, source: Source) -> Iterator[tuple[int, int]]:
    """Raw places whose own folding is `folded`.

    Folding looks at neighbours (a dash is a sign after a space), so each place is folded again on
    its own: what is shown must equal the quotation without its surroundings.
    """
    for at in _occurrences(folded, source.normalized.text):
        start, end = source.normalized.raw_span(at, at + len(folded))
        if normalize(source.text[start:end]).text == folded:
            yield start, end


def _explain(folded: str, cited: Source) -> QuoteCheck:
    """Which kind of wrong a quotation is that stands nowhere."""
    parts = [part for part in ELLIPSIS.split(folded) if part]
    if 1 < len(parts) <= MAX_PIECES:
        text = cited.normalized.text
        if all(part in text for part in parts):
            found = tuple(Piece(at := text.find(part), at + len(part)) for part in parts)
            return _stitched(found, cited, "parts joined by an ellipsis")
    closest = cited.tokens.closest(folded)
    if closest is None:
        return QuoteCheck(Verdict.FABRICATED, detail="no passage of the source resembles it")
    if closest.changed > FEW_CHANGED or closest.dropped > FEW_DROPPED:
        pieces = cited.tokens.pieces(folded)
        if pieces is not None and len(pieces) > 1:
            return _stitched(pieces, cited, "parts joined without a mark")
    if closest.matched < CLOSE:
        return QuoteCheck(Verdict.FABRICATED, detail="no passage of the source resembles it")
    return _altered(closest, cited)


def _stitched(pieces: tuple[Piece, ...], cited: Source, how: str) -> QuoteCheck:
    start, end = cited.normalized.raw_span(
        min(piece.start for piece in pieces), max(piece.end for piece in pieces)
    )
    return QuoteCheck(Verdict.STITCHED, start, end, detail=f"{len(pieces)} {how}")


def _altered(closest: Closest, cited: Source) -> QuoteCheck:
    start, end = cited.normalized.raw_span(closest.start, closest.end)
    detail = closest.describe() or "differs in spacing only"
    return QuoteCheck(Verdict.ALTERED, start, end, detail=detail)
