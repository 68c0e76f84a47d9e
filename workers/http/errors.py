"""What can go wrong between us and a source. The texts are shown to operators and users: one line,
no key, no text of a document; each says what to do where something can be done.

    SourceError
    ├── InvalidQuery     the query can never work there        → 422 for who asked
    ├── NotAllowed       an address outside the allow-list     → a redirect, a wrong configuration
    ├── Refused          the source said no (4xx, a bad key)   → an operator must look
    ├── Unreachable      network, time-out, 5xx after all tries
    ├── QuotaExhausted   it asks to wait longer than we wait   → `seconds`
    │   └── NotOurTurn   nobody asked it: others of us wait already, or a pause lasts → `seconds`
    ├── TooLarge         more bytes than the limit
    ├── Malformed        not what its protocol says: truncated, not XML, an error in a 200
    └── CursorExpired    the continuation no longer holds      → the refresh begins again
"""


class SourceError(Exception):
    """The source could not be asked, or its answer could not be used."""


class InvalidQuery(SourceError, ValueError):
    """The query cannot work at this source; the message says what to write instead."""


class NotAllowed(SourceError):
    """The address is not one this source may speak to."""


class Refused(SourceError):
    """The source refused, and would again."""


class Unreachable(SourceError):
    """The source did not answer, after all tries."""


class QuotaExhausted(SourceError):
    """The source wants to be left alone for `seconds`."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class NotOurTurn(QuotaExhausted):
    """The source was not asked: our turn at its host is more than `seconds` away. No word on it."""


class TooLarge(SourceError):
    """The answer is larger than the limit."""


class Malformed(SourceError, ValueError):
    """The answer is not what the source's protocol says."""


class CursorExpired(SourceError):
    """The place in a listing that we had is no longer known to the source."""
