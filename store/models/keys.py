"""Keys of callers."""

from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar
from uuid import UUID, uuid4

from sqlalchemy import String
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, SQLModel

from store.models.columns import created, moment


class AccessKey(SQLModel, table=True):
    """What a caller may do, and how much of it. The secret itself is not here, only its hash.

    Limits that are None are those of `knowledge/operation/access.yaml`.
    """

    __tablename__: ClassVar[str] = "access_key"

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    prefix: str = Field(unique=True)
    salt: bytes = Field(repr=False)
    hash: bytes = Field(repr=False)
    name: str
    owner: str
    scopes: list[str] = Field(sa_type=ARRAY(String))
    rate_per_minute: int | None = None
    requests_a_day: int | None = None
    usd_a_day: Decimal | None = None
    created_at: datetime = created()
    expires_at: datetime = moment()
    revoked_at: datetime | None = moment(nullable=True)
    last_used_at: datetime | None = moment(nullable=True)
    counted_on: date | None = None
    counted: int = 0
