"""ingest: a submitted item becomes document versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from messages import EmbedV1, IngestV1, Stage
from store.documents import put_versions
from store.models import IngestItem, now
from store.records import SourceRecord
from store.spans import Structure
from store.unit_of_work import UnitOfWork
from workers.ingest.readers import UnreadableDocument, read
from workers.ingest.structure import segment
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context, StageSpec

VERSIONS_PER_MESSAGE = 64
"""One embed message works on so many versions: large enough to fill the encoder's batches, small
enough to finish well inside a lease."""


@dataclass(frozen=True)
class Read:
    """The item as records with their structure, or why it could not be read."""

    records: Sequence[tuple[SourceRecord, Structure]]
    error: str | None = None


def work(context: Context, message: IngestV1) -> Read:
    """Read the item's bytes. A file that cannot be read is a result, not a failure."""
    with context.store.reading() as session:
        item = session.get(IngestItem, message.item_id)
    if item is None:
        raise Permanent(f"there is no item {message.item_id}")
    if item.content is None:
        raise Permanent(f"the content of item {message.item_id} is gone: submit it again")
    if item.content_hash != message.content_hash:
        raise Permanent(f"item {message.item_id} is not what was submitted: its hash differs")
    try:
        records = read(item.content, filename=item.filename, media_type=item.media_type)
    except UnreadableDocument as error:
        return Read((), str(error))
    if item.source_type:
        records = [_of_type(record, item.source_type) for record in records]
    return Read([(record, segment(record.text)) for record in records])


def _of_type(record: SourceRecord, source_type: str) -> SourceRecord:
    """`record` with the submitter's source type, where the file itself names none."""
    if "source_type" in record.model_fields_set and record.source_type != "document":
        return record
    return record.model_validate({**record.model_dump(), "source_type": source_type})


def commit(unit: UnitOfWork, message: IngestV1, result: Read) -> None:
    """Store the versions and pass the new ones on."""
    item = unit.session.get_one(IngestItem, message.item_id)
    item.finished_at = now()
    if result.error is not None:
        item.status, item.error = "failed", result.error
        unit.session.add(item)
        unit.record("document.unreadable", item.id, content_hash=item.content_hash)
        return
    stored = put_versions(unit, result.records)
    fresh = [one.version_id for one in stored if one.outcome != "unchanged"]
    for first in range(0, len(fresh), VERSIONS_PER_MESSAGE):
        part = tuple(fresh[first : first + VERSIONS_PER_MESSAGE])
        unit.emit(EmbedV1(request_id=message.request_id, version_ids=part))
    item.status = "done"
    item.content = None  # its words are in the versions now, its hash stays
    item.outcome = {
        "documents": [
            {
                "document_id": str(one.document_id),
                "version_id": str(one.version_id),
                "n": one.n,
                "outcome": one.outcome,
            }
            for one in stored
        ]
    }
    unit.session.add(item)
    unit.record("document.ingested", item.id, versions=len(stored), fresh=len(fresh))


def on_dead(unit: UnitOfWork, message: IngestV1, cause: str) -> None:
    """Say on the item that it will not be read."""
    item = unit.session.get(IngestItem, UUID(message.subject))
    if item is not None:
        item.status, item.error, item.finished_at = "failed", cause, now()
        unit.session.add(item)


SPEC = StageSpec(
    stage=Stage.INGEST,
    work=work,
    commit=commit,
    on_dead=on_dead,
    backoff_seconds=2.0,
    time_limit_seconds=300.0,
)
