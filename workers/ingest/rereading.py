"""Puts held documents through the rules by which new ones are taken in: what became of the work,
which edition is in force, and whose document it is."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

import sqlalchemy as sa

from clinical_text.language import other_language
from store.core.unit_of_work import Store, UnitOfWork
from store.documents import publication_status
from store.documents.citation_query import known
from store.documents.documents import SUBMITTED
from store.documents.editions import OPENING_CHARS
from store.documents.records import NOT_ENGLISH, Notice, SourceRecord
from workers.ingest.editions import restate_editions
from workers.ingest.fates import with_its_fate

AT_ONCE = 200
"""Our choice: documents of one transaction, so that nobody waits for long."""


@dataclass(frozen=True)
class Change:
    """What a document is found to be: `ended` or `concern` by its own words, `replaced` by a newer
    edition; `mixed`, a source's document that holds versions of a caller, and `language`, one that
    is not in English, are only listed: ingest them again. `why`: the kind of notice, the key of the
    newer edition, the number of the caller's versions, or the language."""

    document_id: UUID
    key: str
    title: str
    what: Literal["ended", "concern", "replaced", "mixed", "language"]
    why: str


class _DryRun(Exception):
    """Takes back what a dry run wrote."""


def _take_back() -> None:
    raise _DryRun


def reread(store: Store, at: datetime, *, dry_run: bool) -> Iterator[tuple[int, list[Change]]]:
    """Read all current documents anew, some at a time: how many, and what changes of them. A dry
    run writes nothing."""
    last = UUID(int=0)
    while True:
        found: list[Change] = []
        count = 0
        with suppress(_DryRun), store.unit_of_work("reread") as work:
            rows = work.session.execute(_NEXT, {"after": last, "chars": OPENING_CHARS}).all()
            count = len(rows)
            if rows:
                last = rows[-1].document_id
                found = _batch(work, rows, at)
            if dry_run:
                _take_back()
        if not count:
            return
        yield count, found


def _batch(
    work: UnitOfWork, rows: Sequence[sa.Row[tuple[object, ...]]], at: datetime
) -> list[Change]:
    named = {row.document_id: row for row in rows}
    publication_status.lock(work.session, named)
    changes = [
        Change(row.document_id, row.key, row.title, "mixed", str(row.strange))
        for row in rows
        if row.strange
    ]
    changes += [
        Change(row.document_id, row.key, row.title, "language", language)
        for row in rows
        if NOT_ENGLISH not in row.labels and (language := other_language(row.text))
    ]
    changes += _fates(work, named, at)
    by_source: dict[str, set[UUID]] = {}
    for row in rows:
        by_source.setdefault(row.source or SUBMITTED, set()).add(row.document_id)
    for source, ids in by_source.items():
        for document_id, newer in restate_editions(work, source, ids, at).items():
            row = named.get(document_id) or work.session.execute(_NAMED, {"id": document_id}).one()
            changes.append(Change(document_id, row.key, row.title, "replaced", newer))
    return changes


def _fates(
    work: UnitOfWork, named: Mapping[UUID, sa.Row[tuple[object, ...]]], at: datetime
) -> list[Change]:
    changes = []
    standings = {key: one.standing for key, one in known(work.session, named).items()}
    for document_id, row in named.items():
        source = row.source or SUBMITTED
        notices = tuple(
            Notice(kind=notice.kind, notice_id=notice.notice_id or None, stated_on=notice.stated_on)
            for notice in standings[document_id].notices
            if notice.source == source
        )
        fields = {name: row._mapping[name] for name in _FIELDS}
        read = with_its_fate(SourceRecord.model_construct(**fields, notices=notices))
        if len(read.notices) == len(notices):
            continue
        kind = read.notices[-1].kind
        publication_status.put_notices(work, source, {document_id: read.notices}, at)
        gone = publication_status.settle(work, [document_id])
        changes.append(
            Change(document_id, row.key, row.title, "ended" if gone else "concern", kind)
        )
    return changes


_FIELDS = (
    *("title", "text", "source_type", "publication_type", "evidence_level", "version_label"),
    *("labels", "facts"),
)
# A source's document may hold a caller's words from before migration 0021.
_NEXT = sa.text(
    f"""
    SELECT v.document_id, d.source_key AS key, v.source, v.title, substr(v.text, 1, :chars) AS text,
           v.source_type, v.publication_type, v.evidence_level, v.version_label, v.labels, v.facts,
           CASE WHEN starts_with(d.source_key, '{SUBMITTED}:') THEN 0 ELSE (
               SELECT count(*) FROM document_version other WHERE other.document_id = v.document_id
               AND other.source IS NULL) END AS strange
    FROM document_version v JOIN document d ON d.id = v.document_id
    WHERE v.status = 'current' AND v.document_id > :after ORDER BY v.document_id LIMIT {AT_ONCE}
    """  # noqa: S608  our own names
)
_NAMED = sa.text(
    "SELECT d.source_key AS key, v.title FROM document d JOIN document_version v "
    "ON v.document_id = d.id WHERE d.id = :id ORDER BY v.n DESC LIMIT 1"
)
