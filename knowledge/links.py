"""The page of a work, made from its identifiers; no search page can be one (EB-8.2, 9). Pure."""

from collections.abc import Mapping
from urllib.parse import urlsplit


def direct_url(identifiers: Mapping[str, str], url: str | None = None) -> str | None:
    """The page of the work itself: PubMed, PMC, DOI, registry, then its own verified address.

    Args:
        identifiers: those of the work that are in no doubt.
        url: the address its source gave.
    """
    if pmid := identifiers.get("pmid"):
        return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
    if pmcid := identifiers.get("pmcid"):
        return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"
    if doi := identifiers.get("doi"):
        return f"https://doi.org/{doi}"
    if nct_id := identifiers.get("nct_id"):
        return f"https://clinicaltrials.gov/study/{nct_id}"
    return None if url is None or is_search_page(url) else url


def is_search_page(url: str) -> bool:
    """Whether `url` leads to search results instead of a document."""
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.lower().split("/") if segment]
    return (
        "search" in segments[-1:]
        or parts.path.lower().startswith("/search")
        or ((parts.hostname or "").startswith("www.google.") and bool(parts.query))
    )
