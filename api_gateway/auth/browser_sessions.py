"""Browser sessions: where their cookie is accepted, and the CSRF token of their forms. Pure.

The cookie holds a random token; its session is in the database. The cookie is accepted on the pages
and, for reading only, on the few `/v1` addresses that the pages load or link to. Programs send
their key instead.
"""

import hashlib
import hmac
import re
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

COOKIE = "attest_session"
FIELD = "csrf"
"""The form field that holds the CSRF token."""
SAFE_METHODS = frozenset({"GET", "HEAD"})
PAGES = frozenset(
    {"", "ask", "questions", "evidence", "verify", "documents", "extractions", "reviews"}
    | {"library", "notes", "operate", "signin", "signout"}
)
"""The first part of the addresses of pages."""
_PERSON = b"attest.csrf"
_BYTES = 32
_ID = "[0-9a-fA-F-]{36}"
_READ_BY_PAGES = re.compile(
    rf"/v1/(?:(?:questions|verifications|extractions|notes|refreshes)/{_ID}"
    rf"|questions/{_ID}/events|documents/{_ID}/versions/[0-9]{{1,10}}/text)"
)


def is_page(path: str) -> bool:
    """Whether a path is the address of a page."""
    return path.startswith("/") and path[1:].partition("/")[0] in PAGES


def token_of(method: str, path: str, headers: Headers) -> str | None:
    """The cookie's token, if this address accepts one and no `Authorization` header is sent."""
    if headers.get("authorization") is not None:
        return None
    if not is_page(path) and not (method in SAFE_METHODS and _READ_BY_PAGES.fullmatch(path)):
        return None
    return cookie_of(headers)


def cookie_of(headers: Headers) -> str | None:
    """The token in the cookie, if there is one.

    Browsers send the cookies of all programs on a host, with any content; the parser of the
    standard library stops at the first malformed one.
    """
    return cookie_parser(headers.get("cookie", "")).get(COOKIE) or None


def csrf_of(token: str) -> str:
    """The CSRF token of a session: derived one-way from the session's token."""
    key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
    return hashlib.blake2b(key=key, digest_size=_BYTES, person=_PERSON).hexdigest()


def masked(csrf: str) -> str:
    """The token under a random pad, before which the pad stands.

    A page is compressed, and may repeat words of its address. A token that were the same on every
    page could be guessed from the lengths of many responses (BREACH, CVE-2013-3587).
    """
    pad = secrets.token_bytes(_BYTES)
    return (pad + _under(pad, bytes.fromhex(csrf))).hex()


def _under(pad: bytes, token: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(pad, token, strict=True))


def same(given: str, expected: str) -> bool:
    """Whether a masked token is the expected one, compared in constant time."""
    try:
        sent = bytes.fromhex(given)
        return hmac.compare_digest(_under(sent[:_BYTES], sent[_BYTES:]), bytes.fromhex(expected))
    except ValueError:  # it is no token, or of another length
        return False


def destination(asked: str | None, otherwise: str = "/") -> str:
    """The address to go to after signing in: a page of this gateway, or `otherwise`.

    Addresses that a browser might read as another host (`//host`, `/\\host`), or that hold
    characters which it strips first (control characters, WHATWG URL), give `otherwise`.
    """
    if not asked or len(asked) > 2000 or not asked.isprintable() or "\\" in asked:
        return otherwise
    if not asked.startswith("/") or asked.startswith("//"):
        return otherwise
    try:
        parts = urlsplit(asked)
    except ValueError:
        return otherwise
    if parts.scheme or parts.netloc or not is_page(parts.path):
        return otherwise
    return otherwise if parts.path in ("/signin", "/signout") else asked
