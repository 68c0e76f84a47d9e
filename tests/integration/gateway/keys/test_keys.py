"""Keys over real HTTP: who is let in, how often, what is written down of those who are not."""

import http.client
import socket
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa
from fastapi.routing import iter_route_contexts
from sqlmodel import Session

from api_gateway.app import create_app
from api_gateway.auth.access import Scope, scopes_of
from api_gateway.main import NoKeys, build_server
from store.access import keys
from store.access.keys import Issued, Limits
from store.audit.log import query
from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import AccessKey, now
from tests.integration.gateway.conftest import Running, serving

ALL = tuple(Scope)


def make_key(running: Running, *scopes: str, owner: str = "ward-1", **given: Any) -> Issued:
    """A key as `attest keys create` makes it."""
    limits = Limits(**given.pop("limits", {}))
    with running.store.unit_of_work("cli") as work:
        return keys.create(
            work,
            name="a test",
            owner=owner,
            scopes=scopes or ALL,
            expires_at=given.pop("expires_at", now() + timedelta(days=1)),
            limits=limits,
        )


def bearer(issued: Issued | str) -> dict[str, str]:
    """The header with a key."""
    secret = issued if isinstance(issued, str) else issued.secret
    return {"Authorization": f"Bearer {secret}"}


def problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    assert body["type"] == f"urn:attest:problem:{kind}"
    return body


def refusals(running: Running, **fields: Any) -> list[dict[str, Any]]:
    """The payloads of refusals that were audited and have these fields."""
    with running.store.reading() as session:
        events = query(session, event="access.refused", limit=1000).rows
    payloads = [event.payload for event in events]
    return [one for one in payloads if fields.items() <= one.items()]


@pytest.mark.requirement("OP-3.2")
def test_op_3_2_without_a_key_nothing_is_told_but_that_one_is_needed(locked: Running) -> None:
    app = create_app(locked.settings)
    asked = 0
    for route in iter_route_contexts(app.routes):
        if not (route.path or "").startswith("/v1/") and route.path != "/metrics":
            continue
        for method in route.methods or ():
            path = (route.path or "").replace("{n}", "1").replace("{stage}", "verify")
            for name in ("question_id", "verification_id", "note_id", "document_id"):
                path = path.replace(f"{{{name}}}", str(uuid4()))
            # The body is no JSON: whoever has no key is told so before it is looked at.
            headers = {"Content-Type": "application/json"}
            response = locked.client.request(method, path, content=b"{", headers=headers)
            problem(response, 401, "unauthenticated")
            assert response.headers["www-authenticate"] == "Bearer"
            asked += 1
    assert asked >= 30
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert locked.client.get(path).status_code == 200
    assert refusals(locked, reason="no_key", route="POST /v1/notes")


@pytest.mark.requirement("OP-3.2")
@pytest.mark.parametrize("scope", ALL)
def test_op_3_2_a_key_with_one_scope_opens_the_routes_of_this_scope_only(
    locked: Running, scope: Scope
) -> None:
    issued = make_key(locked, scope, limits={"rate_per_minute": 1000})
    for route in iter_route_contexts(create_app(locked.settings).routes):
        wanted = scopes_of(route)
        if not wanted or not (route.path or "").startswith("/v1/"):
            continue
        for method in route.methods or ():
            path = (route.path or "").replace("{n}", "1").replace("{", "").replace("}", "")
            response = locked.client.request(method, path, headers=bearer(issued), content=b"")
            if scope in wanted:
                assert response.status_code not in {401, 403, 429, 500}, (method, path)
            else:
                body = problem(response, 403, "missing-scope")
                assert wanted[0] in body["detail"]
                assert "insufficient_scope" in response.headers["www-authenticate"]
    assert refusals(locked, reason="missing_scope", key_id=str(issued.key.id))


@pytest.mark.requirement("OP-3.1")
def test_op_3_1_a_key_is_refused_once_it_is_revoked_or_has_expired(locked: Running) -> None:
    held, revoked = make_key(locked, "read"), make_key(locked, "read")
    soon = make_key(locked, "read", expires_at=now() + timedelta(seconds=0.5))
    for issued in (held, revoked):
        assert locked.client.get("/v1/questions", headers=bearer(issued)).status_code == 200
    with locked.store.unit_of_work("cli") as work:
        keys.revoke(work, revoked.key.id)
    time.sleep(0.6)
    words = set()
    for bad in (
        revoked.secret,
        soon.secret,
        held.secret[:-1] + "!",
        "attest_0000000000_x",
        "é",
    ):
        header = httpx.Headers({b"Authorization": f"Bearer {bad}".encode()})
        response = locked.client.get("/v1/questions", headers=header)
        words.add(problem(response, 401, "unauthenticated")["detail"])
        assert response.headers["www-authenticate"].startswith("Bearer")
    assert len(words) == 1, "what is wrong with a key is told to nobody"
    assert locked.client.get("/v1/questions", headers=bearer(held)).status_code == 200
    for reason, issued in (("revoked_key", revoked), ("expired_key", soon)):
        assert refusals(locked, reason=reason, key_id=str(issued.key.id))
    assert locked.count("audit_event", "event = 'key.revoked'") == 1


@pytest.mark.requirement("OP-3.4")
def test_op_3_4_a_secret_stands_in_no_table_and_no_event(locked: Running) -> None:
    issued = make_key(locked, "read", owner="ward-9")
    assert locked.client.get("/v1/questions", headers=bearer(issued)).status_code == 200
    secret = issued.secret.split("_", 2)[2]
    row = locked.scalar(
        "SELECT to_jsonb(k)::text FROM access_key k WHERE id = :id", id=issued.key.id
    )
    assert secret not in row
    assert secret.encode().hex() not in row
    assert locked.count("audit_event", "payload::text LIKE :like", like=f"%{secret}%") == 0
    events = "event = 'key.created' AND payload::text ~ 'ward-9|a test'"
    assert locked.count("audit_event", events) == 0, "neither owner nor name is in the audit"
    assert secret not in repr(issued)
    assert issued.key.hash.hex() not in repr(issued)


@pytest.mark.requirement("OP-3.4")
def test_op_3_4_an_unknown_prefix_costs_the_same_work(locked: Running) -> None:
    issued = make_key(locked, "read")
    unknown = "attest_0123456789_" + "A" * 43
    for presented in (issued.secret, issued.secret[:-1] + "~", unknown, "rubbish", ""):
        called: list[str] = []

        def watch(frame: object, event: str, called_one: Any, seen: list[str] = called) -> None:
            name = getattr(called_one, "__name__", "")
            if event == "c_call" and name in {"digest", "compare_digest"}:
                seen.append(name)

        with Session(locked.store.engine) as session:
            sys.setprofile(watch)
            try:
                keys.check(session, presented, now())
            finally:
                sys.setprofile(None)
        assert called == ["digest", "compare_digest"]


def test_op_3_4_nothing_is_made_of_a_key_before_its_secret_holds(locked: Running) -> None:
    """An object made of the row of a prefix that is known took a tenth longer than none."""
    issued = make_key(locked, "read")
    made: list[object] = []
    known = issued.secret[:-1] + ("A" if issued.secret[-1] != "A" else "B")
    unknown = "attest_0123456789_" + "A" * 43

    def note(one: object, _: object) -> None:
        made.append(one)

    sa.event.listen(AccessKey, "load", note)
    try:
        for presented in (known, unknown):
            with Session(locked.store.engine) as session:
                found = keys.check(session, presented, now())
            assert found.key is None
    finally:
        sa.event.remove(AccessKey, "load", note)
    assert made == []
    with Session(locked.store.engine) as session:
        found = keys.check(session, issued.secret, now())
    assert found.key is not None
    assert found.key.model_dump() == issued.key.model_dump()


def test_equal_secrets_would_have_different_hashes() -> None:
    assert keys._hash("a", bytes(16)) != keys._hash("a", bytes(15) + b"\1")


def test_use_is_noted(locked: Running) -> None:
    issued = make_key(locked, "read")
    locked.client.get("/v1/questions", headers=bearer(issued))
    with locked.store.reading() as session:
        (found,) = [one for one in keys.listing(session) if one.id == issued.key.id]
    assert found.last_used_at is not None
    assert (found.counted, found.counted_on) == (1, datetime.now(UTC).date())


def test_metrics_need_the_scope_of_operators(locked: Running) -> None:
    problem(
        locked.client.get("/metrics", headers=bearer(make_key(locked, "read"))),
        403,
        "missing-scope",
    )
    assert (
        locked.client.get("/metrics", headers=bearer(make_key(locked, "operate"))).status_code
        == 200
    )


def test_events_name_the_key_that_asked(locked: Running) -> None:
    issued = make_key(locked, "ask")
    response = locked.client.post("/v1/questions", json={"question": "q"}, headers=bearer(issued))
    subject = response.json()["id"]
    actor = locked.scalar("SELECT actor FROM audit_event WHERE subject = :id", id=subject)
    assert actor == f"key:{issued.key.id}"


# --- where it listens -----------------------------------------------------------------------------


@pytest.mark.requirement("OP-3.3")
def test_op_3_3_elsewhere_it_starts_with_a_key_only_and_always_asks_for_one(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    settings: Settings = settings_for(new_database(), host="0.0.0.0")
    with pytest.raises(NoKeys, match=r"attest keys create --name first.*ATTEST_HOST=127\.0\.0\.1"):
        build_server(settings)
    engine = connect(settings.database_url)
    with Store(engine).unit_of_work("cli") as work:
        issued = keys.create(
            work,
            name="first",
            owner="local",
            scopes=ALL,
            expires_at=now() + timedelta(days=1),
        )
    engine.dispose()
    with serving(settings) as running:
        problem(running.client.get("/v1/questions"), 401, "unauthenticated")
        headers = {"Host": "attest.example", **bearer(issued)}
        assert running.client.get("/v1/questions", headers=headers).status_code == 200


@pytest.mark.requirement("OP-3.3")
def test_op_3_3_on_loopback_nobody_needs_a_key_but_one_that_is_shown_counts(
    gateway: Running,
) -> None:
    assert gateway.client.get("/v1/questions").status_code == 200
    issued = make_key(gateway, "read")
    headers = bearer(issued)
    assert gateway.client.get("/v1/questions", headers=headers).status_code == 200
    problem(
        gateway.client.post("/v1/questions", json={"question": "q"}, headers=headers),
        403,
        "missing-scope",
    )
    problem(gateway.client.get("/v1/questions", headers=bearer("x")), 401, "unauthenticated")


# --- hardening ------------------------------------------------------------------------------------


@pytest.mark.requirement("OP-3.8")
def test_op_3_8_a_body_that_trickles_in_is_given_up(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    with serving(settings_for(new_database(), body_seconds=0.3)) as running:
        address = urlsplit(running.url)
        with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
            head = (
                "POST /v1/questions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
                "Content-Type: application/json\r\n\r\n{"
            )
            connection.sendall(head.encode())
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 408
            assert b"urn:attest:problem:too-slow" in response.read()
            assert response.headers["Connection"] == "close"
            assert connection.recv(1) == b"", "the connection ends here"
        assert running.client.get("/healthz").status_code == 200
        assert running.count("question") == 0


@pytest.mark.requirement("OP-3.8")
def test_op_3_8_every_answer_has_security_headers_and_no_other_origin_is_let_in(
    locked: Running,
) -> None:
    read = bearer(make_key(locked, "read"))
    origin = {"Origin": "https://evil.example"}
    asking = {**origin, "Access-Control-Request-Method": "GET"}
    answers = [
        locked.client.get("/healthz"),
        locked.client.get("/v1/questions"),
        locked.client.get("/v1/questions", headers={**read, **origin}),
        locked.client.get("/nothing"),
        locked.client.options("/v1/questions", headers=asking),
    ]
    assert [one.status_code for one in answers] == [200, 401, 200, 404, 204]
    for one in answers:
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["cache-control"] == "no-store"
        assert one.headers["x-frame-options"] == "DENY"
        assert one.headers["cross-origin-resource-policy"] == "same-origin"
        assert "default-src 'none'" in one.headers["content-security-policy"]
        assert not [name for name in one.headers if name.startswith("access-control-")]
        assert "server" not in one.headers
