"""Signing in over real HTTP: what the cookie is, where it counts, what a form must carry."""

import re
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import unquote
from uuid import uuid4

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from api_gateway.app import create_app
from api_gateway.auth.access import scopes_of
from store.access import keys
from store.access.keys import Issued
from store.models import now
from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import bearer, make_key, refusals

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
QUESTION = {"question": "Does ctDNA predict recurrence?", "as_of": "", "patient_context": ""}


@pytest.fixture
def browser(locked: Running) -> Iterator[httpx.Client]:
    """A client that keeps cookies, as a browser does."""
    with httpx.Client(base_url=locked.url, timeout=30, headers=HTML) as client:
        yield client


def sign_in(browser: httpx.Client, issued: Issued, **more: str) -> httpx.Response:
    response = browser.post("/signin", data={"key": issued.secret, **more})
    assert response.status_code == 303, response.text
    return response


def token(html: str) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]{128})"', html)
    assert found is not None
    return found[1]


@pytest.mark.requirement("OP-3.9")
def test_op_3_9_the_cookie_is_http_only_strict_and_holds_no_key(
    locked: Running, browser: httpx.Client
) -> None:
    issued = make_key(locked, "ask", "read")
    told = sign_in(browser, issued).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(told.split("; "))
    assert "Secure" not in told  # it came by plain HTTP; a browser would drop it
    assert 11 * 3600 < int(re.search(r"Max-Age=(\d+)", told)[1]) <= 12 * 3600  # type: ignore[index]
    secret = browser.cookies["attest_session"]
    assert issued.secret not in told
    assert issued.key.prefix not in told
    rows = locked.scalar("SELECT count(*) FROM page_session WHERE key_id = :id", id=issued.key.id)
    assert rows == 1
    kept = locked.scalar("SELECT hash FROM page_session WHERE key_id = :id", id=issued.key.id)
    assert secret.encode() not in bytes(kept)
    assert locked.count("audit_event", "payload::text LIKE :word", word=f"%{secret}%") == 0
    assert browser.get("/questions").status_code == 200


def test_behind_tls_the_cookie_is_secure(locked: Running, browser: httpx.Client) -> None:
    issued = make_key(locked)
    response = browser.post(
        "/signin", data={"key": issued.secret}, headers={"X-Forwarded-Proto": "https"}
    )
    assert "Secure" in response.headers["set-cookie"].split("; ")


def test_a_page_asked_for_without_sign_in_leads_there_and_back(
    locked: Running, browser: httpx.Client
) -> None:
    response = browser.get("/questions?recall=affected")
    assert response.status_code == 303
    assert response.headers["location"] == "/signin?next=%2Fquestions%3Frecall%3Daffected"
    form = browser.get(response.headers["location"])
    assert form.status_code == 200
    assert 'value="/questions?recall=affected"' in form.text
    assert 'href="/questions"' not in form.text  # nothing in the frame for a stranger
    back = sign_in(browser, make_key(locked), next="/questions?recall=affected")
    assert back.headers["location"] == "/questions?recall=affected"


def test_a_program_without_a_key_is_still_told_so_in_json(locked: Running) -> None:
    response = locked.client.get("/questions", headers={"Accept": "application/json"})
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "next",
    [
        "https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example",
        "/\t/evil.example", "javascript:alert(1)", "/v1/questions", "/signout", "evil", "/@evil",
    ],
)  # fmt: skip
def test_sign_in_leads_to_no_other_place(locked: Running, browser: httpx.Client, next: str) -> None:
    assert sign_in(browser, make_key(locked, "read"), next=next).headers["location"] == "/questions"
    assert "evil" not in unquote(browser.get("/signin", params={"next": next}).text)


@pytest.mark.parametrize("wrong", ["", "attest_0123456789_" + "x" * 43, "%00", "x" * 9000])
def test_a_key_that_does_not_hold_signs_nobody_in(
    locked: Running, browser: httpx.Client, wrong: str
) -> None:
    response = browser.post("/signin", data={"key": wrong})
    assert response.status_code == 401
    assert "set-cookie" not in response.headers
    assert "Not signed in" in response.text
    assert wrong == "" or wrong not in response.text
    assert refusals(locked, route="POST /signin", reason="unknown_key")


@pytest.mark.requirement("OP-3.9")
def test_op_3_9_a_form_without_the_token_of_its_session_is_refused(
    locked: Running, browser: httpx.Client
) -> None:
    sign_in(browser, make_key(locked))
    mine = token(browser.get("/", follow_redirects=True).text)
    with httpx.Client(base_url=locked.url, headers=HTML) as other:
        sign_in(other, make_key(locked))
        theirs = token(other.get("/", follow_redirects=True).text)
    for given in ({}, {"csrf": ""}, {"csrf": theirs}, {"csrf": mine[:-1] + "é"}):
        response = browser.post("/ask", data={**QUESTION, **given})
        assert response.status_code == 403, given
        assert browser.post("/signout", data={"x": "", **given}).status_code == 403
    json_body = browser.post("/ask", json={**QUESTION, "csrf": mine})
    assert json_body.status_code == 403
    assert locked.count("question") == 0
    assert refusals(locked, reason="no_csrf_token", route="POST /ask")
    sent = browser.post("/ask", data={**QUESTION, "csrf": mine})
    assert sent.status_code == 303
    assert locked.count("question") == 1
    again = sent.headers["location"] + "/again"
    assert browser.post(again).status_code == 403
    assert browser.post(again, data={"csrf": mine}).status_code == 303


@pytest.mark.requirement("OP-3.9")
def test_op_3_9_every_page_that_changes_something_asks_for_the_token(
    locked: Running, browser: httpx.Client
) -> None:
    """From the routes themselves, so that a new one cannot forget it."""
    sign_in(browser, make_key(locked))
    asked = 0
    for route in iter_route_contexts(create_app(locked.settings).routes):
        path = str(route.path)
        if path.startswith("/v1/") or not scopes_of(route):
            continue
        for method in set(route.methods or ()) - {"GET", "HEAD"}:
            filled = re.sub(r"\{[a-z]*n\}", "1", path)
            response = browser.request(method, re.sub(r"\{[^}]*\}", str(uuid4()), filled))
            assert response.status_code == 403, (method, path)
            asked += 1
    assert asked >= 4


def test_the_cookie_counts_on_pages_and_for_what_they_load_only(
    locked: Running, browser: httpx.Client
) -> None:
    sign_in(browser, make_key(locked))
    mine = token(browser.get("/", follow_redirects=True).text)
    page = browser.post("/ask", data={**QUESTION, "csrf": mine}).headers["location"]
    assert browser.get(f"/v1{page}").status_code == 200
    for method, path in (
        ("GET", "/v1/questions"),
        ("GET", "/v1/audit"),
        ("GET", "/metrics"),
        ("POST", "/v1/questions"),
        ("POST", "/v1/notes"),
        ("POST", f"/v1{page}"),
    ):
        response = browser.request(method, path, json={"question": "x?", "csrf": mine})
        assert response.status_code in {401, 405}, (method, path)
    assert browser.get("/v1/questions").json()["type"] == "urn:attest:problem:unauthenticated"


def test_a_key_in_the_header_goes_before_the_cookie(locked: Running, browser: httpx.Client) -> None:
    sign_in(browser, make_key(locked, owner="ward-1"))
    other = make_key(locked, "read", owner="ward-2")
    assert browser.get("/", headers=bearer(other)).status_code == 403
    assert browser.get("/questions", headers=bearer("attest_x")).status_code == 401


@pytest.mark.requirement("OP-3.9")
def test_op_3_9_revoking_the_key_ends_the_session(locked: Running, browser: httpx.Client) -> None:
    issued = make_key(locked)
    sign_in(browser, issued)
    assert browser.get("/questions").status_code == 200
    with locked.store.unit_of_work("cli") as work:
        keys.revoke(work, issued.key.id)
    assert browser.get("/questions").headers["location"].startswith("/signin")
    assert browser.post("/ask", data=QUESTION).headers["location"] == "/signin?unsent=yes"


def test_a_session_ends_with_its_time_and_with_its_key(
    locked: Running, browser: httpx.Client
) -> None:
    soon = make_key(locked, expires_at=now() + timedelta(minutes=5))
    told = sign_in(browser, soon).headers["set-cookie"]
    assert int(re.search(r"Max-Age=(\d+)", told)[1]) <= 300  # type: ignore[index]
    assert browser.get("/questions").status_code == 200
    locked.execute("UPDATE page_session SET expires_at = now() - interval '1 second'")
    assert browser.get("/questions").status_code == 303
    sign_in(browser, make_key(locked))
    assert locked.count("page_session", "expires_at < now()") == 0  # swept


def test_signing_out_ends_it_for_whoever_has_the_cookie(
    locked: Running, browser: httpx.Client
) -> None:
    sign_in(browser, make_key(locked))
    stolen = browser.cookies["attest_session"]
    response = browser.post(
        "/signout", data={"csrf": token(browser.get("/", follow_redirects=True).text)}
    )
    assert response.headers["location"] == "/signin"
    assert "attest_session" not in browser.cookies
    again = browser.get("/questions", headers={"Cookie": f"attest_session={stolen}"})
    assert again.status_code == 303


@pytest.mark.requirement("OP-3.9")
def test_op_3_9_scopes_hide_what_they_do_not_allow_and_refuse_it(
    locked: Running, browser: httpx.Client
) -> None:
    sign_in(browser, make_key(locked, "ask", "read", owner="ward-7"))
    page = browser.post(
        "/ask", data={**QUESTION, "csrf": token(browser.get("/", follow_redirects=True).text)}
    ).headers["location"]
    assert 'href="/verify"' in browser.get("/", follow_redirects=True).text
    assert 'href="/operate"' not in browser.get("/", follow_redirects=True).text
    reader = make_key(locked, "read", owner="ward-7")
    assert sign_in(browser, reader).headers["location"] == "/questions"
    seen = browser.get("/questions").text
    assert 'href="/verify"' not in seen
    assert 'href="/">Ask' not in seen
    assert "Sign out" in seen
    assert browser.get("/").status_code == 403
    assert "Sign out" in browser.get("/", follow_redirects=True).text
    assert f"{page}/again" not in browser.get(page).text
    mine = token(seen)
    assert browser.post(f"{page}/again", data={"csrf": mine}).status_code == 403
    sign_in(browser, make_key(locked, "read", owner="ward-8"))
    assert browser.get(page).status_code == 404


def test_without_keys_asked_for_everything_is_as_before(gateway: Running) -> None:
    with httpx.Client(base_url=gateway.url, headers=HTML) as client:
        assert "Sign out" not in client.get("/", follow_redirects=True).text
        assert "csrf" not in client.get("/", follow_redirects=True).text
        assert client.post("/ask", data=QUESTION).status_code == 303
        client.cookies.set("attest_session", "x" * 43)
        assert client.get("/", follow_redirects=True).status_code == 200
        assert client.post("/ask", data=QUESTION).status_code == 303
