"""Reads Drugs@FDA from openFDA (WIRE 3): one record per application, decisions as dated lines."""

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
    rows,
    shorten,
    text,
)
from workers.ingest.parsers.openfda.shared import (
    FDA,
    PRODUCT_FIELDS,
    PRODUCT_LEFT_OUT,
    coded,
    iso,
    names,
    parse_rows,
    product_facts,
    product_name,
    stated_on,
    subjects,
)

_APPLICATION = re.compile(r"(?:NDA|ANDA|BLA)(\d{6})", re.ASCII)
_STATUS = {"AP": "approved", "TA": "tentatively approved"}
_TYPES = {"ORIG": "original application", "SUPPL": "supplement"}

MAPPED = PRODUCT_FIELDS | {
    "application_number",
    "sponsor_name",
    *(
        f"products[].{name}"
        for name in [
            "product_number",
            "brand_name",
            "dosage_form",
            "route",
            "marketing_status",
            "te_code",
            "reference_drug",
            "reference_standard",
            "active_ingredients[].name",
            "active_ingredients[].strength",
        ]
    ),
    *(
        f"submissions[].{name}"
        for name in [
            "submission_type",
            "submission_number",
            "submission_status",
            "submission_status_date",
            "review_priority",
            "submission_class_code",
            "submission_class_code_description",
            "submission_public_notes",
            "submission_property_type[].code",
            "application_docs[].type",
            "application_docs[].date",
            "application_docs[].url",
            "application_docs[].title",
        ]
    ),
}
LEFT_OUT: LeftOut = PRODUCT_LEFT_OUT | {
    "submissions[].application_docs[].id": "a number within the FDA's files; the address is kept",
    "submissions[].submission_property_type[].id": "a number; the code is kept",
}
FIELDS = Fields(MAPPED, LEFT_OUT)


def parse_drugsfda(payload: bytes) -> Parsed:
    """Read the applications on a page of results. Raises Malformed."""
    return parse_rows(payload, _add)


def _add(parsed: Parsed, row: Json, made: datetime | None) -> None:
    application = text(row, "application_number")
    match = _APPLICATION.fullmatch(application)
    if match is None:
        parsed.problems.append(Problem(None, "application_number: missing, or none"))
        return
    parsed.unmapped.update(FIELDS.unknown(row))
    submissions = sorted(rows(row, "submissions"), key=_when_and_which)
    days = [stated_on(text(step, "submission_status_date"), made) for step in submissions]
    ingredients = _ingredients(row)
    name = product_name(_brands(row), ingredients or names(row, "generic_name"))
    add_record(
        parsed,
        f"regulator:drugsfda:{application}",
        source_type="regulator",
        source_key=f"drugsfda:{application}",
        title=one_line(f"FDA approvals: {name or application}, {application}"),
        text=_text(row, submissions),
        url="https://www.accessdata.fda.gov/scripts/cder/daf/index.cfm"
        f"?event=overview.process&ApplNo={match[1]}",
        published_at=max((day for day in days if day), default=None),
        publisher=FDA,
        publication_type="Drug Approval Record",
        evidence_level="Record of the regulator's decisions",
        subjects=subjects(row),
        facts=_facts(row, submissions, ingredients),
    )


def _when_and_which(step: Json) -> tuple[str, str, str]:
    number = text(step, "submission_number")
    return iso(text(step, "submission_status_date")), text(step, "submission_type"), number.zfill(6)


def _brands(row: Json) -> list[str]:
    brands = {name for product in rows(row, "products") if (name := text(product, "brand_name"))}
    return sorted(brands) or names(row, "brand_name")


def _ingredients(row: Json) -> list[str]:
    ingredients = {
        name
        for product in rows(row, "products")
        for ingredient in rows(product, "active_ingredients")
        if (name := text(ingredient, "name"))
    }
    return sorted(ingredients)


def _text(row: Json, submissions: list[Json]) -> str:
    draft = Draft()
    draft.section("Application")
    draft.fact("Application number", text(row, "application_number"))
    draft.fact("Sponsor", text(row, "sponsor_name"))
    draft.section("Products")
    for product in rows(row, "products"):
        draft.item(_product(product))
    draft.section("Decisions by date")
    for step in submissions:
        draft.item(_decision(step))
    draft.section("Documents of the FDA")
    for step in submissions:
        name = shorten(_step(step), 80)
        for document in rows(step, "application_docs"):
            draft.item(_document(name, document))
    return draft.text()


def _product(product: Json) -> str:
    parts = ", ".join(
        f"{text(ingredient, 'name')} {text(ingredient, 'strength')}".strip()
        for ingredient in rows(product, "active_ingredients")
    )
    details = [
        f"Product {text(product, 'product_number')}, {text(product, 'brand_name')}: {parts}",
        text(product, "dosage_form"),
        text(product, "route"),
        text(product, "marketing_status"),
    ]
    for name, field in (
        ("therapeutic equivalence", "te_code"),
        ("reference drug", "reference_drug"),
        ("reference standard", "reference_standard"),
    ):
        value = text(product, field)
        details.append(f"{name} {value}" if value else "")
    return "; ".join(part for part in details if part)


def _step(step: Json) -> str:
    """The name of a submission, such as `supplement 12`."""
    return f"{coded(_TYPES, step, 'submission_type')} {text(step, 'submission_number')}".strip()


def _decision(step: Json) -> str:
    """`2003-04-18: original application 1 approved (Type 3 - New Dosage Form; PRIORITY review)`."""
    day = iso(text(step, "submission_status_date")) or "no date stated"
    priority = text(step, "review_priority")
    details = [
        text(step, "submission_class_code"),
        text(step, "submission_class_code_description"),
        f"{priority} review" if priority else "",
        *(text(kind, "code") for kind in rows(step, "submission_property_type")),
    ]
    more = "; ".join(part for part in details if part)
    notes = text(step, "submission_public_notes")
    line = f"{day}: {_step(step)} {coded(_STATUS, step, 'submission_status')}".rstrip()
    line += f" ({more})" if more else ""
    return f"{line}. {notes}" if notes else line


def _document(step: str, document: Json) -> str:
    title = text(document, "title")
    details = [
        text(document, "type") or "Document",
        title if title != "0" else "",  # Drugs@FDA writes "0" for a missing title
        iso(text(document, "date")),
    ]
    name = ", ".join(part for part in details if part)
    return f"{name}, of {step}: {text(document, 'url')}"


def _facts(row: Json, submissions: list[Json], ingredients: list[str]) -> Json:
    approved = [
        iso(text(step, "submission_status_date"))
        for step in submissions
        if text(step, "submission_status") == "AP" and text(step, "submission_status_date")
    ]
    return filled(
        {
            **product_facts(row),
            "brand_names": _brands(row),
            "application_number": text(row, "application_number"),
            "sponsor": text(row, "sponsor_name"),
            "ingredients": ingredients,
            "first_approved_on": approved[0] if approved else None,
            "last_approved_on": approved[-1] if approved else None,
            "products": [_product_facts(product) for product in rows(row, "products")],
            "submissions": [
                filled(
                    {
                        "type": text(step, "submission_type"),
                        "number": text(step, "submission_number"),
                        "status": text(step, "submission_status"),
                        "date": iso(text(step, "submission_status_date")),
                        "class": text(step, "submission_class_code_description")
                        or text(step, "submission_class_code"),
                        "priority": text(step, "review_priority"),
                    }
                )
                for step in submissions
            ],
        }
    )


def _product_facts(product: Json) -> Json:
    return filled(
        {
            "number": text(product, "product_number"),
            "brand_name": text(product, "brand_name"),
            "dosage_form": text(product, "dosage_form"),
            "route": text(product, "route"),
            "marketing_status": text(product, "marketing_status"),
            "ingredients": [
                filled({"name": text(part, "name"), "strength": text(part, "strength")})
                for part in rows(product, "active_ingredients")
            ],
        }
    )
