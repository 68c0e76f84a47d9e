"""Origins of requests and of the gateway: scheme, host and port (RFC 6454, section 4). Pure.

Behind a proxy that speaks TLS the gateway itself receives plain HTTP. The proxy's
`X-Forwarded-Proto` is trusted: a web page cannot send that header to another origin without a
preflight (Fetch, CORS-unsafe request headers), and the gateway allows none.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers

_PORTS = {"http": 80, "https": 443}
"""The default ports, which may be omitted (RFC 9110, section 4.2)."""


class Origin(NamedTuple):
    """The origin of a web page."""

    scheme: str
    host: str
    port: int


def origin_of(written: str) -> Origin | None:
    """The origin that an address without a path names; None if it names none, like `null`."""
    try:
        parts = urlsplit(written)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # an unclosed bracket or an invalid port
        return None
    if port is None or not parts.hostname or "@" in parts.netloc:
        return None
    if parts.path or parts.query or parts.fragment:
        return None
    return Origin(parts.scheme, parts.hostname, port)


def own_origin(scheme: str, headers: Headers) -> Origin | None:
    """The gateway's own origin as the client sees it; None without a usable Host header.

    Args:
        scheme: the scheme in which the request reached the gateway.
    """
    return origin_of(address(scheme, headers))


def address(scheme: str, headers: Headers) -> str:
    """What the addresses of the gateway begin with, as the client sees them; see `own_origin`."""
    return f"{asked_in(scheme, headers)}://{headers.get('host', '')}"


def asked_in(scheme: str, headers: Headers) -> str:
    """The scheme that the client used, as the proxy in front reports it if there is one.

    Args:
        scheme: the scheme in which the request reached the gateway.
    """
    forwarded = headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return forwarded if forwarded in _PORTS else scheme
