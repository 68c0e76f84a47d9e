"""Columns that many tables have."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Identity
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

EMBEDDING_DIMENSIONS = 384


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


def json_column() -> Any:
    """JSON."""
    return Field(sa_type=JSONB)


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
