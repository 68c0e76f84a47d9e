"""Access keys of callers: created, shown once, checked, revoked.

A key reads `attest_PREFIX_SECRET`. The prefix finds the row and is not secret; the secret is 256
random bits, and the row holds only a hash of it. A slow hash would gain nothing: it makes guessing
expensive, nobody can guess one of 2^256 secrets, and each request would pay for it. The salt makes
precomputed tables useless and hides equal secrets.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, AccessKey, now

SCOPES = ("ask", "read", "documents", "operate", "audit", "keys", "feed")
SALT_BYTES = 16
SECRET_BYTES = 32
PREFIX_BYTES = 5
_PERSON = b"attest.key"
_WRITTEN = re.compile(r"attest_([0-9a-f]{10})_([A-Za-z0-9_-]{43})", re.ASCII)
_OWNER = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
MAX_NAME_CHARS = 100
MOST_REQUESTS = 2**31 - 1
"""The largest value of the column (integer)."""
MOST_USD = Decimal(1_000_000_000)
LEAST_USD = Decimal("0.000001")
"""Our limits: the column takes any number, but nobody needs more or less US dollars."""

Refusal = Literal["unknown_key", "wrong_secret", "revoked_key", "expired_key"]

_NOBODY_SALT = bytes(SALT_BYTES)
_NOBODY_HASH = bytes(32)
"""Used in place of the row of an unknown prefix. No secret is known to have this hash."""


@dataclass(frozen=True)
class Issued:
    """A new key. `secret` is the full key that the caller sends; it is not stored."""

    key: AccessKey
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Limits:
    """The limits of a key; None: the limit of the policy."""

    rate_per_minute: int | None = None
    requests_a_day: int | None = None
    usd_a_day: Decimal | None = None


@dataclass(frozen=True)
class Checked:
    """The result of checking a presented key: a valid key, or why it was refused.

    With a refusal, `key_id` is the key with the presented prefix, if there is one.
    """

    key: AccessKey | None
    refusal: Refusal | None = None
    key_id: UUID | None = None


def create(
    work: UnitOfWork,
    *,
    name: str,
    owner: str,
    scopes: Collection[str],
    expires_at: datetime,
    limits: Limits | None = None,
) -> Issued:
    """Create a key. Its audit event has id, scopes, limits and expiry: no name, owner or secret.

    Args:
        name: for the people who manage keys; 1 to 100 characters.
        owner: whose rows it reads and writes: lower case letters, digits, `.`, `_`, `-`; `local`
            stands for callers on loopback without a key.
        scopes: some of `SCOPES`.

    Raises:
        ValueError: an argument is not valid; says which.
    """
    made_at, limits = now(), limits or Limits()
    _require_fitting(name, owner, scopes)
    _require_limits(limits)
    if expires_at <= made_at:
        raise ValueError("a key must expire in the future")
    prefix, secret = secrets.token_hex(PREFIX_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    salt = secrets.token_bytes(SALT_BYTES)
    key = AccessKey(
        id=uuid4(),
        prefix=prefix,
        salt=salt,
        hash=_hash(secret, salt),
        name=name.strip(),
        owner=owner,
        scopes=[scope for scope in SCOPES if scope in scopes],
        rate_per_minute=limits.rate_per_minute,
        requests_a_day=limits.requests_a_day,
        usd_a_day=limits.usd_a_day,
        created_at=made_at,
        expires_at=expires_at,
    )
    work.session.add(key)
    work.session.flush()
    work.record(
        "key.created",
        key.id,
        scopes=key.scopes,
        expires_at=expires_at.isoformat(),
        rate_per_minute=key.rate_per_minute,
        requests_a_day=key.requests_a_day,
        usd_a_day=str(key.usd_a_day) if key.usd_a_day is not None else None,
    )
    return Issued(key, f"attest_{prefix}_{secret}")


def _require_fitting(name: str, owner: str, scopes: Collection[str]) -> None:
    if not 1 <= len(name.strip()) <= MAX_NAME_CHARS or not name.isprintable():
        raise ValueError(f"a key's name has 1 to {MAX_NAME_CHARS} printable characters")
    if not _OWNER.fullmatch(owner):
        raise ValueError(
            "an owner is written in lower case letters, digits, '.', '_' and '-', up to 64 of "
            f"them, such as {LOCAL_OWNER} or ward-3"
        )
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"scopes are one or more of {', '.join(SCOPES)}")


def _require_limits(limits: Limits) -> None:
    counts = [
        limit for limit in (limits.rate_per_minute, limits.requests_a_day) if limit is not None
    ]
    if any(limit < 1 for limit in counts):
        raise ValueError("a limit of requests is at least 1: revoke a key that may ask nothing")
    if any(limit > MOST_REQUESTS for limit in counts):
        raise ValueError(f"a limit of requests is at most {MOST_REQUESTS}")
    usd = limits.usd_a_day
    if usd is None:
        return
    if not usd > 0:
        raise ValueError("US dollars a day are more than 0: what is spent is known afterwards only")
    digits = usd.as_tuple().exponent  # not quantize(), which gives up on many digits
    if usd > MOST_USD or not isinstance(digits, int) or digits < -6:
        raise ValueError(f"US dollars a day are {LEAST_USD} to {MOST_USD}, with at most 6 decimals")


def revoke(work: UnitOfWork, key_id: UUID) -> AccessKey:
    """Revoke a key now. Revoking it again changes nothing.

    Raises:
        LookupError: there is no such key.
    """
    key = work.session.get(AccessKey, key_id, with_for_update=True)
    if key is None:
        raise LookupError(f"there is no key {key_id}")
    if key.revoked_at is None:
        key.revoked_at = now()
        work.record("key.revoked", key.id)
    return key


def state(key: AccessKey, at: datetime) -> Literal["valid", "revoked", "expired"]:
    """The state of a key at the time `at`."""
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at <= at else "valid"


def listing(session: Session, *, owner: str | None = None) -> list[AccessKey]:
    """All keys, newest first, including expired and revoked ones."""
    query = select(AccessKey).order_by(col(AccessKey.created_at).desc(), col(AccessKey.id))
    if owner is not None:
        query = query.where(AccessKey.owner == owner)
    return list(session.exec(query))


def any_usable(session: Session, at: datetime) -> bool:
    """True if at least one key is valid at the time `at`."""
    query = select(AccessKey.id).where(
        col(AccessKey.revoked_at).is_(None), col(AccessKey.expires_at) > at
    )
    return session.exec(query.limit(1)).first() is not None


def usable(session: Session, key_ids: Collection[UUID], at: datetime) -> set[UUID]:
    """The keys among `key_ids` that are valid at the time `at`."""
    query = select(AccessKey.id).where(
        col(AccessKey.id).in_(key_ids),
        col(AccessKey.revoked_at).is_(None),
        col(AccessKey.expires_at) > at,
    )
    return set(session.exec(query))


_KEY = AccessKey.__table__  # type: ignore[attr-defined]
_ASKED = sa.select(sa.bindparam("prefix", type_=sa.String).label("prefix")).subquery()
_FOUND = sa.select(_KEY).select_from(_ASKED.outerjoin(_KEY, _KEY.c.prefix == _ASKED.c.prefix))
"""Always returns one row; its columns are null for an unknown prefix."""


def check(session: Session, presented: str, at: datetime) -> Checked:
    """Check a presented key at the time `at`; returns a copy of its row that is in no session.

    The hash is computed and compared in constant time whether or not the prefix is known. Expiry
    and revocation are checked, and an object is made, only if the secret is right.
    """
    written = _WRITTEN.fullmatch(presented)
    prefix, secret = written.groups() if written else ("", presented[:200])
    row = session.execute(_FOUND, {"prefix": prefix}).one()
    salt, expected = row.salt or _NOBODY_SALT, row.hash or _NOBODY_HASH
    same = hmac.compare_digest(_hash(secret, salt), expected)
    if row.id is None:
        return Checked(None, "unknown_key")
    if not same:
        return Checked(None, "wrong_secret", row.id)
    if row.revoked_at is not None:
        return Checked(None, "revoked_key", row.id)
    if row.expires_at <= at:
        return Checked(None, "expired_key", row.id)
    return Checked(AccessKey(**row._mapping), None, row.id)


def _hash(secret: str, salt: bytes) -> bytes:
    """The salted hash of a secret, (32,) bytes: BLAKE2b in its keyed mode (RFC 7693)."""
    written = secret.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(written, digest_size=32, key=salt, person=_PERSON).digest()


_COUNT = sa.text(
    "UPDATE access_key SET last_used_at = :at, counted_on = :day, "
    "counted = CASE WHEN counted_on = :day THEN GREATEST(counted, :at_least) + :more "
    "ELSE :at_least + :more END WHERE id = :id RETURNING counted"
)


def note_use(session: Session, key_id: UUID, at: datetime, *, counted: int) -> int:
    """Record that a key was used, and how many requests were counted on this day (UTC).

    Returns the number known here, which is larger than `counted` if the counter lost some.
    """
    return _counted(session, key_id, at, at_least=counted, more=0)


def count_use(session: Session, key_id: UUID, at: datetime) -> int:
    """Count one more request on this day (UTC) in the database; returns the day's number."""
    return _counted(session, key_id, at, at_least=0, more=1)


def _counted(session: Session, key_id: UUID, at: datetime, *, at_least: int, more: int) -> int:
    values = {"id": key_id, "at": at, "day": day_of(at), "at_least": at_least, "more": more}
    number: int | None = session.execute(_COUNT, values).scalar()
    return number if number is not None else at_least + more


def day_of(at: datetime) -> date:
    """The day (UTC) on which a request counts."""
    return at.astimezone(UTC).date()
