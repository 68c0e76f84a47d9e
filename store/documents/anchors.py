"""The anchors and effect estimates of versions; a new result replaces the stored one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from pydantic_core import to_json
from sqlmodel import Session, col, select

from store.core.copying import copy_rows, int4, jsonb
from store.core.unit_of_work import UnitOfWork
from store.documents.documents import SUBMITTED
from store.models import Anchor, DocumentVersion, EffectEstimate


@dataclass(frozen=True)
class Found:
    """The result for one version, as columns of its tables without `version_id` and `id`."""

    anchors: Sequence[Mapping[str, Any]]
    estimates: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Marked:
    """A current version, with its document and the key that listings show."""

    version_id: UUID
    document_id: UUID
    source_key: str


def replace(work: UnitOfWork, found: Mapping[UUID, Found]) -> None:
    """Replace all anchors and estimates of these versions by `found`, in the transaction of `work`.

    The versions are locked first, in order: a concurrent replacement of the same versions waits.
    Raises psycopg.Error if PostgreSQL refuses a row.
    """
    ids = sorted(found)
    if not ids:
        return
    work.session.execute(
        sa.text("SELECT FROM document_version WHERE id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE"),
        {"ids": ids},
    )
    for table in (Anchor, EffectEstimate):
        work.session.execute(sa.delete(table).where(col(table.version_id).in_(ids)))
    anchors = [_anchor(version_id, row) for version_id in ids for row in found[version_id].anchors]
    estimates = [
        _estimate(version_id, row) for version_id in ids for row in found[version_id].estimates
    ]
    if anchors:
        copy_rows(work.session, "anchor", _ANCHOR, anchors)
    if estimates:
        copy_rows(work.session, "effect_estimate", _ESTIMATE, estimates)


_ANCHOR = ("version_id", "start", '"end"', "score", "signals", "kinds")
_ESTIMATE = (
    *("version_id", "start", '"end"', "measure", "value", "low", "high", "direction", "body"),
)


def _anchor(version_id: UUID, row: Mapping[str, Any]) -> tuple[object, ...]:
    """The values in the order of `_ANCHOR`."""
    return (
        *(version_id.bytes, int4(row["start"]), int4(row["end"]), int4(row["score"])),
        *(jsonb(to_json(row["signals"])), jsonb(to_json(row["kinds"]))),
    )


def _estimate(version_id: UUID, row: Mapping[str, Any]) -> tuple[object, ...]:
    """The values in the order of `_ESTIMATE`."""
    return (
        *(version_id.bytes, int4(row["start"]), int4(row["end"]), row["measure"]),
        *(row["value"], row["low"], row["high"], row["direction"], jsonb(to_json(row["body"]))),
    )


# Anchors found before they had kinds count as missing: they have signals, which make kinds.
_LACKS = """
    (NOT EXISTS (SELECT FROM anchor a WHERE a.version_id = v.id) OR EXISTS (
        SELECT FROM anchor a
        WHERE a.version_id = v.id AND a.kinds = '[]' AND a.signals <> '[]'))
"""


def count(session: Session, *, lacking: bool) -> int:
    """The number of current versions; `lacking`: only those without anchors with kinds."""
    total: int = session.execute(
        sa.text(
            "SELECT count(*) FROM document_version v WHERE v.status = 'current'"  # noqa: S608
            + (f" AND {_LACKS}" if lacking else "")
        )
    ).scalar_one()
    return total


def after(session: Session, last: UUID | None, limit: int, *, lacking: bool) -> list[Marked]:
    """The next `limit` current versions in the order of their ids; see `count`."""
    rows = session.execute(
        sa.text(
            "SELECT v.id, v.document_id, d.source_key FROM document_version v "  # noqa: S608
            "JOIN document d ON d.id = v.document_id WHERE v.status = 'current' "
            "AND (CAST(:last AS uuid) IS NULL OR v.id > CAST(:last AS uuid)) "
            + (f"AND {_LACKS} " if lacking else "")
            + "ORDER BY v.id LIMIT :limit"
        ),
        {"last": last, "limit": limit},
    )
    return [Marked(row.id, row.document_id, row.source_key) for row in rows]


_ESTIMATES = sa.text(
    'SELECT version_id, start, "end", measure, value, low, high, direction, body '
    "FROM effect_estimate WHERE version_id = ANY(:ids) ORDER BY start, id"
)


def estimates_of(
    session: Session, version_ids: Sequence[UUID]
) -> dict[UUID, list[Mapping[str, Any]]]:
    """The effect estimates of each version, in the order of its text. Rows are plain mappings,
    without the overhead of objects, because an answer reads some hundred of them."""
    estimates: dict[UUID, list[Mapping[str, Any]]] = {version_id: [] for version_id in version_ids}
    for row in session.execute(_ESTIMATES, {"ids": list(version_ids)}):
        estimates[row.version_id].append(row._asdict())
    return estimates


def anchors_of(session: Session, version_id: UUID) -> list[Anchor]:
    """The anchors of a version, in the order of its text."""
    rows = session.exec(
        select(Anchor).where(col(Anchor.version_id) == version_id).order_by(col(Anchor.start))
    )
    return list(rows)


def current_version(session: Session, name: str) -> DocumentVersion:
    """The current version of the document with this id or source key; a source's document goes
    before a caller's.

    Raises LookupError if there is no such document, or none of its versions is current.
    """
    version = session.exec(
        select(DocumentVersion).where(
            DocumentVersion.status == "current",
            sa.text(
                "document_id = (SELECT id FROM document WHERE source_key IN (:name, :brought) OR "
                "CAST(id AS text) = :name ORDER BY source_key = :brought LIMIT 1)"
            ).bindparams(name=name, brought=f"{SUBMITTED}:{name}"),
        )
    ).first()
    if version is None:
        raise LookupError(f"there is no current document {name!r}")
    return version
