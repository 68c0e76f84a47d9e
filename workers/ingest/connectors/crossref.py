"""Crossref: asked about the standing of held works, one DOI at a time (WIRE 5)."""

from collections.abc import Sequence

from workers.http.client import SourceClient
from workers.http.errors import QuotaExhausted
from workers.ingest.enrichment import BudgetSpent, EnricherName, Statement, Work, doi_path
from workers.ingest.parsers.crossref import crossref_statement, unknown_to_crossref

WORKS = "https://api.crossref.org/works"


class Crossref:
    """The polite pool wants to know whom to write to."""

    name: EnricherName = "crossref"
    fetch_limit = 20

    def ask(self, client: SourceClient, works: Sequence[Work]) -> list[Statement]:
        """What Crossref says about each work, in their order; a DOI of another agency is unknown.

        Raises BudgetSpent with the statements so far, and else workers.http.errors.SourceError.
        """
        statements: list[Statement] = []
        for work in works[: self.fetch_limit]:
            try:
                statements.append(_statement(client, work))
            except QuotaExhausted as error:
                raise BudgetSpent(str(error), error.seconds, statements) from None
        return statements


def _statement(client: SourceClient, work: Work) -> Statement:
    path = doi_path(work.doi)
    if path is None:
        return unknown_to_crossref(work.key)
    contact = {"mailto": client.contact} if client.contact else None
    reply = client.get(f"{WORKS}/{path}", contact, accept=(200, 404))
    if reply.status == 404:  # text/plain, no JSON
        return unknown_to_crossref(work.key)
    return crossref_statement(reply.content, work.key)


CROSSREF = Crossref()
