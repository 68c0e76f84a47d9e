"""The passage of a source that a rejected quotation comes closest to, and how the two differ.

Nothing here can accept a quotation: it only names what is wrong with one. All work is bounded: rare
words vote for a place, and the comparison looks at a window there, never at the whole source.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest
from typing import NamedTuple

_TOKEN = re.compile(r"\d+(?:[.,·]\d+)*|\w+|[^\w\s]")

# Bounds of the search for a place: words that vote, places of one word that count, tokens by which
# places may drift apart and still vote together, and places compared (two bands overlap).
VOTERS = 32
PLACES = 64
BAND = 16
CANDIDATES = 3
# A passage with this share of the words is near enough to look no further.
NEAR = 0.9
# Tokens compared at most, and how much more of the source than of the quotation.
COMPARED = 160
MARGIN_BEFORE = 16
MARGIN_AFTER = 48
LOOSE = 4
# A stitched quotation has few parts, each long enough not to be found by chance.
MAX_PIECES = 6
MIN_PIECE_TOKENS = 3
SHOWN_DIFFERENCES = 3
SHOWN_CHARS = 60


class Piece(NamedTuple):
    """A part of a quotation found at `[start, end)` of the folded source."""

    start: int
    end: int


class Difference(NamedTuple):
    """One place where the passage reads `source` and the quotation `quote`; either may be empty."""

    source: str
    quote: str

    def __str__(self) -> str:
        source, quote = _short(self.source), _short(self.quote)
        if not source:
            return f"adds “{quote}”"
        if not quote:
            return f"leaves out “{source}”"
        return f"says “{quote}”, the source “{source}”"


@dataclass(frozen=True, slots=True)
class Closest:
    """The closest passage: its range in the folded source, its tokens and its differences.

    `matched` is the share of the quotation's compared words that the passage has in the same
    order, 0 to 1; `changed` counts the tokens of the quotation that it has not, `dropped` the
    tokens of the passage that the quotation leaves out.
    """

    start: int
    end: int
    first_token: int
    last_token: int
    matched: float
    changed: int
    dropped: int
    differences: tuple[Difference, ...]

    @property
    def distance(self) -> int:
        """How many tokens set the two apart."""
        return self.changed + self.dropped

    def describe(self) -> str:
        """The first differences in one short line. Holds words of the source: do not log it."""
        shown = "; ".join(map(str, self.differences[:SHOWN_DIFFERENCES]))
        more = len(self.differences) - SHOWN_DIFFERENCES
        return f"{shown}; and {more} more" if more > 0 else shown


class TokenIndex:
    """The words of one folded text and where each stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans = [match.span() for match in _TOKEN.finditer(text)]
        self._words = [text[start:end] for start, end in self._spans]
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self._words):
            places[word.lower()].append(place)
        self._places = dict(places)

    def closest(self, quote: str) -> Closest | None:
        """The passage most like the folded `quote`, None when no word of it stands here."""
        words = _TOKEN.findall(quote)
        if len(words) > COMPARED:
            # Look where a long quotation first departs from the source.
            at = self._longest_start(quote, 0, range(1, len(quote) + 1))
            words = _TOKEN.findall(quote, max(0, at - 400))[:COMPARED]
        best: Closest | None = None
        for place in self._places_for(words):
            found = self._compare(place - MARGIN_BEFORE, place + len(words) + MARGIN_AFTER, words)
            if found is not None and found.dropped > LOOSE:
                # A phrase said twice nearby can be matched at its far end: look again, closely.
                tight = len(words) + LOOSE
                first, last = found.first_token, found.last_token
                for low, high in ((first, first + tight), (last + 1 - tight, last + 1)):
                    closer = self._compare(low, high, words)
                    if closer is not None and closer.distance < found.distance:
                        found = closer
            if found is not None and (best is None or found.matched > best.matched):
                best = found
                if best.matched >= NEAR:
                    break
        return best

    def pieces(self, quote: str) -> tuple[Piece, ...] | None:
        """The parts of the folded `quote`, each standing here exactly; None if some part does not.

        Each part is the longest that is found, so a quotation made of two passages gives two.
        """
        spans = [match.span() for match in _TOKEN.finditer(quote)]
        parts: list[Piece] = []
        done = 0
        while done < len(spans):
            start = spans[done][0]
            ends = [end for _, end in spans[done:]]
            count = self._longest_start(quote, start, ends)
            if count < MIN_PIECE_TOKENS or len(parts) == MAX_PIECES:
                return None
            part = quote[start : ends[count - 1]]
            found = self._text.find(part, parts[-1].end) if parts else -1
            if found < 0:
                found = self._text.find(part)
            parts.append(Piece(found, found + len(part)))
            done += count
        return tuple(parts)

    def _longest_start(self, quote: str, start: int, ends: Sequence[int]) -> int:
        """How many of `ends`, in order, end a part of `quote` from `start` that stands here."""
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high + 1) // 2
            if quote[start : ends[middle - 1]] in self._text:
                low = middle
            else:
                high = middle - 1
        return low

    def _places_for(self, words: Sequence[str]) -> list[int]:
        """Where the quotation might begin, by the votes of its rarest words; likeliest first."""
        known = [(self._places.get(word.lower()), i) for i, word in enumerate(words)]
        voters = sorted(
            ((places, i) for places, i in known if places is not None),
            key=lambda voter: len(voter[0]),
        )[:VOTERS]
        votes: defaultdict[int, float] = defaultdict(float)
        for places, i in voters:
            for place in places[:PLACES]:
                band = (place - i) // BAND
                votes[band] += 1 / len(places)
                votes[band - 1] += 1 / len(places)
        return [band * BAND for band in nlargest(CANDIDATES, votes, key=votes.__getitem__)]

    def _compare(self, low: int, high: int, words: Sequence[str]) -> Closest | None:
        low = max(0, low)
        window = self._words[low : max(0, high)]
        matcher = SequenceMatcher(None, window, words, autojunk=False)
        blocks = [block for block in matcher.get_matching_blocks() if block.size]
        # A lone comma or article far off says nothing about where the passage begins or ends.
        while len(blocks) > 1 and blocks[0].size == 1 and blocks[1].a - blocks[0].a > MARGIN_BEFORE:
            del blocks[0]
        while len(blocks) > 1 and blocks[-1].size == 1 and _far_behind(blocks[-2], blocks[-1]):
            del blocks[-1]
        if not blocks:
            return None
        first, last = blocks[0], blocks[-1]
        a, b = max(0, first.a - first.b), 0
        stop = min(len(window), last.a + last.size + len(words) - last.b - last.size)
        begin = a
        differences: list[Difference] = []
        changed = dropped = 0
        for next_a, next_b, size in [*blocks, (stop, len(words), 0)]:
            if next_a > a or next_b > b:
                differences.append(
                    Difference(" ".join(window[a:next_a]), " ".join(words[b:next_b]))
                )
                changed += next_b - b
                dropped += max(0, next_a - a - (next_b - b))
            a, b = next_a + size, next_b + size
        return Closest(
            start=self._spans[low + begin][0],
            end=self._spans[low + stop - 1][1],
            first_token=low + begin,
            last_token=low + stop - 1,
            matched=1 - changed / len(words),
            changed=changed,
            dropped=dropped,
            differences=tuple(differences),
        )


def _far_behind(block: tuple[int, int, int], later: tuple[int, int, int]) -> bool:
    return later[0] - block[0] - block[2] > MARGIN_BEFORE


def _short(words: str) -> str:
    return words if len(words) <= SHOWN_CHARS else words[: SHOWN_CHARS - 1].rstrip() + "…"
