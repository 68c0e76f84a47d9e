"""Notices on a work in its Europe PMC record, and its links to other records (WIRE 4).

"… in" means that another record is a notice about this one; "… of" and "… for" mean that this
record is the notice. A partial retraction leaves the work in the evidence: it counts as a
correction. Withdrawn preprints have no flag, only wording: notices based on wording say so.
"""

import re
from collections.abc import Iterable

from store.documents.records import ENDING_NOTICES, Notice, NoticeKind
from workers.ingest.enrichment import ended_by_title
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

_WITHDRAWN_TITLE = re.compile(r"WITHDRAWN (?=\S)")
_WITHDRAWN_ABSTRACT = re.compile(
    r"WITHDRAWN\b|(?i:withdrawal statement\b|"
    r"(?:this|the|our) (?:article|manuscript|paper|preprint|study|work) has been (?:\w+ly )?"
    r"withdrawn\b|"
    r"(?:this|the|our) (?:article|manuscript|paper|preprint) (?:was|is) (?:\w+ly |now )?"
    r"withdrawn\b|"
    r"(?:the|all) authors? (?:have|has) (?:\w+ly )?withdrawn "
    r"(?:this|the|their) (?:article|manuscript|paper|preprint|study|work)\b)"
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


def has_ended(notices: Iterable[Notice]) -> bool:
    """Return True if one of the notices takes the work out of the evidence."""
    return any(notice.kind in ENDING_NOTICES for notice in notices)


def guessed_end(title: str, preprint: str) -> tuple[NoticeKind, str] | None:
    """Infer a retraction or withdrawal from the start of the title, or of a preprint's abstract.

    `preprint` is that abstract, or "". Returns the kind of notice and the basis of the guess."""
    by_title = ended_by_title(title)
    if by_title or (_WITHDRAWN_TITLE.match(title) and not title.isupper()):
        return by_title or "withdrawal", "heuristic: the title begins with a word in capitals"
    if _WITHDRAWN_ABSTRACT.match(_first_words(preprint)):
        return "withdrawal", "heuristic: the abstract begins with a withdrawal"
    return None


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


def _first_words(body: str) -> str:
    """The first 200 characters of the first paragraph that is not a heading."""
    for paragraph in body[:2000].split("\n\n"):
        if not paragraph.startswith("#"):
            return paragraph[:200]
    return ""


def _other(link: Json) -> str | None:
    """The identifier of the record that a link points to, or None if it is invalid."""
    source, name = text(link, "source"), text(link, "id")
    if not SOURCE.fullmatch(source) or not ID.fullmatch(name):
        return None
    return f"pmid:{name}" if source == "MED" else f"{source.lower()}:{name}"
