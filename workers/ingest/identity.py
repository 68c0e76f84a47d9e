"""Checks whether a record's identifiers name the same work as its title. Pure.

Sources copy each other's errors: a DOI that stands on two titles, a registry number with a digit
missing (DATA.md, "Facts worth knowing"). Identifiers that disagree are recorded and never shown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clinical_text.titles import same_title
from workers.ingest.enrichment import Statement

_NCT = re.compile(r"(?<![^\W_])NCT[-\s#:]{0,2}(\d[^\W_]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """The title, year and identifiers of a held document."""

    title: str
    year: int | None
    identifiers: Mapping[str, str]


def disagreements(held: Named, said: Statement) -> list[str]:
    """The fields in which another source's statement contradicts the held document.

    A difference of one year is allowed: print and electronic publication often differ so. So is
    another DOI: a work may have several, and each leads to the source's own. So is a title in
    another language: PubMed translates titles and puts them in brackets.
    """
    wrong = [
        kind
        for kind in ("pmid", "pmcid")
        if (own := held.identifiers.get(kind))
        and (stated := getattr(said, kind))
        and own.casefold() != stated.casefold()
    ]
    if said.title and not held.title.startswith("[") and not same_title(held.title, said.title):
        wrong.append("title")
    if said.year and held.year and abs(said.year - held.year) > 1:
        wrong.append("year")
    return wrong


def malformed_nct(text: str) -> Iterator[str]:
    """The malformed NCT numbers in a text: a well-formed one has eight digits.

    Each is given once, written `NCT…` and cut at 40 characters.
    """
    seen: set[str] = set()
    for match in _NCT.finditer(text):
        digits = match[1]
        written = f"NCT{digits}"[:40]
        well_formed = len(digits) == 8 and digits.isascii() and digits.isdigit()
        if not well_formed and written not in seen:
            seen.add(written)
            yield written
