"""Where a request came from, and where it went: scheme, host and port (RFC 6454, section 4). Pure.

Behind a proxy that speaks TLS the gateway itself is asked in plain HTTP. What the proxy says in
`X-Forwarded-Proto` is believed: no web page can send that header to another origin unasked, since
it needs leave to (Fetch, CORS-unsafe request headers) and the gateway gives none.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers

_PORTS = {"http": 80, "https": 443}
"""Those that need not be written (RFC 9110, section 4.2)."""


class Origin(NamedTuple):
    """A place that web pages come from."""

    scheme: str
    host: str
    port: int


def origin_of(written: str) -> Origin | None:
    """The origin that an address without a path names; None: it names none, as `null` does."""
    try:
        parts = urlsplit(written)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # half a bracket, or a port that is none
        return None
    if port is None or not parts.hostname or "@" in parts.netloc:
        return None
    if parts.path or parts.query or parts.fragment:
        return None
    return Origin(parts.scheme, parts.hostname, port)


def own_origin(scheme: str, headers: Headers) -> Origin | None:
    """The origin of the pages of the gateway that was asked; None: it was asked under no name.

    Args:
        scheme: in which it was asked itself.
    """
    return origin_of(f"{asked_in(scheme, headers)}://{headers.get('host', '')}")


def asked_in(scheme: str, headers: Headers) -> str:
    """The scheme that whoever asked has used, by the word of the proxy in front, if there is one.

    Args:
        scheme: in which the gateway was asked itself.
    """
    told = headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return told if told in _PORTS else scheme
