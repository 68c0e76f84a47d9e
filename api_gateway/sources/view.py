"""Views of cited works: references, badges, notices. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages import links
from api_gateway.pages.clocks import ClockView, clocks


@dataclass(frozen=True)
class ReferenceView:
    """A cited work; its title is the link to the work itself."""

    n: int
    title: str
    url: str
    authors: str
    source: str
    year: int | None
    badges: Sequence[str]
    identifiers: Sequence[tuple[str, str]]
    clocks: ClockView | None
    notices: Sequence[str]
    held: str | None


def references(
    body: Mapping[str, Any], by_key: Mapping[Any, Mapping[str, Any]]
) -> list[ReferenceView]:
    """The references of an answer, without those whose link is not the page of a work."""
    views = []
    for entry in body.get("references", ()):
        url = links.page_of(entry)
        if url is None:
            continue
        record = by_key.get(entry["evidence_id"]) or {}
        held = (record.get("source") or {}).get("document_id")
        kinds = [("PMID", "pmid"), ("DOI", "doi"), ("NCT", "nct_id")]
        views.append(
            ReferenceView(
                n=entry["n"],
                title=entry["title"],
                url=url,
                authors=entry["authors"],
                source=entry["source"],
                year=entry["year"],
                badges=entry["badges"],
                identifiers=[(name, entry[key]) for name, key in kinds if entry.get(key)],
                clocks=clocks(record["clocks"]) if record.get("clocks") else None,
                notices=notices(record),
                held=links.evidence_link(held, record.get("version")),
            )
        )
    return views


def notices(record: Mapping[str, Any]) -> list[str]:
    """The notices of sources about a work, each once."""
    texts = (
        " ".join(
            filter(
                None,
                (str(notice["kind"]).replace("_", " "), notice["notice_id"], notice["stated_on"]),
            )
        )
        for notice in (record.get("standing") or {}).get("notices", ())
    )
    return list(dict.fromkeys(texts))
