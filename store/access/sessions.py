"""Sessions of browsers: begun with a key, found by a token, ended.

A token is 256 random bits, so its hash needs neither salt nor slowness (see `store.access.keys`).
"""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.core.unit_of_work import UnitOfWork
from store.models import AccessKey, PageSession, now

TOKEN_BYTES = 32
_TOKEN_CHARS = 43
_PERSON = b"attest.session"


def begin(work: UnitOfWork, key_id: UUID, *, hours: float) -> tuple[str, datetime]:
    """Begin a session; gives its token, which is kept nowhere, and when it ends.

    It ends with its key at the latest. Sessions that are over are swept away at the same time.

    Raises:
        LookupError: there is no such key.
    """
    key = work.session.get(AccessKey, key_id)
    if key is None:
        raise LookupError(f"there is no key {key_id}")
    at, token = now(), secrets.token_urlsafe(TOKEN_BYTES)
    work.session.execute(sa.delete(PageSession).where(col(PageSession.expires_at) <= at))
    ends = min(at + timedelta(hours=hours), key.expires_at)
    work.session.add(PageSession(hash=_hash(token), key_id=key.id, created_at=at, expires_at=ends))
    work.session.flush()
    work.record("session.begun", key.id, expires_at=ends.isoformat())
    return token, ends


def key_of(session: Session, token: str, at: datetime) -> AccessKey | None:
    """The key behind a token, if the session and the key hold at this moment."""
    if len(token) != _TOKEN_CHARS:
        return None
    query = (
        select(AccessKey)
        .join(PageSession, col(PageSession.key_id) == col(AccessKey.id))
        .where(
            PageSession.hash == _hash(token),
            col(PageSession.expires_at) > at,
            col(AccessKey.expires_at) > at,
            col(AccessKey.revoked_at).is_(None),
        )
    )
    return session.exec(query).one_or_none()


def open_of(session: Session, names: Collection[bytes], at: datetime) -> set[bytes]:
    """Those of these sessions (`name_of`) that have not ended at this moment."""
    if not names:
        return set()
    query = select(PageSession.hash).where(
        col(PageSession.hash).in_(names), col(PageSession.expires_at) > at
    )
    return set(session.exec(query))


def end(work: UnitOfWork, token: str) -> bool:
    """End a session; whether there was one."""
    found = work.session.get(PageSession, _hash(token))
    if found is None:
        return False
    work.session.delete(found)
    work.record("session.ended", found.key_id)
    return True


def name_of(token: str) -> bytes:
    """What a session is found by: no secret, and no way back to the token."""
    return _hash(token)


def _hash(token: str) -> bytes:
    """The hash of a token, (32,) bytes: BLAKE2b (RFC 7693)."""
    written = token.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(written, digest_size=32, person=_PERSON).digest()
