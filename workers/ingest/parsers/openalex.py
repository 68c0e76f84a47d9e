"""OpenAlex: reads the record of one DOI into a statement on the work (WIRE 5).

OpenAlex gives abstracts as lists of words with their positions. A text rebuilt from such a list is
not the original text, so abstracts are never read.
"""

import re
from typing import Any

from store.documents.records import Notice
from workers.http.errors import Malformed
from workers.ingest.enrichment import Statement
from workers.ingest.parsers.inline_markup import words
from workers.ingest.parsers.json_payload import (
    Json,
    filled,
    flag,
    load,
    number,
    obj,
    one_line,
    rows,
    text,
)

_WORK = re.compile(r"(?:https://openalex\.org/)?(W[0-9]{1,15})")
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/)?(10\.[0-9]{4,9}/\S{1,900})", re.IGNORECASE)
_PMID = re.compile(r"(?:https?://pubmed\.ncbi\.nlm\.nih\.gov/)?([1-9][0-9]{0,8})/?")
_PMCID = re.compile(
    r"(?:https?://(?:www\.)?(?:pmc\.)?ncbi\.nlm\.nih\.gov/(?:pmc/)?articles/)?"
    r"(?:PMC)?([1-9][0-9]{0,11})/?",
    re.IGNORECASE,
)
_COUNTS = range(2**31)
"""The citation counts that the store can hold; no work is cited more often."""


def openalex_statement(payload: bytes, key: str) -> Statement:
    """The statement on document `key` in a response of `/works/doi:…`. Raises Malformed."""
    work = load(payload)
    match = _WORK.fullmatch(text(work, "id"))
    if match is None:
        raise Malformed("no record of a work in the answer")
    ids = obj(work, "ids")
    doi = _only(_DOI, text(work, "doi") or text(ids, "doi"))
    pmcid = _only(_PMCID, text(ids, "pmcid"))
    title = one_line(words(text(work, "title") or text(work, "display_name")))
    year = number(work, "publication_year")
    retracted = flag(work, "is_retracted")
    cited_by = number(work, "cited_by_count")
    return Statement(
        key=key,
        source="openalex",
        known=True,
        doi=doi.lower() if doi else None,
        pmid=_only(_PMID, text(ids, "pmid")),
        pmcid=f"PMC{pmcid}" if pmcid else None,
        title=title or None,
        year=year if year is not None and 1000 <= year <= 9999 else None,
        notices=(Notice(kind="retraction"),) if retracted else (),
        cited_by=cited_by if cited_by is not None and cited_by in _COUNTS else None,
        facts=_facts(work, match[1]),
    )


def _only(pattern: re.Pattern[str], value: str) -> str | None:
    match = pattern.fullmatch(value)
    return match[1] if match else None


def _facts(work: Json, name: str) -> Json:
    location = obj(work, "primary_location")
    access = obj(work, "open_access")
    return filled(
        {
            "openalex_id": name,
            "type": text(work, "type"),
            "language": text(work, "language"),
            "publication_date": text(work, "publication_date"),
            "journal": text(location, "source", "display_name"),
            "issn": text(location, "source", "issn_l"),
            "license": text(location, "license"),
            "is_open_access": flag(access, "is_oa"),
            "open_access": text(access, "oa_status"),
            "mesh": [_mesh(heading) for heading in rows(work, "mesh")],
        }
    )


def _mesh(heading: Json) -> dict[str, Any]:
    return filled(
        {
            "descriptor": text(heading, "descriptor_name"),
            "ui": text(heading, "descriptor_ui"),
            "qualifier": text(heading, "qualifier_name"),
            "major": flag(heading, "is_major_topic"),
        }
    )
