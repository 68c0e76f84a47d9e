"""Every page without Redis, and every form with a body of ten megabytes."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from fastapi.routing import iter_route_contexts

from api_gateway.app import create_app
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.pages.test_pages import BROWSER

NOWHERE = "redis://127.0.0.1:1/0"
TEN_MEGABYTES = b"name=" + b"x" * 10_000_000
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def bare(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway whose Redis is away."""
    with serving(settings_for(new_database(), redis_url=NOWHERE)) as running:
        yield running


def places(running: Running, method: str) -> list[str]:
    """The addresses of all pages for this method; ids in them are of nothing."""
    routes = iter_route_contexts(create_app(running.settings).routes)
    found = {str(route.path) for route in routes if method in (route.methods or ())}
    pages = [one for one in found if not one.startswith(("/v1", "/openapi", "/static", "/metrics"))]
    return sorted(re.sub(r"\{[^}]*\}", str(uuid4()), one) for one in pages)


def send(running: Running, path: str, **fields: str) -> Any:
    headers = {**BROWSER, "Origin": running.url.rstrip("/"), "Content-Type": FORM}
    return running.client.post(path, data=fields, headers=headers)


def test_every_page_is_shown_without_redis(bare: Running) -> None:
    told = {
        path: bare.client.get(path, headers=BROWSER, follow_redirects=True).status_code
        for path in places(bare, "GET")
        if path != "/readyz"  # it tells that Redis is away
    }
    assert {path: status for path, status in told.items() if status >= 500} == {}
    assert len([path for path, status in told.items() if status == 200]) >= 15


def test_keys_feeds_watches_and_questions_are_kept_without_redis(bare: Running) -> None:
    key = send(
        bare, "/operate/keys", name="desk", owner="ward-3", days="30", ask="yes", key=str(uuid4())
    )
    assert key.status_code == 200, key.text
    feed = send(bare, "/questions/feed", key=str(uuid4()))
    assert feed.status_code == 200
    address = re.search(r"/feeds/[\w-]+", feed.text)
    assert address is not None
    assert bare.client.get(address[0]).status_code == 200
    watch = send(bare, "/library/watches", source="pubmed", query="gout", key=str(uuid4()))
    assert (watch.status_code, bare.count("watch", "query = 'gout'")) == (303, 1)
    asked = send(bare, "/ask", question="Does xyzomab help in gout?", key=str(uuid4()))
    assert asked.status_code == 303
    kept = "payload->>'question_id' = :id AND status <> 'done'"
    question = asked.headers["location"].rpartition("/")[2]
    assert bare.count("outbox", kept, id=question) == 1, "it is promised until Redis is back"


def test_no_form_takes_ten_megabytes_that_it_does_not_want(bare: Running) -> None:
    headers = {**BROWSER, "Origin": bare.url.rstrip("/"), "Content-Type": FORM}
    told = {
        path: bare.client.post(path, content=TEN_MEGABYTES, headers=headers).status_code
        for path in places(bare, "POST")
    }
    refused = {path: status for path, status in told.items() if status not in (404, 413, 415, 422)}
    assert refused == {}
    assert bare.client.get("/healthz").status_code == 200
