"""The client of the sources (ADR 0004): every request of every connector goes through it."""

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any

from knowledge.feeds.sources import PlacePolicy
from store import models
from workers.http.allow import Addresses
from workers.http.errors import InvalidQuery, Malformed, SourceError
from workers.http.rate_limit import Limiter, Turns
from workers.http.redact import redact
from workers.http.request import Call, Parameters, Wanted
from workers.http.responses import Fetched
from workers.http.retry import TRIES
from workers.http.transport import Wire

__all__ = ["Fetched", "Limiter", "Parameters", "SourceClient"]

MAX_BYTES = 64 * 1024 * 1024
"""The default of `Settings.source_max_bytes`."""
DEADLINE_SECONDS = 120.0
"""Our choice: every page can be fetched within a minute; a response that takes longer is broken."""


@dataclass(frozen=True)
class _Asked:
    """One request as its caller states it; it has at most one of `form` and `content`."""

    method: str
    url: str
    params: Parameters | None = None
    form: Parameters | None = None
    content: bytes | None = None


class SourceClient:
    """An HTTP client of one source, with its allowed origins, rate and key.

    Thread-safe. It holds no connections; the wire does.
    """

    now: Callable[[], datetime]
    key: str
    """The user's key for this source, or "". Secret: sent in requests, never shown in texts."""
    contact: str
    """The user's e-mail address for polite pools, or ""."""

    def __init__(
        self,
        policy: PlacePolicy,
        limiter: Limiter,
        wire: Wire,
        *,
        key: str = "",
        contact: str = "",
        mirrors: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
        deadline_seconds: float = DEADLINE_SECONDS,
        tries: int = TRIES,
        now: Callable[[], datetime] = models.now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Opens nothing.

        Args:
            policy: `policy.origins` are the only places asked, redirects included.
            limiter: limits the rate of requests to a host.
            wire: sends the requests; its creator closes it.
            key: see the attribute.
            contact: see the attribute; it is also part of the User-Agent.
            mirrors: origin → the base URL that replaces it.
            max_bytes: the default limit of a response.
            deadline_seconds: for one call, from connecting to the last byte, all its tries
                together; pauses between them do not count.
            tries: the most requests of one call, where a retry may help.
            now: the clock for rate limits and for a Retry-After with a date.
            sleep: called to wait.

        Raises:
            ValueError: the key or the contact cannot stand in a header; neither is repeated.
        """
        for name, text in (("key", key), ("contact address", contact)):
            if not (text.isascii() and text.isprintable()) or " " in text:
                raise ValueError(
                    f"{policy.name}: the {name} has a space, a line break or a non-ASCII letter"
                )
        self.now = now
        self.key = key
        self.contact = contact
        self._name = policy.name
        self._wire = wire
        self._addresses = Addresses(policy.name, policy.origins, mirrors)
        rate = policy.with_key if key and policy.with_key else policy.per_second
        self._turns = Turns(policy.name, limiter, rate, policy.burst, now, sleep)
        self._max_bytes = max_bytes
        self._deadline_seconds = deadline_seconds
        self._tries = tries
        self._user_agent = f"attest/{version('attest')}" + (
            f" (+mailto:{contact})" if contact else ""
        )

    def get(
        self,
        url: str,
        params: Parameters | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (200,),
        max_bytes: int | None = None,
    ) -> Fetched:
        """GET `url`; `params` replace its query, None keeps it.

        Redirects are followed within the source's origins. A status outside `accept` is an error.

        Raises:
            NotAllowed, Refused, Unreachable, QuotaExhausted, TooLarge: see `workers.http.errors`.
            Malformed: a 2xx status that is not in `accept`.
            InvalidQuery: a value has characters that cannot be sent.
        """
        return self._ask(_Asked("GET", url, params), headers, accept, max_bytes)

    def post(
        self,
        url: str,
        form: Parameters,
        *,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (200,),
        max_bytes: int | None = None,
    ) -> Fetched:
        """POST an encoded form; otherwise as `get`. Only for reading, because it is retried too."""
        return self._ask(_Asked("POST", url, form=form), headers, accept, max_bytes)

    def post_json(
        self,
        url: str,
        value: Mapping[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (200,),
        max_bytes: int | None = None,
    ) -> Fetched:
        """POST `value` as JSON; otherwise as `post`."""
        request = _Asked("POST", url, content=json.dumps(value).encode("ascii"))
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self._ask(request, sent, accept, max_bytes)

    def _ask(
        self,
        asked: _Asked,
        headers: Mapping[str, str] | None,
        accept: Collection[int],
        max_bytes: int | None,
    ) -> Fetched:
        """Send the request. Errors are raised without secrets and without their causes, whose
        texts hold addresses."""
        limit = self._max_bytes if max_bytes is None else max_bytes
        call = Call(
            self._name,
            self._addresses,
            self._turns,
            self._wire,
            self._deadline_seconds,
            tries=self._tries,
        )
        try:
            values = [*(asked.params or {}).values(), *(asked.form or {}).values()]
            self._check_sendable(values, headers or {})
            address = self._addresses.allowed(asked.url, asked.params)
            sent = {"User-Agent": self._user_agent, **(headers or {})}
            wanted = Wanted(asked.method, address, asked.form, sent, frozenset(accept), limit)
            return call.fetch(replace(wanted, content=asked.content))
        except SourceError as error:
            failure = error
        failure.args = tuple(
            redact(part, (self.key, self.contact)) if isinstance(part, str) else part
            for part in failure.args
        )
        failure.__context__ = failure.__cause__ = None
        raise failure

    def _check_sendable(self, values: Collection[object], headers: Mapping[str, str]) -> None:
        if any(isinstance(value, str) and _has_half_a_character(value) for value in values):
            raise InvalidQuery(f"{self._name}: the query has half a character (a lone surrogate)")
        for name, value in headers.items():
            if not (value.isascii() and value.isprintable()):
                raise Malformed(f"{self._name}: the header {name} cannot carry its value")


def _has_half_a_character(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)
