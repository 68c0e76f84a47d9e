"""Writes down what does not hold about records, and closes what holds again."""

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from uuid import UUID

from clinical_text.titles import same_title
from knowledge.sources import names_works
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
    """Findings on an item: fields nobody reads, records that cannot be read, identifiers that
    cannot be one, stand on two titles or are those of a work that a source holds.

    Args:
        stored: what became of each of the `records`.
        at: when the item was read; its own statements count from when it was fetched.
    """
    source, fetched_at = item.source or SUBMITTED, item.fetched_at or item.created_at
    if item.source is not None:
        findings.put(unit, source, list(_about_the_payload(item, parsed)), fetched_at)
        told = {one.source_id for one in parsed.problems}  # read, but not all of it
        whole = [record.key for record, _ in records if record.key not in told]
        findings.readable(unit, source, whole, fetched_at)
    taken = [
        (record, one.document_id)
        for (record, _), one in zip(records, stored, strict=True)
        if one.taken
    ]
    malformed = list(_malformed(records, taken, parsed))
    if malformed or any(one.taken and one.outcome != "new" for one in stored):
        documents = [document_id for _, document_id in taken]
        findings.restate(unit, source, "malformed", documents, malformed, fetched_at, of_all=True)
    without_doi = {
        one.document_id
        for (record, _), one in zip(records, stored, strict=True)
        if one.outcome == "changed" and record.identifiers.doi is None
    }
    if without_doi:  # what was said of its DOI is said of it no longer, and nobody will be asked
        findings.restate(unit, source, "mismatch", without_doi, [], at, of_all=True)
    changed = {one.document_id for one in stored if one.outcome in ("new", "changed")}
    new = {one.document_id for one in stored if one.outcome == "new"}
    owner = names_works(item.source)
    # A caller's document is looked at again though it says nothing new: who ends a work leaves out
    # those that are being stored.
    touched = {one.document_id for one in stored if not owner or one.retracted} | changed
    if not touched:
        return
    claimed_works.wait_for_others(unit.session, owner=owner)
    suspects = _restate_conflicts(unit, source, changed, new, at) if changed else set()
    suspects = suspects if owner else set()
    restate_claims(unit, source, touched, at, owner=owner, new=new, suspects=suspects)


def _about_the_payload(item: IngestItem, parsed: Parsed) -> Iterator[NewFinding]:
    for path, seen in parsed.unmapped.items():
        yield NewFinding("unmapped", path, detail={"seen": seen})
    for one in parsed.problems:
        yield NewFinding(
            "unreadable", one.source_id or f"item:{item.id}", None, {"why": one.reason}
        )


def _malformed(
    records: Sequence[tuple[SourceRecord, Structure]],
    taken: Sequence[tuple[SourceRecord, UUID]],
    parsed: Parsed,
) -> Iterator[NewFinding]:
    """What the parser left out of the identifiers, and registry numbers in the words."""
    ids: dict[str, UUID] = {}
    keys: set[str] = set()
    if parsed.doubts:
        ids = {record.key: document_id for record, document_id in taken}
        keys = {record.key for record, _ in records}
    for one in parsed.doubts:
        if one.source_id in ids or one.source_id not in keys:
            yield NewFinding("malformed", f"{one.kind}:{one.value}", ids.get(one.source_id))
    for record, document_id in taken:
        if "NCT" in record.text:
            for value in malformed_nct(record.text):
                yield NewFinding("malformed", f"nct_id:{value}", document_id)


def _restate_conflicts(
    unit: UnitOfWork, source: str, changed: Set[UUID], new: Set[UUID], at: datetime
) -> set[UUID]:
    """Identifiers that stand on two titles, on both; and those that do so no longer, on both. Gives
    the documents of callers and folders under the numbers of a source's works.

    Of the documents that are `new` nothing was found before.
    """
    documents = set(changed)
    if changed - new:
        documents |= findings.conflicting_with(unit.session, changed - new)
    collisions = findings.collisions(unit.session, documents)
    found = _conflicts(collisions)
    others = {one.document_id for one in found if one.document_id is not None} - documents
    if others:  # each names all that it collides with, not only what changed
        documents |= others
        found = _conflicts(findings.collisions(unit.session, documents))
    if found or documents - new:
        findings.restate(unit, source, "conflict", documents - new, found, at, of_all=True)
    return {one.other_id for one in collisions if not names_works(one.other_source)}


def _conflicts(collisions: Iterable[Collision]) -> list[NewFinding]:
    """An abstract and its full text share their identifiers rightly: one title, no conflict.

    What a caller brings puts no source's record in doubt, and a file of a user's folder none of a
    source that names its works by the number: those claim to be it (`claiming`).
    """
    others: dict[tuple[UUID, str, str | None], set[UUID]] = {}
    for one in collisions:
        if names_works(one.source) is not names_works(one.other_source):
            continue
        if not same_title(one.title, one.other_title):
            subject = f"{one.kind}:{one.value}"
            mine = (one.document_id, subject, one.source)
            theirs = (one.other_id, subject, one.other_source)
            if one.source is None or one.other_source is not None:
                others.setdefault(mine, set()).add(one.other_id)
            if one.other_source is None or one.source is not None:
                others.setdefault(theirs, set()).add(one.document_id)
    return [
        NewFinding(
            "conflict",
            subject,
            document_id,
            {"also_on": sorted(str(other) for other in ids)},
            source or SUBMITTED,
        )
        for (document_id, subject, source), ids in others.items()
    ]
