"""Reads one adverse event report (FAERS) of openFDA (WIRE 3) into a record."""

import re
from collections.abc import Iterable
from datetime import datetime

from workers.ingest.parsers.base import LeftOut, Parsed, Problem
from workers.ingest.parsers.json_payload import (
    Draft,
    Fields,
    Json,
    add_record,
    filled,
    obj,
    one_line,
    rows,
    text,
)
from workers.ingest.parsers.openfda.shared import (
    FDA,
    PRODUCT_FIELDS,
    PRODUCT_LEFT_OUT,
    coded,
    iso,
    names,
    product_name,
    stated_on,
)

_REPORT = re.compile(r"\d[\d-]{0,30}", re.ASCII)
_SEXES = {"0": "unknown", "1": "male", "2": "female"}
_ROLES = {"1": "suspect", "2": "concomitant", "3": "interacting"}
_UNITS = {
    "800": "decades",
    "801": "years",
    "802": "months",
    "803": "weeks",
    "804": "days",
    "805": "hours",
}
_OUTCOMES = {
    "1": "recovered",
    "2": "recovering",
    "3": "not recovered",
    "4": "recovered with sequelae",
    "5": "fatal",
    "6": "outcome unknown",
}
_REPORTERS = {
    "1": "physician",
    "2": "pharmacist",
    "3": "other health professional",
    "4": "lawyer",
    "5": "consumer",
}
_ACTIONS = {
    "1": "drug withdrawn",
    "2": "dose reduced",
    "3": "dose increased",
    "4": "dose not changed",
    "5": "action unknown",
    "6": "action not applicable",
}
_SERIOUS = {"1": "serious", "2": "not serious"}
_SERIOUS_FIELDS = {
    "seriousnessdeath": "death",
    "seriousnesslifethreatening": "life-threatening",
    "seriousnesshospitalization": "hospitalization",
    "seriousnessdisabling": "disability",
    "seriousnesscongenitalanomali": "congenital anomaly",
    "seriousnessother": "other",
}

MAPPED = frozenset(
    [
        "safetyreportid",
        "safetyreportversion",
        "serious",
        "receivedate",
        "receiptdate",
        "occurcountry",
        "primarysource.qualification",
        "primarysource.reportercountry",
        "primarysource.literaturereference",
        "companynumb",
        "patient.patientonsetage",
        "patient.patientonsetageunit",
        "patient.patientsex",
        "patient.patientweight",
        "patient.summary.narrativeincludeclinical",
        "patient.reaction[].reactionmeddrapt",
        "patient.reaction[].reactionoutcome",
        "patient.drug[].medicinalproduct",
        "patient.drug[].drugcharacterization",
        "patient.drug[].drugindication",
        "patient.drug[].drugdosagetext",
        "patient.drug[].actiondrug",
        "patient.drug[].activesubstance.activesubstancename",
    ]
) | {
    *_SERIOUS_FIELDS,
    "patient.drug[].openfda.brand_name[]",
    "patient.drug[].openfda.generic_name[]",
}

_FORMAT = "how a date is written, always the same"
_DOSE = "a part of the dose, which is kept as text"
_EXCHANGE = "about the exchange of the report, not the case"
_CLOSER = "a detail of one case; what was taken, why and with what outcome is kept"
LEFT_OUT: LeftOut = (
    {f"patient.drug[].{path}": reason for path, reason in PRODUCT_LEFT_OUT.items()}
    | {
        f"patient.drug[].{path}": "joined by openFDA; the names are kept"
        for path in PRODUCT_FIELDS - {"openfda.brand_name[]", "openfda.generic_name[]"}
    }
    | dict.fromkeys(("receivedateformat", "receiptdateformat", "transmissiondateformat"), _FORMAT)
    | dict.fromkeys(
        [
            "transmissiondate",
            "reporttype",
            "fulfillexpeditecriteria",
            "duplicate",
            "authoritynumb",
            "primarysourcecountry",
            "reportduplicate/*",
            "reportduplicate[]/*",
            "sender/*",
            "receiver/*",
        ],
        _EXCHANGE,
    )
    | {
        f"patient.drug[].{name}": _DOSE
        for name in [
            "drugstructuredosagenumb",
            "drugstructuredosageunit",
            "drugseparatedosagenumb",
            "drugintervaldosageunitnumb",
            "drugintervaldosagedefinition",
            "drugcumulativedosagenumb",
            "drugcumulativedosageunit",
            "drugdosageform",
            "drugadministrationroute",
        ]
    }
    | {
        f"patient.{name}": _CLOSER
        for name in [
            "patientagegroup",
            "patientdeath/*",
            "reaction[].reactionmeddraversionpt",
            "drug[].drugadditional",
            "drug[].drugauthorizationnumb",
            "drug[].drugbatchnumb",
            "drug[].drugenddate",
            "drug[].drugenddateformat",
            "drug[].drugstartdate",
            "drug[].drugstartdateformat",
            "drug[].drugrecurreadministration",
            "drug[].drugrecurrence/*",
            "drug[].drugrecurrence[]/*",
            "drug[].drugtreatmentduration",
            "drug[].drugtreatmentdurationunit",
        ]
    }
)
FIELDS = Fields(MAPPED, LEFT_OUT)


def add_report(parsed: Parsed, row: Json, made: datetime | None) -> None:
    """Add the record of one report, or a Problem, to `parsed`."""
    report = text(row, "safetyreportid")
    if not _REPORT.fullmatch(report):
        parsed.problems.append(Problem(None, "safetyreportid: missing, or none"))
        return
    parsed.unmapped.update(FIELDS.unknown(row))
    patient = obj(row, "patient")
    suspects = _each(
        text(drug, "medicinalproduct")
        for drug in rows(patient, "drug")
        if text(drug, "drugcharacterization") == "1"
    )
    reactions = _each(text(reaction, "reactionmeddrapt") for reaction in rows(patient, "reaction"))
    what = product_name(suspects, ())
    add_record(
        parsed,
        f"regulator:faers:{report}",
        source_type="regulator",
        source_key=f"faers:{report}",
        title=one_line(f"Adverse event report {report}" + (f": {what}" if what else "")),
        text=_text(row),
        published_at=stated_on(text(row, "receiptdate"), made),
        publisher=FDA,
        publication_type="Adverse Event Report",
        evidence_level="Spontaneous report of one case: no proof of a cause",
        facts=filled(
            {
                "report": report,
                "version": text(row, "safetyreportversion"),
                "serious": coded(_SERIOUS, row, "serious"),
                "received_on": iso(text(row, "receivedate")),
                "updated_on": iso(text(row, "receiptdate")),
                "country": text(row, "occurcountry"),
                "suspects": suspects,
                "reactions": reactions,
            }
        ),
    )


def _each(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for word in words if word))


def _text(row: Json) -> str:
    patient = obj(row, "patient")
    draft = Draft()
    draft.section("Report")
    draft.fact("Report number", text(row, "safetyreportid"))
    draft.fact("Version of the report", text(row, "safetyreportversion"))
    draft.fact("Number at the company", text(row, "companynumb"))
    draft.fact("First received", iso(text(row, "receivedate")))
    draft.fact("Last received", iso(text(row, "receiptdate")))
    draft.fact("Seriousness", coded(_SERIOUS, row, "serious"))
    draft.fact(
        "Serious because of",
        ", ".join(name for field, name in _SERIOUS_FIELDS.items() if text(row, field) == "1"),
    )
    draft.fact("Country of the event", text(row, "occurcountry"))
    draft.fact("Reporter", coded(_REPORTERS, row, "primarysource", "qualification"))
    draft.fact("Country of the reporter", text(row, "primarysource", "reportercountry"))
    draft.fact("Literature", text(row, "primarysource", "literaturereference"))
    draft.section("Patient")
    age = f"{text(patient, 'patientonsetage')} {coded(_UNITS, patient, 'patientonsetageunit')}"
    draft.fact("Age at the event", age.strip())
    draft.fact("Sex", coded(_SEXES, patient, "patientsex"))
    draft.fact("Weight in kg", text(patient, "patientweight"))
    draft.section("Reactions")
    for reaction in rows(patient, "reaction"):
        outcome = coded(_OUTCOMES, reaction, "reactionoutcome")
        term = text(reaction, "reactionmeddrapt")
        draft.fact("Reaction", f"{term} ({outcome})" if outcome else term)
    draft.section("Drugs")
    for drug in rows(patient, "drug"):
        draft.fact("Drug", _drug(drug))
    draft.section("Narrative")
    draft.paragraph(text(patient, "summary", "narrativeincludeclinical"))
    return draft.text()


def _drug(drug: Json) -> str:
    joined = product_name(names(drug, "brand_name"), names(drug, "generic_name"))
    indication = text(drug, "drugindication")
    details = [
        text(drug, "medicinalproduct"),
        coded(_ROLES, drug, "drugcharacterization"),
        text(drug, "activesubstance", "activesubstancename"),
        joined,
        f"for {indication}" if indication else "",
        text(drug, "drugdosagetext"),
        coded(_ACTIONS, drug, "actiondrug"),
    ]
    return "; ".join(part for part in details if part)
