"""Marks documents that claim to be a work held from a source (`store.documents.claimed_works`)."""

from collections.abc import Iterable, Set
from datetime import datetime
from uuid import UUID

from clinical_text.titles import same_title, title_words
from store.core.unit_of_work import UnitOfWork
from store.documents import claimed_works, findings
from store.documents.claimed_works import Claim
from store.documents.documents import SUBMITTED
from store.documents.findings import NewFinding


def restate_claims(
    unit: UnitOfWork,
    source: str,
    documents: Set[UUID],
    at: datetime,
    *,
    owner: bool,
    new: Set[UUID] = frozenset(),
    suspects: Set[UUID] = frozenset(),
) -> None:
    """Update the findings on documents that claim to be a work held from a source.

    It does not matter which of the two came first. A finding that no longer applies is closed. A
    work that ended also ends the documents that claim to be it. Call `claims.wait_for_others`
    first.

    Args:
        documents: documents that changed, or whose works ended.
        owner: True if they come from a source that names works: then they claim nothing.
        new: the documents among them that had no findings before.
        suspects: other documents with the same identifiers.
    """
    mine = claimed_works.claimants_of(unit.session, documents, source if owner else None) | suspects
    mine |= set() if owner else documents
    if not mine:
        return
    new_findings = _claims(claimed_works.claims_of(unit.session, mine))
    if new_findings or mine - new:
        findings.restate(unit, source, "claimed", mine - new, new_findings, at, of_all=True)
        claimed_works.share_end(unit, mine, at)


def _claims(claimed: Iterable[Claim]) -> list[NewFinding]:
    """The findings for these claims.

    A caller's record is marked whatever its title: a title is as easily copied as a number. A
    source's record with another source's number and the same title is the work in another form,
    such as a guideline's file beside the article, and is not marked.
    """
    groups: dict[tuple[UUID, str, str | None], list[Claim]] = {}
    for claim in claimed:
        if claim.source is None or not same_title(claim.title, claim.held_title):
            groups.setdefault((claim.document_id, claim.subject, claim.source), []).append(claim)
    return [
        NewFinding(
            "claimed",
            subject,
            document_id,
            {
                "held": sorted({str(claim.held_id) for claim in claims}),
                "held_ended": any(claim.held_status != "current" for claim in claims),
                "title_agrees": all(same_title(claim.title, claim.held_title) for claim in claims),
                "year_agrees": _years_agree(claims),
                "authors_agree": _authors_agree(claims),
            },
            source or SUBMITTED,
        )
        for (document_id, subject, source), claims in groups.items()
    ]


def _authors_agree(claimed: Iterable[Claim]) -> bool | None:
    """True if the first authors have a name in common, however sources order and shorten names.

    None if no claim has authors on both sides.
    """
    pairs = [
        (set(title_words(claim.authors[0])), set(title_words(claim.held_authors[0])))
        for claim in claimed
        if claim.authors and claim.held_authors
    ]
    return all(not one.isdisjoint(other) for one, other in pairs) if pairs else None


def _years_agree(claimed: Iterable[Claim]) -> bool | None:
    """True if all years agree within one year: print may be a year after electronic publication.

    None if no claim has both years.
    """
    gaps = [
        abs(claim.year - claim.held_year)
        for claim in claimed
        if claim.year is not None and claim.held_year is not None
    ]
    return max(gaps) <= 1 if gaps else None
