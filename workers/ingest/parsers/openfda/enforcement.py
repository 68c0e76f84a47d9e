"""Reads drug recalls from openFDA (WIRE 3) into records, one per recall number."""

import re
from datetime import datetime

from workers.ingest.parsers.base import LeftOut, Parsed, Problem
from workers.ingest.parsers.json_payload import (
    Draft,
    Fields,
    Json,
    add_record,
    filled,
    one_line,
    shorten,
    text,
)
from workers.ingest.parsers.openfda.shared import (
    FDA,
    PRODUCT_FIELDS,
    PRODUCT_LEFT_OUT,
    iso,
    parse_rows,
    product_facts,
    stated_on,
    subjects,
)

_RECALL = re.compile(r"[A-Z]-\d{1,6}-\d{2,4}", re.ASCII)
_TITLE = 200

_DATES = {
    "recall_initiation_date": "Recall begun",
    "center_classification_date": "Classified",
    "report_date": "Reported",
    "termination_date": "Terminated",
}
_LINES = {
    "status": "Status",
    "classification": "Classification",
    "voluntary_mandated": "Voluntary or mandated",
    "initial_firm_notification": "First notification by",
    "distribution_pattern": "Distribution",
    "product_quantity": "Quantity",
    "product_type": "Product type",
    "product_code": "Product code",
    "event_id": "Event",
}
_ADDRESS = ("address_1", "address_2", "city", "state", "postal_code", "country")
MAPPED = (
    PRODUCT_FIELDS
    | {*_DATES, *_LINES, *_ADDRESS}
    | {
        "recall_number",
        "recalling_firm",
        "product_description",
        "reason_for_recall",
        "code_info",
        "more_code_info",
    }
)
LEFT_OUT: LeftOut = PRODUCT_LEFT_OUT
FIELDS = Fields(MAPPED, LEFT_OUT)


def parse_enforcement(payload: bytes) -> Parsed:
    """Read the recalls on a page of results. Raises Malformed."""
    return parse_rows(payload, _add)


def _add(parsed: Parsed, row: Json, made: datetime | None) -> None:
    recall = text(row, "recall_number")
    if not _RECALL.fullmatch(recall):
        named = f"regulator:recall:{one_line(recall)[:60]}" if recall else None
        parsed.problems.append(Problem(named, "recall_number: missing, or none"))
        return
    parsed.unmapped.update(FIELDS.unknown(row))
    classification = text(row, "classification")
    product = shorten(text(row, "product_description"), _TITLE)
    head = f"Recall {recall} ({classification})" if classification else f"Recall {recall}"
    add_record(
        parsed,
        f"regulator:recall:{recall}",
        source_type="regulator",
        source_key=f"recall:{recall}",
        title=one_line(f"{head}: {product}" if product else head),
        text=_text(row),
        published_at=stated_on(text(row, "report_date"), made),
        publisher=FDA,
        publication_type="Recall",
        evidence_level="Enforcement report of the regulator",
        subjects=subjects(row),
        facts=_facts(row),
    )


def _text(row: Json) -> str:
    draft = Draft()
    draft.section("Recall")
    draft.fact("Recall number", text(row, "recall_number"))
    for field, name in _LINES.items():
        draft.fact(name, text(row, field))
    for field, name in _DATES.items():
        draft.fact(name, iso(text(row, field)))
    draft.section("Product recalled")
    draft.paragraph(text(row, "product_description"))
    draft.section("Reason for the recall")
    draft.paragraph(text(row, "reason_for_recall"))
    draft.section("Recalling firm")
    draft.fact("Firm", text(row, "recalling_firm"))
    place = (text(row, field) for field in _ADDRESS)
    draft.fact("Address of the firm", ", ".join(part for part in place if part not in ("", "N/A")))
    draft.section("Lots and codes")
    draft.paragraph(text(row, "code_info"))
    draft.paragraph(text(row, "more_code_info"))
    return draft.text()


def _facts(row: Json) -> Json:
    return filled(
        {
            **product_facts(row),
            "recall_number": text(row, "recall_number"),
            "event_id": text(row, "event_id"),
            "status": text(row, "status"),
            "classification": text(row, "classification"),
            "reason": text(row, "reason_for_recall"),
            "firm": text(row, "recalling_firm"),
            "distribution": text(row, "distribution_pattern"),
            "recall_product_type": text(row, "product_type"),
            "begun_on": iso(text(row, "recall_initiation_date")),
            "classified_on": iso(text(row, "center_classification_date")),
            "reported_on": iso(text(row, "report_date")),
            "terminated_on": iso(text(row, "termination_date")),
        }
    )
