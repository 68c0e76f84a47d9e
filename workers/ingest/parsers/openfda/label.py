"""Reads openFDA drug labels (WIRE 3) into records: sections in reading order, tables as rows.

Texts are kept unchanged.
"""

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
    texts,
)
from workers.ingest.parsers.openfda.shared import (
    FDA,
    PRODUCT_FIELDS,
    PRODUCT_LEFT_OUT,
    iso,
    names,
    parse_rows,
    product_facts,
    product_name,
    stated_on,
    subjects,
)
from workers.ingest.parsers.openfda.tables import table_rows

_SET_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

# in the order of a prescription label and of WIRE 3, then sections of over-the-counter and older
# labels, then of devices and animals, and last those without a place of their own
SECTIONS = [
    "indications_and_usage",
    "boxed_warning",
    "dosage_and_administration",
    "dosage_forms_and_strengths",
    "contraindications",
    "warnings_and_cautions",
    "warnings",
    "precautions",
    "general_precautions",
    "adverse_reactions",
    "drug_interactions",
    "drug_and_or_laboratory_test_interactions",
    "laboratory_tests",
    "use_in_specific_populations",
    "pregnancy",
    "teratogenic_effects",
    "nonteratogenic_effects",
    "labor_and_delivery",
    "nursing_mothers",
    "pregnancy_or_breast_feeding",
    "pediatric_use",
    "geriatric_use",
    "drug_abuse_and_dependence",
    "controlled_substance",
    "abuse",
    "dependence",
    "overdosage",
    "description",
    "clinical_pharmacology",
    "mechanism_of_action",
    "pharmacodynamics",
    "pharmacokinetics",
    "pharmacogenomics",
    "microbiology",
    "nonclinical_toxicology",
    "carcinogenesis_and_mutagenesis_and_impairment_of_fertility",
    "animal_pharmacology_and_or_toxicology",
    "clinical_studies",
    "recent_major_changes",
    "active_ingredient",
    "inactive_ingredient",
    "purpose",
    "do_not_use",
    "ask_doctor",
    "ask_doctor_or_pharmacist",
    "when_using",
    "stop_use",
    "keep_out_of_reach_of_children",
    "user_safety_warnings",
    "other_safety_information",
    "questions",
    "information_for_patients",
    "spl_medguide",
    "spl_patient_package_insert",
    "patient_medication_information",
    "instructions_for_use",
    "information_for_owners_or_caregivers",
    "references",
    "how_supplied",
    "storage_and_handling",
    "safe_handling_warning",
    "disposal_and_waste_handling",
    "health_care_provider_letter",
    "summary_of_safety_and_effectiveness",
    "risks",
    "route",
    "statement_of_identity",
    "health_claim",
    "intended_use_of_the_device",
    "components",
    "accessories",
    "compatible_accessories",
    "assembly_or_installation_instructions",
    "calibration_instructions",
    "cleaning",
    "alarms",
    "troubleshooting",
    "diagram_of_device",
    "environmental_warning",
    "food_safety_warning",
    "residue_warning",
    "guaranteed_analysis_of_feed",
    "spl_unclassified_section",
    "package_label_principal_display_panel",
]
_SMALL = frozenset({"and", "or", "of", "on", "in", "the", "to", "by"})
_TITLES = {
    "spl_medguide": "Medication Guide",
    "spl_patient_package_insert": "Patient Package Insert",
    "spl_unclassified_section": "Other Sections",
    "package_label_principal_display_panel": "Package Label",
}

MAPPED = PRODUCT_FIELDS | {
    "set_id",
    "id",
    "version",
    "effective_time",
    "spl_product_data_elements[]",
    *(f"{name}[]" for name in SECTIONS),
    *(f"{name}_table[]" for name in SECTIONS),
}
LEFT_OUT: LeftOut = PRODUCT_LEFT_OUT | {
    "spl_indexing_data_elements[]": "codes of the product, which is named",
    "spl_indexing_data_elements_table[]": "codes of the product, which is named",
    "spl_product_data_elements_table[]": "the list of ingredients, kept as text",
}
FIELDS = Fields(MAPPED, LEFT_OUT)


def parse_label(payload: bytes) -> Parsed:
    """Read the labels on a page of results. Raises Malformed."""
    return parse_rows(payload, _add)


def _add(parsed: Parsed, row: Json, made: datetime | None) -> None:
    set_id = text(row, "set_id")
    if not _SET_ID.fullmatch(set_id):
        parsed.problems.append(Problem(None, "set_id: missing, or none"))
        return
    parsed.unmapped.update(FIELDS.unknown(row))
    elements = shorten(" ".join(texts(row, "spl_product_data_elements")[:1]), 120)
    title = (
        product_name(names(row, "brand_name"), names(row, "generic_name"))
        or elements
        or f"Drug label {set_id}"
    )
    manufacturers = names(row, "manufacturer_name")
    version = text(row, "version")
    add_record(
        parsed,
        f"set_id:{set_id.lower()}",
        source_type="label",
        title=one_line(title),
        text=_text(row) or title,
        url=f"https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid={set_id.lower()}",
        published_at=stated_on(text(row, "effective_time"), made),
        identifiers={"set_id": set_id.lower()},
        publisher=one_line(manufacturers[0]) if manufacturers else FDA,
        publication_type="Drug Label",
        evidence_level="Product labeling as submitted to the FDA",
        version_label=one_line(f"version {version}") if version else None,
        subjects=subjects(row),
        facts=filled(
            {
                "set_id": set_id.lower(),
                "spl_id": text(row, "id"),
                "version": version,
                "effective_on": iso(text(row, "effective_time")),
                "has_boxed_warning": bool(texts(row, "boxed_warning")) or None,
                **product_facts(row),
            }
        ),
    )


def _text(row: Json) -> str:
    draft = Draft()
    for name in SECTIONS:
        draft.section(_title(name))
        for words in texts(row, name):
            draft.paragraph(words)
        for table in texts(row, f"{name}_table"):
            draft.paragraph(table_rows(table))
    draft.section("Product and Ingredients")
    for words in texts(row, "spl_product_data_elements"):
        draft.paragraph(words)
    return draft.text()


def _title(name: str) -> str:
    """The title of a section: `dosage_and_administration` is "Dosage and Administration"."""
    return _TITLES.get(name) or " ".join(
        word if word in _SMALL else word.capitalize() for word in name.split("_")
    )
