"""Removes keys and the user's e-mail address from errors and logs."""

import json
import logging
import re
from base64 import b64encode
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
_SHORTEST = 4
"""Our choice: a shorter string is no secret, and is part of many words."""

# Parameters and fields that carry a secret, ours or one that a source echoes: NCBI's response to a
# bad key has `"api-key":"<key or IP address>"` (WIRE 1).
_NAMED = re.compile(
    r"""(?ix)
    ( (?: (?:api|access|license|client) [-_]? (?:key|token|secret) | password )
      ["']? \s* (?: [=:] | %3D | %3A ) \s* ["']?
    | (?: \b | (?<=%3F) | (?<=%26) ) (?: key | token | mailto | email ) (?: = | %3D ) )
    [^\s&"',;<>(){}\[\]]+
    """
)
_AUTHORIZATION = re.compile(r"""(?i)(authorization["']?\s*[:=]\s*["']?)[^\r\n"',]+""")
_WORD = re.compile(r"\w{4,}")
_BEARER = re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{4,}")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without any of `secrets`, however encoded, and without the values of fields that
    usually hold one: `api_key=…`, `"api-key":"…"`, `Authorization: …`, `mailto=…`."""
    forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
    for form in sorted(forms, key=len, reverse=True):
        text = re.sub(re.escape(form), REDACTED, text, flags=re.IGNORECASE)
    text = _AUTHORIZATION.sub(rf"\1{REDACTED}", text)
    text = _NAMED.sub(_named, text)
    return _BEARER.sub(rf"\1{REDACTED}", text)


def without_words(text: str, sent: Iterable[str]) -> str:
    """`text` without the words of four or more letters that were `sent`: a source's reason may
    repeat the query, which is private."""
    words = {word.lower() for value in sent for word in _WORD.findall(value)}
    return _WORD.sub(lambda match: "…" if match[0].lower() in words else match[0], text)


def _named(found: re.Match[str]) -> str:
    return f"{found[1]}{REDACTED}"


def _forms(secret: str) -> set[str]:
    """The spellings of a secret in a URL, a JSON text, a Python repr and Basic credentials."""
    return {
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        repr(secret.encode(errors="replace"))[2:-1],
        b64encode(f"{secret}:".encode(errors="replace")).decode().rstrip("="),
    }


_LOGGERS = (
    "httpx",
    *(f"httpcore.{name}" for name in ("connection", "proxy", "http11", "http2", "socks")),
)


class _NoRequests(logging.Filter):
    """Passes warnings and errors only: below them httpx logs URLs and httpcore all headers."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING


_no_requests = _NoRequests()


def silence_http_logs() -> None:
    """Keep URLs and headers out of the logs at any configured level. Idempotent."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_no_requests)
