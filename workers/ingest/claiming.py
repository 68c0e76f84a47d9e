"""Marks documents that claim to be a work that a source holds (`store.documents.claimed_works`)."""

from collections.abc import Iterable, Set
from datetime import datetime
from uuid import UUID

from clinical_text.titles import same_title
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
    """Documents that claim to be a work that a source holds, whichever of the two came first; and
    those that do so no longer. What ended takes along what claims to be it.

    Call `claims.wait_for_others` before.

    Args:
        documents: those that changed, or whose works ended.
        owner: whether they are of a source that names works: then they claim nothing.
        new: those of them of which nothing was found before.
        suspects: other documents under their numbers.
    """
    mine = claimed_works.claimants_of(unit.session, documents, source if owner else None) | suspects
    mine |= set() if owner else documents
    if not mine:
        return
    found = _claims(claimed_works.claims_of(unit.session, mine))
    if found or mine - new:
        findings.restate(unit, source, "claimed", mine - new, found, at, of_all=True)
        claimed_works.share_end(unit, mine, at)


def _claims(claimed: Iterable[Claim]) -> list[NewFinding]:
    """A caller's record is marked whatever its title, for a title is as easily copied as a number.
    What a source brings under another's number with the same title is the work in another form:
    a guideline's file beside the article."""
    found: dict[tuple[UUID, str, str | None], list[Claim]] = {}
    for one in claimed:
        if one.source is None or not same_title(one.title, one.held_title):
            found.setdefault((one.document_id, one.subject, one.source), []).append(one)
    return [
        NewFinding(
            "claimed",
            subject,
            document_id,
            {
                "held": sorted({str(one.held_id) for one in some}),
                "held_ended": any(one.held_status != "current" for one in some),
                "title_agrees": all(same_title(one.title, one.held_title) for one in some),
                "year_agrees": _years_agree(some),
            },
            source or SUBMITTED,
        )
        for (document_id, subject, source), some in found.items()
    ]


def _years_agree(claimed: Iterable[Claim]) -> bool | None:
    """Print and electronic publication may be a year apart. None: not both say when."""
    apart = [
        abs(one.year - one.held_year)
        for one in claimed
        if one.year is not None and one.held_year is not None
    ]
    return max(apart) <= 1 if apart else None
