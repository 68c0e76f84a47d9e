"""The EMA's table of medicines (WIRE 6): one record per row, whatever its authorisation status.

A withdrawn, refused or expired authorisation is content of the document, not a withdrawal of it:
it stands in the text and the facts.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Doubt, LeftOut, Parsed, Problem
from workers.ingest.parsers.envelope import unwrap

PUBLISHER = "European Medicines Agency"
SITE = "www.ema.europa.eu"
_INN = "international_non_proprietary_name_common_name"

_LINES = (
    "ema_product_number",
    "medicine_status",
    _INN,
    "active_substance",
    "therapeutic_area_mesh",
    "atc_code_human",
    "marketing_authorisation_developer_applicant_holder",
    "marketing_authorisation_date",
    "conditional_approval",
    "orphan_medicine",
    "additional_monitoring",
    "biosimilar",
    "generic",
    "revision_number",
    "last_updated_date",
)
"""Columns that are written into the text, one per line, before the indication."""

_YES_NO = (
    "conditional_approval",
    "orphan_medicine",
    "additional_monitoring",
    "biosimilar",
    "generic",
)
_LISTS = {"active_substance": "active_substances", "therapeutic_area_mesh": "therapeutic_areas"}
_DATES = ("marketing_authorisation_date", "last_updated_date")
_WORDS = {
    "ema_product_number": "ema_product_number",
    "medicine_status": "medicine_status",
    _INN: "inn",
    "atc_code_human": "atc_code",
    "marketing_authorisation_developer_applicant_holder": "holder",
    "revision_number": "revision_number",
}
SEARCHED = (
    "name_of_medicine",
    _INN,
    "active_substance",
    "therapeutic_area_mesh",
    "therapeutic_indication",
)
"""Columns that are searched for the words of a query."""

MAPPED = frozenset(
    {*_LINES, "category", "name_of_medicine", "therapeutic_indication", "medicine_url"}
)
LEFT_OUT: LeftOut = {"meta/*": "of the file: its size and time stamp"}

VETERINARY = "data[] (category Veterinary)"
"""The name in `unmapped` under which veterinary rows are counted."""


def column(row: Mapping[str, Any], name: str) -> str:
    """A column as text; a list is joined by semicolons, as in the string columns."""
    value = row.get(name)
    if isinstance(value, list):
        return "; ".join(fields.texts(row, name))
    return fields.text(row, name)


def product_key(row: Mapping[str, Any]) -> str:
    """The `SourceRecord.key` of a row."""
    return f"regulator:ema:{column(row, 'ema_product_number')}"


def names_a_medicine(row: Mapping[str, Any]) -> bool:
    """Return True if the row becomes a document under its `product_key`."""
    return not _is_veterinary(row) and _is_number(column(row, "ema_product_number"))


def _is_veterinary(row: Mapping[str, Any]) -> bool:
    return column(row, "category").casefold() == "veterinary"


def parse_ema(payload: bytes) -> Parsed:
    """Read `{"meta": …, "data": [rows]}`, or the connector's report of rows that no longer exist.

    Rows about veterinary medicines are counted, not read. Raises Malformed.
    """
    value = fields.load(payload)
    if isinstance(fields.at(value, "problem"), str):
        unwrapped = unwrap(payload)
        if isinstance(unwrapped, Parsed):
            return unwrapped
    data = fields.at(value, "data")
    if not isinstance(data, list):
        raise Malformed("not the EMA's table: it has no rows in data")
    parsed = Parsed()
    seen: set[str] = set()
    for row in data:
        if not isinstance(row, dict):
            parsed.problems.append(Problem(None, "a row is no object"))
            continue
        if _is_veterinary(row):
            parsed.unmapped[VETERINARY] += 1
            continue
        key = product_key(row)
        if not _is_number(column(row, "ema_product_number")):
            parsed.problems.append(Problem(None, "a row has no product number"))
        elif key in seen:
            parsed.problems.append(Problem(key, "the product number stands in more than one row"))
        else:
            seen.add(key)
            _add(parsed, key, row)
    return parsed


def _is_number(words: str) -> bool:
    return 3 <= len(words) <= 100 and words.isascii() and words.isprintable() and " " not in words


def _add(parsed: Parsed, key: str, row: Mapping[str, Any]) -> None:
    for name in row:
        if name not in MAPPED:
            known = len(name) <= 80 and name.isascii() and name.isprintable()
            parsed.unmapped[f"data[].{name if known else '?'}"] += 1
    name, substance = column(row, "name_of_medicine"), column(row, _INN)
    if not name:
        parsed.problems.append(Problem(key, "the row has no name of a medicine"))
        return
    dates = {column_name: _date(parsed, key, row, column_name) for column_name in _DATES}
    updated = dates["last_updated_date"] or dates["marketing_authorisation_date"]
    facts: dict[str, Any] = {fact: column(row, source) for source, fact in _WORDS.items()}
    facts |= {fact: _list(row, source) for source, fact in _LISTS.items()}
    facts |= {fact: moment.date().isoformat() for fact, moment in dates.items() if moment}
    facts |= {fact: _yes_no(column(row, fact)) for fact in _YES_NO}
    fields.add_record(
        parsed,
        key,
        source_type="regulator",
        source_key=key.removeprefix("regulator:"),
        title=fields.one_line(f"{name} ({substance})" if substance else name),
        text=_text(name, row),
        url=_url(parsed, key, row),
        published_at=updated,
        publisher=PUBLISHER,
        publication_type="Medicine authorisation record",
        subjects=tuple(fields.one_line(area) for area in _list(row, "therapeutic_area_mesh")),
        facts=fields.filled(facts),
    )


def _list(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name)
    parts: Iterable[str] = fields.texts(row, name) if isinstance(value, list) else [""]
    if not isinstance(value, list):
        parts = fields.text(row, name).split(";")
    return [part.strip() for part in parts if part.strip()]


def _yes_no(written: str) -> bool | str:
    return {"yes": True, "no": False}.get(written.casefold(), written)


def _date(parsed: Parsed, key: str, row: Mapping[str, Any], name: str) -> datetime | None:
    """Read a date in dd/mm/yyyy, as the file has it, or ISO 8601; anything else becomes a doubt."""
    written = column(row, name)
    parts = written.split("/")
    stated = fields.when("-".join(reversed(parts)) if len(parts) == 3 else written)
    if stated is None and written:
        parsed.doubts.append(Doubt(key, name, written[:100]))
    return stated[0] if stated else None


def _url(parsed: Parsed, key: str, row: Mapping[str, Any]) -> str | None:
    """The address of the medicine's page if it is on the EMA's site; others become a doubt."""
    written = column(row, "medicine_url")
    try:
        parts = urlsplit(written)
        own_page = parts.scheme == "https" and parts.netloc == SITE and parts.path.strip("/") != ""
    except ValueError:
        own_page = False
    if own_page and len(written) <= 2000 and not any(map(str.isspace, written)):
        return written
    if written:
        parsed.doubts.append(Doubt(key, "url", written[:100]))
    return None


def _text(name: str, row: Mapping[str, Any]) -> str:
    lines = [f"# {fields.one_line(name)}", ""]
    for source in _LINES:
        words = " ".join(column(row, source).split())
        if words:
            lines.append(f"- {source.replace('_', ' ').capitalize()}: {words}")
    indication = column(row, "therapeutic_indication")
    if indication:
        lines += ["", "## Therapeutic indication", "", indication]
    return "\n".join(lines)
