"""Scenario packs: fetching their works, and which of them are held, missing or failed, and why."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.feeds.packs import PREFIX, pack_queries, primary_source
from knowledge.scenarios import Entry, Scenario
from knowledge.works.anchors import address, keys_of, known_identifiers
from store.core.unit_of_work import UnitOfWork
from store.documents import identifiers
from store.models import Refresh
from store.sources import refresh_requests
from store.sources.refreshes import ACTIVE
from store.sources.source_report import WatchReport, report

State = Literal[
    "held", "ended", "another work", "being fetched", "failed", "missing", "never", "no source"
]
FOLDER = "guidelines"
"""The source of the operator's own guideline files."""
Differs = Callable[[Entry, str, int | None], Sequence[str]]
"""In which fields a record, by its title and year, is another work (`clinical_text.packs`)."""


@dataclass(frozen=True)
class WorkState:
    """A work of a pack. `why`: in words, where there is more to say than its state."""

    entry: Entry
    state: State
    source: str | None = None
    document_id: UUID | None = None
    why: str = ""
    next_at: datetime | None = None
    """When its source is asked again."""


@dataclass(frozen=True)
class _Held:
    document_id: UUID
    title: str
    year: int | None
    identifiers: Mapping[str, str]
    status: str


@dataclass(frozen=True)
class _Store:
    """What the database has for all packs: documents by identifier, or files of the guideline
    folder by address, what is followed by source and pack, and what each watch brought."""

    held: Mapping[tuple[str, str], Sequence[_Held]]
    watches: Mapping[tuple[str, str], WatchReport]
    brought: Mapping[UUID, Sequence[_Held]]


def fill(work: UnitOfWork, pack: Scenario, at: datetime) -> list[Refresh]:
    """Follow the pack at each source that has works of it, and refresh it now. What is under way
    goes on; what failed is asked again."""
    return [
        refresh_requests.refresh_query(work, source, f"{PREFIX}{pack.name}", at)
        for source in pack_queries(pack)
    ]


def work_states(
    session: Session, packs: Collection[Scenario], at: datetime, differs: Differs
) -> dict[str, list[WorkState]]:
    """The works of each pack, by its name, in its order."""
    watches = {
        (one.name, watch.query.removeprefix(PREFIX)): watch
        for one in report(session, at)
        for watch in one.watches
        if watch.query.startswith(PREFIX)
    }
    ids = [watch.id for watch in watches.values()]
    held = _held(session, packs) | _filed(session, packs)
    store = _Store(held, watches, _brought(session, ids))
    return {
        pack.name: [_state(pack, entry, store, differs) for entry in pack.entries] for pack in packs
    }


def _state(pack: Scenario, entry: Entry, store: _Store, differs: Differs) -> WorkState:
    source = primary_source(entry)
    watch = store.watches.get((source or "", pack.name))
    found = [one for number in _numbers(entry) for one in store.held.get(number, ())]
    if not entry.confirmed and watch is not None:
        found += store.brought.get(watch.id, ())
    for one in found:
        if not differs(entry, one.title, one.year):
            return _found(entry, one, source or FOLDER)
    if found and entry.confirmed:
        fields = " and ".join(differs(entry, found[0].title, found[0].year))
        place = f"number {source}" if source else "address the guideline folder"
        why = f"under its {place} has another {fields}: {found[0].title}"
        return WorkState(entry, "another work", source, found[0].document_id, why)
    if source is None:
        why = f"no source has it: add its file to the guideline folder ({entry.url})"
        return WorkState(entry, "no source", why=why)
    if watch is None or watch.status is None:
        return WorkState(entry, "never", source)
    if watch.status in ACTIVE:
        return WorkState(entry, "being fetched", source)
    if watch.status == "failed":
        return WorkState(
            entry, "failed", source, why=watch.last_error or "", next_at=watch.next_run_at
        )
    by = "number" if entry.confirmed else "title"
    why = f"{source} has no such work under its {by}"
    return WorkState(entry, "missing", source, why=why, next_at=watch.next_run_at)


def _found(entry: Entry, one: _Held, source: str | None) -> WorkState:
    if one.status != "current":
        return WorkState(entry, "ended", source, one.document_id, f"it is {one.status}")
    own = {kind: identifiers.normal(kind, value) for kind, value in one.identifiers.items()}
    listed = ", ".join(f"{kind} {value}" for kind, value in own.items())
    numbers = [_key(*number) for number in known_identifiers(entry).items()]
    if not entry.confirmed:
        why = f"found by its title: {listed}; the pack must confirm the number"
    elif any(own.get(kind, value) != value for kind, value in numbers):
        why = f"its source says {listed}: the pack has another number"
    else:
        why = ""
    return WorkState(entry, "held", source, one.document_id, why)


def _numbers(entry: Entry) -> list[tuple[str, str]]:
    """What a record of the work is found by: its own identifiers, or its address if it has none."""
    known = known_identifiers(entry)
    return [_key(*number) for number in known.items()] if known else keys_of(entry)


def _key(kind: str, value: str) -> tuple[str, str]:
    return kind, identifiers.normal(kind, value)


def _held(session: Session, packs: Collection[Scenario]) -> dict[tuple[str, str], list[_Held]]:
    """The documents of sources under a number of a work of these packs, the current ones first."""
    numbers = {
        _key(*number)
        for pack in packs
        for entry in pack.usable()
        for number in known_identifiers(entry).items()
    }
    wanted: dict[str, set[str]] = defaultdict(set)
    for kind, value in numbers:
        wanted[kind].add(value)
    current = set[UUID]().union(*identifiers.held(session, wanted, by_a_source=True).values())
    keys = [f"{kind}:{value.lower()}" for kind, value in numbers]
    rows = session.execute(_WORKS, {"ids": list(current), "keys": keys}).all()
    held: dict[tuple[str, str], list[_Held]] = defaultdict(list)
    for one in sorted(map(_row, rows), key=lambda one: one.status != "current"):
        for number in one.identifiers.items():
            if number[0] in identifiers.COMPARED:
                held[_key(*number)].append(one)
    return held


def _filed(session: Session, packs: Collection[Scenario]) -> dict[tuple[str, str], list[_Held]]:
    """The files of the guideline folder at the address of a work that no source has."""
    wanted = {
        key
        for pack in packs
        for entry in pack.usable()
        for key in _numbers(entry)
        if key[0] == "url"
    }
    filed: dict[tuple[str, str], list[_Held]] = defaultdict(list)
    for row in session.execute(_FILES, {"source": FOLDER}) if wanted else ():
        if (key := ("url", address(row.url))) in wanted:
            filed[key].append(_row(row))
    return filed


def _brought(session: Session, watch_ids: Sequence[UUID]) -> dict[UUID, list[_Held]]:
    brought: dict[UUID, list[_Held]] = defaultdict(list)
    for row in session.execute(_BROUGHT, {"ids": list(watch_ids)}):
        brought[row.watch_id].append(_row(row))
    return brought


def _row(row: Any) -> _Held:
    year = None if row.year is None else int(row.year)
    return _Held(row.document_id, row.title, year, row.identifiers, row.status)


_FIELDS = (
    "v.document_id, v.title, v.identifiers, v.status, extract(year FROM v.published_at) AS year"
)
# A work that ended has no current version: it is found by its key.
_WORKS = sa.text(
    f"""
    SELECT {_FIELDS} FROM document_version v WHERE v.id = ANY(:ids)
    UNION ALL
    SELECT {_FIELDS} FROM document d CROSS JOIN LATERAL (
        SELECT * FROM document_version WHERE document_id = d.id ORDER BY n DESC LIMIT 1) v
    WHERE d.source_key = ANY(CAST(:keys AS varchar[])) AND v.source IS NOT NULL
      AND v.status <> 'current'
    """  # noqa: S608  our own names
)
_FILES = sa.text(
    f"""
    SELECT {_FIELDS}, v.url FROM document_version v
    WHERE v.source = :source AND v.status = 'current' AND v.url IS NOT NULL
    """  # noqa: S608  our own names
)
_BROUGHT = sa.text(
    f"""
    SELECT w.watch_id, {_FIELDS} FROM watch_document w JOIN document_version v
    ON v.document_id = w.document_id WHERE w.watch_id = ANY(:ids) AND v.status = 'current'
    """  # noqa: S608  our own names
)
