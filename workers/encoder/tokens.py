"""The tokens of a text, as the readers that are trained upon the encoder take them in."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tokenizers import Tokenizer

from clinical_text.names import names
from workers.encoder.minilm import model_folder

KINDS = ("", "disease", "drug", "protein", "other", "unknown")
"""What the tables of names have a token's name for: an input of the reader beside its word."""
_NUMBER_OF = {
    **dict.fromkeys(("disease", "tumor"), KINDS.index("disease")),
    **dict.fromkeys(("drug", "chemical"), KINDS.index("drug")),
    **dict.fromkeys(("protein", "gene"), KINDS.index("protein")),
}


@dataclass(frozen=True)
class Tokens:
    """Numbers of tokens and of the kinds of their names, and their places in the text.

    `first` and `last` are the marks that the encoder wants around them.
    """

    ids: Sequence[int]
    kinds: Sequence[int]
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
        some = (self.ids[start:end], self.kinds[start:end], self.places[start:end])
        return Tokens(*some, self.first, self.last)


def tokens_of(text: str) -> Tokens:
    """The tokens of `text`."""
    encoded = _tokenizer().encode(text, add_special_tokens=False)
    first, last = _tokenizer().encode("").ids
    places = encoded.offsets
    return Tokens(encoded.ids, _kinds(text, places), places, first, last)


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


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
