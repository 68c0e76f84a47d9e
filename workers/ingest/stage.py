"""ingest: turns a submitted item, or a page from a source, into document versions."""

from collections.abc import Iterable, Sequence
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
from store.documents.documents import SUBMITTED, Stored, documents_with_keys, put_versions
from store.documents.records import SourceRecord
from store.models import IngestItem, Refresh, now
from store.sources import refreshes, watches
from workers.file_formats import LineProblem, UnreadableDocument, read_each
from workers.http.errors import Malformed
from workers.ingest.claiming import restate_claims
from workers.ingest.connectors.registry import connector
from workers.ingest.doubts import write_findings
from workers.ingest.editions import restate_editions
from workers.ingest.fates import with_its_fate
from workers.ingest.languages import with_its_language
from workers.ingest.parsers.base import Parsed
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context, StageSpec

_WITHOUT_CONTENT = defer(IngestItem.content)  # type: ignore[arg-type]  # megabytes, read by `work`
VERSIONS_PER_MESSAGE = 64
"""The number of versions in one embed message: enough to fill the encoder's batches, few enough to
finish well inside a lease."""


@dataclass(frozen=True)
class Read:
    """The item as records with their structure, or the error that prevented reading it.

    `unreadable`: lines of a user's file that are not records.
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
        file = read_each(
            content,
            filename=item.filename,
            media_type=item.media_type,
            first_line=item.first_line,
        )
    except UnreadableDocument as error:
        return Read(context.now(), error=str(error))
    if file.error is not None:
        return Read(context.now(), error=file.error, unreadable=file.unreadable)
    records = [_as_of(record, item.created_at) for record in file.records]
    if item.source_type:
        records = [_of_type(record, item.source_type) for record in records]
    return Read(context.now(), _segmented(records), unreadable=file.unreadable)


def _segmented(records: Iterable[SourceRecord]) -> list[tuple[SourceRecord, Structure]]:
    return [(with_its_language(with_its_fate(record)), segment(record.text)) for record in records]


def _content(session: Session, item_id: UUID) -> bytes | None:
    """The item's bytes, in the binary protocol: as text they are twice as long, and decoding
    megabytes takes a tenth of the stage's time."""
    connection = session.connection().connection.driver_connection
    assert connection is not None
    with connection.cursor(binary=True) as cursor:
        result = cursor.execute("SELECT content FROM ingest_item WHERE id = %s", (item_id,))
        row = result.fetchone()
    return None if row is None or row[0] is None else bytes(row[0])


def _from_source(context: Context, item: IngestItem, source: str, content: bytes) -> Read:
    try:
        parsed = connector(source, context.settings).parse(content)
    except Malformed as error:
        return Read(context.now(), error=str(error))
    fetched = {"fetched_at": item.fetched_at or item.created_at}
    records = [record.model_copy(update=fetched) for record in parsed.records]
    return Read(context.now(), _segmented(records), parsed)


def _as_of(record: SourceRecord, accepted_at: datetime) -> SourceRecord:
    """The record of a user's file, with `fetched_at` no later than when the file was accepted.

    So a file that is read late or again is no newer than files sent after it, and a date in the
    future does not keep a record fresh for ever.
    """
    fetched_at = min(record.fetched_at or accepted_at, accepted_at)
    return record.model_copy(update={"fetched_at": fetched_at})


def _of_type(record: SourceRecord, source_type: str) -> SourceRecord:
    """`record` with the submitter's source type, where the file itself names none."""
    if "source_type" in record.model_fields_set and record.source_type != "document":
        return record
    return record.model_validate({**record.model_dump(), "source_type": source_type})


def commit(unit: UnitOfWork, message: IngestV1, result: Read) -> None:
    """Store the versions and emit embed messages for the new ones."""
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
    fresh = [version.version_id for version in stored if version.fresh]
    for first in range(0, len(fresh), VERSIONS_PER_MESSAGE):
        part = tuple(fresh[first : first + VERSIONS_PER_MESSAGE])
        unit.emit(EmbedV1(request_id=message.request_id, version_ids=part))
    item.status, item.finished_at = "done", now()
    item.content = None  # the versions have its text now; the hash stays
    item.outcome = {"documents": [_outcome(version) for version in stored]}
    if result.parsed.unmapped:
        item.outcome["unmapped"] = dict(result.parsed.unmapped)
    counts = {"versions": len(stored), "fresh": len(fresh)}
    if result.unreadable:
        item.outcome["problems"] = _problems(result)
        counts["unreadable"] = len(result.unreadable)
    unit.session.add(item)
    unit.record("document.ingested", item.id, **counts)
    write_findings(unit, item, result.records, stored, result.parsed, result.at)
    changed = {version.document_id for version in stored if version.fresh}
    restate_editions(unit, item.source or SUBMITTED, changed, result.at)
    if item.source is not None and result.parsed.gone:
        gone = documents_with_keys(unit.session, result.parsed.gone)
        at = item.fetched_at or item.created_at
        publication_status.remove(unit, item.source, list(gone.values()), at)
        claimed_works.wait_for_others(unit.session, owner=True)
        restate_claims(unit, item.source, set(gone.values()), result.at, owner=True)
    _end_of_item(unit, item, stored, result)


def _problems(result: Read) -> list[dict[str, object]]:
    return [problem.body() for problem in result.unreadable]


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
    """Add the item's result to its refresh; the last item completes the refresh."""
    if item.refresh_id is None or item.source is None:
        return
    refresh = refreshes.locked(unit.session, item.refresh_id)
    assert refresh is not None, "the foreign key holds"
    at = item.fetched_at or item.created_at
    taken = [version.document_id for version in stored if version.taken]
    watches.vouch(unit.session, refresh.watch_id, item.source, taken, at)
    not_taken = [version.document_id for version in stored if not version.taken]
    if not_taken:
        watches.sighted(unit.session, refresh.watch_id, not_taken, at)
    _doubt(unit, refresh, result, at)
    refresh.records += len(stored)
    refresh.fresh += sum(version.outcome in ("new", "changed") for version in stored)
    refresh.problems += len(result.parsed.problems)
    unit.session.add(refresh)
    unit.session.flush()
    refreshes.finish_if_stored(unit, refresh, result.at)


def _doubt(unit: UnitOfWork, refresh: Refresh, result: Read, at: datetime) -> None:
    """Clear the freshness of documents whose record is unreadable or no longer shown.

    An unreadable record without a key may be any document, so the whole refresh does not move the
    freshness clock.
    """
    named = dict.fromkeys(result.parsed.unseen, "the source shows it no longer")
    named |= {
        problem.source_id: problem.reason for problem in result.parsed.problems if problem.source_id
    }
    if named:
        watches.doubt(unit.session, refresh.watch_id, named, at)
    if any(problem.source_id is None for problem in result.parsed.problems):
        refresh.looked = False


def on_dead(unit: UnitOfWork, message: IngestV1, cause: str) -> None:
    """Mark the item as failed; its refresh fails too, as it is incomplete."""
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
