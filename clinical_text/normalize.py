"""Typographic folding of a text, with a way back to the places it came from.

Two writings of one passage may differ in what carries no meaning: the width of a space, a line
end, a ligature, the shape of a quotation mark, the length of a dash. These are folded. What
carries meaning in a clinical text is left alone: digits, decimal marks, comparators, signs, units,
super- and subscripts, percent, case (DESIGN section 2, invariant 5; PEERS section 6.2 lists what
other systems fold by mistake).

The rules, and why each is harmless:

* White space of any width, and line ends, become one space; it never vanishes and never appears.
* Zero-width characters are invisible and are dropped, except between two characters of a number,
  where they may be all that is left of a separator.
* A soft hyphen between letters marks a possible line break and is dropped, with the line break
  that follows it. Elsewhere it stays: some PDF readers deliver minus signs as soft hyphens.
* Ligatures and full-width letters become their letters; letters with combining marks are composed
  (Unicode canonical equivalence); U+00B5 becomes U+03BC and the ohm, kelvin and angstrom signs
  their letters, which Unicode defines as the same characters.
* Quotation marks become `"` and apostrophes `'`. Primes and guillemets stay: the first are units,
  the second look like comparators.
* A hyphen or en dash that works as a sign (directly before a number, after a space, an opening
  bracket, a comparator or a separator) becomes U+2212; elsewhere hyphens and dashes become `-`.
  U+2212 itself is never changed, and an em dash in the place of a sign stays what it is.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

MINUS = "\u2212"

_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"
_SOFT_HYPHEN = "\u00ad"
_LONG_DASHES = "\u2012\u2014\u2015"
_SHORT_DASHES = "\u2010\u2011\u2013"

_LETTERS: dict[str, str] = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    "\u00b5": "\u03bc",
    "\u212b": "\u00c5",
    "\u2126": "\u03a9",
    "\u212a": "K",
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
    **{chr(c): chr(c - 0xFEE0) for c in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))},
}

# All white space of Unicode lies below U+3001; spelled out, the class is searched faster than `\s`.
_SPACES = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
_GAP = f"[{_SPACES}{_ZERO_WIDTH}{_SOFT_HYPHEN}]"
_MARKS = "\u0300-\u036f"
_MARK = re.compile(f"[{_MARKS}]")
# A character of the table, or a run of gaps other than one plain space. The pattern begins with
# one character class so that the search can skip over plain text.
_PLAIN = rf"[{''.join(_LETTERS)}{_GAP[1:-1]}](?:(?<=[{''.join(_LETTERS)}])|(?<! ){_GAP}*|{_GAP}+)"
_SPECIAL = re.compile(_PLAIN)
_SPECIAL_OR_MARKED = re.compile(rf"[^\W\d_][{_MARKS}]+|{_PLAIN}")
_BESIDE_SOFT_HYPHEN = re.compile(f"[^{_SOFT_HYPHEN}]+")
_WHITE = re.compile(r"\s")

# Where a dash can only be a sign: what stands before it, and the number after it.
_BEFORE_SIGN = r"\s(\[{<>\u2264\u2265\u2266\u2267=\u2248~\u223c\u00b1+*\u00d7/,;:|\"'"
_NUMBER_AHEAD = r"(?=[$€£]?[.,·]?[\d∞])"
_SIGN = re.compile(rf"[-{_SHORT_DASHES}](?<![^{_BEFORE_SIGN}].){_NUMBER_AHEAD}")
_LONG_AS_DASH = re.compile(rf"[{_LONG_DASHES}](?:(?<=[^{_BEFORE_SIGN}].)|(?!{_NUMBER_AHEAD}))")
_DASH = re.compile(f"[-{_SHORT_DASHES}{_LONG_DASHES}]")
_NUMERIC = re.compile(rf"[\d.,·+\-{MINUS}{_SHORT_DASHES}{_LONG_DASHES}]")


@dataclass(frozen=True, slots=True)
class Normalized:
    """A folded text and the map back to the raw text.

    `text` is the folded form. The three tuples describe, in order, the places where folding
    changed the length: `[starts[k], ends[k])` in the folded text came from
    `[raw_starts[k], raw_ends[k])`. Everything between two such places has its raw length.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    raw_starts: tuple[int, ...]
    raw_ends: tuple[int, ...]

    def raw_range(self, index: int) -> tuple[int, int]:
        """The raw range `[start, end)` of the folded character at `index`.

        Characters that came out of one raw place (the letters of a ligature) share its range.
        Raises IndexError outside the folded text.
        """
        if not 0 <= index < len(self.text):
            raise IndexError(f"no folded character at {index}")
        k = bisect_right(self.starts, index) - 1
        if k < 0:
            return index, index + 1
        if index < self.ends[k]:
            return self.raw_starts[k], self.raw_ends[k]
        raw = self.raw_ends[k] + index - self.ends[k]
        return raw, raw + 1

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The raw range of the folded range `[start, end)`, which must not be empty.

        Dropped characters at either edge are left out.
        """
        return self.raw_range(start)[0], self.raw_range(end - 1)[1]


def normalize(text: str) -> Normalized:
    """Fold `text`; linear in its length. Folding a folded text changes nothing."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    raw_starts: list[int] = []
    raw_ends: list[int] = []
    done = length = 0
    pattern = _SPECIAL_OR_MARKED if _MARK.search(text) else _SPECIAL
    for match in pattern.finditer(text):
        for begin, end, folded in _fold(text, *match.span()):
            pieces += (text[done:begin], folded)
            length += begin - done
            if not (len(folded) == 1 == end - begin):
                starts.append(length)
                ends.append(length + len(folded))
                raw_starts.append(begin)
                raw_ends.append(end)
            length += len(folded)
            done = end
    pieces.append(text[done:])
    return Normalized(
        fold_dashes("".join(pieces)),
        tuple(starts),
        tuple(ends),
        tuple(raw_starts),
        tuple(raw_ends),
    )


def fold_dashes(text: str) -> str:
    """Signs to U+2212, dashes to `-`, as in the module's rules; every character keeps its place."""
    if text.isascii():
        return _SIGN.sub(MINUS, text) if "-" in text else text
    if not _DASH.search(text):
        return text
    text = _SIGN.sub(MINUS, text)
    for dash in _SHORT_DASHES:
        text = text.replace(dash, "-")
    return _LONG_AS_DASH.sub("-", text)


def _fold(text: str, begin: int, end: int) -> tuple[tuple[int, int, str], ...]:
    """What the parts of the special run `[begin, end)` become."""
    letter = _LETTERS.get(text[begin])
    if end - begin > 1 and _MARK.match(text, begin + 1):
        marked = (letter or text[begin]) + text[begin + 1 : end]
        return ((begin, end, unicodedata.normalize("NFC", marked)),)
    if letter is not None:
        return ((begin, end, letter),)
    run = text[begin:end]
    if _SOFT_HYPHEN not in run:
        return ((begin, end, _fold_gap(text, begin, end)),)
    first = run.lstrip(_ZERO_WIDTH)[0]
    if (
        first == _SOFT_HYPHEN
        and _ends_word(text[begin - 1 : begin])
        and text[end : end + 1].isalpha()
    ):
        return ((begin, end, ""),)
    # Soft hyphens that may be more than that stay; the gaps around them fold as usual.
    return tuple(
        (
            begin + part.start(),
            begin + part.end(),
            _fold_gap(text, begin + part.start(), begin + part.end()),
        )
        for part in _BESIDE_SOFT_HYPHEN.finditer(run)
    )


def _fold_gap(text: str, begin: int, end: int) -> str:
    """What a run of white space and zero-width characters becomes."""
    run = text[begin:end]
    before, after = text[begin - 1 : begin], text[end : end + 1]
    if _WHITE.search(run):
        return " "
    if _NUMERIC.match(before) and _NUMERIC.match(after):
        return run
    # Dropping it would put a combining mark on another letter.
    return run if after and unicodedata.combining(after) else ""


def _ends_word(character: str) -> bool:
    return character.isalpha() or (character != "" and unicodedata.combining(character) != 0)
