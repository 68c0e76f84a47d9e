"""DailyMed: drug labels by name, set id or RxCUI (WIRE 6): first a listing, then its labels."""

import re
from collections.abc import Sequence
from typing import Any

from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload, time_is_up
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.dailymed import is_set_id, parse_dailymed, parse_listing

SERVICES = "https://dailymed.nlm.nih.gov/dailymed/services/v2"

PAGE_SIZE = 100
"""DailyMed silently cuts larger values to 100."""
LABELS_A_STEP = 10
"""A label has up to a few megabytes; ten take less than a minute at two per second."""

_RXCUI = re.compile(r"\d{1,8}")
_LETTER = re.compile(r"[^\W\d_]")
_MAX_NAME = 200


class DailyMed:
    """Continuation: `page`, the next page of the listing or null, and `labels`, the set ids of
    earlier pages that are still to be fetched."""

    name = "dailymed"
    fetch_limit = LABELS_A_STEP

    def check_query(self, query: str) -> str:
        """A drug's name, `setid:…` or `rxcui:…`, in lower case with single spaces.

        Raises InvalidQuery.
        """
        words = " ".join(query.lower().split())
        kind, colon, value = words.partition(":")
        value = value.strip()
        if colon and kind == "setid":
            if not is_set_id(value):
                raise InvalidQuery(
                    "a set id is five groups of hexadecimal digits: "
                    "setid:1a550c33-456a-4833-814e-8591aea7c688"
                )
            return f"setid:{value}"
        if colon and kind == "rxcui":
            if not _RXCUI.fullmatch(value):
                raise InvalidQuery("an RxCUI is a number: rxcui:1657979")
            return f"rxcui:{value}"
        if not _LETTER.search(words) or len(words) > _MAX_NAME or not words.isprintable():
            raise InvalidQuery("name a drug (adalimumab), or write setid:… or rxcui:…")
        return words

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """Up to ten labels; if none is left to fetch, a page of the listing is read first."""
        page, labels = _place(continuation)
        total, strange = None, 0
        if not labels and page is not None:
            listing = parse_listing(
                client.get(f"{SERVICES}/spls.json", _parameters(ask, page)).content,
                page,
                None if ":" in ask.query else ask.query,
            )
            labels, page = list(listing.set_ids), listing.next_page
            total, strange = listing.total, listing.strange
        payloads: list[Payload] = []
        began = client.now()
        for set_id in labels[:LABELS_A_STEP]:
            if payloads and time_is_up(client, began):
                break
            payloads.append(_label(client, set_id))
        later = labels[len(payloads) :]
        if strange:
            reason = f"{strange} rows of the listing have no set id"
            payloads.append(Payload("listing", envelope.problem(None, reason)))
        following = {"page": page, "labels": later} if later or page is not None else None
        return Page(tuple(payloads), following, total)

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """Labels by `set_id:…`; those that DailyMed no longer has are missing."""
        payloads: list[Payload] = []
        began = client.now()
        for done, key in enumerate(keys[: self.fetch_limit]):
            if done and time_is_up(client, began):
                return Page(tuple(payloads), left_over=keys[done:])
            kind, _, set_id = key.partition(":")
            if kind == "set_id" and is_set_id(set_id):
                reply = client.get(f"{SERVICES}/spls/{set_id}.xml", accept=(200, 404))
                if reply.status == 200:
                    payloads.append(_payload(set_id, reply.content))
        return Page(tuple(payloads))

    def parse(self, payload: bytes) -> Parsed:
        """Raises Malformed."""
        return parse_dailymed(payload)


def _label(client: SourceClient, set_id: str) -> Payload:
    """The label; a `gone` payload if it was removed after it was listed."""
    reply = client.get(f"{SERVICES}/spls/{set_id}.xml", accept=(200, 404))
    if reply.status == 404:
        return Payload(f"{set_id} gone", envelope.gone(f"set_id:{set_id}"))
    return _payload(set_id, reply.content)


def _payload(set_id: str, content: bytes) -> Payload:
    return Payload(f"{set_id}.xml", envelope.wrap(content, set_id=set_id))


def _parameters(ask: Ask, page: int) -> dict[str, str | int | float]:
    kind, colon, value = ask.query.partition(":")
    parameters: dict[str, str | int | float] = {kind: value} if colon else {"drug_name": ask.query}
    if ask.since is not None:
        parameters |= {
            "published_date": ask.since.date().isoformat(),
            "published_date_comparison": "gte",
        }
    return parameters | {"pagesize": PAGE_SIZE, "page": page}


def _place(continuation: Continuation | None) -> tuple[int | None, list[str]]:
    if continuation is None:
        return 1, []
    page: Any = continuation.get("page")
    labels: Any = continuation.get("labels")
    if not isinstance(labels, list) or not (page is None or isinstance(page, int)):
        raise Malformed("the continuation of this refresh is not one of DailyMed's")
    return page, [label for label in labels if isinstance(label, str) and is_set_id(label)]


DAILYMED = DailyMed()
