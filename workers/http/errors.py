"""The errors of asking a source. Their texts are shown to operators and users: one line, no key, no
text of a document, and what to do where something can be done.

    SourceError
    ├── InvalidQuery     the query can never work there        → 422 for the caller
    ├── NotAllowed       an address outside the allow-list     → a redirect, a wrong configuration
    ├── Refused          the source refused (4xx, a bad key)   → an operator must act
    ├── Unreachable      network, time-out, 5xx after all tries
    ├── QuotaExhausted   it asks for a longer pause than ours  → `seconds`
    │   └── NotOurTurn   not asked: the queue is too long, or a pause lasts → `seconds`
    ├── TooLarge         more bytes than the limit
    ├── Malformed        breaks the protocol: truncated, not XML, an error in a 200
    └── CursorExpired    the cursor is no longer valid         → the refresh starts again
"""


class SourceError(Exception):
    """The source could not be asked, or its response could not be used."""


class InvalidQuery(SourceError, ValueError):
    """The query cannot work at this source; the message says what to write instead."""


class NotAllowed(SourceError):
    """The address is outside the source's allow-list."""


class Refused(SourceError):
    """The source refused the request, and would refuse it again."""


class Unreachable(SourceError):
    """The source did not answer, after all tries."""


class QuotaExhausted(SourceError):
    """The source asks for a pause of `seconds`."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class NotOurTurn(QuotaExhausted):
    """Our turn at the host is `seconds` away. The source was not asked, so it is not at fault."""


class TooLarge(SourceError):
    """The response is larger than the limit."""


class Malformed(SourceError, ValueError):
    """The response does not follow the source's protocol."""


class CursorExpired(SourceError):
    """The source no longer accepts our cursor into a listing."""
