"""embed: document versions become chunks, vectors and lexical postings, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from clinical_text.chunks import Chunk, chunk
from knowledge.tagging import Tags
from messages import AnchorV1, EmbedV1, Stage
from store.core.spans import Structure
from store.core.unit_of_work import UnitOfWork
from store.documents import tags
from store.documents.documents import get_versions
from store.index import dense, lexical
from store.index.terms import heading, terms
from store.models import DocumentVersion
from workers.encoder import EncoderRefused, EncoderUnavailable
from workers.runtime.errors import Later, Permanent, Transient
from workers.runtime.stage import Context, StageSpec


@dataclass(frozen=True)
class Window:
    """A range of one chunk that the encoder read, `[start, end)` of the version's text."""

    start: int
    end: int
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class Indexed:
    """One chunk of one version with its windows and its term counts."""

    version_id: UUID
    chunk: Chunk
    windows: Sequence[Window]
    term_counts: dict[int, int]


@dataclass(frozen=True)
class Result:
    """All chunks and tags of the message's versions, and the encoder of their vectors."""

    chunks: Sequence[Indexed]
    tags: Mapping[UUID, Tags]
    encoder: str
    dimensions: int


def work(context: Context, message: EmbedV1) -> Result:
    """Cut the versions into chunks and encode every window of the chunks."""
    with context.store.reading() as session:
        versions = get_versions(session, message.version_ids)
    encoder = context.encoder
    cut: list[tuple[DocumentVersion, Chunk, list[tuple[int, int]]]] = []
    inputs: list[str] = []
    for version in versions:
        structure = Structure.model_validate(version.structure)
        for piece in chunk(version.text, structure):
            before = heading(version.title, piece.section)
            read = before + version.text[piece.start : piece.end]
            places = []
            for window in encoder.windows(read):
                inputs.append(window.of(read))
                shift = piece.start - len(before)
                places.append((max(piece.start, window.start + shift), window.end + shift))
            cut.append((version, piece, places))
    vectors = iter(_encode(context, inputs))
    chunks = [
        Indexed(
            version.id,
            piece,
            [Window(start, end, next(vectors)) for start, end in places],
            terms(heading(version.title, piece.section) + version.text[piece.start : piece.end]),
        )
        for version, piece, places in cut
    ]
    tagged = {document.id: tags.tags_of_version(document) for document in versions}
    return Result(chunks, tagged, encoder.name, encoder.dimensions)


def _encode(context: Context, inputs: list[str]) -> NDArray[np.float32]:
    try:
        return context.encoder.encode(inputs)
    except EncoderUnavailable as error:
        if error.retry_after:
            raise Later(str(error), error.retry_after) from error
        raise Transient(str(error)) from error
    except EncoderRefused as error:
        raise Permanent(str(error)) from error


def commit(unit: UnitOfWork, message: EmbedV1, result: Result) -> None:
    """Write the index of these versions and emit the message of the next stage."""
    try:
        dense.require_encoder(unit.session, result.encoder, result.dimensions)
    except dense.EncoderMismatch as error:
        raise Permanent(str(error)) from error
    ids = _insert_chunks(unit, result.chunks)
    dense.write_vectors(
        unit.session,
        [
            (chunk_id, window.start, window.end, window.vector)
            for chunk_id, indexed in zip(ids, result.chunks, strict=True)
            for window in indexed.windows
        ],
    )
    lexical.write_segment(
        unit.session,
        [(chunk_id, entry.term_counts) for chunk_id, entry in zip(ids, result.chunks, strict=True)],
    )
    tags.put(unit.session, result.tags)
    unit.emit(AnchorV1(request_id=message.request_id, version_ids=message.version_ids))
    unit.record(
        "versions.indexed",
        message.subject,
        version_ids=[str(version_id) for version_id in message.version_ids],
        chunks=len(ids),
        encoder=result.encoder,
    )


def _insert_chunks(unit: UnitOfWork, chunks: Sequence[Indexed]) -> list[int]:
    """Insert the chunks; returns their ids in the same order."""
    rows = unit.session.execute(
        sa.text(
            'INSERT INTO chunk (version_id, ordinal, section, start, "end") '
            "SELECT * FROM unnest(CAST(:versions AS uuid[]), CAST(:ordinals AS int[]), "
            "CAST(:sections AS varchar[]), CAST(:starts AS int[]), CAST(:ends AS int[])) "
            "RETURNING id, version_id, ordinal"
        ),
        {
            "versions": [indexed.version_id for indexed in chunks],
            "ordinals": [indexed.chunk.ordinal for indexed in chunks],
            "sections": [indexed.chunk.section for indexed in chunks],
            "starts": [indexed.chunk.start for indexed in chunks],
            "ends": [indexed.chunk.end for indexed in chunks],
        },
    )
    ids = {(row.version_id, row.ordinal): row.id for row in rows}
    return [ids[indexed.version_id, indexed.chunk.ordinal] for indexed in chunks]


SPEC = StageSpec(
    stage=Stage.EMBED,
    work=work,
    commit=commit,
    backoff_seconds=2.0,
    backoff_cap_seconds=300.0,
    time_limit_seconds=600.0,
)
