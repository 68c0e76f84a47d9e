"""Shared parts of the four openFDA parsers: envelope, product names, dates, codes (WIRE 3)."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed, Problem
from workers.ingest.parsers.json_payload import Json, load, text, texts, when

FDA = "U.S. Food and Drug Administration"

_LATEST_YEAR = 2100  # the limit if the payload does not state its date
_AHEAD = timedelta(days=2)

_NAMES = {
    "application_number": "application_numbers",
    "brand_name": "brand_names",
    "generic_name": "generic_names",
    "manufacturer_name": "manufacturers",
    "product_ndc": "product_ndcs",
    "product_type": "product_types",
    "route": "routes",
    "substance_name": "substances",
    "rxcui": "rxcuis",
    "unii": "uniis",
    "pharm_class_epc": "pharm_classes",
    "pharm_class_moa": "mechanisms",
    "pharm_class_pe": "physiologic_effects",
    "pharm_class_cs": "chemical_structures",
}
PRODUCT_FIELDS = frozenset(f"openfda.{name}[]" for name in _NAMES)

_JOINED = "joined by openFDA; what names the product is kept"
PRODUCT_LEFT_OUT: dict[str, str] = {
    f"openfda.{name}": _JOINED
    for name in (
        "nui[]",
        "upc[]",
        "rxstring[]",
        "rxtty[]",
        "dosage_form[]",
        "package_ndc[]",
        "original_packager_product_ndc[]",
        "is_original_packager",
        "is_original_packager[]",
        "spl_id[]",
        "spl_set_id[]",
    )
}

Add = Callable[[Parsed, Json, datetime | None], None]
"""Adds one row to the Parsed; the third argument is the date of the data set."""


def parse_rows(payload: bytes, add: Add) -> Parsed:
    """Read `{"meta": …, "results": […]}` row by row. Raises Malformed for anything else."""
    parsed = Parsed()
    value = load(payload)
    if not isinstance(value, dict) or not isinstance(value.get("results"), list):
        code = text(value, "error", "code")
        known = code if code.isupper() and len(code) < 40 else "no results"
        raise Malformed(f"openFDA: not a page of results ({known})")
    stated = when(text(value, "meta", "last_updated"))
    for row in value["results"]:
        if isinstance(row, dict):
            add(parsed, row, stated[0] if stated else None)
        else:
            parsed.problems.append(Problem(None, "a result that is no object"))
    return parsed


def iso(words: str) -> str:
    """An openFDA date (`20260812`, some `2026-08-12`) as 2026-08-12; other text unchanged."""
    stated = when(words)
    return f"{stated[0]:%Y-%m-%d}" if stated and stated[1] == "day" else words


def stated_on(words: str, made: datetime | None) -> datetime | None:
    """The day of a record, or None if it is invalid or in the future: labels have dates such as
    "30151102" (WIRE 3). The future begins two days after the data set was made, or in 2100."""
    stated = when(words)
    if stated is None or stated[1] != "day" or stated[0].year >= _LATEST_YEAR:
        return None
    if made is not None and stated[0] > made + _AHEAD:
        return None
    return stated[0]


def names(row: Json, name: str) -> list[str]:
    """The distinct values of a list in `openfda`, sorted because openFDA's order varies."""
    return sorted(set(texts(row, "openfda", name)))


def product_facts(row: Json) -> Json:
    """The product facts in `openfda`, which is empty if openFDA could not join the product."""
    return {fact: names(row, name) for name, fact in _NAMES.items()}


def product_name(brands: Iterable[str], generics: Iterable[str]) -> str:
    """Such as `KEYTRUDA (PEMBROLIZUMAB)`, with at most three names each; "" if there is none."""
    brand, generic = _few(brands), _few(generics)
    if brand and generic and brand.lower() != generic.lower():
        return f"{brand} ({generic})"
    return brand or generic


def _few(found: Iterable[str]) -> str:
    listed = list(found)
    return ", ".join(listed[:3]) + (" and others" if len(listed) > 3 else "")


def subjects(row: Json) -> list[str]:
    """The pharmacologic classes as subject headings."""
    return [name[:1000] for name in names(row, "pharm_class_epc") + names(row, "pharm_class_moa")]


def coded(codes: dict[str, str], value: Any, *path: str) -> str:
    """The meaning of the code at `path`; an unknown code is returned unchanged."""
    code = text(value, *path)
    return codes.get(code, code)
