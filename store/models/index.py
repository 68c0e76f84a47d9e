"""What search looks up."""

from typing import Any, ClassVar
from uuid import UUID

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import BigInteger, Column, ForeignKey, LargeBinary
from sqlmodel import Field, SQLModel

from store.models.columns import EMBEDDING_DIMENSIONS, big_identity, big_key


class Chunk(SQLModel, table=True):
    """A passage of a version: its words are `version.text[start:end]`, stored nowhere else."""

    id: int = big_identity()
    version_id: UUID = Field(foreign_key="document_version.id")
    ordinal: int
    section: str
    start: int
    end: int


class ChunkVector(SQLModel, table=True):
    """One window of a chunk as the encoder read it: nothing is cut off silently."""

    __tablename__: ClassVar[str] = "chunk_vector"

    id: int = big_identity()
    chunk_id: int = big_key("chunk.id")
    start: int
    end: int
    embedding: Any = Field(sa_type=HALFVEC(EMBEDDING_DIMENSIONS))


class LexSegment(SQLModel, table=True):
    """An immutable run of chunks in the lexical index (ADR 0006)."""

    __tablename__: ClassVar[str] = "lex_segment"

    id: int = big_identity()
    level: int
    term_rule: str
    chunks: int
    length_sum: int = Field(sa_type=BigInteger)
    chunk_ids: bytes = Field(sa_type=LargeBinary)
    lengths: bytes = Field(sa_type=LargeBinary)


class LexPosting(SQLModel, table=True):
    """Where one term occurs in one segment: ordinals (u16) and term frequencies (u8)."""

    __tablename__: ClassVar[str] = "lex_posting"

    term: int = Field(primary_key=True)
    segment_id: int = Field(
        sa_column=Column(
            BigInteger, ForeignKey("lex_segment.id", ondelete="CASCADE"), primary_key=True
        )
    )
    chunks: int
    ordinals: bytes = Field(sa_type=LargeBinary)
    frequencies: bytes = Field(sa_type=LargeBinary)


class IndexPartition(SQLModel, table=True):
    """Another server that holds a part of the index; its URL is in the settings (ADR 0050)."""

    __tablename__: ClassVar[str] = "index_partition"

    name: str = Field(primary_key=True)
    state: str
    """adding, active, rebuilding or off; only an active one is searched and written."""
    moves: int = Field(default=0, sa_type=BigInteger)
    """How many segments came or went, each between two commits of the move."""


class VersionPartition(SQLModel, table=True):
    """The partition that holds the index of a version; without a row it is on the first server."""

    __tablename__: ClassVar[str] = "version_partition"

    version_id: UUID = Field(foreign_key="document_version.id", primary_key=True)
    name: str = Field(foreign_key="index_partition.name")


class IndexEncoder(SQLModel, table=True):
    """The one encoder whose vectors the index holds: vectors of two encoders do not compare."""

    __tablename__: ClassVar[str] = "index_encoder"

    only: bool = Field(default=True, primary_key=True)
    name: str
    dimensions: int
