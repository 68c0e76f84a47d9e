"""Calls of a running gateway, with its own words where it refuses."""

from typing import Any

import httpx


class GatewayRefused(RuntimeError):
    """The gateway refused, or none answers; the message says what to do."""


def call(client: httpx.Client, method: str, path: str, **arguments: Any) -> dict[str, Any]:
    """The JSON that the gateway answers.

    Raises:
        GatewayRefused: with the gateway's own words, or what to do.
    """
    try:
        response = client.request(method, path, **arguments)
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
