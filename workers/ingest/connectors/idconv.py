"""PMC's ID converter: which PMCID and DOI belong to a PMID (WIRE 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from workers.http.client import SourceClient
from workers.http.errors import Malformed, Refused
from workers.ingest.connectors.eutils import is_pmid, polite
from workers.ingest.parsers.json_payload import at, load, rows, text

URL = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/"
BATCH = 200


@dataclass(frozen=True)
class Converted:
    """What PMC knows of a PMID. `error` is its word where it knows nothing."""

    pmid: str
    pmcid: str | None = None
    doi: str | None = None
    error: str | None = None


def id_converter(client: SourceClient, pmids: Sequence[str]) -> list[Converted]:
    """One answer for each of `pmids` that PMC answers for, in PMC's order; BATCH to a request.

    Raises:
        ValueError: something is no PMID.
        Refused, Malformed: PMC refuses the list, or answers with something else.
    """
    if not all(map(is_pmid, pmids)):
        raise ValueError("a PMID is a number of at most nine digits")
    found: list[Converted] = []
    for start in range(0, len(pmids), BATCH):
        found += _converted(client, pmids[start : start + BATCH])
    return found


def _converted(client: SourceClient, pmids: Sequence[str]) -> list[Converted]:
    asked = {"ids": ",".join(pmids), "idtype": "pmid", "format": "json", **polite(client)}
    answer = client.get(URL, asked, accept=(200, 400))
    body = load(answer.content)
    if answer.status == 400 or text(body, "status") != "ok":
        codes = [code for error in rows(body, "errors") if (code := text(error, "code"))]
        named = f" ({codes[0][:60]})" if codes and codes[0].replace("_", "").isalnum() else ""
        raise Refused(f"PMC's ID converter refuses the list of PMIDs{named}")
    if not isinstance(at(body, "records"), list):
        raise Malformed("PMC's ID converter answers without records")
    # `pmid` is a number in some records and missing in those with an error of another kind
    return [
        Converted(
            pmid=text(entry, "pmid") or text(entry, "requested-id"),
            pmcid=text(entry, "pmcid") or None,
            doi=text(entry, "doi") or None,
            error=text(entry, "errmsg") or "refused" if text(entry, "status") == "error" else None,
        )
        for entry in rows(body, "records")
        if text(entry, "pmid") or text(entry, "requested-id")
    ]
