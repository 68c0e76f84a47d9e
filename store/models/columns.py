"""Columns that many tables have."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Identity, LargeBinary
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

EMBEDDING_DIMENSIONS = 384
LOCAL_OWNER = "local"
"""Whose everything is that came without a key."""


def now() -> datetime:
    """The present moment, with its time zone."""
    return datetime.now(UTC)


def moment(*, nullable: bool = False) -> Any:
    """A moment with its time zone."""
    return Field(
        default=None if nullable else ...,
        sa_type=DateTime(timezone=True),
        nullable=nullable,
    )


def created() -> Any:
    """When the row was made."""
    return Field(default_factory=now, sa_type=DateTime(timezone=True))


def owner_column() -> Any:
    """Whose the row is: nobody else is shown it."""
    return Field(default=LOCAL_OWNER, sa_column_kwargs={"server_default": LOCAL_OWNER})


def json_column() -> Any:
    """JSON."""
    return Field(sa_type=JSONB)


def hash_key() -> Any:
    """What the hashes of the words in this row are keyed with; it is erased with them."""
    return Field(default=None, sa_type=LargeBinary, nullable=True, repr=False)


def big_identity() -> Any:
    """A key that the database counts."""
    return Field(
        default=None, sa_column=Column(BigInteger, Identity(always=True), primary_key=True)
    )


def big_key(target: str) -> Any:
    """The key of a row of `target`, gone with it."""
    return Field(
        sa_column=Column(BigInteger, ForeignKey(target, ondelete="CASCADE"), nullable=False)
    )
