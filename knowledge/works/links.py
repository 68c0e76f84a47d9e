"""The page of a work, made from its identifiers; never a search page (EB-8.2, EB-9). Pure."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


class NotDirect(ValueError):
    """The address is not the page of a work."""


class DirectUrl(str):
    """The http or https address of one page; an address of search results is refused."""

    __slots__ = ()

    def __new__(cls, address: str) -> Self:
        """Raises NotDirect; its message does not repeat the address."""
        if not _is_page(address):
            raise NotDirect("not the address of a web page")
        if is_search_page(address):
            raise NotDirect("the address of a search page")
        return super().__new__(cls, address)

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "format": "uri"}


# EB-8.2 names these pages; forms as in store.records. A registry number has a page as well.
_PAGES = {
    "pmid": (re.compile(r"[1-9][0-9]{0,8}"), "https://pubmed.ncbi.nlm.nih.gov/{}/"),
    "pmcid": (re.compile(r"PMC[1-9][0-9]*"), "https://pmc.ncbi.nlm.nih.gov/articles/{}/"),
    "doi": (re.compile(r"10\.[0-9]{4,9}/\S+"), "https://doi.org/{}"),
    "nct_id": (re.compile(r"NCT[0-9]{8}"), "https://clinicaltrials.gov/study/{}"),
}
_MARKS = {"pmid": "PMID ", "lcd_id": "LCD "}
_DOI_LETTERS = "/:;()!*'@$&+=,"
"""Characters of a DOI besides letters and digits that need no encoding (RFC 3986, 3.3)."""


def written(identifiers: Mapping[str, str]) -> str:
    """The identifiers of a work as people write them: "PMID 35657320 10.1056/NEJMoa2200075"."""
    kinds = (*_PAGES, *(kind for kind in identifiers if kind not in _PAGES))
    named = (f"{_MARKS.get(kind, '')}{identifiers[kind]}" for kind in kinds if kind in identifiers)
    return " ".join(named)


def direct_url(identifiers: Mapping[str, str], url: str | None = None) -> DirectUrl | None:
    """The page of the work itself: PubMed, PMC, DOI, registry, then its own verified address.

    Args:
        identifiers: those of the work that are not in doubt; malformed ones are ignored.
        url: the address that its source gave.
    """
    for kind, (form, page) in _PAGES.items():
        value = identifiers.get(kind) or ""
        if form.fullmatch(value) and (
            found := _direct(page.format(quote(value, safe=_DOI_LETTERS)))
        ):
            return found
    return None if url is None else _direct(url)


def is_direct(url: str) -> bool:
    """True if `url` can be a `DirectUrl`."""
    return _direct(url) is not None


@lru_cache(maxsize=4096)  # the same works are found for many questions
def _direct(address: str) -> DirectUrl | None:
    try:
        return DirectUrl(address)
    except NotDirect:
        return None


def _is_page(url: str) -> bool:
    """True if `url` is a web address that every browser parses alike."""
    if not url.isprintable() or re.search(r"[\s\\]", url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    folders = unquote(parts.path).split("/")
    return (
        parts.scheme in ("http", "https")
        and "." in host.strip(".")
        and "@" not in parts.netloc
        and not {".", ".."} & set(folders)
    )


_RESULTS_OF_GOOGLE = re.compile(r"\bgoogle(?:\.[a-z]{2,3}){1,2}(?::\d+)?/+(?:search|scholar|url)\b")
"""Also matches inside another address, as proxies and redirects contain it (EB-9.3)."""
_ENGINE = re.compile(
    r"(?:.{1,253}\.)?(?:bing|duckduckgo|baidu|yandex|ecosia|startpage|qwant)\.[a-z.]+"
    r"|(?:.{1,253}\.)?search\.(?:yahoo|brave|aol|naver)\.[a-z.]+"
    r"|(?:(?:www|m|scholar|news|images|cse|encrypted)\.)?google(?:\.[a-z]{2,3}){1,2}"
)
_WORDS_ASKED_FOR = frozenset(
    {"q", "qs", "query", "search", "searchquery", "searchterm", "searchtext", "term", "terms"}
)
"""Names of query parameters, without underscores and hyphens."""
_SEARCHES = frozenset(
    {"search", "searches", "dosearch", "searchresult", "searchresults", "advancedsearch"}
)


def is_search_page(url: str) -> bool:
    """True if `url` leads to search results instead of a document, however it is written.

    An address that cannot be parsed counts as a search page.
    """
    plain = _decoded(url).lower()
    if _RESULTS_OF_GOOGLE.search(plain):
        return True
    try:
        parts = urlsplit(plain)
        host = (parts.hostname or "").strip(".")
    except ValueError:
        return True
    if host in ("doi.org", "dx.doi.org"):
        return not parts.path.startswith("/10.")
    if host == "pubmed.ncbi.nlm.nih.gov":
        return re.fullmatch(r"/\d+/?", parts.path) is None
    if _ENGINE.fullmatch(host):
        return True
    # Pages rendered by a script keep their own address after the hash.
    path, _, query = parts.fragment.lstrip("!").partition("?")
    return _asks(parts.path, parts.query) or _asks(
        path if path.startswith("/") else "/page", query or path
    )


def _asks(path: str, query: str) -> bool:
    """True if the path or the query string is that of a search."""
    stems = [segment.rsplit(".", 1)[0] for segment in path.split("/") if segment]
    words = [set(re.split(r"[-_]", stem)) for stem in stems]
    if path.startswith("/search") or any(
        stem in _SEARCHES or {"search", "results"} <= parts or parts == {"advanced", "search"}
        for stem, parts in zip(stems, words, strict=True)
    ):
        return True
    names = {re.sub(r"[-_]", "", name) for name, _ in parse_qsl(query)}
    return bool(
        names & _WORDS_ASKED_FOR
        or (stems[-1:] == ["results"] and query)
        or (not stems and "s" in names)  # WordPress
    )


def _decoded(url: str) -> str:
    """`url` without percent-encoding, even if it was encoded more than once."""
    while (plain := unquote(url)) != url:
        url = plain
    return url
