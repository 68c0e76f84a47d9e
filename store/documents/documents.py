"""Documents and their versions. New content makes a new version and supersedes the old one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.feeds.sources import connector_policy
from store.core.copying import ordered_uuid, text_array
from store.core.spans import Structure
from store.core.unit_of_work import UnitOfWork
from store.documents.publication_status import asked, closed, first_asked, put_notices, settle
from store.documents.records import SourceRecord
from store.documents.version_rows import Given, VersionRow, put_rows
from store.models import DocumentVersion, now
from store.recalls.recalls import superseded as recall_superseded
from store.sources.watches import displaced

SUBMITTED = "submission"
"""Stands for a source's name where a user submitted a document, and prefixes the document's key: a
caller's record is never a version of a source's document, nor the other way round."""

CHECKED_AT = """
    greatest(coalesce(d.checked_at, d.created_at), (
        SELECT max(w.cursor_at) FROM watch_document wd JOIN watch w ON w.id = wd.watch_id
        WHERE wd.document_id = d.id AND wd.broken IS NULL))
"""
"""The clock of document `d` in SQL (`store.documents.citation_query`)."""

V = TypeVar("V")

Outcome = Literal["new", "changed", "unchanged", "outdated", "deferred"]


@dataclass(frozen=True)
class Stored:
    """The outcome of storing one record.

    `outdated`: the held version was fetched later. `deferred`: the held version comes from a source
    that this one defers to (`knowledge/feeds/sources.yaml`). In both cases the record is not
    stored.
    """

    document_id: UUID
    version_id: UUID
    n: int
    outcome: Outcome
    closed: bool = False

    @property
    def taken(self) -> bool:
        """True if the held version now says what the record says."""
        return self.outcome in ("new", "changed", "unchanged")

    @property
    def fresh(self) -> bool:
        """True if a new version was made that answers may rest on."""
        return self.outcome in ("new", "changed") and not self.closed


@dataclass
class _Standing:
    """The state of a document while a packet is stored; `latest_id` is its newest version.

    `made`: the packet created the document, so nothing was said of it before. `written` is the
    clock in its row. `closed`: the status of its versions, if none of them is current any more.
    """

    document_id: UUID
    checked_at: datetime | None
    n: int = 0
    latest_id: UUID | None = None
    status: str | None = None
    content_hash: str | None = None
    source: str | None = None
    closed: str | None = None
    row: VersionRow | None = None
    written: datetime | None = None
    made: bool = False


def put_versions(
    work: UnitOfWork,
    records: Sequence[tuple[SourceRecord, Structure]],
    *,
    source: str | None = None,
) -> list[Stored]:
    """Store `records` in order. A record without new content only moves its document's clock.

    Documents are locked in the order of their keys, so that two packets with the same documents
    wait for each other instead of deadlocking. A record fetched before the held version is left
    out, so that packets may arrive in any order. A packet of a source shows it at one moment: if a
    document occurs in it twice, the last record counts.

    Args:
        source: the connector that brought them; None for what a user submitted.
    """
    keys = [key_of(record, source) for record, _ in records]
    kinds = {key: record.source_type for key, (record, _) in zip(keys, records, strict=True)}
    latest = max((record.fetched_at or now() for record, _ in records), default=now())
    standing = _lock_documents(work.session, kinds, latest)
    documents = [standing[key] for key in keys]
    _take_notices(work, source, [record for record, _ in records], documents)
    last = {key: place for place, key in enumerate(keys)}
    stored: dict[int, Stored] = {}
    rows: list[VersionRow] = []
    superseded: list[UUID] = []
    for place, (record, structure) in enumerate(records):
        document = documents[place]
        if source is not None and place != last[keys[place]]:
            continue
        given = Given(record, structure, record.content())
        outcome = _outcome(given, document, source)
        if outcome in ("new", "changed"):
            rows.append(_advance(given, document, source, superseded))
            work.record(
                f"version.{outcome}",
                document.document_id,
                version_id=str(document.latest_id),
                n=document.n,
                content_hash=document.content_hash,
                status=document.status,
            )
        stored[place] = _stored(document, outcome)
    replaced = _write(work.session, rows, superseded, standing.values())
    if superseded:
        # A work's end was already reported with its notice: a new version adds nothing to that.
        newest = {state.document_id: state.n for state in standing.values() if not state.closed}
        recall_superseded(
            work,
            {
                document_id: (replaced[document_id], newest[document_id])
                for document_id in replaced.keys() & newest
            },
        )
        displaced(work.session, {row.document_id for row in rows}, source)
    gone = [state.document_id for state in standing.values() if state.closed]
    if gone:
        settle(work, gone)
    return [
        stored.get(place) or _stored(document, "outdated")
        for place, document in enumerate(documents)
    ]


def key_of(record: SourceRecord, source: str | None) -> str:
    """The key of the document that the record is a version of. `source`: who brought the record;
    None: a caller."""
    return record.key if source is not None else f"{SUBMITTED}:{record.key}"


def _stored(document: _Standing, outcome: Outcome) -> Stored:
    assert document.latest_id is not None, "a document that is not stored has a version"
    return Stored(
        document.document_id, document.latest_id, document.n, outcome, document.closed is not None
    )


def _outcome(given: Given, document: _Standing, source: str | None) -> Outcome:
    """The outcome of the record. Moves the document's clock, unless `deferred` or `outdated`."""
    fetched_at = given.record.fetched_at or now()
    held = document.latest_id is not None
    if held and _defers(source, document.source):
        return "deferred"
    same = document.content_hash == given.content.hash and (
        document.status == "current" or document.closed
    )
    # A record of the source that the held version defers to wins whenever it was fetched, and the
    # clock becomes its own: the order in which the two arrive makes no difference.
    wins = held and not same and (_defers(document.source, source) or _is_strange(document, source))
    before = None if wins else document.checked_at
    if held and not same and before is not None and fetched_at < before:
        return "outdated"
    document.checked_at = max(fetched_at, before or fetched_at)
    if same:
        return "unchanged"
    return "changed" if held else "new"


def _is_strange(document: _Standing, source: str | None) -> bool:
    """True if a source's document holds a caller's words: possible before migration 0021."""
    return document.source is None and source is not None


def _defers(source: str | None, held: str | None) -> bool:
    return source is not None and held is not None and held in connector_policy(source).defers_to


def _advance(
    given: Given, document: _Standing, source: str | None, superseded: list[UUID]
) -> VersionRow:
    """Make the record its document's newest version; returns its row."""
    if document.row is not None:  # an earlier version came in the same packet
        if document.row.status == "current":
            document.row.status, document.row.superseded_at = "superseded", now()
    elif document.latest_id is not None:
        superseded.append(document.latest_id)
    document.n += 1
    at = now()
    row = VersionRow(
        given=given,
        id=ordered_uuid(),
        document_id=document.document_id,
        n=document.n,
        source=source,
        fetched_at=given.record.fetched_at or document.checked_at or at,
        status=document.closed or "current",
        superseded_at=at if document.closed else None,
        created_at=at,
    )
    document.row, document.latest_id = row, row.id
    document.content_hash, document.source = given.content.hash, source
    document.status = row.status
    return row


def _take_notices(
    work: UnitOfWork,
    source: str | None,
    records: Sequence[SourceRecord],
    documents: Sequence[_Standing],
) -> None:
    """Store what the records say about their documents' status, and who said it.

    A source's record without a notice says that there is none; a user's record says nothing.
    """
    stated = {
        document.document_id: record.notices
        for record, document in zip(records, documents, strict=True)
        if source is not None or record.notices
    }
    made = {state.document_id for state in documents if state.made}
    spoken_of = {
        document_id: notices
        for document_id, notices in stated.items()
        if notices or document_id not in made
    }
    if stated:
        at = max(record.fetched_at or now() for record in records)
        if spoken_of:
            put_notices(work, source or SUBMITTED, spoken_of, at)
        first_asked(work.session, source or SUBMITTED, stated.keys() & made, at)
        held = dict.fromkeys(stated.keys() - made, True)
        if held:
            asked(work.session, source or SUBMITTED, held, at)
    known = {state.document_id for state in documents} - made | spoken_of.keys()
    gone = closed(work.session, known) if known else {}
    for document in documents:
        document.closed = gone.get(document.document_id)


def _lock_documents(
    session: Session, kinds: Mapping[str, str], clock: datetime
) -> dict[str, _Standing]:
    """Make sure the documents exist (key → source type), lock them, and read the state of each.

    Documents created here are thereby locked, and get the `clock` that most of a packet have.
    """
    keys = sorted(kinds)
    made = session.execute(
        sa.text(
            "INSERT INTO document (id, source_type, source_key, created_at, checked_at) "
            "SELECT uuidv7(), source_type, source_key, clock_timestamp(), :clock "
            "FROM unnest(CAST(:kinds AS varchar[]), CAST(:keys AS varchar[]))"
            " AS given (source_type, source_key) ON CONFLICT (source_key) DO NOTHING "
            "RETURNING source_key, id"
        ),
        {
            "clock": clock,
            "kinds": text_array([kinds[key] for key in keys]),
            "keys": text_array(keys),
        },
    )
    standing = {key: _Standing(made_id, None, made=True, written=clock) for key, made_id in made}
    held = [key for key in keys if key not in standing]
    return standing | _lock_held(session, held) if held else standing


def _lock_held(session: Session, keys: Sequence[str]) -> dict[str, _Standing]:
    """Lock existing documents in the order of their `keys`, and read the state of each."""
    # Locking and reading are two statements: the second sees what the last lock holder wrote.
    session.execute(
        sa.text(
            "SELECT FROM document WHERE source_key = ANY(:keys) ORDER BY source_key FOR UPDATE"
        ),
        {"keys": keys},
    )
    rows = session.execute(
        sa.text(
            """
            SELECT d.id, d.source_key, d.checked_at, v.n, v.id AS latest_id, v.status,
                   v.content_hash, v.source
            FROM document d LEFT JOIN LATERAL (
                SELECT n, id, status, content_hash, source FROM document_version
                WHERE document_id = d.id ORDER BY n DESC LIMIT 1) v ON true
            WHERE d.source_key = ANY(:keys)
            """
        ),
        {"keys": keys},
    )
    return {
        row.source_key: _Standing(
            row.id,
            row.checked_at,
            row.n or 0,
            row.latest_id,
            row.status,
            row.content_hash,
            row.source,
            written=row.checked_at,
        )
        for row in rows
    }


def _write(
    session: Session,
    rows: list[VersionRow],
    superseded: list[UUID],
    documents: Iterable[_Standing],
) -> dict[UUID, int]:
    """Write what changed; returns the number of the previously current version of each document
    that got a new one."""
    replaced: dict[UUID, int] = {}
    if superseded:
        gone = session.execute(
            sa.text(
                "UPDATE document_version SET status = 'superseded', superseded_at = "
                "clock_timestamp() WHERE id = ANY(:ids) AND status = 'current' "
                "RETURNING document_id, n"
            ),
            {"ids": superseded},
        )
        replaced = {row.document_id: row.n for row in gone}
    if rows:
        put_rows(session, rows)
    moved = [state for state in documents if state.checked_at and state.checked_at != state.written]
    if not moved:
        return replaced
    session.execute(
        sa.text(
            "UPDATE document SET checked_at = given.checked_at FROM "
            "unnest(CAST(:ids AS uuid[]), CAST(:moments AS timestamptz[])) "
            "AS given (id, checked_at) WHERE document.id = given.id"
        ),
        {
            "ids": [document.document_id for document in moved],
            "moments": [document.checked_at for document in moved],
        },
    )
    return replaced


def get_versions(session: Session, version_ids: Sequence[UUID]) -> list[DocumentVersion]:
    """The versions with these ids, in the given order.

    Raises:
        LookupError: one of them does not exist.
    """
    rows = session.exec(select(DocumentVersion).where(col(DocumentVersion.id).in_(version_ids)))
    return _in_order({version.id: version for version in rows}, version_ids)


def _in_order(found: Mapping[UUID, V], version_ids: Sequence[UUID]) -> list[V]:
    missing = [str(version_id) for version_id in version_ids if version_id not in found]
    if missing:
        raise LookupError(f"there is no document version {', '.join(missing[:3])}")
    return [found[version_id] for version_id in version_ids]


@dataclass
class VersionText:
    """The fields of a version that an answer is made of: its text and its source's data on it."""

    id: UUID
    document_id: UUID
    n: int
    content_hash: str
    title: str
    text: str
    structure: dict[str, Any]
    source_type: str
    url: str | None
    publisher: str | None
    publication_type: str | None
    evidence_level: str | None
    version_label: str | None
    identifiers: dict[str, str]
    authors: list[str]
    labels: list[str]
    published_at: datetime | None
    published_precision: str
    status: str
    source: str | None


Version = DocumentVersion | VersionText
"""A version, for code that only reads what an answer is made of."""


_TEXTS = sa.text(
    f"SELECT {', '.join(field.name for field in fields(VersionText))} "  # noqa: S608  our own names
    "FROM document_version WHERE id = ANY(:ids)"
)


def get_texts(session: Session, version_ids: Sequence[UUID]) -> list[VersionText]:
    """Like `get_versions`, for code that only reads: half as much work.

    Raises:
        LookupError: one of them does not exist.
    """
    rows = (VersionText(*row) for row in session.execute(_TEXTS, {"ids": list(version_ids)}))
    return _in_order({version.id: version for version in rows}, version_ids)


def documents_with_keys(session: Session, keys: Sequence[str]) -> dict[str, UUID]:
    """The ids of the held documents with these keys (`SourceRecord.key`)."""
    rows = session.execute(
        sa.text("SELECT source_key, id FROM document WHERE source_key = ANY(:keys)"),
        {"keys": list(keys)},
    )
    return {row.source_key: row.id for row in rows}
