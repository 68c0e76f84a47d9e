"""Writes findings about records, and closes findings that no longer apply."""

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from uuid import UUID

from clinical_text.packs import differences
from clinical_text.titles import same_title
from knowledge.feeds.sources import names_works
from knowledge.works.anchors import anchor_of, known_identifiers
from store.core.spans import Structure
from store.core.unit_of_work import UnitOfWork
from store.documents import claimed_works, findings
from store.documents.documents import SUBMITTED, Stored
from store.documents.findings import Collision, NewFinding
from store.documents.records import SourceRecord
from store.models import IngestItem
from workers.ingest.claiming import restate_claims
from workers.ingest.identity import malformed_nct
from workers.ingest.parsers.base import Parsed


def write_findings(
    unit: UnitOfWork,
    item: IngestItem,
    records: Sequence[tuple[SourceRecord, Structure]],
    stored: Sequence[Stored],
    parsed: Parsed,
    at: datetime,
) -> None:
    """Write the findings on an item: unmapped fields, unreadable records, and identifiers that are
    malformed, stand on two titles or belong to a work held from a source.

    Args:
        stored: the result of storing each of the `records`.
        at: when the item was read; its own statements count from when it was fetched.
    """
    source, fetched_at = item.source or SUBMITTED, item.fetched_at or item.created_at
    if item.source is not None:
        findings.put(unit, source, list(_about_the_payload(item, parsed)), fetched_at)
        problem_keys = {entry.source_id for entry in parsed.problems}  # only partly read
        whole = [record.key for record, _ in records if record.key not in problem_keys]
        findings.readable(unit, source, whole, fetched_at)
    taken = [
        (record, entry.document_id)
        for (record, _), entry in zip(records, stored, strict=True)
        if entry.taken
    ]
    malformed = list(_malformed(records, taken, parsed))
    if malformed or any(entry.taken and entry.outcome != "new" for entry in stored):
        documents = [document_id for _, document_id in taken]
        findings.restate(unit, source, "malformed", documents, malformed, fetched_at, of_all=True)
    without_doi = {
        entry.document_id
        for (record, _), entry in zip(records, stored, strict=True)
        if entry.outcome == "changed" and record.identifiers.doi is None
    }
    if without_doi:  # findings on its former DOI end here: no source will be asked about it again
        findings.restate(unit, source, "mismatch", without_doi, [], at, of_all=True)
    changed = {entry.document_id for entry in stored if entry.outcome in ("new", "changed")}
    new = {entry.document_id for entry in stored if entry.outcome == "new"}
    alien = list(_alien_to_packs(taken, changed, dated=names_works(item.source)))
    if alien or not changed <= new:
        findings.restate(unit, source, "mismatch", changed, alien, at)
    owner = names_works(item.source)
    # A caller's document is checked again even if unchanged: the transaction that ends a work skips
    # documents that are being stored.
    touched = {entry.document_id for entry in stored if not owner or entry.closed} | changed
    if not touched:
        return
    claimed_works.wait_for_others(unit.session, owner=owner)
    suspects = _restate_conflicts(unit, source, changed, new, at) if changed else set()
    suspects = suspects if owner else set()
    restate_claims(unit, source, touched, at, owner=owner, new=new, suspects=suspects)


def _about_the_payload(item: IngestItem, parsed: Parsed) -> Iterator[NewFinding]:
    for path, seen in parsed.unmapped.items():
        yield NewFinding("unmapped", path, detail={"seen": seen})
    for problem in parsed.problems:
        yield NewFinding(
            "unreadable", problem.source_id or f"item:{item.id}", None, {"why": problem.reason}
        )


def _malformed(
    records: Sequence[tuple[SourceRecord, Structure]],
    taken: Sequence[tuple[SourceRecord, UUID]],
    parsed: Parsed,
) -> Iterator[NewFinding]:
    """Malformed identifiers that the parser left out, and malformed NCT numbers in the text."""
    ids: dict[str, UUID] = {}
    keys: set[str] = set()
    if parsed.doubts:
        ids = {record.key: document_id for record, document_id in taken}
        keys = {record.key for record, _ in records}
    for doubt in parsed.doubts:
        if doubt.source_id in ids or doubt.source_id not in keys:
            yield NewFinding("malformed", f"{doubt.kind}:{doubt.value}", ids.get(doubt.source_id))
    for record, document_id in taken:
        if "NCT" in record.text:
            for value in malformed_nct(record.text):
                yield NewFinding("malformed", f"nct_id:{value}", document_id)


def _alien_to_packs(
    taken: Sequence[tuple[SourceRecord, UUID]], changed: Set[UUID], *, dated: bool
) -> Iterator[NewFinding]:
    """Records under the number of a scenario pack's work that are another work: the pack's numbers
    are confirmed (EB-7.1), so theirs are in doubt, and they never stand for the pack's work.

    `dated`: a source's date is that of the work; one that a caller gives may be of anything.
    """
    for record, document_id in taken:
        named = record.identifiers.model_dump(exclude_none=True)
        entry = anchor_of(named) if document_id in changed else None
        year = record.published_at.year if dated and record.published_at else None
        if entry is not None and (fields := differences(entry, record.title, year)):
            for kind in known_identifiers(entry).keys() & named.keys():
                detail = {"disagrees": fields, "pack": True}
                yield NewFinding("mismatch", f"{kind}:{named[kind]}", document_id, detail)


def _restate_conflicts(
    unit: UnitOfWork, source: str, changed: Set[UUID], new: Set[UUID], at: datetime
) -> set[UUID]:
    """Update the findings on identifiers that stand on two titles, on both documents.

    Returns the documents of callers and folders that have identifiers of a source's works. The
    `new` documents had no findings before.
    """
    documents = set(changed)
    if changed - new:
        documents |= findings.conflicting_with(unit.session, changed - new)
    collisions = findings.collisions(unit.session, documents)
    conflicts = _conflicts(collisions)
    other_documents = {
        conflict.document_id for conflict in conflicts if conflict.document_id is not None
    } - documents
    if other_documents:  # each finding lists all collisions of its document, changed or not
        documents |= other_documents
        conflicts = _conflicts(findings.collisions(unit.session, documents))
    if conflicts or documents - new:
        findings.restate(unit, source, "conflict", documents - new, conflicts, at, of_all=True)
    return {
        collision.other_id for collision in collisions if not names_works(collision.other_source)
    }


def _conflicts(collisions: Iterable[Collision]) -> list[NewFinding]:
    """The findings for these collisions; documents with the same title do not conflict.

    An abstract and its full text rightly share their identifiers. A caller's document never puts a
    source's record in doubt, nor does a file of a user's folder for a source that names its works
    by the number: such documents claim to be the work (`claiming`).
    """
    other_ids: dict[tuple[UUID, str, str | None], set[UUID]] = {}
    for collision in collisions:
        if names_works(collision.source) is not names_works(collision.other_source):
            continue
        if not same_title(collision.title, collision.other_title):
            subject = f"{collision.kind}:{collision.value}"
            key = (collision.document_id, subject, collision.source)
            other_key = (collision.other_id, subject, collision.other_source)
            if collision.source is None or collision.other_source is not None:
                other_ids.setdefault(key, set()).add(collision.other_id)
            if collision.other_source is None or collision.source is not None:
                other_ids.setdefault(other_key, set()).add(collision.document_id)
    return [
        NewFinding(
            "conflict",
            subject,
            document_id,
            {"also_on": sorted(str(document) for document in ids)},
            source or SUBMITTED,
        )
        for (document_id, subject, source), ids in other_ids.items()
    ]
