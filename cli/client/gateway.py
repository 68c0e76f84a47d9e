"""Calls of a running gateway, with its own words where it refuses."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

import httpx

from store.core.settings import get_settings

Client = httpx.Client
"""What a gateway is called with."""
_WITH_KEY = ContextVar("with_key", default=True)


CALL_SECONDS = 30
"""Longer than any look of `cli.client.waiting` takes."""
PATIENCE_SECONDS = 30.0
"""Ours: so long a gateway that was there may be away or busy; `attest up` has it back sooner."""
PAUSE_SECONDS = 1.0


@contextmanager
def client_of(url: str) -> Iterator[Client]:
    """A client of the gateway there."""
    encrypted = url.startswith("https:")  # loading certificates takes longer than an answer
    with Client(base_url=url, timeout=CALL_SECONDS, verify=encrypted) as client:
        yield client


class GatewayRefused(RuntimeError):
    """The gateway refused, or none answers; the message says what to do."""

    of_content = False
    """Whether what was sent is at fault, not who sent it or when."""
    passes = False
    """Whether it may go another way in a moment: a 503 that says so."""
    unsent = False
    """Whether nothing can have reached a gateway."""

    def about(self, name: str) -> "GatewayRefused":
        """The same, naming the file whose content is at fault."""
        return GatewayRefused(f"{name}: {self}") if self.of_content else self


class NoGateway(GatewayRefused):
    """No gateway answers there."""


class InDoubt(GatewayRefused):
    """Nobody knows whether the gateway accepted what was sent."""


_OF_CONTENT = (400, 413, 415, 422)
_PASSES = 503
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@contextmanager
def without_key() -> Iterator[None]:
    """Calls in this block send no key: they go to an instance that `ATTEST_KEY` is not for."""
    token = _WITH_KEY.set(False)
    try:
        yield
    finally:
        _WITH_KEY.reset(token)


def authorization() -> dict[str, str]:
    """The header with `ATTEST_KEY`; none where it is not set."""
    key = get_settings().key if _WITH_KEY.get() else ""
    return {"Authorization": f"Bearer {key}"} if key else {}


def call(client: httpx.Client, method: str, path: str, **arguments: Any) -> dict[str, Any]:
    """The JSON that the gateway answers. Sends `ATTEST_KEY`, if there is one.

    Raises:
        GatewayRefused: with the gateway's own words, or what to do.
    """
    headers = {**authorization(), **arguments.pop("headers", {})}
    try:
        response = client.request(method, path, headers=headers, **arguments)
    except httpx.TransportError as error:
        nobody = NoGateway(
            f"no gateway answers at {client.base_url} ({type(error).__name__}): "
            "start one with `attest up`"
        )
        nobody.unsent = isinstance(error, _UNSENT)
        raise nobody from error
    if response.is_success:
        try:
            found: dict[str, Any] = response.json()
        except ValueError as error:
            raise GatewayRefused(
                f"what answers at {client.base_url} is no gateway of Attest: check ATTEST_HOST and "
                "ATTEST_PORT"
            ) from error
        return found
    try:
        problem = response.json()
        fields = "; ".join(f"{e['field']}: {e['message']}" for e in problem.get("errors", []))
        said = fields or problem.get("detail") or problem["title"]
        told = (
            f"{said} (attest sends the one in ATTEST_KEY)" if response.status_code == 401 else said
        )
        refused = GatewayRefused(told)
    except (ValueError, KeyError) as error:
        raise GatewayRefused(f"the gateway answered {response.status_code}") from error
    refused.of_content = response.status_code in _OF_CONTENT
    refused.passes = response.status_code == _PASSES and _soon(response)
    raise refused


def _soon(response: httpx.Response) -> bool:
    """Whether it is worth to wait for; a full disk is not."""
    return float(response.headers.get("retry-after", "0")) < PATIENCE_SECONDS


def submit(client: httpx.Client, path: str, **arguments: Any) -> dict[str, Any]:
    """What the gateway says to something new. Where its answer is lost, or it has none just now, it
    is sent again under the same Idempotency-Key, so it is done once.

    Raises:
        NoGateway: none was there.
        InDoubt: it does not come back, and may have accepted it.
        GatewayRefused: it refused, in its own words.
    """
    key = {"Idempotency-Key": uuid4().hex}
    try:
        return _patiently(lambda: call(client, "POST", path, headers=key, **arguments))
    except GatewayRefused as error:
        if error.unsent or not (error.passes or isinstance(error, NoGateway)):
            raise
        page = f"{str(client.base_url).rstrip('/')}{path.removeprefix('/v1')}"
        raise InDoubt(
            f"the gateway did not answer for {PATIENCE_SECONDS:.0f} s, and whether it was accepted "
            f"is not known: look at {page} before you send it again, and at `attest status`"
        ) from error


def look(client: httpx.Client, path: str, **arguments: Any) -> dict[str, Any]:
    """What the gateway says now; what passes by itself is waited for.

    Raises:
        GatewayRefused: with the gateway's own words, or what to do.
    """
    return _patiently(lambda: call(client, "GET", path, **arguments))


def _patiently(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Ask again while a gateway that was reached once has no answer. The last of its errors counts,
    but for one that nobody heard of where an earlier one may have been heard."""
    began: float | None = None
    heard: GatewayRefused | None = None
    while True:
        try:
            return ask()
        except GatewayRefused as error:
            if not (error.passes or isinstance(error, NoGateway)):
                raise
            if not error.unsent:
                heard = error
            if heard is None:
                raise
            began = began or time.monotonic()
            if time.monotonic() - began > PATIENCE_SECONDS:
                raise heard from error
        time.sleep(PAUSE_SECONDS)


def paused_stages(client: httpx.Client) -> dict[str, str]:
    """The stages that do not work, and why; empty where the gateway does not tell.

    `/readyz` is open to anybody and names them. The reasons are for operators: without a key
    everybody is one, and to ask with a key that may not would be an event in the audit.
    """
    try:
        paused: dict[str, str] = call(client, "GET", "/readyz").get("paused_stages", {})
        if not paused or authorization():
            return dict.fromkeys(paused, "")
        told = {one["stage"]: one for one in call(client, "GET", "/v1/stages")["stages"]}
        return {name: told[name]["reason"] or "" for name in paused}
    except (GatewayRefused, KeyError):
        return {}


def unready(client: httpx.Client) -> str:
    """What the gateway lacks to work, in its own words; empty: nothing."""
    try:
        call(client, "GET", "/readyz")
    except GatewayRefused as error:
        return str(error)
    return ""
