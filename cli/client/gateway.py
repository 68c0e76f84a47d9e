"""Calls a running gateway, and passes on its own words where it refuses."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

import httpx

from store.core.settings import get_settings

Client = httpx.Client
"""The client that calls a gateway."""
_WITH_KEY = ContextVar("with_key", default=True)


CALL_SECONDS = 30
"""Timeout of a call; longer than any long poll of `cli.client.waiting`."""
PATIENCE_SECONDS = 30.0
"""Our choice: how long to retry a gateway that is away or busy; `attest up` restarts it sooner."""
PAUSE_SECONDS = 1.0


@contextmanager
def client_of(url: str) -> Iterator[Client]:
    """Open a client of the gateway at `url`."""
    encrypted = url.startswith("https:")  # loading certificates takes longer than an answer
    with Client(base_url=url, timeout=CALL_SECONDS, verify=encrypted) as client:
        yield client


class GatewayRefused(RuntimeError):
    """The gateway refused, or none answers; the message says what to do."""

    of_content = False
    """The content that was sent is at fault, not the sender or the time."""
    passes = False
    """A retry may succeed in a moment: a 503 that says so."""
    unsent = False
    """The request cannot have reached a gateway."""

    def about(self, name: str) -> "GatewayRefused":
        """Return the error with the name of the file, if its content is at fault."""
        return GatewayRefused(f"{name}: {self}") if self.of_content else self


class NoGateway(GatewayRefused):
    """No gateway answers at the address."""


class InDoubt(GatewayRefused):
    """It is unknown whether the gateway accepted the request."""


_OF_CONTENT = (400, 413, 415, 422)
_PASSES = 503
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@contextmanager
def without_key() -> Iterator[None]:
    """Send no key in this block: its calls go to an instance that `ATTEST_KEY` is not for."""
    token = _WITH_KEY.set(False)
    try:
        yield
    finally:
        _WITH_KEY.reset(token)


def authorization() -> dict[str, str]:
    """Return the header with `ATTEST_KEY`; no header if it is not set."""
    key = get_settings().key if _WITH_KEY.get() else ""
    return {"Authorization": f"Bearer {key}"} if key else {}


def call(client: httpx.Client, method: str, path: str, **arguments: Any) -> dict[str, Any]:
    """Return the JSON of the gateway's response. Sends `ATTEST_KEY`, if it is set.

    Raises:
        GatewayRefused: with the gateway's own words, or what to do.
    """
    headers = {**authorization(), **arguments.pop("headers", {})}
    try:
        response = client.request(method, path, headers=headers, **arguments)
    except httpx.TransportError as error:
        no_gateway = NoGateway(
            f"no gateway answers at {client.base_url} ({type(error).__name__}): "
            "start one with `attest up`"
        )
        no_gateway.unsent = isinstance(error, _UNSENT)
        raise no_gateway from error
    if response.is_success:
        try:
            body: dict[str, Any] = response.json()
        except ValueError as error:
            raise GatewayRefused(
                f"what answers at {client.base_url} is no gateway of Attest: check ATTEST_HOST and "
                "ATTEST_PORT"
            ) from error
        return body
    try:
        problem = response.json()
        fields = "; ".join(f"{e['field']}: {e['message']}" for e in problem.get("errors", []))
        detail = fields or problem.get("detail") or problem["title"]
        text = (
            f"{detail} (attest sends the one in ATTEST_KEY)"
            if response.status_code == 401
            else detail
        )
        refused = GatewayRefused(text)
    except (ValueError, KeyError) as error:
        raise GatewayRefused(f"the gateway answered {response.status_code}") from error
    refused.of_content = response.status_code in _OF_CONTENT
    refused.passes = response.status_code == _PASSES and _soon(response)
    raise refused


def _soon(response: httpx.Response) -> bool:
    """Return true if the gateway asks for a retry soon; it does not for a full disk."""
    return float(response.headers.get("retry-after", "0")) < PATIENCE_SECONDS


def submit(client: httpx.Client, path: str, **arguments: Any) -> dict[str, Any]:
    """Submit something new and return the gateway's response. If the response is lost, or the
    gateway is briefly away, retry with the same Idempotency-Key, so that it is done once.

    Raises:
        NoGateway: no gateway was there.
        InDoubt: the gateway does not come back, and may have accepted the request.
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
    """Return what the gateway answers to a GET; failures that pass by themselves are retried.

    Raises:
        GatewayRefused: with the gateway's own words, or what to do.
    """
    return _patiently(lambda: call(client, "GET", path, **arguments))


def _patiently(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Retry while a gateway that was reached once does not answer. Raises the last error of a
    request that may have reached it."""
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
    """Return the paused stages and why; empty if the gateway does not say.

    `/readyz` is open to anybody and names them. The reasons are for operators. Without a key
    everybody is one; asking with a key that lacks the scope would be recorded in the audit.
    """
    try:
        paused: dict[str, str] = call(client, "GET", "/readyz").get("paused_stages", {})
        if not paused or authorization():
            return dict.fromkeys(paused, "")
        states = {state["stage"]: state for state in call(client, "GET", "/v1/stages")["stages"]}
        return {name: states[name]["reason"] or "" for name in paused}
    except (GatewayRefused, KeyError):
        return {}


def unready(client: httpx.Client) -> str:
    """Return what the gateway lacks to be ready, in its own words; empty if nothing."""
    try:
        call(client, "GET", "/readyz")
    except GatewayRefused as error:
        return str(error)
    return ""
