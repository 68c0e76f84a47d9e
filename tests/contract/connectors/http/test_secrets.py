"""Keys and addresses stay out of errors and logs; what the settings make of a client."""

import logging
import threading
import traceback
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from store.core.settings import Settings
from tests.contract.connectors.conftest import MakeClient, MemoryLimiter
from tests.contract.connectors.http.servers import (
    CONTACT,
    EUTILS,
    KEY,
    PMC,
    Site,
    drips,
    raw_server,
)
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply
from workers.http.errors import (
    NotAllowed,
    SourceError,
    TooLarge,
    Unreachable,
)
from workers.http.factory import client_for
from workers.http.transport import Wire, shared_wire

ECHO = f'{{"error":"bad \\"{KEY}\\" of {CONTACT}","api-key":"{KEY}"}}'.encode()
"""NCBI repeats a key that it does not know (WIRE 1)."""
FAULTS = {
    "refused": Reply(400, ECHO),
    "forbidden": Reply(403, ECHO),
    "busy": Reply(503, ECHO),
    "limited": Reply(429, ECHO),
    "quota": Reply(429, ECHO, {"Retry-After": "9999"}),
    "dropped": DROPPED,
    "cut": Reply(200, ECHO, cut=5),
    "too large": Reply(200, ECHO * 100),
    "no gzip": Reply(200, ECHO, {"Content-Encoding": "gzip"}),
    "other place": Reply(302, b"", {"Location": f"https://example.org/?api_key={KEY}"}),
    "userinfo": Reply(302, b"", {"Location": f"https://{KEY}:{CONTACT}@example.org/"}),
    "unreadable": Reply(302, b"", {"Location": f"https://example.org:{KEY}/"}),
    "loop": Reply(302, b"", {"Location": f"/x?api_key={KEY}"}),
    "accepted": Reply(202, ECHO),
}


def texts_of(error: BaseException) -> str:
    """All that could be printed of an error and of those below it."""
    chain: list[BaseException] = []
    below: BaseException | None = error
    while below is not None and below not in chain:
        chain.append(below)
        below = below.__cause__ or below.__context__
    return "\n".join(
        "".join([str(one), repr(one), repr(vars(one)), *traceback.format_exception(one)])
        for one in chain
    )


def printed(record: logging.LogRecord) -> str:
    return f"{record.getMessage()} {vars(record)!r}"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", ["get", "post"])
def test_no_error_and_no_log_line_holds_the_key_or_the_address(
    source_client: MakeClient,
    web: FakeWeb,
    eutils: Site,
    caplog: pytest.LogCaptureFixture,
    fault: str,
    method: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "httpcore.http11", "httpcore.connection"):
        caplog.set_level(logging.DEBUG, logger=name)
    eutils.replies["/x"] = [FAULTS[fault]]
    client = source_client("pubmed", web, key=KEY, contact=CONTACT, max_bytes=1000)
    sent = {"term": "gout", "api_key": KEY, "email": CONTACT}
    header = {"Authorization": f"Bearer {KEY}"}
    ask = client.get if method == "get" else client.post
    with pytest.raises(SourceError) as caught:
        ask(f"{EUTILS}/x", sent, headers=header)
    texts = [texts_of(caught.value), repr(client), *map(printed, caplog.records)]
    for secret in (KEY, quote(KEY, safe=""), CONTACT, quote(CONTACT), "gout"):
        assert not [text for text in texts if secret.lower() in text.lower()], secret
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("bad", ["a b", "a\r\nHost: b", "schlüssel", "\x00"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(
    source_client: MakeClient, web: FakeWeb, bad: str
) -> None:
    for given in ({"key": bad}, {"contact": bad}):
        with pytest.raises(ValueError, match="has a space, a line break") as caught:
            source_client("pubmed", web, **given)
        assert bad not in str(caught.value)


def test_the_settings_make_a_client(
    settings: Settings, engine: sa.Engine, web: FakeWeb, eutils: Site, clock: Clock
) -> None:
    told = settings.model_copy(
        update={
            "source_mirrors": web.mirrors,
            "ncbi_api_key": "key-ncbi",
            "openfda_api_key": "key-fda",
            "openalex_api_key": "key-alex",
            "contact_email": CONTACT,
            "source_max_bytes": 4,
        }
    )
    made = {
        source: client_for(source, told, engine, now=clock, sleep=clock.sleep)
        for source in ("pubmed", "openfda-event", "openalex", "crossref", "europepmc")
    }
    assert [one.key for one in made.values()] == ["key-ncbi", "key-fda", "key-alex", "", ""]
    assert [one.contact for one in made.values()] == [CONTACT, "", "", CONTACT, ""]
    with pytest.raises(TooLarge, match="larger than 4 bytes"):
        made["pubmed"].get(f"{EUTILS}/x")
    assert eutils.asked_at == [clock()]
    news = client_for("news", told, engine, origins=[PMC], now=clock, sleep=clock.sleep)
    assert news.get(f"{PMC}/x", max_bytes=5).content == b"hello"
    with pytest.raises(NotAllowed):
        client_for("news", told, engine).get(f"{PMC}/x")
    with pytest.raises(LookupError, match="there is no source"):
        client_for("nowhere", told, engine)
    shared_wire().close()
    shared_wire.cache_clear()


def test_the_proxy_of_the_environment_is_used_but_not_for_a_mirror_on_this_machine(
    source_client: MakeClient, web: FakeWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_server(drips(b"HTTP/1.1 200 Connection established\r\nX-Long: ")) as (base, callers):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, base)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        wire = Wire()
        options: dict[str, Any] = {"wire": wire, "deadline_seconds": 0.4}
        assert source_client("pubmed", web, **options).get(f"{EUTILS}/x").content == b"hello"
        assert callers == []
        with pytest.raises(Unreachable, match="did not finish"):
            source_client("pubmed", web, mirrors={}, **options).get(f"{EUTILS}/x")
        assert len(callers) == 1
        wire.close()


def test_a_client_serves_many_threads(
    source_client: MakeClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.answer = lambda request: Reply(200, request.params["n"].encode())  # type: ignore[method-assign]
    client = source_client("pubmed", web, limiter=_Unlimited())
    got: dict[int, bytes] = {}

    def ask(n: int) -> None:
        for i in range(n, n + 20):
            got[i] = client.get(f"{EUTILS}/x", {"n": i}).content

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(0, 160, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {i: str(i).encode() for i in range(160)}


class _Unlimited(MemoryLimiter):
    def reserve(
        self, host: str, per_second: float, burst: int, at: datetime, *, longest: float
    ) -> float:
        return 0.0
