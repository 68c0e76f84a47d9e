"""ingest: a submitted item, or a page from a source, becomes document versions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import defer
from sqlmodel import Session

from clinical_text.structure import segment
from messages import EmbedV1, IngestV1, Stage
from store.core.spans import Structure
from store.core.unit_of_work import UnitOfWork
from store.documents import claimed_works, publication_status
from store.documents.documents import Stored, documents_with_keys, put_versions
from store.documents.records import SourceRecord
from store.models import IngestItem, Refresh, now
from store.sources import refreshes, watches
from workers.file_formats import LineProblem, UnreadableDocument, read_each
from workers.http.errors import Malformed
from workers.ingest.claiming import restate_claims
from workers.ingest.connectors.registry import connector
from workers.ingest.doubts import write_findings
from workers.ingest.parsers.base import Parsed
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context, StageSpec

_WITHOUT_CONTENT = defer(IngestItem.content)  # type: ignore[arg-type]  # megabytes, read by `work`
VERSIONS_PER_MESSAGE = 64
"""One embed message works on so many versions: large enough to fill the encoder's batches, small
enough to finish well inside a lease."""


@dataclass(frozen=True)
class Read:
    """The item as records with their structure, or why it could not be read.

    `unreadable`: lines of a user's file that are no records.
    """

    at: datetime
    records: Sequence[tuple[SourceRecord, Structure]] = ()
    parsed: Parsed = field(default_factory=Parsed)
    error: str | None = None
    unreadable: Sequence[LineProblem] = ()


def work(context: Context, message: IngestV1) -> Read:
    """Read the item's bytes. A file that cannot be read is a result, not a failure."""
    with context.store.reading() as session:
        item = session.get(IngestItem, message.item_id, options=[_WITHOUT_CONTENT])
        content = _content(session, message.item_id)
    if item is None:
        raise Permanent(f"there is no item {message.item_id}")
    if content is None:
        raise Permanent(f"the content of item {message.item_id} is gone: submit it again")
    if item.content_hash != message.content_hash:
        raise Permanent(f"item {message.item_id} is not what was submitted: its hash differs")
    if item.source is not None:
        return _from_source(context, item, item.source, content)
    try:
        found = read_each(
            content,
            filename=item.filename,
            media_type=item.media_type,
            first_line=item.first_line,
        )
    except UnreadableDocument as error:
        return Read(context.now(), error=str(error))
    if found.error is not None:
        return Read(context.now(), error=found.error, unreadable=found.unreadable)
    records = [_as_of(record, item.created_at) for record in found.records]
    if item.source_type:
        records = [_of_type(record, item.source_type) for record in records]
    return Read(
        context.now(),
        [(record, segment(record.text)) for record in records],
        unreadable=found.unreadable,
    )


def _content(session: Session, item_id: UUID) -> bytes | None:
    """The item's bytes, sent as they are: as text they are twice as long, and turning megabytes
    back costs a tenth of all the work."""
    connection = session.connection().connection.driver_connection
    assert connection is not None
    with connection.cursor(binary=True) as cursor:
        found = cursor.execute("SELECT content FROM ingest_item WHERE id = %s", (item_id,))
        row = found.fetchone()
    return None if row is None or row[0] is None else bytes(row[0])


def _from_source(context: Context, item: IngestItem, source: str, content: bytes) -> Read:
    try:
        parsed = connector(source, context.settings).parse(content)
    except Malformed as error:
        return Read(context.now(), error=str(error))
    fetched = {"fetched_at": item.fetched_at or item.created_at}
    records = [record.model_copy(update=fetched) for record in parsed.records]
    return Read(context.now(), [(record, segment(record.text)) for record in records], parsed)


def _as_of(record: SourceRecord, accepted_at: datetime) -> SourceRecord:
    """The record of a user's file as of when it was fetched, at the latest when the file was
    accepted: read late or again it is no newer than what was sent after it, and what claims to be
    of the future would be fresh for good."""
    fetched_at = min(record.fetched_at or accepted_at, accepted_at)
    return record.model_copy(update={"fetched_at": fetched_at})


def _of_type(record: SourceRecord, source_type: str) -> SourceRecord:
    """`record` with the submitter's source type, where the file itself names none."""
    if "source_type" in record.model_fields_set and record.source_type != "document":
        return record
    return record.model_validate({**record.model_dump(), "source_type": source_type})


def commit(unit: UnitOfWork, message: IngestV1, result: Read) -> None:
    """Store the versions and pass the new ones on."""
    item = unit.session.get_one(IngestItem, message.item_id, options=[_WITHOUT_CONTENT])
    if result.error is not None:
        item.status, item.error, item.finished_at = "failed", result.error, now()
        if result.unreadable:
            item.outcome = {"documents": [], "problems": _problems(result)}
        unit.session.add(item)
        unit.record("document.unreadable", item.id, content_hash=item.content_hash)
        _end_of_item(unit, item, [], result)
        return
    stored = put_versions(unit, result.records, source=item.source)
    fresh = [one.version_id for one in stored if one.fresh]
    for first in range(0, len(fresh), VERSIONS_PER_MESSAGE):
        part = tuple(fresh[first : first + VERSIONS_PER_MESSAGE])
        unit.emit(EmbedV1(request_id=message.request_id, version_ids=part))
    item.status, item.finished_at = "done", now()
    item.content = None  # its words are in the versions now, its hash stays
    item.outcome = {"documents": [_outcome(one) for one in stored]}
    if result.parsed.unmapped:
        item.outcome["unmapped"] = dict(result.parsed.unmapped)
    counts = {"versions": len(stored), "fresh": len(fresh)}
    if result.unreadable:
        item.outcome["problems"] = _problems(result)
        counts["unreadable"] = len(result.unreadable)
    unit.session.add(item)
    unit.record("document.ingested", item.id, **counts)
    write_findings(unit, item, result.records, stored, result.parsed, result.at)
    if item.source is not None and result.parsed.gone:
        gone = documents_with_keys(unit.session, result.parsed.gone)
        at = item.fetched_at or item.created_at
        publication_status.remove(unit, item.source, list(gone.values()), at)
        claimed_works.wait_for_others(unit.session, owner=True)
        restate_claims(unit, item.source, set(gone.values()), result.at, owner=True)
    _end_of_item(unit, item, stored, result)


def _problems(result: Read) -> list[dict[str, object]]:
    return [one.body() for one in result.unreadable]


def _outcome(one: Stored) -> dict[str, object]:
    return {
        "document_id": str(one.document_id),
        "version_id": str(one.version_id),
        "n": one.n,
        "outcome": one.outcome,
    }


def _end_of_item(
    unit: UnitOfWork, item: IngestItem, stored: Sequence[Stored], result: Read
) -> None:
    """Tell the item's refresh what came of it; the last item completes the refresh."""
    if item.refresh_id is None or item.source is None:
        return
    refresh = refreshes.locked(unit.session, item.refresh_id)
    assert refresh is not None, "the foreign key holds"
    at = item.fetched_at or item.created_at
    vouched = [one.document_id for one in stored if one.taken]
    watches.vouch(unit.session, refresh.watch_id, item.source, vouched, at)
    others = [one.document_id for one in stored if not one.taken]
    if others:
        watches.sighted(unit.session, refresh.watch_id, others, at)
    _doubt(unit, refresh, result, at)
    refresh.records += len(stored)
    refresh.fresh += sum(one.outcome in ("new", "changed") for one in stored)
    refresh.problems += len(result.parsed.problems)
    unit.session.add(refresh)
    unit.session.flush()
    refreshes.finish_if_stored(unit, refresh, result.at)


def _doubt(unit: UnitOfWork, refresh: Refresh, result: Read, at: datetime) -> None:
    """A record that cannot be read, or is shown no longer, takes its document's clock away; one
    that nobody can name takes the whole refresh's, because any document may be meant."""
    named = dict.fromkeys(result.parsed.unseen, "the source shows it no longer")
    named |= {one.source_id: one.reason for one in result.parsed.problems if one.source_id}
    if named:
        watches.doubt(unit.session, refresh.watch_id, named, at)
    if any(one.source_id is None for one in result.parsed.problems):
        refresh.looked = False


def on_dead(unit: UnitOfWork, message: IngestV1, cause: str) -> None:
    """Say on the item that it will not be read; its refresh did not see everything."""
    item = unit.session.get(IngestItem, UUID(message.subject))
    if item is None:
        return
    item.status, item.error, item.finished_at = "failed", cause, now()
    unit.session.add(item)
    if item.refresh_id is not None:
        refresh = refreshes.locked(unit.session, item.refresh_id)
        if refresh is not None:
            refreshes.fail(unit, refresh, f"a page could not be stored: {cause}", now())


SPEC = StageSpec(
    stage=Stage.INGEST,
    work=work,
    commit=commit,
    on_dead=on_dead,
    backoff_seconds=2.0,
    time_limit_seconds=300.0,
)
