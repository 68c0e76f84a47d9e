"""Do the identifiers of a record name the work that its title names? Pure.

Sources copy each other's errors: a DOI that stands on two titles, a registry number with a digit
missing (DATA.md, "Facts worth knowing"). What disagrees is written down and never shown.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workers.ingest.enrichment import Statement

SAME_TITLE = 0.8
"""Ours: share of words in common (Jaccard) from which two titles are one. Registries drop
subtitles, so one title that holds the other counts as the same too."""
MIN_CONTAINED_WORDS = 4

_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<[^<>]{0,200}>")
# Publishers set the fate of a work before its title. "Retraction:" and "Expression of concern:" are
# not here: so begins the title of the notice, which is another work.
_FATE = re.compile(
    r"^\W*(?:(?:retracted|withdrawn)(?: (?:article|paper|chapter))?|removed"
    r"|temporary removal)\s*[:.\]–—-]\s*",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r".*\d.*|[ivx]+")
_NCT = re.compile(r"(?<![^\W_])NCT[-\s#:]{0,2}(\d[^\W_]*)", re.IGNORECASE)


def title_words(title: str) -> tuple[str, ...]:
    """The words of a title without case, tags, accents, punctuation and the work's fate."""
    plain = unicodedata.normalize("NFKD", _FATE.sub("", _TAG.sub(" ", html.unescape(title))))
    return tuple(
        _WORD.findall("".join(c for c in plain.casefold() if not unicodedata.combining(c)))
    )


def same_title(one: str, other: str) -> bool:
    """Whether two titles are of one work, however each source writes it.

    "Part 1" and "part 2" are two works, whatever else they have in common.
    """
    a, b = title_words(one), title_words(other)
    if a == b or "".join(a) == "".join(b):
        return True
    if not a or not b:
        return False
    shorter, longer = sorted((a, b), key=len)
    if len(shorter) >= MIN_CONTAINED_WORDS and f" {' '.join(shorter)} " in f" {' '.join(longer)} ":
        return True
    if _numerals(set(a)) != _numerals(set(b)):
        return False
    return _in_common(a, b) >= SAME_TITLE


def title_match(one: str, other: str) -> float:
    """How far two titles are one, 0 to 1: the share of words in common; 1 if they are the same."""
    if same_title(one, other):
        return 1.0
    return _in_common(title_words(one), title_words(other))


def _in_common(one: Sequence[str], other: Sequence[str]) -> float:
    union = {*one, *other}
    return len({*one} & {*other}) / len(union) if union else 0.0


def _numerals(words: set[str]) -> set[str]:
    return {word for word in words if _NUMERAL.fullmatch(word)}


@dataclass(frozen=True)
class Named:
    """What a held document says of itself."""

    title: str
    year: int | None
    identifiers: Mapping[str, str]


def disagreements(held: Named, said: Statement) -> list[str]:
    """The fields in which another source's statement on a work contradicts what is held.

    A year apart is no contradiction: print and electronic publication often are. Nor is another
    DOI: a work may have several, and each leads to the one that the source calls its own. Nor is
    the title in another language: PubMed translates titles, and sets them in brackets.
    """
    wrong = [
        kind
        for kind in ("pmid", "pmcid")
        if (mine := held.identifiers.get(kind))
        and (theirs := getattr(said, kind))
        and mine.casefold() != theirs.casefold()
    ]
    if said.title and not held.title.startswith("[") and not same_title(held.title, said.title):
        wrong.append("title")
    if said.year and held.year and abs(said.year - held.year) > 1:
        wrong.append("year")
    return wrong


def malformed_nct(text: str) -> Iterator[str]:
    """Registry numbers in a text that cannot be one: an NCT number has eight digits.

    Each once, in the spelling `NCT…` and cut at 40 characters.
    """
    seen: set[str] = set()
    for found in _NCT.finditer(text):
        digits = found[1]
        written = f"NCT{digits}"[:40]
        well_formed = len(digits) == 8 and digits.isascii() and digits.isdigit()
        if not well_formed and written not in seen:
            seen.add(written)
            yield written
