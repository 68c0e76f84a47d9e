"""The tokens of a text, as the readers that are trained upon the encoder take them in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tokenizers import Tokenizer

from clinical_text.names import names
from workers.encoder.minilm import model_folder

KINDS = ("", "disease", "drug", "protein", "other", "unknown")
"""What the tables of names have a token's name for: an input of the reader beside its word."""
GAPS = ("none", "space", "wide", "line", "lines")
"""What stands between two tokens: nothing, a space, several or a tab, a line end, an empty line.
The encoder's own tokens do not tell."""
SHAPES = ("small", "capital", "capitals", "figure", "mark")
"""How a token's word is written; the encoder's own tokens are all in small letters."""
_NUMBER_OF = {
    **dict.fromkeys(("disease", "tumor"), KINDS.index("disease")),
    **dict.fromkeys(("drug", "chemical"), KINDS.index("drug")),
    **dict.fromkeys(("protein", "gene"), KINDS.index("protein")),
}


@dataclass(frozen=True)
class Tokens:
    """Numbers of tokens and of the kinds of their names, and their places in the text.

    `gaps` are before each token and behind the last, by number; `shapes` likewise. `first` and
    `last` are the marks that the encoder wants around them.
    """

    ids: Sequence[int]
    kinds: Sequence[int]
    gaps: Sequence[int]
    shapes: Sequence[int]
    places: Sequence[tuple[int, int]]
    first: int
    last: int

    @property
    def marked(self) -> list[int]:
        """All numbers, with the marks."""
        return [self.first, *self.ids, self.last]

    def stretch(self, start: int, length: int) -> "Tokens":
        """Some of them."""
        end = start + length
        own = (self.ids[start:end], self.kinds[start:end], self.gaps[start : end + 1])
        return Tokens(*own, self.shapes[start:end], self.places[start:end], self.first, self.last)


def tokens_of(text: str) -> Tokens:
    """The tokens of `text`."""
    encoded = _tokenizer().encode(text, add_special_tokens=False)
    first, last = _tokenizer().encode("").ids
    places = encoded.offsets
    own = (encoded.ids, _kinds(text, places), _gaps(text, places), _shapes(text, places))
    return Tokens(*own, places, first, last)


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _gaps(text: str, places: Sequence[tuple[int, int]]) -> list[int]:
    """The numbers of what stands before each token, and behind the last."""
    ends = [0, *(end for _, end in places)]
    starts = [*(start for start, _ in places), len(text)]
    edge = GAPS.index("lines")
    between = [_gap(text[end:start]) for end, start in zip(ends, starts, strict=True)]
    return [edge, *between[1:-1], edge]


def _gap(space: str) -> int:
    breaks = len(f"{space}.".splitlines()) - 1
    if breaks:
        return GAPS.index("lines" if breaks > 1 else "line")
    if len(space) > 1 or "\t" in space:
        return GAPS.index("wide")
    return GAPS.index("space" if space else "none")


def _shapes(text: str, places: Sequence[tuple[int, int]]) -> list[int]:
    """The number of the shape of each token's word."""
    found = [SHAPES.index("mark")] * len(places)
    at = 0
    for word in _WORD.finditer(text):
        while at < len(places) and places[at][1] <= word.start():
            at += 1
        shape = SHAPES.index(_shape(word.group()))
        while at < len(places) and places[at][0] < word.end():
            found[at] = shape
            at += 1
    return found


_WORD = re.compile(r"[^\W_]+")


def _shape(word: str) -> str:
    if any(map(str.isdigit, word)):
        return "figure"
    if word.isupper() and len(word) > 1:
        return "capitals"
    return "capital" if word[0].isupper() else "small"


def _kinds(text: str, places: Sequence[tuple[int, int]]) -> list[int]:
    """The number of the kind of each token's name."""
    found = [0] * len(places)
    at = 0
    for name in names(text, typed=True):
        while at < len(places) and places[at][1] <= name.start:
            at += 1
        for token in range(at, len(places)):
            if places[token][0] >= name.end:
                break
            found[token] = _number(name.kinds)
    return found


def _number(kinds: frozenset[str]) -> int:
    if not kinds:
        return KINDS.index("unknown")
    known = [_NUMBER_OF[one] for one in kinds if one in _NUMBER_OF]
    return min(known, default=KINDS.index("other"))
