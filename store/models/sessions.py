"""Browsers that have signed in."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlmodel import Field, SQLModel

from store.models.columns import created, moment


class PageSession(SQLModel, table=True):
    """A browser that has signed in with a key. The token itself is not here, only its hash."""

    __tablename__: ClassVar[str] = "page_session"

    hash: bytes = Field(primary_key=True, repr=False)
    key_id: UUID = Field(foreign_key="access_key.id", ondelete="CASCADE")
    created_at: datetime = created()
    expires_at: datetime = moment()
