"""Crossref: asked about the publication status of held works, one DOI at a time (WIRE 5)."""

from collections.abc import Sequence

from workers.http.client import SourceClient
from workers.ingest.connectors.base import time_is_up
from workers.ingest.enrichment import (
    REFUSALS,
    Answer,
    EnricherName,
    RefusesThisWork,
    Statement,
    Work,
    ask_each,
    doi_path,
    unknown,
)
from workers.ingest.parsers.crossref import crossref_statement

WORKS = "https://api.crossref.org/works"


class Crossref:
    """Sends a contact address if there is one, as Crossref's polite pool requires."""

    name: EnricherName = "crossref"
    fetch_limit = 20

    def ask(self, client: SourceClient, works: Sequence[Work]) -> list[Answer]:
        """Crossref's answer about each work, in their order; DOIs of other agencies are unknown.

        Raises as `ask_each`.
        """
        began = client.now()
        return ask_each(
            works[: self.fetch_limit],
            lambda work: _statement(client, work),
            lambda: time_is_up(client, began),
        )


def _statement(client: SourceClient, work: Work) -> Statement:
    path = doi_path(work.doi)
    if path is None:
        return unknown(work, "crossref")
    contact = {"mailto": client.contact} if client.contact else None
    reply = client.get(f"{WORKS}/{path}", contact, accept=(200, 404, *REFUSALS))
    if reply.status in REFUSALS:
        raise RefusesThisWork(f"Crossref does not take the DOI: status {reply.status}")
    if reply.status == 404:  # text/plain, no JSON
        return unknown(work, "crossref")
    return crossref_statement(reply.content, work.key)


CROSSREF = Crossref()
