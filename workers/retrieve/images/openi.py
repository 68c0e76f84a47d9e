"""Open-i, the image search of the National Library of Medicine (https://openi.nlm.nih.gov/services).

Asked only where the operator wants images, with words of the vocabulary alone. Fields as published
answers of `/api/search` have them: `list` of `docSource`, `pmcid`, `pmid`, `title`, `imgLarge`,
`ccLicense` and `image.caption`. Nothing found has no `list`; an error is a 200 with `Query-Error`.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import structlog

from knowledge.works.images import image_policy
from knowledge.works.links import DirectUrl, direct_url, is_direct
from store.sources import source_states
from workers.http.client import SourceClient
from workers.http.errors import Malformed, SourceError
from workers.http.factory import service_client
from workers.retrieve.images.choice import Figure, Search, choose, image_search
from workers.retrieve.understanding.model import Understanding
from workers.runtime.stage import Context

log = structlog.get_logger(__name__)

SERVICE = "openi"
ORIGIN = "https://openi.nlm.nih.gov"
SOURCE = "Open-i (NLM)"
_MAX_BYTES = 4 * 1024 * 1024
"""Ours: thirty records with abstracts have some hundred kilobytes."""
_TITLE = 300
_TAG = re.compile(r"<[^<>]{0,500}>")


def images(
    context: Context, understanding: Understanding, recognized: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The images beside the answer, mostly none.

    Nothing is asked unless `Settings.image_search` is on. An answer never fails for want of an
    image: a service that does not answer is told in the log, and left alone for a while as any
    other (store.source_states).

    Args:
        recognized: see `find_images`.
    """
    if not context.settings.image_search or image_search(understanding, recognized) is None:
        return []
    at = context.now()
    with context.store.unit_of_work("stage:retrieve") as unit:
        if not source_states.may_ask(unit.session, SERVICE, at):
            return []
    try:
        found = find_images(understanding, _client(context), recognized)
    except SourceError as error:
        log.warning("image_search_failed", kind=type(error).__name__)
        with context.store.unit_of_work("stage:retrieve") as unit:
            source_states.failed(unit.session, SERVICE, error, at)
        return []
    with context.store.unit_of_work("stage:retrieve") as unit:
        source_states.succeeded(unit.session, SERVICE, at)
    return found


def find_images(
    understanding: Understanding, client: SourceClient, recognized: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Ask for images once and keep those that meet the rules (EB-6), as the answer shows them.

    Args:
        client: of the service `openi`.
        recognized: the tags that the question itself names, by kind ("diseases", "decisions"), as
            `understanding.read.search_terms` gives them; nothing else is sent (invariant 11).

    Raises:
        workers.http.errors.SourceError: the service did not answer, or not with its protocol.
    """
    search = image_search(understanding, recognized)
    if search is None:
        return []
    return [figure.as_body() for figure in choose(_ask(client, search), search)]


def _client(context: Context) -> SourceClient:
    return service_client(
        SERVICE,
        context.settings,
        context.store.engine,
        key="",
        deadline_seconds=image_policy().seconds,
        now=context.now,
        sleep=context.sleep,
    )


def _ask(client: SourceClient, search: Search) -> Iterator[Figure]:
    policy = image_policy()
    asked: dict[str, str | int | float] = {
        "query": search.query,
        "it": search.image_type,
        "coll": policy.collection,
        "m": 1,
        "n": policy.candidates,
    }
    reply = client.get(
        f"{ORIGIN}/api/search", asked, headers={"Accept": "application/json"}, max_bytes=_MAX_BYTES
    )
    for record in _records(reply.content):
        figure = _figure(record)
        if figure is not None:
            yield figure


def _records(content: bytes) -> list[Any]:
    """The records of an answer. Raises Malformed."""
    try:
        value = json.loads(content, strict=False)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or "Query-Error" in value:
        raise Malformed("Open-i answers with something that is no list of images")
    found = value.get("list") or []
    if not isinstance(found, list):
        raise Malformed("Open-i answers with a list that is none")
    return found


def _figure(record: Any) -> Figure | None:
    """A figure of an article in PubMed Central; None where the record names no such article."""
    if not isinstance(record, dict) or _text(record, "docSource").upper() != "PMC":
        return None
    number = _text(record, "pmcid").upper().removeprefix("PMC")
    url = direct_url({"pmcid": f"PMC{number}"}) or direct_url({"pmid": _text(record, "pmid")})
    title = _plain(_text(record, "title"))
    if url is None or not title:
        return None
    image = record.get("image")
    return Figure(
        title=title[:_TITLE],
        caption=_plain(_text(image, "caption")) if isinstance(image, dict) else "",
        url=url,
        image_url=_picture(_text(record, "imgLarge")),
        source=SOURCE,
        license=image_policy().licenses.get(_text(record, "ccLicense").lower()),
    )


def _picture(path: str) -> DirectUrl | None:
    """The picture at the service itself; it names pictures by their paths."""
    address = f"{ORIGIN}{path}"
    return DirectUrl(address) if path.startswith("/imgs/") and is_direct(address) else None


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return str(value).strip() if isinstance(value, str | int) else ""


def _plain(marked: str) -> str:
    """Words without markup, on one line."""
    return " ".join(html.unescape(_TAG.sub(" ", marked)).split())
