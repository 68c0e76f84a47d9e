"""Medicare coverage documents (WIRE 6): LCDs, articles and NCDs, read from rows of a report and,
where the connector could fetch it, the document itself.

    {"report": "lcd", "asked_on": "2026-03-02", "data": [rows], "detail": {…} or absent}

`detail` is the first element of `data` of `/data/lcd` or `/data/ncd` and belongs to the only row.
`without_text` means that `detail` is missing although expected, so the document is incomplete.
"""

import html
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from store.documents.records import Identifiers, Notice
from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Doubt, LeftOut, Parsed, Problem
from workers.ingest.parsers.cms.cpt import without_cpt
from workers.ingest.parsers.envelope import unwrap
from workers.ingest.parsers.html_text import html_text

Report = Literal["lcd", "article", "ncd"]

PUBLISHER = "Centers for Medicare & Medicaid Services"
_VIEW = "https://www.cms.gov/medicare-coverage-database/view"
_PAGES = {
    "lcd": f"{_VIEW}/lcd.aspx?lcdid={{id}}&ver={{version}}",
    "article": f"{_VIEW}/article.aspx?articleid={{id}}&ver={{version}}",
    "ncd": f"{_VIEW}/ncd.aspx?ncdid={{id}}&ncdver={{version}}",
}
_KINDS = {
    "lcd": "Local Coverage Determination",
    "article": "Local Coverage Article",
    "ncd": "National Coverage Determination",
}
_DISPLAY_ID = re.compile(r"[LA]\d{5}")
_TAG = re.compile(r"<[a-zA-Z/!]")
_BLANK_LINE = re.compile(r"(?:\r?\n[ \t]*){2,}")

SECTIONS = {
    "item_service_description": "Item/Service Description",
    "indications_limitations": "Indications and Limitations of Coverage",
    "indication": "Coverage Indications, Limitations, and/or Medical Necessity",
    "diagnoses_support": "Diagnoses that Support Medical Necessity",
    "diagnoses_dont_support": "Diagnoses that DO NOT Support Medical Necessity",
    "coding_guidelines": "Coding Guidelines",
    "doc_reqs": "Documentation Requirements",
    "associated_info": "Associated Information",
    "summary_of_evidence": "Summary of Evidence",
    "analysis_of_evidence": "Analysis of Evidence",
    "bibliography": "Bibliography",
}
"""Field of a document → heading in the text, in the order of the text."""

_WITHOUT_CODES = "bibliography"
"""The section that is not searched for CPT codes: its five-digit numbers are pages."""

MAPPED = (
    "document_id",
    "document_version",
    "document_display_id",
    "document_type",
    "note",
    "title",
    "contractor_name_type",
    "updated_on",
    "last_updated",
    "effective_date",
    "retirement_date",
    "url",
    "chapter",
    "is_lab",
    *(f"detail.{name}" for name in (*SECTIONS, "title", "effective_date", "rev_eff_date")),
)
LEFT_OUT: LeftOut = {
    "updated_on_sort": "updated_on to the second; the connector compares it",
    "last_updated_sort": "last_updated to the second; the connector compares it",
    "detail.lcd_id": "document_id",
    "detail.document_id": "the row has it",
    "detail.document_version": "the row has it",
    "detail.document_display_id": "the row has it",
}
_KNOWN = fields.Fields(MAPPED, LEFT_OUT)


def document_key(report: str, row: Mapping[str, Any]) -> str | None:
    """The `SourceRecord.key` of a row, or None if it has no identifier."""
    number, display = fields.number(row, "document_id"), fields.text(row, "document_display_id")
    if report == "ncd":
        return f"payer:ncd:{number}" if number is not None else None
    if _DISPLAY_ID.fullmatch(display):
        return f"lcd_id:{display.lower()}"
    return f"payer:{report}:{number}" if number is not None else None


def us_date(written: str) -> datetime | None:
    """Parse mm/dd/yyyy, ignoring a time after it; None for "N/A" and anything else."""
    month, _, rest = written.partition("/")
    day, _, year = rest.partition("/")
    stated = fields.when(f"{year[:4]}-{month:0>2}-{day:0>2}")
    return stated[0] if stated and stated[1] == "day" else None


def parse_cms(payload: bytes) -> Parsed:
    """Read the rows of a report, or one row with its document.

    Lists of CPT codes and their descriptors are left out of texts: see `cpt`. A retirement date
    not after `asked_on` is a withdrawal.

    Raises Malformed.
    """
    value = fields.load(payload)
    if isinstance(fields.at(value, "problem"), str):
        unwrapped = unwrap(payload)
        if isinstance(unwrapped, Parsed):
            return unwrapped
    report, data = fields.text(value, "report"), fields.at(value, "data")
    asked_on = fields.when(fields.text(value, "asked_on"))
    if report not in _KINDS or not isinstance(data, list) or asked_on is None:
        raise Malformed("not rows of a coverage report")
    detail = fields.obj(value, "detail") if len(data) == 1 else {}
    parsed = Parsed()
    for row in data:
        if isinstance(row, dict):
            _add(parsed, report, row, detail, asked_on[0].date())
        else:
            parsed.problems.append(Problem(None, "a row is no object"))
    if fields.at(value, "without_text") is True:
        parsed.problems += [
            Problem(record.key, "CMS lists it and gives no text of it") for record in parsed.records
        ]
    return parsed


def _add(
    parsed: Parsed, report: str, row: Mapping[str, Any], detail: Mapping[str, Any], asked: date
) -> None:
    parsed.unmapped.update(_KNOWN.unknown({**row, "detail": detail}))
    key = document_key(report, row)
    if key is None:
        parsed.problems.append(Problem(None, "a row has neither document_id nor display id"))
        return
    title = fields.one_line(html.unescape(fields.text(row, "title")))
    display = fields.text(row, "document_display_id")
    named = _DISPLAY_ID.fullmatch(display) is not None and report != "ncd"
    if not named and report != "ncd":
        parsed.doubts.append(Doubt(key, "lcd_id", display[:100]))
    contractors = _contractors(fields.text(row, "contractor_name_type"))
    dates = _dates(parsed, key, row, detail)
    retired = dates.get("retirement_date")
    left_out, sections = _sections(detail)
    facts: dict[str, Any] = {
        "document_id": fields.number(row, "document_id"),
        "document_version": fields.number(row, "document_version"),
        "document_display_id": display,
        "document_type": fields.text(row, "document_type"),
        "contractors": contractors,
        "note": fields.text(row, "note"),
        "chapter": fields.text(row, "chapter"),
        "is_lab": fields.text(row, "is_lab"),
        "moldx": True if title.casefold().startswith("moldx:") else None,
        "cpt_codes_left_out": left_out or None,
    }
    facts |= {name: moment.date().isoformat() for name, moment in dates.items()}
    fields.add_record(
        parsed,
        key,
        source_type="payer",
        source_key=None if named else key.removeprefix("payer:"),
        title=title,
        text="\n\n".join([_head(title, report, row, contractors), *sections]),
        url=_url(report, row),
        published_at=dates.get("updated_on"),
        identifiers=Identifiers(lcd_id=display) if named else Identifiers(),
        publisher=fields.one_line("; ".join(contractors)) or PUBLISHER,
        publication_type=_KINDS[report],
        version_label=fields.text(row, "document_version")[:100] or None,
        facts=fields.filled(facts),
        notices=(Notice(kind="withdrawal", stated_on=retired.date()),)
        if retired is not None and retired.date() <= asked
        else (),
    )


def _contractors(written: str) -> list[str]:
    """The contractors, each with its kind on one line; blank lines separate them in the source."""
    return [fields.one_line(part) for part in _BLANK_LINE.split(written) if part.strip()]


def _dates(
    parsed: Parsed, key: str, row: Mapping[str, Any], detail: Mapping[str, Any]
) -> dict[str, datetime]:
    written = {
        "updated_on": fields.text(row, "updated_on") or fields.text(row, "last_updated"),
        "effective_date": fields.text(row, "effective_date")
        or fields.text(detail, "rev_eff_date")
        or fields.text(detail, "effective_date"),
        "retirement_date": fields.text(row, "retirement_date"),
    }
    dates: dict[str, datetime] = {}
    for name, words in written.items():
        moment = us_date(words)
        if moment is not None:
            dates[name] = moment
        elif words and words.upper() != "N/A":
            parsed.doubts.append(Doubt(key, name, words[:100]))
    return dates


def _url(report: str, row: Mapping[str, Any]) -> str | None:
    """The address of the document's page from the row, else built in the form CMS uses."""
    written = fields.text(row, "url")
    number, version = fields.number(row, "document_id"), fields.number(row, "document_version")
    try:
        parts = urlsplit(written)
        own_page = (
            parts.scheme == "https"
            and parts.netloc == "www.cms.gov"
            and parts.path == f"/medicare-coverage-database/view/{report}.aspx"
            and str(number) in re.split(r"[=&]", parts.query)
        )
    except ValueError:
        own_page = False
    if own_page and len(written) <= 2000 and not any(map(str.isspace, written)):
        return written
    if number is None or version is None:
        return None
    return _PAGES[report].format(id=number, version=version)


def _head(title: str, report: str, row: Mapping[str, Any], contractors: list[str]) -> str:
    """The report's data on the document, one statement per line."""
    note = html_text(html.unescape(fields.text(row, "note")))
    statements = {
        "Document": fields.text(row, "document_display_id"),
        "Type": _KINDS[report],
        "Version": fields.text(row, "document_version"),
        "Contractors": "; ".join(contractors),
        "Chapter": fields.text(row, "chapter"),
        "Updated on": fields.text(row, "updated_on") or fields.text(row, "last_updated"),
        "Effective date": fields.text(row, "effective_date"),
        "Retirement date": fields.text(row, "retirement_date"),
        "Note": " ".join(note.split()),
    }
    lines = [f"- {name}: {' '.join(words.split())}" for name, words in statements.items() if words]
    return "\n".join([f"# {title}", "", *lines])


def _sections(detail: Mapping[str, Any]) -> tuple[int, list[str]]:
    """The number of codes left out, and the document's sections with their headings."""
    sections, left_out = [], 0
    for name, heading in SECTIONS.items():
        text = plain(fields.text(detail, name))
        if not text:
            continue
        if name != _WITHOUT_CODES:
            text, codes = without_cpt(text)
            left_out += codes
        sections.append(f"## {heading}\n\n{text}")
    return left_out, sections


def plain(encoded: str) -> str:
    """The text of CMS's HTML, which is escaped twice: `&lt;p&gt;`, `&amp;nbsp;`, `&sol;`. HTML
    that is not escaped twice is read as it is."""
    source = encoded if _TAG.search(encoded) else html.unescape(encoded)
    return html.unescape(html_text(source))
