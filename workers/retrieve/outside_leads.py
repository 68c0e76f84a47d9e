"""What an address names: a record that a primary source can be asked for, or nothing. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from knowledge.questions.cures import IdentifierKind, is_identifier
from knowledge.works.links import direct_url


@dataclass(frozen=True)
class Lead:
    """A record that may be evidence once its source has given it. It is none itself (EB-4.5)."""

    kind: IdentifierKind
    value: str

    @property
    def where(self) -> str | None:
        """The page of the record, made from its identifier: never the address that was found."""
        return direct_url({self.kind: self.value})

    def as_body(self) -> dict[str, Any]:
        """As it stands in a retrieval."""
        return {"kind": self.kind, "value": self.value, "where": self.where}


_PLACES: Sequence[tuple[IdentifierKind, re.Pattern[str], re.Pattern[str]]] = (
    ("pmid", re.compile(r"pubmed\.ncbi\.nlm\.nih\.gov"), re.compile(r"/([0-9]+)(?:/|$)")),
    ("pmid", re.compile(r"www\.ncbi\.nlm\.nih\.gov"), re.compile(r"/pubmed/([0-9]+)(?:/|$)")),
    ("pmid", re.compile(r"europepmc\.org"), re.compile(r"/article/MED/([0-9]+)(?:/|$)", re.I)),
    (
        "pmcid",
        re.compile(r"(?:pmc|www)\.ncbi\.nlm\.nih\.gov"),
        re.compile(r"(?:/pmc)?/articles/(PMC[0-9]+)(?:/|$)", re.I),
    ),
    ("pmcid", re.compile(r"europepmc\.org"), re.compile(r"/articles?/(?:PMC/)?(PMC[0-9]+)$", re.I)),
    ("doi", re.compile(r"(?:dx\.|www\.)?doi\.org"), re.compile(r"/(10\.[0-9]+/.+?)/?$")),
    (
        "nct_id",
        re.compile(r"(?:www\.)?clinicaltrials\.gov"),
        re.compile(r"/(?:ct2/show|study|show)/(NCT[0-9]+)(?:/|$)", re.I),
    ),
)
"""Identifier, host and path of the pages that stand for one record each (WIRE 8); the older ones of
the same services as well."""


def lead_of(address: str) -> Lead | None:
    """The record that `address` is the page of; None for every other page."""
    try:
        parts = urlsplit(address.strip())
        host = (parts.hostname or "").lower()
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    path = unquote(parts.path)
    for kind, hosts, paths in _PLACES:
        if hosts.fullmatch(host) and (found := paths.match(path)):
            value = found[1].lower() if kind == "doi" else found[1].upper()
            return Lead(kind, value) if is_identifier(kind, value) else None
    return None


def leads_of(addresses: Iterable[str], most: int) -> tuple[list[Lead], int]:
    """The first `most` records that the addresses name, each once, and how many addresses were
    dropped: those that name none, and those behind the first `most`."""
    leads: dict[Lead, None] = {}
    dropped = 0
    for address in dict.fromkeys(addresses):
        lead = lead_of(address)
        if lead is None or (lead not in leads and len(leads) == most):
            dropped += 1
        else:
            leads[lead] = None
    return list(leads), dropped
