"""Documents that claim to be a work that a source holds: a caller's record under a PMID, a user's
guideline file with a DOI.

`numbers` in `knowledge/feeds/sources.yaml` says by which numbers a source names its works. A
document that somebody else brings under such a number is kept separately, and the number is in
doubt there, never at the source's.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.feeds.sources import connector_policies, connector_policy, owners_of
from knowledge.works.anchors import ARTICLE
from store.core.copying import uuid_array
from store.core.unit_of_work import UnitOfWork
from store.documents import publication_status
from store.documents.documents import SUBMITTED
from store.documents.identifiers import COMPARED
from store.documents.records import ENDING_NOTICES, Notice

OWNED = tuple(kind for kind in COMPARED if owners_of(kind))
"""The kinds of identifiers by which some source names its works."""

_LOCK = 0x61747465_636C6D73
"""Our choice, the letters "atteclms": the advisory lock under which claims are looked for."""


@dataclass(frozen=True)
class Claim:
    """A document under the number of a work that a source holds.

    `subject`: `pmid:123`, or the key of a work that has no such identifier. `source`: the source of
    the claiming document; None: a caller.
    """

    subject: str
    document_id: UUID
    source: str | None
    title: str
    year: int | None
    authors: Sequence[str]
    held_id: UUID
    held_title: str
    held_year: int | None
    held_authors: Sequence[str]
    held_status: str


def wait_for_others(session: Session, *, owner: bool) -> None:
    """Until this transaction ends, keep sources' works and callers' documents from being stored at
    the same time: two that arrive together would not see each other, and neither would be marked.

    Sources store works side by side, because they claim nothing. Hold the documents' locks.
    """
    shared = "_shared" if owner else ""
    session.execute(sa.text(f"SELECT pg_advisory_xact_lock{shared}(:lock)"), {"lock": _LOCK})


def claimants_of(session: Session, document_ids: Collection[UUID], source: str | None) -> set[UUID]:
    """The documents that claim, or claimed, to be one of these works of `source`.

    Claims by article numbers are left out: there are many, and `findings.collisions` found them.
    """
    kinds = () if source is None else connector_policy(source).numbers
    query = " UNION ".join([_BY_KEY, *(_by_index(kind) for kind in kinds if kind not in ARTICLE)])
    rows = session.execute(
        sa.text(query),
        {
            "ids": uuid_array(document_ids),
            "texts": [str(document_id) for document_id in document_ids],
        },
    )
    return set(rows.scalars())


def claims_of(session: Session, document_ids: Collection[UUID]) -> list[Claim]:
    """The claims of these documents; each claim once, whichever way it was found."""
    rows = session.execute(_CLAIMS, {"ids": uuid_array(document_ids)})
    unique = {(row.document_id, row.subject.lower(), row.held_id): row for row in rows}
    return [Claim(**row._mapping) for row in unique.values()]


def share_end(work: UnitOfWork, document_ids: Collection[UUID], at: datetime) -> None:
    """Copy the notices that ended a work to callers' documents under its number, as notices of the
    same source: otherwise the work would come back as evidence. Where the claim or the notice is
    gone, the copy is removed.

    A document that is being stored at this moment is left out: its transaction waits for this one
    (`wait_for_others`), and looks then.
    """
    rows = work.session.execute(_ENDS, {"ids": uuid_array(document_ids)}).all()
    by_source: dict[str, dict[UUID, list[Notice]]] = {}
    for row in rows:
        notices = by_source.setdefault(row.source, {}).setdefault(row.document_id, [])
        if row.kind is not None:
            notices.append(
                Notice(kind=row.kind, notice_id=row.notice_id or None, stated_on=row.stated_on)
            )
    for source, by_document in by_source.items():
        publication_status.put_notices(work, source, by_document, at)
        publication_status.asked(work.session, source, dict.fromkeys(by_document, True), at)
    if by_source:
        publication_status.settle(work, {row.document_id for row in rows})


def of_documents(
    session: Session, document_ids: Collection[UUID]
) -> dict[UUID, list[dict[str, Any]]]:
    """The open `claimed` findings as they are shown: what is claimed, what is held under it, and
    whether titles and years agree."""
    rows = session.execute(
        sa.text(
            "SELECT document_id, subject, detail FROM finding WHERE kind = 'claimed' "
            "AND resolved_at IS NULL AND document_id = ANY(CAST(:ids AS uuid[])) ORDER BY subject"
        ),
        {"ids": uuid_array(document_ids)},
    )
    claims: dict[UUID, list[dict[str, Any]]] = {}
    for row in rows:
        claims.setdefault(row.document_id, []).append({"number": row.subject, **row.detail})
    return claims


def in_words(claim: Mapping[str, Any]) -> str:
    """One claim of `of_documents`, in words for people."""
    title = "its title agrees" if claim["title_agrees"] else "its title is another"
    title += "; its authors are others" if claim.get("authors_agree") is False else ""
    title += "; its year is another" if claim["year_agrees"] is False else ""
    ended = ", and has withdrawn" if claim["held_ended"] else ""
    return (
        f"It claims to be {claim['number']}, which a source holds{ended}; {title}. It is kept as "
        "a document of its own and is not shown as that work."
    )


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))


_OWNERS = _listed([name for name, policy in connector_policies().items() if policy.numbers])
_ARTICLE = f"ARRAY[{_listed(ARTICLE)}]"


def _value(kind: str, version: str) -> str:
    return f"({COMPARED[kind].replace('identifiers', f'{version}.identifiers')})"


def _names_itself(kind: str) -> str:
    """SQL: the number names the work; a registry number beside a PMID names the article's trial."""
    if kind in ARTICLE:
        return "true"
    return f"NOT mine.identifiers ?| {_ARTICLE} AND NOT held.identifiers ?| {_ARTICLE}"


def _one_number(kind: str) -> str:
    """SQL: a source's current work `held` and a document `mine`, whose source names no works, have
    the same number of this kind."""
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
        CAST(extract(year FROM mine.published_at) AS integer) AS year, mine.authors,
        held.document_id AS held_id, held.title AS held_title,
        CAST(extract(year FROM held.published_at) AS integer) AS held_year,
        held.authors AS held_authors, held.status AS held_status
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


# Rows without a kind: documents with a copied notice, which the source may have taken back.
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
