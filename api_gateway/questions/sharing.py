"""Links that show one answer to whoever has them, until they expire.

A link proves itself: it carries its end and an HMAC (RFC 2104) over both, made with the question's
own secret. So nothing is stored, and a link ends with its question's words when these are erased.
"""

import hmac
from base64 import urlsafe_b64encode
from datetime import UTC, datetime

from store.models import Question

DAYS = (1, 7, 30)
"""How long a link may hold. Ours."""
_DIGITS = 10
"""Of the seconds since 1970, until the year 2286."""


def address(question: Question, ends: datetime) -> str:
    """The address of the read-only page.

    Raises:
        LookupError: the question has no secret, so nothing can be proven.
    """
    until = int(ends.timestamp())
    return f"/shared/{question.id}/{until}/{_proof(question, until)}"


def holds(question: Question, until: int, proof: str, at: datetime) -> bool:
    """Whether a link is one of ours, and not over."""
    try:
        own = _proof(question, until)
    except LookupError:
        return False
    return hmac.compare_digest(own.encode(), proof.encode()) and at.timestamp() < until


def end_of(question: Question, link: str, at: datetime) -> datetime | None:
    """Until when the end of an address, `UNTIL/PROOF`, holds; None if it is none, or is over."""
    until, _, proof = link.partition("/")
    if not (until.isascii() and until.isdecimal() and len(until) <= _DIGITS):
        return None
    return as_moment(int(until)) if holds(question, int(until), proof, at) else None


def as_moment(until: int) -> datetime:
    """Seconds since 1970 as a moment."""
    return datetime.fromtimestamp(until, UTC)


def _proof(question: Question, until: int) -> str:
    if question.hash_key is None:
        raise LookupError("the question has no secret")
    named = f"attest.share/{question.id}/{until}".encode()
    digest = hmac.digest(question.hash_key, named, "sha256")
    return urlsafe_b64encode(digest).decode().rstrip("=")
