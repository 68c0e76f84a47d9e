"""embed: document versions become chunks, vectors and lexical postings, in one transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from clinical_text.chunks import Chunk, chunk
from knowledge.subjects.tagging import Tags
from messages import AnchorV1, EmbedV1, Stage
from store.core.spans import Structure
from store.core.unit_of_work import UnitOfWork
from store.documents import tags
from store.documents.documents import get_versions
from store.index import writing
from store.index.dense import EncoderMismatch
from store.index.terms import heading, terms
from store.index.writing import Encoded, Indexed, Window
from store.models import DocumentVersion
from workers.encoder import Encoder, EncoderRefused, EncoderUnavailable
from workers.runtime.errors import Later, Permanent, Transient
from workers.runtime.stage import Context, StageSpec


@dataclass(frozen=True)
class Result:
    """The index and the tags of the message's versions.

    `placed`: the index is written already, on partitions.
    """

    encoded: Encoded
    tags: Mapping[UUID, Tags]
    placed: bool


def work(context: Context, message: EmbedV1) -> Result:
    """Cut the versions into chunks and encode every window of the chunks."""
    with context.store.reading() as session:
        versions = get_versions(session, message.version_ids)
    pieces = [
        (version, piece)
        for version in versions
        for piece in chunk(version.text, Structure.model_validate(version.structure))
    ]
    encoded = encode(context.encoder, pieces)
    tagged = {document.id: tags.tags_of_version(document) for document in versions}
    try:
        placed = writing.place(
            context.store, encoded, {version.id: version.document_id for version in versions}
        )
    except EncoderMismatch as error:
        raise Permanent(str(error)) from error
    return Result(encoded, tagged, placed)


def encode(encoder: Encoder, pieces: Iterable[tuple[DocumentVersion, Chunk]]) -> Encoded:
    """The windows of these chunks, read by the encoder, and their terms."""
    cut: list[tuple[DocumentVersion, Chunk, list[tuple[int, int]]]] = []
    inputs: list[str] = []
    for version, piece in pieces:
        before = heading(version.title, piece.section)
        read = before + version.text[piece.start : piece.end]
        places = []
        for window in encoder.windows(read):
            inputs.append(window.of(read))
            shift = piece.start - len(before)
            places.append((max(piece.start, window.start + shift), window.end + shift))
        cut.append((version, piece, places))
    vectors = iter(_encode(encoder, inputs))
    chunks = [
        Indexed(
            version_id=version.id,
            ordinal=piece.ordinal,
            section=piece.section,
            start=piece.start,
            end=piece.end,
            windows=[Window(start, end, next(vectors)) for start, end in places],
            term_counts=terms(
                heading(version.title, piece.section) + version.text[piece.start : piece.end]
            ),
        )
        for version, piece, places in cut
    ]
    return Encoded(chunks, encoder.name, encoder.dimensions)


def _encode(encoder: Encoder, inputs: list[str]) -> NDArray[np.float32]:
    try:
        return encoder.encode(inputs)
    except EncoderUnavailable as error:
        if error.retry_after:
            raise Later(str(error), error.retry_after) from error
        raise Transient(str(error)) from error
    except EncoderRefused as error:
        raise Permanent(str(error)) from error


def commit(unit: UnitOfWork, message: EmbedV1, result: Result) -> None:
    """Write the index of these versions and emit the message of the next stage."""
    try:
        if not result.placed:
            writing.write(unit.session, result.encoded)
    except EncoderMismatch as error:
        raise Permanent(str(error)) from error
    tags.put(unit.session, result.tags)
    unit.emit(AnchorV1(request_id=message.request_id, version_ids=message.version_ids))
    unit.record(
        "versions.indexed",
        message.subject,
        version_ids=[str(version_id) for version_id in message.version_ids],
        chunks=len(result.encoded.chunks),
        encoder=result.encoded.encoder,
    )


SPEC = StageSpec(
    stage=Stage.EMBED,
    work=work,
    commit=commit,
    backoff_seconds=2.0,
    backoff_cap_seconds=300.0,
    time_limit_seconds=600.0,
)
