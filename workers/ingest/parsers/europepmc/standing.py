"""Notices on a work in its Europe PMC record, and its links to other records (WIRE 4).

"… in" means that another record is a notice about this one; "… of" and "… for" mean that this
record is the notice. A partial retraction leaves the work in the evidence: it counts as a
correction. Withdrawn preprints have no flag, only wording (`clinical_text.fates`).
"""

import re
from collections.abc import Iterable

from store.documents.records import Notice, NoticeKind
from workers.ingest.parsers.json_payload import Json, rows, text

SOURCE = re.compile(r"[A-Z]{2,5}")
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

RETRACTED = "retracted publication"
"""The publication type of a retracted article; its notice has another type."""

_NOTICES: dict[str, tuple[NoticeKind, ...]] = {
    "retraction in": ("retraction",),
    "retracted and republished in": ("retraction", "republication"),
    "partial retraction in": ("correction",),
    "expression of concern in": ("expression_of_concern",),
    "erratum in": ("correction",),
    "correction in": ("correction",),
    "corrected and republished in": ("republication",),
    "republished in": ("republication",),
}
_RELATIONS = {
    "retraction of": "retraction_of",
    "partial retraction of": "retraction_of",
    "expression of concern for": "expression_of_concern_for",
    "erratum for": "erratum_for",
    "correction for": "erratum_for",
    "corrected and republished from": "republished_from",
    "retracted and republished from": "republished_from",
    "republished from": "republished_from",
    "update of": "update_of",
    "update in": "update_in",
    "comment on": "comment_on",
    "reprint of": "reprint_of",
    "preprint of": "preprint_of",
    "preprint in": "preprints",
}
# These links accumulate over the years while the work stays the same; they would make new versions.
_PASSED_OVER = frozenset(
    {"comment in", "cites", "summary for patients in", "original report in", "reprint in"}
)


def stated_notices(result: Json, types: Iterable[str]) -> list[Notice]:
    """The notices that the record states, each once."""
    notices: dict[tuple[NoticeKind, str | None], Notice] = {}
    for link in _links(result):
        for kind in _NOTICES.get(_type(link), ()):
            notice_id = _other(link)
            notices[kind, notice_id] = Notice(kind=kind, notice_id=notice_id)
    retracted = any(name.lower() == RETRACTED for name in types)
    if retracted and not any(kind == "retraction" for kind, _ in notices):
        notices["retraction", None] = Notice(kind="retraction")
    return list(notices.values())


def relations(result: Json) -> dict[str, list[str]]:
    """Links to other records, by relation, that are not notices about this one."""
    ties: dict[str, dict[str, None]] = {}
    for link in _links(result):
        name, record = _RELATIONS.get(_type(link)), _other(link)
        if name and record:
            ties.setdefault(name, {})[record] = None
    return {name: list(records) for name, records in ties.items()}


def unknown_ties(result: Json) -> int:
    """The number of links of an unknown type."""
    known = _NOTICES.keys() | _RELATIONS.keys() | _PASSED_OVER
    return sum(_type(link) not in known for link in _links(result))


def _links(result: Json) -> list[Json]:
    return rows(result, "commentCorrectionList", "commentCorrection")


def _type(link: Json) -> str:
    return text(link, "type").lower()


def _other(link: Json) -> str | None:
    """The identifier of the record that a link points to, or None if it is invalid."""
    source, name = text(link, "source"), text(link, "id")
    if not SOURCE.fullmatch(source) or not ID.fullmatch(name):
        return None
    return f"pmid:{name}" if source == "MED" else f"{source.lower()}:{name}"
