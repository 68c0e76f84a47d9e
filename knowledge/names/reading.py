"""Finds the names in a text: the longest that the tables have, and those that no table has. Pure.

A name that stands for several things, or is a word of its own ("MS", "Gold"), needs evidence: the
text defines it, names the same thing otherwise, or writes it as such names are written.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from knowledge.names.abbreviations import definitions
from knowledge.names.name import Name
from knowledge.names.spelling import Word, key, words
from knowledge.names.tables import (
    BRAND,
    CAPITALS,
    DOUBTFUL,
    PREFERRED,
    SPACED,
    SPELLED,
    SYMBOL,
    Sense,
    tables,
)
from knowledge.names.unknown import unknown_names

_LONGEST = 80
"""Letters of a key, at most."""
_GAP = re.compile(r"(?:['’ʼ][sS])?[\s/'’ʼ™®©+‐‑‒–—-]{0,3}|[.,]")
"""Between the words of a name; a comma with a space only in names that a terminology turned."""
_REGISTERED = re.compile(r"\s?[™®]|\s?\((?:R|TM)\)")
_DOSE = re.compile(
    r"\s\(?\d[\d.,]{0,8}\s?(?:mg|mcg|µg|μg|g|ml|mL|IU|units?|tablets?|capsules?)\b"
    r"|\s(?:tablets?|capsules?|injections?|infusions?)\b"
)
_DOSE_OF = re.compile(r"\d\s?(?:mg|mcg|µg|μg|g|ml|mL|IU|units?) of $")
_GENETIC = re.compile(
    r"(?i)\b(?:genes?|genetic|mutat\w{1,6}|mutants?|wild[ -]type|expression|express\w{1,4}|alleles?"
    r"|amplifi\w{2,7}|fusions?|rearrange\w{1,6}|inhibitors?|receptors?|kinases?|proteins?"
    r"|variants?|polymorphisms?|overexpress\w{1,6}|loci|locus|mRNA|promoters?|signal\w{1,5}"
    r"|positive|negative|exons?|methylat\w{2,4}|knock\w{1,8}|transcripts?|antibod\w{1,3})\b"
)
_NEAR = 30
"""Characters on both sides of a gene's symbol in which a word of genetics stands (ours)."""
_MOST_REMEMBERED = 20_000
"""Characters of a text that is remembered."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Words that the tables have, and the senses that fit how they are written."""

    start: int
    end: int
    key: str
    senses: tuple[Sense, ...]


def names(text: str, *, typed: bool = False) -> Sequence[Name]:
    """The names in `text`, in order; no two overlap.

    Args:
        typed: a question, whose abbreviations may lack their capitals ("copd").
    """
    return _remembered(text, typed) if len(text) <= _MOST_REMEMBERED else _names(text, typed)


def resolve(written: str) -> Name:
    """A whole string as one name, such as the heading "Carcinoma, Non-Small-Cell Lung"."""
    of = key(written)
    fitting = [one for one in tables().senses(of) if _fits(one, of, written, spaced=False)]
    senses = _best([one for one in fitting if not one.flags & DOUBTFUL] or fitting)
    return Name(0, len(written), of, tuple(one.entry for one in senses))


def same(one: Name | str, other: Name | str) -> bool:
    """True if two names share an entry, or are spelled alike."""
    first = resolve(one) if isinstance(one, str) else one
    second = resolve(other) if isinstance(other, str) else other
    return first.key == second.key or not set(first.senses).isdisjoint(second.senses)


@lru_cache(maxsize=512)
def _remembered(text: str, typed: bool) -> Sequence[Name]:
    return _names(text, typed)


def _names(text: str, typed: bool) -> Sequence[Name]:
    said = words(text)
    sure, doubtful = _in_tables(text, said, typed)
    known = [Name(one.start, one.end, one.key, tuple(s.entry for s in one.senses)) for one in sure]
    clear = {name.senses[0] for name in known if len(name.senses) == 1}
    known = [
        replace(one, senses=tuple(s for s in one.senses if s in clear) or one.senses)
        for one in known
    ]
    entries = {entry for name in known for entry in name.senses}
    for one in doubtful:
        senses = [s for s in one.senses if s.entry in entries or _is_evident(text, one, s)]
        if senses:
            known.append(Name(one.start, one.end, one.key, tuple(s.entry for s in _best(senses))))
    known = _disjoint([*_abbreviated(text, known), *known])
    return tuple(
        sorted((*known, *unknown_names(text, said, known, typed=typed)), key=lambda one: one.start)
    )


def _in_tables(text: str, said: Sequence[Word], typed: bool) -> tuple[list[_Found], list[_Found]]:
    """What is found for sure, disjoint, and what needs evidence, wherever it stands."""
    sure: list[_Found] = []
    doubtful: list[_Found] = []
    table = tables()
    offsets, at = [0], 0
    for word in said:
        at += len(word.folded)
        offsets.append(at)
    ends = {offset: place for place, offset in enumerate(offsets)}
    whole = "".join(word.folded for word in said)
    joins, spaces = _gaps(text, said)
    place = 0
    while place < len(said):
        if place and joins[place - 1] and said[place - 1].end == said[place].start:
            place += 1
            continue
        start = offsets[place]
        following = place + 1
        for of in reversed(table.prefixes(whole[start : start + _LONGEST])):
            end = ends.get(start + len(of))
            if end is None or end <= place or not all(joins[place : end - 1]):
                continue
            if _is_cut(said, end, of):
                continue
            written = text[said[place].start : said[end - 1].end]
            spaced = any(
                spaces[gap] and said[gap].folded.isdecimal() == said[gap + 1].folded.isdecimal()
                for gap in range(place, end - 1)
            )
            fitting = [
                one
                for one in table.senses(of)
                if _fits(one, of, written, spaced=spaced, typed=typed)
                and (one.flags & PREFERRED or ", " not in written)
            ]
            certain = [one for one in fitting if not one.flags & DOUBTFUL]
            if certain:
                found = _found(said, place, end, of, fitting)
                if not any("drug" in table.kinds(one.entry) for one in certain):
                    # with a dose, a gland's name is that of the drug made of it
                    certain = [one for one in fitting if _is_given(text, found, one)] or certain
                sure.append(_found(said, place, end, of, _best(certain)))
                following = end
                break
            if fitting:
                doubtful.append(_found(said, place, end, of, fitting))
        place = following
    return sure, doubtful


def _found(said: Sequence[Word], place: int, end: int, of: str, senses: Sequence[Sense]) -> _Found:
    return _Found(said[place].start, said[end - 1].end, of, tuple(senses))


def _gaps(text: str, said: Sequence[Word]) -> tuple[list[bool], list[bool]]:
    """Whether each word belongs to one name with the next, and whether a space is between."""
    joins, spaces = [], []
    for one, other in itertools.pairwise(said):
        gap = text[one.end : other.start]
        joins.append(gap in {"", " ", "-", ", "} or _GAP.fullmatch(gap) is not None)
        spaces.append(bool(gap) and any(letter.isspace() for letter in gap))
    return joins, spaces


def _is_cut(said: Sequence[Word], end: int, of: str) -> bool:
    """True if a word goes on where the key ends; the number of a footnote is no part of a name."""
    if end == len(said) or said[end - 1].end != said[end].start:
        return False
    return not (said[end].folded.isdecimal() and of.isalpha() and len(of) >= 6)


def _fits(sense: Sense, of: str, written: str, *, spaced: bool, typed: bool = False) -> bool:
    """Whether a sense's names are written like this."""
    capitals = sum(letter.isupper() for letter in written)
    if spaced and not sense.flags & SPACED:
        return False
    if sense.flags & CAPITALS:
        small = sum(letter.islower() for letter in written)
        is_typed = typed and len(of) > 2 and not sense.flags & DOUBTFUL
        return (capitals >= 2 and capitals >= small) or is_typed
    if sense.flags & BRAND:
        return capitals > 0 or len(of) >= 5
    if sense.flags & SYMBOL and not {"/", "."}.isdisjoint(written):  # g/cm², OR 1.25
        return False
    if of.isalpha() or capitals > 0:
        return True
    if " " in written:  # "peak 1" is no gene, "at 005" no drug; "interleukin 6" is one
        return not sense.flags & SYMBOL and (
            len(of) > 8 or not tables().is_word(written.split()[0])
        )
    return len(of) > 3


def _best(senses: Sequence[Sense]) -> Sequence[Sense]:
    """Those whose own name it is, if there are any, else those that it spells (CLL is chronic
    lymphocytic leukemia before it is chronic leukemia). A gene goes after other things; where only
    an alias of it is meant, it was called after them."""
    own = [one for one in senses if one.flags & PREFERRED]
    own = own or [one for one in senses if one.flags & SPELLED] or list(senses)
    others = [one for one in own if not one.flags & SYMBOL]
    genes = [one for one in own if one.flags & SYMBOL and (one.flags & PREFERRED or not others)]
    return [*others, *genes]


def _is_evident(text: str, one: _Found, sense: Sense) -> bool:
    """Whether the words around a name say that it has this sense."""
    if sense.flags & SYMBOL:
        if not sense.flags & PREFERRED:
            return False
        around = text[max(0, one.start - _NEAR) : one.end + _NEAR]
        return one.end - one.start > 2 and _GENETIC.search(around) is not None
    return _is_given(text, one, sense)


def _is_given(text: str, one: _Found, sense: Sense) -> bool:
    """Whether a doubtful name is one of a drug, with a dose or a mark of trade beside it."""
    if not (sense.flags & DOUBTFUL and text[one.start].isupper()):
        return False
    if "drug" not in tables().kinds(sense.entry):
        return False
    return (
        _REGISTERED.match(text, one.end) is not None
        or _DOSE.match(text, one.end) is not None
        or _DOSE_OF.search(text[max(0, one.start - _NEAR) : one.start]) is not None
    )


def _abbreviated(text: str, known: Sequence[Name]) -> list[Name]:
    """Every mention of the abbreviations that the text defines, as its long form."""
    meant: dict[str, tuple[str, tuple[int, ...]]] = {}
    by_end = {name.end: name for name in known}
    for one in definitions(text):
        short, long = text[slice(*one.short)], text[slice(*one.long)]
        name = by_end.get(one.long[1])
        if name is not None and name.start <= one.long[0] + len(long) // 2:
            meant[short] = (name.key, name.senses)
        else:
            whole = resolve(long)
            meant[short] = (whole.key, whole.senses)
    return [*_mentions(text, meant)] if meant else []


def _mentions(text: str, meant: Mapping[str, tuple[str, tuple[int, ...]]]) -> list[Name]:
    shorts = "|".join(re.escape(short) for short in sorted(meant, key=lambda one: -len(one)))
    return [
        Name(match.start(), match.end(1), *meant[match.group(1)])
        for match in re.finditer(rf"(?<![^\W_])({shorts})(?=s?(?![^\W_]))", text)
    ]


def _disjoint(found: Sequence[Name]) -> list[Name]:
    """Those that overlap none before them in `found`."""
    taken: set[int] = set()
    kept = []
    for name in found:
        span = range(name.start, name.end)
        if taken.isdisjoint(span):
            taken.update(span)
            kept.append(name)
    return kept
