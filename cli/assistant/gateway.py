"""Calls the gateway for the assistant's tools: asynchronously, with the caller's own key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from mcp.server.mcpserver.exceptions import ToolError

TIMEOUT_SECONDS = 75.0
"""Longer than the gateway holds a request open (`?wait=60`)."""


def headers_of(authorization: str | None) -> dict[str, str]:
    """Return the headers that each call sends.

    Raises:
        ToolError: the key cannot be sent in a header.
    """
    if not authorization:
        return {}
    if not (authorization.isascii() and authorization.isprintable()):
        raise ToolError("the key cannot be sent: it has a line break or a non-ASCII letter")
    return {"Authorization": authorization}


@asynccontextmanager
async def gateway(url: str, authorization: str | None) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client of the gateway at `url`, for one call of a tool.

    Args:
        authorization: the `Authorization` header to send; None if the gateway requires no key.

    Raises:
        ToolError: the key cannot be sent in a header.
    """
    async with httpx.AsyncClient(
        base_url=url,
        headers=headers_of(authorization),
        timeout=TIMEOUT_SECONDS,
        verify=url.startswith("https:"),
    ) as client:
        yield client


async def call(client: httpx.AsyncClient, method: str, path: str, **arguments: Any) -> Any:
    """Return the JSON of the gateway's response, or its text if it is plain text.

    Raises:
        ToolError: in the gateway's own words, or with what to do.
    """
    try:
        response = await client.request(method, path, **arguments)
    except httpx.TransportError as error:
        raise ToolError(
            f"no gateway answers at {client.base_url} ({type(error).__name__}): "
            "start one with `attest up`"
        ) from None
    if not response.is_success:
        raise ToolError(_refusal(response))
    if response.headers.get("content-type", "").startswith("application/json"):
        return response.json()
    return response.text


def _refusal(response: httpx.Response) -> str:
    """Return why the gateway refused, in its own words."""
    if response.status_code == 401 and "authorization" not in response.request.headers:
        return "the gateway asks for a key: set ATTEST_KEY, or send Authorization: Bearer"
    try:
        problem = response.json()
        fields = "; ".join(f"{e['field']}: {e['message']}" for e in problem.get("errors") or [])
        return str(fields or problem.get("detail") or problem["title"])
    except (ValueError, KeyError, TypeError):
        return f"the gateway answered {response.status_code}"
