"""Notices that a record only says in its fields, title or first lines. Pure."""

from collections.abc import Iterator

from clinical_text.fates import fate, fate_of_status
from store.documents.records import ENDING_NOTICES, Notice, SourceRecord

_NOTICES_OF_OTHERS = ("retraction_of", "expression_of_concern_for", "erratum_for")
"""Facts of a record that is itself the notice about another work."""
_STATUS_FACTS = ("status", "publication_status", "retracted", "is_retracted", "withdrawn")


def with_its_fate(record: SourceRecord) -> SourceRecord:
    """The record with a notice of what it says became of the work, by whichever door it came.

    What its source states in notices stands; the notice of another work has no fate of its own, and
    a registry's status is its trial's.
    """
    if any(notice.kind in ENDING_NOTICES for notice in record.notices):
        return record
    if record.evidence_level == "notice" or any(
        name in record.facts for name in _NOTICES_OF_OTHERS
    ):
        return record
    kind = fate(record.title, record.text)
    if kind is None and record.source_type != "clinicaltrials":
        kind = next(filter(None, map(fate_of_status, _statuses(record))), None)
    if kind is None or any(notice.kind == kind for notice in record.notices):
        return record
    return record.model_copy(update={"notices": (*record.notices, Notice(kind=kind))})


def _statuses(record: SourceRecord) -> Iterator[str]:
    yield from filter(None, (record.publication_type, record.evidence_level, record.version_label))
    yield from record.labels
    types = record.facts.get("publication_types")
    yield from (str(name) for name in types if name) if isinstance(types, list) else ()
    for name in _STATUS_FACTS:
        value = record.facts.get(name)
        yield name.removeprefix("is_") if value is True else value if isinstance(value, str) else ""
