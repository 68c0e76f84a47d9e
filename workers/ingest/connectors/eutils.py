"""Requests to NCBI's E-utilities and checks of their answers (WIRE 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, QuotaExhausted, Refused
from workers.ingest.parsers.json_payload import load, obj, text, texts

BASE = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
TOOL = "attest"
MAX_LISTED = 9_999
"""The most PMIDs that one esearch lists (WIRE 1: documented 10,000, measured 9,999)."""
RATE_PAUSE_SECONDS = 10.0
"""Our choice: NCBI counts by the second and states no pause."""

_LONG = 1_500  # characters of a term or list of ids; longer ones are sent by POST


@dataclass(frozen=True)
class Listing:
    """The result of esearch: the count, and the PMIDs of the first MAX_LISTED."""

    count: int
    pmids: tuple[str, ...]


def polite(client: SourceClient) -> dict[str, str]:
    """The parameters that identify the client, as NCBI requires in every request."""
    identity = {"tool": TOOL}
    if client.contact:
        identity["email"] = client.contact
    return identity


def esearch(
    client: SourceClient,
    term: str,
    dates: Sequence[str] | None,
    *,
    strict: bool,
) -> Listing:
    """The records that match `term` and, with `dates` (kind, first and last day as
    `YYYY/MM/DD`), were entered, revised or published then.

    `strict`: refuse a term with a phrase unknown to PubMed, which drops such phrases and matches
    the rest.

    Raises InvalidQuery, Malformed, QuotaExhausted and what the client raises.
    """
    parameters = {
        "db": "pubmed",
        "term": term,
        "retmode": "json",
        "retmax": str(MAX_LISTED),
        "usehistory": "n",
    }
    if dates:
        parameters.update(zip(("datetype", "mindate", "maxdate"), dates, strict=True))
    # some captured answers have a raw line end within a string
    answer = load(_ask(client, "esearch.fcgi", parameters, longest=term), strict=False)
    _check_for_error(answer)
    result = obj(answer, "esearchresult")
    if "ERROR" in result:
        raise Malformed("PubMed's search failed: it answers with an error instead of a list")
    if strict:
        _check_phrases(result)
    count, listed = text(result, "count"), result.get("idlist")
    if not (count.isascii() and count.isdigit() and len(count) <= 12 and isinstance(listed, list)):
        raise Malformed("PubMed's search answers without a count or a list")
    pmids = tuple(dict.fromkeys(pmid for pmid in listed if is_pmid(pmid)))
    if len(pmids) != len(set(map(str, listed))):
        raise Malformed("PubMed's search lists something that is no PMID")
    return Listing(int(count), pmids)


def efetch(client: SourceClient, pmids: Sequence[str]) -> bytes:
    """The `PubmedArticleSet` of `pmids`, without those that PubMed does not know.

    Raises Malformed if it is cut or something else, QuotaExhausted, and what the client raises.
    """
    ids = ",".join(pmids)
    parameters = {"db": "pubmed", "retmode": "xml", "id": ids}
    content = _ask(client, "efetch.fcgi", parameters, longest=ids)
    if content.lstrip()[:1] == b"{":
        _check_for_error(load(content, strict=False))
    end = content[-200:].rstrip()
    if not end.endswith((b"</PubmedArticleSet>", b"<PubmedArticleSet/>")):
        raise Malformed("PubMed's records are cut, or are something else")
    return content


def is_pmid(value: Any) -> bool:
    """True if `value` is a PMID as the E-utilities write it."""
    return (
        isinstance(value, str)
        and value.isascii()
        and value.isdigit()
        and len(value) <= 9
        and value[0] != "0"
    )


def _ask(client: SourceClient, program: str, asked: dict[str, str], *, longest: str) -> bytes:
    asked = {**asked, **polite(client)}
    if client.key:
        asked["api_key"] = client.key
    if len(longest) > _LONG:
        return client.post(BASE + program, asked).content
    return client.get(BASE + program, asked).content


def _check_for_error(answer: Any) -> None:
    """Raise the error at the top of an answer, which can come with status 200 (WIRE 1)."""
    error = text(answer, "error").lower()
    if "rate limit" in error:
        raise QuotaExhausted("NCBI counts too many requests from here", RATE_PAUSE_SECONDS)
    if "api key" in error:
        raise Refused("NCBI refuses the key: check it, or go on without one")
    if error:
        raise Malformed("NCBI answers with an error instead of a result")


def _check_phrases(result: dict[str, Any]) -> None:
    unknown = texts(result, "errorlist", "phrasesnotfound")
    if unknown:
        raise InvalidQuery(
            f"PubMed does not know {_listed(unknown)}: it drops such words and would match "
            "everything else; spell them differently or leave them out"
        )
    fields = texts(result, "errorlist", "fieldsnotfound")
    if fields:
        raise InvalidQuery(
            f"PubMed has no search field {_listed(fields)}: use one of its tags, such as [tiab], "
            "[mh] or [pt]"
        )


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"{' '.join(word.split())[:80]!r}" for word in words[:5])
