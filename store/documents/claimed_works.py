"""Documents that claim to be a work that a source holds: a caller's record under a PMID, a user's
guideline file with a DOI.

Whose number it is says `numbers` in `knowledge/sources.yaml`: a source names its works by it. Who
else brings a document under it has a document of its own, and the number is in doubt there, never
at the source's.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.anchors import ARTICLE
from knowledge.sources import connector_policies, connector_policy, owners_of
from store.core.copying import uuid_array
from store.core.unit_of_work import UnitOfWork
from store.documents import publication_status
from store.documents.documents import SUBMITTED
from store.documents.identifiers import COMPARED
from store.documents.records import ENDING_NOTICES, Notice

OWNED = tuple(kind for kind in COMPARED if owners_of(kind))
"""The kinds of identifiers that some source names its works by."""

_LOCK = 0x61747465_636C6D73
"""Ours: the letters of "attecl" and "ms"; the advisory lock under which claims are looked for."""


@dataclass(frozen=True)
class Claim:
    """A document under the number of a work that a source holds.

    `subject`: `pmid:123`, or the key of a work that has no such identifier. `source`: whose record
    the claiming document is; None: a caller's.
    """

    subject: str
    document_id: UUID
    source: str | None
    title: str
    year: int | None
    held_id: UUID
    held_title: str
    held_year: int | None
    held_status: str


def wait_for_others(session: Session, *, owner: bool) -> None:
    """Until this transaction ends, no source's works are stored beside callers' documents: each of
    two that arrive together would not see the other, and neither would be marked.

    Works of several sources are, for sources claim nothing. Hold the documents' locks.
    """
    shared = "_shared" if owner else ""
    session.execute(sa.text(f"SELECT pg_advisory_xact_lock{shared}(:lock)"), {"lock": _LOCK})


def claimants_of(session: Session, document_ids: Collection[UUID], source: str | None) -> set[UUID]:
    """The documents that claim to be one of these works of `source`, and those that did.

    By the numbers of articles `findings.collisions` has found them already: there are many.
    """
    kinds = () if source is None else connector_policy(source).numbers
    query = " UNION ".join([_BY_KEY, *(_by_index(kind) for kind in kinds if kind not in ARTICLE)])
    rows = session.execute(
        sa.text(query),
        {"ids": uuid_array(document_ids), "texts": [str(one) for one in document_ids]},
    )
    return set(rows.scalars())


def claims_of(session: Session, document_ids: Collection[UUID]) -> list[Claim]:
    """What these documents claim to be; each claim once, whichever way it was found."""
    rows = session.execute(_CLAIMS, {"ids": uuid_array(document_ids)})
    found = {(row.document_id, row.subject.lower(), row.held_id): row for row in rows}
    return [Claim(**row._mapping) for row in found.values()]


def share_end(work: UnitOfWork, document_ids: Collection[UUID], at: datetime) -> None:
    """What a caller brought under the number of a work that ended is no evidence either, by the
    word of whoever ended it: it would come back by another door. Where the claim or the notice is
    gone, that word is.

    A document that is being stored at this moment is left out: who stores it waits for this
    transaction (`wait_for_others`), and looks then.
    """
    rows = work.session.execute(_ENDS, {"ids": uuid_array(document_ids)}).all()
    said: dict[str, dict[UUID, list[Notice]]] = {}
    for row in rows:
        notices = said.setdefault(row.source, {}).setdefault(row.document_id, [])
        if row.kind is not None:
            notices.append(
                Notice(kind=row.kind, notice_id=row.notice_id or None, stated_on=row.stated_on)
            )
    for source, some in said.items():
        publication_status.put_notices(work, source, some, at)
        publication_status.asked(work.session, source, dict.fromkeys(some, True), at)
    if said:
        publication_status.settle(work, {row.document_id for row in rows})


def of_documents(
    session: Session, document_ids: Collection[UUID]
) -> dict[UUID, list[dict[str, Any]]]:
    """The open findings that say so, as they are told: what is claimed, what is held under it, and
    whether titles and years agree."""
    rows = session.execute(
        sa.text(
            "SELECT document_id, subject, detail FROM finding WHERE kind = 'claimed' "
            "AND resolved_at IS NULL AND document_id = ANY(CAST(:ids AS uuid[])) ORDER BY subject"
        ),
        {"ids": uuid_array(document_ids)},
    )
    told: dict[UUID, list[dict[str, Any]]] = {}
    for row in rows:
        told.setdefault(row.document_id, []).append({"number": row.subject, **row.detail})
    return told


def in_words(claim: Mapping[str, Any]) -> str:
    """One of `of_documents`, as people are told of it."""
    years = {True: "", False: ", and so is its year", None: ""}[claim["year_agrees"]]
    title = "its title agrees" if claim["title_agrees"] else f"its title is another{years}"
    ended = ", and has withdrawn" if claim["held_ended"] else ""
    return (
        f"It claims to be {claim['number']}, which a source holds{ended}; {title}. It is kept as "
        "a document of its own and is not shown as that work."
    )


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))


_OWNERS = _listed([name for name, one in connector_policies().items() if one.numbers])
_ARTICLE = f"ARRAY[{_listed(ARTICLE)}]"


def _value(kind: str, version: str) -> str:
    return f"({COMPARED[kind].replace('identifiers', f'{version}.identifiers')})"


def _names_itself(kind: str) -> str:
    """A registry number beside a PMID names the trial that the article tells of."""
    if kind in ARTICLE:
        return "true"
    return f"NOT mine.identifiers ?| {_ARTICLE} AND NOT held.identifiers ?| {_ARTICLE}"


def _one_number(kind: str) -> str:
    """That a source's current work `held` and a document `mine`, which is of no source that names
    works, are under one number of this kind."""
    return f"""
        {_value(kind, "held")} = {_value(kind, "mine")}
        AND held.status = 'current' AND held.identifiers ? '{kind}'
        AND mine.status = 'current' AND mine.identifiers ? '{kind}'
        AND held.source IN ({_listed(owners_of(kind))})
        AND (mine.source IS NULL OR mine.source NOT IN ({_OWNERS})) AND {_names_itself(kind)}
    """


def _told(subject: str) -> str:
    return f"""
        {subject} AS subject, mine.document_id, mine.source, mine.title,
        CAST(extract(year FROM mine.published_at) AS integer) AS year,
        held.document_id AS held_id, held.title AS held_title,
        CAST(extract(year FROM held.published_at) AS integer) AS held_year,
        held.status AS held_status
    """


_IDS = "ANY(CAST(:ids AS uuid[]))"


_BY_KEY = f"""
    WITH held AS MATERIALIZED (
        SELECT document_id, source, status, identifiers FROM document_version
        WHERE document_id = {_IDS} AND status = 'current')
    SELECT id FROM document WHERE source_key = ANY(ARRAY(
        SELECT '{SUBMITTED}:' || source_key FROM document WHERE id = {_IDS}))
    UNION
    SELECT document_id FROM finding WHERE kind = 'claimed' AND resolved_at IS NULL
      AND detail -> 'held' ?| CAST(:texts AS text[])
"""  # noqa: S608  our own names, here and below


def _by_index(kind: str) -> str:
    return f"""
        SELECT mine.document_id FROM held, document_version mine WHERE {_one_number(kind)}
    """  # noqa: S608


def _by_number(kind: str) -> str:
    subject = _told(f"'{kind}:' || {_value(kind, 'mine')}")
    return f"SELECT {subject} FROM mine, document_version held WHERE {_one_number(kind)}"  # noqa: S608


# Without a kind: what the source said of the document, which it may say no longer.
_ENDS = sa.text(
    f"""
    WITH mine AS MATERIALIZED (
        SELECT id FROM document WHERE id = {_IDS} AND starts_with(source_key, '{SUBMITTED}:')
        ORDER BY source_key FOR UPDATE SKIP LOCKED)
    SELECT DISTINCT mine.id AS document_id, notice.source, notice.kind, notice.notice_id,
           notice.stated_on
    FROM mine JOIN finding ON finding.document_id = mine.id AND finding.kind = 'claimed'
      AND finding.resolved_at IS NULL
    CROSS JOIN LATERAL jsonb_array_elements_text(finding.detail -> 'held') AS held (id)
    JOIN notice ON notice.document_id = CAST(held.id AS uuid) AND notice.gone_at IS NULL
      AND notice.kind IN ({_listed(ENDING_NOTICES)})
    UNION ALL
    SELECT DISTINCT mine.id, notice.source, CAST(NULL AS varchar), CAST(NULL AS varchar),
           CAST(NULL AS date)
    FROM mine JOIN notice ON notice.document_id = mine.id AND notice.gone_at IS NULL
    WHERE notice.source <> '{SUBMITTED}'
    """  # noqa: S608
)
_CLAIMS = sa.text(
    f"""
    WITH mine AS MATERIALIZED (
        SELECT * FROM document_version WHERE document_id = {_IDS} AND status = 'current'
          AND (source IS NULL OR source NOT IN ({_OWNERS}))
    ), ended AS MATERIALIZED (
        -- What ended is in no index of numbers, and is little. Its number stays its own.
        SELECT held.*, own.kind, lower(own.value) AS value
        FROM document_version held
        CROSS JOIN LATERAL jsonb_each_text(held.identifiers) AS own (kind, value)
        WHERE held.status = 'retracted' AND held.source IN ({_OWNERS}) AND NOT EXISTS (
            SELECT FROM document_version newer
            WHERE newer.document_id = held.document_id AND newer.n > held.n)
    )
    SELECT {_told("work.source_key")}
    FROM mine JOIN document own ON own.id = mine.document_id
    JOIN document work ON work.source_key = substr(own.source_key, {len(SUBMITTED) + 2})
    JOIN LATERAL (SELECT * FROM document_version WHERE document_id = work.id
                  ORDER BY n DESC LIMIT 1) held ON true
    WHERE starts_with(own.source_key, '{SUBMITTED}:')
    UNION ALL
    SELECT {_told("own.kind || ':' || own.value")}
    FROM mine CROSS JOIN LATERAL jsonb_each_text(mine.identifiers) AS own (kind, value)
    JOIN ended held ON held.kind = own.kind AND held.value = lower(own.value)
    WHERE own.kind IN ({_listed(ARTICLE)}) OR ({_names_itself("another")})
    UNION ALL {" UNION ALL ".join(_by_number(kind) for kind in OWNED)}
    """  # noqa: S608
)
