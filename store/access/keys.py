"""Keys of callers: made, told once, checked, revoked.

A key reads `attest_PREFIX_SECRET`. The prefix finds the row and may be seen by anybody; the secret
is 256 random bits, and the row holds a hash of it only. A slow hash would buy nothing: it makes
guessing dear where there is something to guess, and of 2^256 secrets nobody guesses one; but each
request would pay for it. The salt keeps equal secrets and tables of hashes from being of use.
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

SCOPES = ("ask", "read", "documents", "operate", "audit")
SALT_BYTES = 16
SECRET_BYTES = 32
PREFIX_BYTES = 5
_PERSON = b"attest.key"
_WRITTEN = re.compile(r"attest_([0-9a-f]{10})_([A-Za-z0-9_-]{43})", re.ASCII)
_OWNER = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
MAX_NAME_CHARS = 100
MOST_REQUESTS = 2**31 - 1
"""What the column holds (integer)."""
MOST_USD = Decimal(1_000_000_000)
LEAST_USD = Decimal("0.000001")
"""Ours: the column takes any number, but nobody means more dollars, or less of one, than these."""

Refusal = Literal["unknown_key", "wrong_secret", "revoked_key", "expired_key"]

_NOBODY_SALT = bytes(SALT_BYTES)
_NOBODY_HASH = bytes(32)
"""Stand in for the row that an unknown prefix does not have. No secret is known with this hash."""


@dataclass(frozen=True)
class Issued:
    """A new key. `secret` is what the caller sends; it is in no table and cannot be had again."""

    key: AccessKey
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Limits:
    """How much a key may ask; None: as the policy says."""

    rate_per_minute: int | None = None
    requests_a_day: int | None = None
    usd_a_day: Decimal | None = None


@dataclass(frozen=True)
class Checked:
    """What came of checking what was presented: a key that holds, or why not.

    With a refusal, `key_id` is the key whose prefix was presented, if there is one.
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
    """Make a key. The audit event holds its id, scopes, limits and end: no name, owner or secret.

    Args:
        name: for the people who manage keys; 1 to 100 characters.
        owner: whose rows it reads and writes: lower case letters, digits, `.`, `_`, `-`; `local`
            is whoever asks on loopback without a key.
        scopes: of `SCOPES`.

    Raises:
        ValueError: one of these does not fit; says which.
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
        scopes=[one for one in SCOPES if one in scopes],
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
    counts = [one for one in (limits.rate_per_minute, limits.requests_a_day) if one is not None]
    if any(one < 1 for one in counts):
        raise ValueError("a limit of requests is at least 1: revoke a key that may ask nothing")
    if any(one > MOST_REQUESTS for one in counts):
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
    """End a key now. Revoking it again changes nothing.

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


def listing(session: Session, *, owner: str | None = None) -> list[AccessKey]:
    """All keys, newest first; those that ended too."""
    query = select(AccessKey).order_by(col(AccessKey.created_at).desc(), col(AccessKey.id))
    if owner is not None:
        query = query.where(AccessKey.owner == owner)
    return list(session.exec(query))


def any_usable(session: Session, at: datetime) -> bool:
    """Whether there is a key that lets anybody in at this moment."""
    query = select(AccessKey.id).where(
        col(AccessKey.revoked_at).is_(None), col(AccessKey.expires_at) > at
    )
    return session.exec(query.limit(1)).first() is not None


def usable(session: Session, key_ids: Collection[UUID], at: datetime) -> set[UUID]:
    """Those of these keys that hold at this moment."""
    query = select(AccessKey.id).where(
        col(AccessKey.id).in_(key_ids),
        col(AccessKey.revoked_at).is_(None),
        col(AccessKey.expires_at) > at,
    )
    return set(session.exec(query))


_KEY = AccessKey.__table__  # type: ignore[attr-defined]
_ASKED = sa.select(sa.bindparam("prefix", type_=sa.String).label("prefix")).subquery()
_FOUND = sa.select(_KEY).select_from(_ASKED.outerjoin(_KEY, _KEY.c.prefix == _ASKED.c.prefix))
"""One row in any case, empty for a prefix that nobody has."""


def check(session: Session, presented: str, at: datetime) -> Checked:
    """Whose key this is, if it holds at this moment; a copy of its row, which no session has.

    The hash is computed and compared in constant time whether or not the prefix is known, and what
    became of a key is looked at, and an object made of it, only behind its secret.
    """
    written = _WRITTEN.fullmatch(presented)
    prefix, secret = written.groups() if written else ("", presented[:200])
    found = session.execute(_FOUND, {"prefix": prefix}).one()
    salt, expected = found.salt or _NOBODY_SALT, found.hash or _NOBODY_HASH
    same = hmac.compare_digest(_hash(secret, salt), expected)
    if found.id is None:
        return Checked(None, "unknown_key")
    if not same:
        return Checked(None, "wrong_secret", found.id)
    if found.revoked_at is not None:
        return Checked(None, "revoked_key", found.id)
    if found.expires_at <= at:
        return Checked(None, "expired_key", found.id)
    return Checked(AccessKey(**found._mapping), None, found.id)


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
    """Write down that a key was used, and that so many requests were counted on this day (UTC).

    Gives how many are known of: more than `counted` if whoever counts has forgotten some.
    """
    return _counted(session, key_id, at, at_least=counted, more=0)


def count_use(session: Session, key_id: UUID, at: datetime) -> int:
    """Count one request more on this day (UTC) here, where nobody else can; gives their number."""
    return _counted(session, key_id, at, at_least=0, more=1)


def _counted(session: Session, key_id: UUID, at: datetime, *, at_least: int, more: int) -> int:
    values = {"id": key_id, "at": at, "day": day_of(at), "at_least": at_least, "more": more}
    found: int | None = session.execute(_COUNT, values).scalar()
    return found if found is not None else at_least + more


def day_of(at: datetime) -> date:
    """The day (UTC) on which a request counts."""
    return at.astimezone(UTC).date()
