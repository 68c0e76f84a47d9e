"""Calls of a running gateway, with its own words where it refuses."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx

from store.settings import get_settings

_WITH_KEY = ContextVar("with_key", default=True)


class GatewayRefused(RuntimeError):
    """The gateway refused, or none answers; the message says what to do."""


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
    try:
        response = client.request(method, path, headers=authorization(), **arguments)
    except httpx.TransportError as error:
        raise GatewayRefused(
            f"no gateway answers at {client.base_url} ({type(error).__name__}): "
            "start one with `attest up`"
        ) from error
    if response.is_success:
        found: dict[str, Any] = response.json()
        return found
    try:
        problem = response.json()
        fields = "; ".join(f"{e['field']}: {e['message']}" for e in problem.get("errors", []))
        raise GatewayRefused(fields or problem.get("detail") or problem["title"])
    except (ValueError, KeyError) as error:
        raise GatewayRefused(f"the gateway answered {response.status_code}") from error
