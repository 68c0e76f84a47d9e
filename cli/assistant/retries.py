"""Recognizes tool calls that are retries.

An assistant whose call timed out does not know whether it arrived, and the protocol has no way to
mark a retry.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any
from uuid import uuid4

RETRIED_SECONDS = 120.0
"""Our choice: twice as long as a call waits for its end. A later repetition is a new request, and
is answered from what is held by then."""
MOST = 1000
"""Our choice: the number of calls that are remembered."""


class Retries:
    """Gives the calls of this process their idempotency keys. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._salt = secrets.token_bytes(32)
        self._lock = Lock()
        self._known: dict[bytes, tuple[str, float]] = {}

    def key_of(self, path: str, body: Mapping[str, Any], authorization: str | None) -> str:
        """Return the `Idempotency-Key` of a request: that of the same caller's same request, if
        there was one within RETRIED_SECONDS."""
        request = json.dumps([path, body, authorization], sort_keys=True).encode()
        name = hashlib.blake2b(request, digest_size=32, key=self._salt).digest()  # keeps no words
        at = self._clock()
        with self._lock:
            key, last = self._known.pop(name, ("", 0.0))
            if not key or at - last >= RETRIED_SECONDS:
                key = f"mcp:{uuid4()}"
            self._known[name] = (key, at)
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]
        return key
