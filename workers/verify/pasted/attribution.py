"""Whom a pasted statement credits: "(Tie et al., NEJM 2022)". Pure.

Such a bracket is no content. It names a source, and is held to that source's authors, journal and
year.
"""

import re
from collections.abc import Iterator
from functools import cache

from knowledge.guards.guard_terms import named_terms
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, fold
from workers.verify.pasted.taking_out import without

_SURNAME = r"(?:(?i:van|von|de|der|den|la|le|di|da|del|el|al)[ -]){0,4}[^\W\d_a-z][\w'’-]{1,60}"
_YEAR = r"(?:19|20)\d\d"
_CREDIT = re.compile(
    rf"[(\[]\s{{0,20}}(?P<first>{_SURNAME})"
    rf"(?:,?\s{{1,20}}et\s{{1,20}}al\b\.?"
    rf"|\s{{1,20}}(?:and|&)\s{{1,20}}(?P<second>{_SURNAME})(?=,?\s{{1,20}}{_YEAR}))"
    rf"[,.;:\s]{{0,20}}+(?P<journal>[^\W\d_a-z][\w .&]{{0,60}}?)?"
    rf"[,.;:\s]{{0,20}}+(?P<year>{_YEAR})?[a-z]?[,.;:\s]{{0,20}}+[)\]]"
)


def without_credits(words: str) -> str:
    """A statement without the brackets in which it credits authors."""
    return without(_CREDIT, words)


def guard(words: str, grounds: Grounds) -> list[Finding]:
    """Authors, journals and years that the statement credits and its source does not have."""
    return [finding for one in _CREDIT.finditer(words) for finding in _strange(one, grounds)]


def _strange(credit: re.Match[str], grounds: Grounds) -> Iterator[Finding]:
    authors = grounds.known.get("authors") or grounds.text
    for name in filter(None, (credit["first"], credit["second"])):
        if not re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", fold(authors)):
            yield Finding("attribution", f"“{name}” is not an author of the source")
    yield from _strange_journals(fold(credit["journal"] or ""), grounds)
    published = grounds.known.get("published_on", "")[:4]
    year = credit["year"]
    if year and year != published and (published or year not in grounds.text):
        of = f"of {published}" if published else "of no known year"
        detail = f"the source is {of}, not of {year}"
        yield Finding("attribution", detail, unsaid=not published)


def _strange_journals(claim: str, grounds: Grounds) -> Iterator[Finding]:
    """Journals that the folded words name and that are not the source's."""
    said = _named(claim)
    if not said:
        return
    own = _named(fold(". ".join([grounds.title, *grounds.known.values()])))
    stated = {**_named(fold(grounds.passage)), **(own or _named(fold(grounds.text)))}
    for name, raw in said.items():
        if name not in stated:
            yield Finding("journal", f"“{raw}” is not the source's journal")


def _named(text: str) -> dict[str, str]:
    return {one.name: text[one.start : one.end] for one in _journals().find(text)}


@cache
def _journals() -> Lexicon:
    return Lexicon(named_terms().journals)
