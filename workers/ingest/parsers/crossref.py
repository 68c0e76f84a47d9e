"""Crossref: reads the record of one DOI into a statement on the work (WIRE 5).

A work is retracted if an update of it is a retraction, withdrawal or removal, whether the publisher
or Retraction Watch reports it; some publishers write the update into the retracted work itself.
A partial retraction leaves the work in the evidence: it counts as a correction and sets
`facts["partial_retraction"]`. "RETRACTED:" in the title counts if nothing else ends the work.
"""

from collections.abc import Hashable, Iterable
from datetime import date
from typing import Any

from pydantic import ValidationError

from clinical_text.fates import fate_of_title
from store.documents.records import ENDING_NOTICES, Notice, NoticeKind
from workers.http.errors import Malformed
from workers.ingest.enrichment import Statement
from workers.ingest.parsers.inline_markup import words
from workers.ingest.parsers.json_payload import (
    Json,
    at,
    filled,
    load,
    number,
    obj,
    one_line,
    rows,
    text,
    texts,
)

_KINDS: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "withdrawal": "withdrawal",
    "removal": "removal",
    "expression_of_concern": "expression_of_concern",
    "partial_retraction": "correction",
    "correction": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
    "clarification": "correction",
    "addendum": "correction",
}
_YEARS = range(1000, 10_000)


def crossref_statement(payload: bytes, key: str) -> Statement:
    """The statement on document `key` in a response of `/works/{doi}`. Raises Malformed."""
    answer = load(payload)
    message = at(answer, "message")
    if text(answer, "status") != "ok" or not isinstance(message, dict):
        raise Malformed("no record of a work in the answer")
    if text(answer, "message-type") != "work":  # "10.1/x/agency" is another endpoint
        return Statement(key=key, source="crossref", known=False)
    doi = text(message, "DOI").lower() or None
    title = _first(message, "title")
    about_others, updates = _updates(message, doi)
    notices = _notices(updates, doi)
    by_title = fate_of_title(title) if title and not about_others else None
    basis = None
    if by_title in ENDING_NOTICES and not any(notice.kind in ENDING_NOTICES for notice in notices):
        notices.append(Notice(kind=by_title))
        basis = "the title's first word"
    return Statement(
        key=key,
        source="crossref",
        known=True,
        doi=doi,
        title=title,
        year=_year(message),
        notices=tuple(notices),
        facts=_facts(message, updates, about_others, basis),
    )


def _updates(message: Json, doi: str | None) -> tuple[list[Json], list[Json]]:
    """Split the updates into those this work makes to other works and those of this work."""
    own, others = rows(message, "updated-by"), []
    for update in rows(message, "update-to"):
        if doi and text(update, "DOI").lower() == doi:
            own.append(update)
        else:
            others.append(update)
    # the publisher first: Retraction Watch reports the same events
    own.sort(key=lambda update: text(update, "source") != "publisher")
    return others, own


def _notices(updates: Iterable[Json], doi: str | None) -> list[Notice]:
    """One notice per event: reports of two sources merge, and a work ends only once per kind."""
    notices: list[Notice] = []
    places: dict[Hashable, int] = {}
    for update in updates:
        kind = _KINDS.get(_type(update))
        if kind is None:
            continue
        notice = _notice(kind, update, doi)
        same = next((places[sign] for sign in _signs(notice) if sign in places), None)
        if same is None:
            same = len(notices)
            notices.append(notice)
        else:
            notices[same] = _merged(notices[same], notice)
        for sign in _signs(notice):
            places.setdefault(sign, same)
    return list({(notice.kind, notice.notice_id): notice for notice in notices}.values())


def _signs(notice: Notice) -> list[Hashable]:
    """Keys that are shared by notices of the same event."""
    signs: list[Hashable] = [(notice.kind, notice.notice_id)]
    if notice.kind in ENDING_NOTICES:
        signs.append(notice.kind)
        if notice.notice_id is not None:
            signs.append(notice.notice_id)
    return signs


def _merged(one: Notice, other: Notice) -> Notice:
    return Notice(
        kind=one.kind,
        notice_id=one.notice_id or other.notice_id,
        stated_on=one.stated_on or other.stated_on,
    )


def _notice(kind: NoticeKind, update: Json, doi: str | None) -> Notice:
    notice_doi = text(update, "DOI").lower()
    notice_id = f"doi:{notice_doi}" if notice_doi and notice_doi != doi else None
    try:
        return Notice(kind=kind, notice_id=notice_id, stated_on=_day(update))
    except ValidationError:
        return Notice(kind=kind, stated_on=_day(update))


def _type(update: Json) -> str:
    return text(update, "type").lower().replace("-", "_").replace(" ", "_")


def _parts(value: Any) -> list[int]:
    """Year, month and day as far as stated; sources write `[[null]]` for no date."""
    date_parts = at(value, "date-parts")
    parts = date_parts[0] if isinstance(date_parts, list) and date_parts else None
    numbers: list[int] = []
    for part in parts[:3] if isinstance(parts, list) else []:
        stated = number({"n": part}, "n")
        if stated is None:
            break
        numbers.append(stated)
    return numbers


def _day(update: Json) -> date | None:
    """The day of an update, or None if it is not fully stated."""
    parts = _parts(at(update, "updated"))
    try:
        return date(*parts) if len(parts) == 3 else None
    except (ValueError, OverflowError):
        return None


def _year(message: Json) -> int | None:
    for name in ("issued", "published", "published-print", "published-online"):
        parts = _parts(at(message, name))
        if parts and parts[0] in _YEARS:
            return parts[0]
    return None


def _first(message: Json, name: str) -> str | None:
    values = texts(message, name)
    return one_line(words(values[0])) or None if values else None


def _facts(message: Json, updates: list[Json], about_others: list[Json], basis: str | None) -> Json:
    types = [_type(update) for update in updates]
    relation = obj(message, "relation")
    return filled(
        {
            "type": text(message, "type"),
            "publisher": text(message, "publisher"),
            "journal": _first(message, "container-title"),
            "volume": text(message, "volume"),
            "issue": text(message, "issue"),
            "pages": text(message, "page"),
            "licenses": sorted(
                {url for row in rows(message, "license") if (url := text(row, "URL"))}
            ),
            "trial_numbers": [
                filled(
                    {
                        "number": text(trial, "clinical-trial-number"),
                        "registry": text(trial, "registry"),
                        "type": text(trial, "type"),
                    }
                )
                for trial in rows(message, "clinical-trial-number")
            ],
            "preprint_of": _related(relation, "is-preprint-of"),
            "preprints": _related(relation, "has-preprint"),
            "told_by": sorted(filter(None, {text(update, "source") for update in updates})),
            "partial_retraction": "partial_retraction" in types or None,
            "other_updates": sorted({kind for kind in types if kind and kind not in _KINDS}),
            "is_notice_about": [
                filled({"doi": text(update, "DOI").lower(), "type": _type(update)})
                for update in about_others
            ],
            "standing_basis": basis,
        }
    )


def _related(relation: Json, name: str) -> list[str]:
    return [
        doi.lower()
        for row in rows(relation, name)
        if text(row, "id-type") == "doi" and (doi := text(row, "id"))
    ]
