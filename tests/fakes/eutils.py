"""PubMed's E-utilities as they really behave (WIRE 1 and 10).

    pubmed = Eutils(clock)
    pubmed.put(101, title="A made-up trial.", abstract=[("RESULTS", "", "Twelve of 20 slept.")])
    with FakeWeb(pubmed) as web: ...

All texts are made up. Days are those of the clock; both ends of a range of days belong to it.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from tests.fakes.pubmed_records import Citation, article_set
from tests.fakes.web import Clock, Reply, Request

_TOKEN = re.compile(r'\(|\)|:|"[^"]*"(?:\[[^\]]*\])?|[^\s()":\[]+(?:\[[^\]]*\])?')
_FIELDS = {"tiab", "ti", "pt", "mh", "all fields", "mdat", "edat", "pdat", "dp", "uid", "pmid"}
_RATE = b'{"error":"API rate limit exceeded","api-key":"192.0.2.1","count":"4","limit":"3"}'


@dataclass
class Eutils:
    """esearch and efetch of `db=pubmed`."""

    clock: Clock
    listed_at_most: int = 9_999
    bad_keys: set[str] = field(default_factory=set)
    rate_limited: list[int] = field(default_factory=list)
    """Statuses of the next answers that say one asks too often: 429, or 200."""
    raw_newline: bool = False
    """Whether error texts hold a line end as such, as some captures do."""
    withheld: dict[int, int] = field(default_factory=dict)
    """PMID → how many more times efetch leaves out a record that is there and listed."""
    before_search: Callable[[], None] = lambda: None
    """Called before each search: the world changes between two pages."""

    origin = "https://eutils.ncbi.nlm.nih.gov"

    def __post_init__(self) -> None:
        self.citations: dict[int, Citation] = {}
        self.deleted: list[int] = []

    # the world

    def put(self, pmid: int, **fields: object) -> Citation:
        """A record entered now."""
        today = self.clock().date()
        entered = {"edat": today, "mdat": today, **fields}
        self.citations[pmid] = Citation(pmid, **entered)  # type: ignore[arg-type]
        return self.citations[pmid]

    def change(self, pmid: int, **fields: object) -> Citation:
        """A record revised now."""
        revised = {"mdat": self.clock().date(), **fields}
        self.citations[pmid] = replace(self.citations[pmid], **revised)  # type: ignore[arg-type]
        return self.citations[pmid]

    def retract(self, pmid: int, notice: int) -> None:
        """A record retracted now by the new record `notice`."""
        old = self.citations[pmid]
        self.change(
            pmid,
            title=f"RETRACTED: {old.title}",
            types=(*old.types, "Retracted Publication"),
            links=(*old.links, ("RetractionIn", notice)),
            retracted_on=self.clock().date(),
        )
        self.put(
            notice,
            title="Retraction notice to a made-up article.",
            abstract=(),
            types=("Retraction of Publication",),
            links=(("RetractionOf", pmid),),
        )

    def delete(self, pmid: int) -> None:
        """A record deleted now; `update_file` names it from now on."""
        del self.citations[pmid]
        self.deleted.append(pmid)

    def update_file(self) -> bytes:
        """All records and deletions, as in a daily file."""
        return article_set(self.citations.values(), self.deleted)

    # the protocol

    def answer(self, request: Request) -> Reply:
        if self.rate_limited:
            return Reply(self.rate_limited.pop(0), _RATE, {"Content-Type": "application/json"})
        if request.params.get("api_key") in self.bad_keys:
            return _json({"error": "API key invalid", "type": "invalid"}, 400)
        if request.params.get("db") != "pubmed":
            return Reply(
                200, b"<eFetchResult><ERROR>Invalid db name specified</ERROR></eFetchResult>"
            )
        if request.path == "/entrez/eutils/esearch.fcgi":
            self.before_search()
            return self._search(request)
        if request.path == "/entrez/eutils/efetch.fcgi":
            return self._fetch(request)
        return Reply(404, b"not found")

    def _search(self, request: Request) -> Reply:
        asked = request.params
        if int(asked.get("retstart", "0")) > 9_998:
            joint = "\n" if self.raw_newline else "\\n"
            return Reply(
                200,
                (
                    '{"header":{"type":"esearch","version":"0.3"},"esearchresult":{"ERROR":'
                    f"\"Search Backend failed: Exception:{joint}'retstart' cannot be larger than "
                    '9998."}}'
                ).encode(),
            )
        search = _Search(self.citations.values(), asked.get("term", ""))
        found = search.found
        if "mindate" in asked and "maxdate" in asked:
            found = _within(
                found, asked.get("datetype", "pdat"), asked["mindate"], asked["maxdate"]
            )
        pmids = sorted((citation.pmid for citation in found), reverse=True)
        start = int(asked.get("retstart", "0"))
        size = min(int(asked.get("retmax", "20")), self.listed_at_most)
        listed = [str(pmid) for pmid in pmids[start : start + size]]
        result: dict[str, Any] = {
            "count": str(len(pmids)),
            "retmax": str(len(listed)),
            "retstart": str(start),
            "idlist": listed,
            "translationset": [],
            "querytranslation": asked.get("term", ""),
        }
        if search.phrases or search.fields:
            result["errorlist"] = {
                "phrasesnotfound": search.phrases,
                "fieldsnotfound": search.fields,
            }
        if not pmids:
            result["warninglist"] = {
                "phrasesignored": [],
                "quotedphrasesnotfound": [],
                "outputmessages": ["No items found."],
            }
        return _json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})

    def _fetch(self, request: Request) -> Reply:
        ids = [part for part in request.params.get("id", "").split(",") if part]
        if not ids:
            return Reply(200, b"<eFetchResult><ERROR>Empty id list</ERROR></eFetchResult>")
        if request.method == "GET" and len(ids) > 200:
            return Reply(414, b"Request-URI Too Long")
        known = [self.citations[pmid] for pmid in map(int, ids) if self._gives(pmid)]
        return Reply(200, article_set(known), {"Content-Type": "text/xml; charset=UTF-8"})

    def _gives(self, pmid: int) -> bool:
        if self.withheld.get(pmid, 0) > 0:
            self.withheld[pmid] -= 1
            return False
        return pmid in self.citations


class _Search:
    """Evaluates a term: words, "phrases", [fields], dates, AND, OR, NOT from left to right.

    A phrase that no record of the whole database has is dropped, not matched with nothing: that is
    PubMed's trap.
    """

    def __init__(self, citations: Iterable[Citation], term: str) -> None:
        self.all = list(citations)
        self.texts = {
            c.pmid: " ".join(
                [str(c.pmid), c.title, *(p[2] for p in c.abstract), *c.types, *c.mesh, *c.keywords]
            ).lower()
            for c in self.all
        }
        self.phrases: list[str] = []
        self.fields: list[str] = []
        self._tokens = _TOKEN.findall(term)
        self._at = 0
        found = self._any_of()
        self.found = [c for c in self.all if found is not None and c.pmid in found]

    def _any_of(self) -> set[int] | None:
        found: set[int] | None = None
        joint = "AND"
        while self._at < len(self._tokens) and self._tokens[self._at] != ")":
            token = self._tokens[self._at]
            self._at += 1
            if token in ("AND", "OR", "NOT"):
                joint = token
                continue
            if token == "(":
                unit = self._any_of()
                self._at += 1
            else:
                unit = self._unit(token)
            if unit is not None:
                found = unit if found is None else _joined(found, joint, unit)
            joint = "AND"
        return found

    def _unit(self, token: str) -> set[int] | None:
        words, _, tag = token.partition("[")
        words, tag = words.strip('"').lower(), tag.rstrip("]").lower()
        if tag and tag not in _FIELDS:
            self.fields.append(tag)
            tag = ""
        if self._tokens[self._at : self._at + 1] == [":"]:
            until = self._tokens[self._at + 1].partition("[")[0].strip('"')
            self._at += 2
            return {c.pmid for c in _within(self.all, tag, words, until)}
        found = {pmid for pmid, text in self.texts.items() if words in text}
        if not found:
            self.phrases.append(words)
            return None
        return found


def _joined(found: set[int], joint: str, unit: set[int]) -> set[int]:
    return found | unit if joint == "OR" else found - unit if joint == "NOT" else found & unit


def _within(found: Iterable[Citation], kind: str, start: str, end: str) -> list[Citation]:
    first, last = _day(start, last=False), _day(end, last=True)
    name = {"mdat": "mdat", "edat": "edat"}.get(kind, "published")
    return [citation for citation in found if first <= getattr(citation, name) <= last]


def _day(text: str, *, last: bool) -> date:
    """`YYYY`, `YYYY/MM` or `YYYY/MM/DD`; a part that is missing is the first or the last one."""
    parts = [int(part) for part in text.split("/")]
    if len(parts) == 3:
        return date(*parts)
    if last:
        return date(parts[0], parts[1] if len(parts) > 1 else 12, 28)
    return date(parts[0], parts[1] if len(parts) > 1 else 1, 1)


def _json(body: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(body).encode(), {"Content-Type": "application/json"})
