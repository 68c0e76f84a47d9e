"""Do the identifiers of a record name the work that its title names? Pure.

Sources copy each other's errors: a DOI that stands on two titles, a registry number with a digit
missing (DATA.md, "Facts worth knowing"). What disagrees is written down and never shown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clinical_text.titles import same_title
from workers.ingest.enrichment import Statement

_NCT = re.compile(r"(?<![^\W_])NCT[-\s#:]{0,2}(\d[^\W_]*)", re.IGNORECASE)


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
