"""Do the identifiers of a record name the work that its title names? Pure.

Sources copy each other's errors: a DOI that stands on two titles, a registry number with a digit
missing (DATA.md, "Facts worth knowing"). What disagrees is written down and never shown.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workers.ingest.enrichment import Statement

SAME_TITLE = 0.8
"""Ours: share of words in common (Jaccard) from which two titles are one. Registries drop
subtitles, so one title that holds the other counts as the same too."""
MIN_CONTAINED_WORDS = 4

_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<[^<>]{0,200}>")
_NCT = re.compile(r"\bNCT[-\s#:]?(\d+)\b", re.IGNORECASE)


def title_words(title: str) -> tuple[str, ...]:
    """The words of a title without case, tags, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", _TAG.sub(" ", title)).casefold()
    return tuple(_WORD.findall("".join(c for c in plain if not unicodedata.combining(c))))


def same_title(one: str, other: str) -> bool:
    """Whether two titles are of one work, however each source writes it."""
    a, b = title_words(one), title_words(other)
    if a == b:
        return True
    if not a or not b:
        return False
    shorter, longer = sorted((a, b), key=len)
    if len(shorter) >= MIN_CONTAINED_WORDS and " ".join(shorter) in " ".join(longer):
        return True
    first, second = set(a), set(b)
    return len(first & second) / len(first | second) >= SAME_TITLE


@dataclass(frozen=True)
class Named:
    """What a held document says of itself."""

    title: str
    year: int | None
    identifiers: Mapping[str, str]


def disagreements(held: Named, said: Statement) -> list[str]:
    """The fields in which another source's statement on a work contradicts what is held.

    A year apart is no contradiction: print and electronic publication often are.
    """
    wrong = [
        kind
        for kind in ("pmid", "pmcid", "doi")
        if (mine := held.identifiers.get(kind))
        and (theirs := getattr(said, kind))
        and mine.casefold() != theirs.casefold()
    ]
    if said.title and not same_title(held.title, said.title):
        wrong.append("title")
    if said.year and held.year and abs(said.year - held.year) > 1:
        wrong.append("year")
    return wrong


def malformed_nct(text: str) -> Iterator[str]:
    """Registry numbers in a text that cannot be one: an NCT number has eight digits."""
    seen: set[str] = set()
    for found in _NCT.finditer(text):
        written = f"NCT{found[1]}"
        if len(found[1]) != 8 and written not in seen:
            seen.add(written)
            yield written[:40]
