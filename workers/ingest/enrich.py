"""Stores what other sources say about held works: publication status and identity."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from clinical_text.titles import same_title, title_match
from knowledge.works.anchors import ARTICLE, anchor_of
from knowledge.works.trust import identity_policy
from store.core.unit_of_work import UnitOfWork
from store.documents import claimed_works, findings, identifiers, publication_status
from store.documents.findings import NewFinding
from store.documents.records import Notice
from workers.ingest.claiming import restate_claims
from workers.ingest.enrichment import Answer, NoWord, Statement
from workers.ingest.identity import Named, disagreements

OTHERS = {"crossref": "openalex", "openalex": "crossref"}
"""A DOI unknown to both does not exist; one alone may lack the DOIs of another agency."""


def take(
    work: UnitOfWork,
    source: str,
    answers: Sequence[tuple[publication_status.DueWork, Answer]],
    at: datetime,
) -> None:
    """Store what `source` says about each work: notices, citations and disagreements.

    If the source does not know a work, its earlier notices stay. If it gave no answer about a work,
    only a finding is written.
    """
    if not answers:
        return
    in_vain = [
        NewFinding("unreadable", due.key, due.document_id, {"why": str(answer.error)})
        for due, answer in answers
        if isinstance(answer, NoWord)
    ]
    document_ids = [due.document_id for due, _ in answers]
    publication_status.lock(work.session, document_ids)
    findings.restate(work, source, "unreadable", document_ids, in_vain, at)
    statements = [(due, answer) for due, answer in answers if isinstance(answer, Statement)]
    if not statements:
        return
    ids = [due.document_id for due, _ in statements]
    known = {due.document_id: statement for due, statement in statements if statement.known}
    notices = {
        document_id: (*statement.notices, *_article_of(work, statement))
        for document_id, statement in known.items()
    }
    publication_status.put_notices(work, source, notices, at)
    cited_by = {document_id: statement.cited_by for document_id, statement in known.items()}
    publication_status.asked(
        work.session,
        source,
        {document_id: document_id in known for document_id in ids},
        at,
        cited_by,
    )
    publication_status.settle(work, ids)
    claimed_works.wait_for_others(work.session, owner=True)
    restate_claims(work, source, set(ids), at, owner=True)
    _take_identity(work, source, statements, at)


def _article_of(work: UnitOfWork, said: Statement) -> list[Notice]:
    """A notice that the held article of which this is the preprint has taken its place."""
    dois = [str(doi).lower() for doi in said.facts.get("preprint_of", ())]
    held = identifiers.held(work.session, {"doi": dois}, by_a_source=True)
    return [Notice(kind="supersession", notice_id=f"doi:{doi}") for _, doi in held]


def _take_identity(
    work: UnitOfWork,
    source: str,
    statements: Sequence[tuple[publication_status.DueWork, Statement]],
    at: datetime,
) -> None:
    """Write findings where a work's DOI belongs to another title or PMID, or does not exist.

    If the titles have little in common, no identifier of the record is trusted any more, so that it
    is in no list of references (EB-7.3).
    """
    held = _held(work, [due.document_id for due, _ in statements])
    wrong: list[NewFinding] = []
    nowhere: list[NewFinding] = []
    compared: list[UUID] = []
    for due, statement in statements:
        mine = held.get(due.document_id)
        if mine is None or mine.identifiers.get("doi", "").lower() != due.doi.lower():
            continue  # it ended, or its DOI changed since it was read for this step
        compared.append(due.document_id)
        if not statement.known:
            nowhere += _unknown(work, source, due)
        elif fields := _disagreements(mine, statement):
            detail: dict[str, Any] = {"disagrees": fields}
            if "title" in fields:
                detail["title_match_percent"] = int(100 * _match(mine, statement))
            wrong += [
                NewFinding("mismatch", subject, due.document_id, detail)
                for subject in _misnamed(due.doi, mine, statement, fields)
            ]
    known = [due.document_id for due, statement in statements if statement.known]
    findings.restate(
        work,
        source,
        "mismatch",
        [document_id for document_id in compared if document_id in set(known)],
        wrong,
        at,
    )
    findings.restate(work, source, "nonexistent", compared, nowhere, at, of_all=True)


def _disagreements(mine: Named, said: Statement) -> list[str]:
    """The fields that contradict the record. An entry of a scenario pack is known by its
    identifiers: if the source gives the pack's title, the title is not in dispute (EB-7.1)."""
    fields = disagreements(mine, said)
    entry = anchor_of(mine.identifiers)
    if entry is not None and said.title and same_title(entry.title, said.title):
        fields = [name for name in fields if name != "title"]
    return fields


def _match(mine: Named, said: Statement) -> float:
    return title_match(mine.title, said.title or "")


def _misnamed(doi: str, mine: Named, said: Statement, fields: Sequence[str]) -> list[str]:
    """The identifiers in doubt: the DOI, or all of the article's if the titles hardly match."""
    all_of_them = (
        "title" in fields
        and _match(mine, said) < identity_policy().title_match
        and anchor_of(mine.identifiers) is None
    )
    kinds = sorted(ARTICLE - {"doi"}) if all_of_them else []
    other_names = (f"{kind}:{mine.identifiers[kind]}" for kind in kinds if kind in mine.identifiers)
    return [f"doi:{doi}", *other_names]


def _held(work: UnitOfWork, ids: Sequence[UUID]) -> dict[UUID, Named]:
    rows = work.session.execute(
        sa.text(
            "SELECT document_id, title, identifiers, extract(year FROM published_at) AS year "
            "FROM document_version WHERE document_id = ANY(:ids) AND status = 'current'"
        ),
        {"ids": list(ids)},
    )
    return {
        row.document_id: Named(row.title, int(row.year) if row.year else None, row.identifiers)
        for row in rows
    }


def _unknown(work: UnitOfWork, source: str, due: publication_status.DueWork) -> list[NewFinding]:
    """A finding that the DOI does not exist; none unless the other source denied the same DOI."""
    known_to_other = work.session.execute(
        sa.text(
            """
            SELECT c.known FROM standing_check c
            WHERE c.document_id = :id AND c.source = :other AND lower(:doi) = (
                SELECT lower(v.identifiers ->> 'doi') FROM document_version v
                WHERE v.document_id = c.document_id AND v.fetched_at <= c.asked_at
                ORDER BY v.n DESC LIMIT 1)
            """
        ),
        {"id": due.document_id, "other": OTHERS[source], "doi": due.doi},
    ).scalar_one_or_none()
    if known_to_other is not False:
        return []
    detail = {"asked": sorted(OTHERS)}
    return [NewFinding("nonexistent", f"doi:{due.doi}", due.document_id, detail)]
