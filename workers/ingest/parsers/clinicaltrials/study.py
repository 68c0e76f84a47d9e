r"""ClinicalTrials.gov API v2 (WIRE 2): reads a study or a page of studies into records.

Texts are kept as the registry's pages show them: its API escapes signs for Markdown, as
CommonMark 2.4 allows it (`\>=`, `10\^9`). In a fact of one line, white space is one space.
"""

import re
from collections.abc import Iterator
from typing import Any

from workers.http.errors import Malformed
from workers.ingest.parsers.base import Doubt, Parsed, Problem
from workers.ingest.parsers.clinicaltrials.fields import FIELDS, LEFT_OUT, MAPPED
from workers.ingest.parsers.clinicaltrials.protocol import (
    sites_by_country,
    write_protocol,
    write_references,
)
from workers.ingest.parsers.clinicaltrials.results import write_results
from workers.ingest.parsers.clinicaltrials.words import bracketed, phase, plain
from workers.ingest.parsers.json_payload import (
    Draft,
    Json,
    add_record,
    filled,
    flag,
    load,
    number,
    obj,
    one_line,
    rows,
    text,
    texts,
    when,
)

__all__ = ["LEFT_OUT", "MAPPED", "parse", "studies"]

_NCT_ID = re.compile(r"NCT\d{8}", re.ASCII)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PMID = re.compile(r"[1-9]\d{0,8}", re.ASCII)
_DATES = {
    "start_date": "startDateStruct",
    "primary_completion_date": "primaryCompletionDateStruct",
    "completion_date": "completionDateStruct",
    "first_posted": "studyFirstPostDateStruct",
    "results_first_posted": "resultsFirstPostDateStruct",
    "last_update_posted": "lastUpdatePostDateStruct",
}


def parse(payload: bytes) -> Parsed:
    """Read one study or a page `{"studies": [...]}`; studies of any status become records.

    Studies from a search with `fields` may lack most modules. Raises Malformed for anything else.
    """
    parsed = Parsed()
    for study in studies(load(payload)):
        _add(parsed, _shown(study))
    return parsed


def _shown(value: Any) -> Any:
    """A loaded value with its texts as they are shown, without Markdown's escapes."""
    if isinstance(value, str):
        return _ESCAPED.sub(r"\1", value) if "\\" in value else value
    if isinstance(value, list):
        return [_shown(member) for member in value]
    if isinstance(value, dict):
        return {name: _shown(member) for name, member in value.items()}
    return value


def studies(value: Any) -> Iterator[Any]:
    """The studies in a loaded payload. Raises Malformed if it is not from ClinicalTrials.gov."""
    if not isinstance(value, dict):
        raise Malformed("ClinicalTrials.gov: not a study and not a page of studies")
    if isinstance(value.get("protocolSection"), dict):
        return iter([value])
    if not isinstance(value.get("studies"), list):
        raise Malformed("ClinicalTrials.gov: not a study and not a page of studies")
    return iter(value["studies"])


def _add(parsed: Parsed, study: Any) -> None:
    if not isinstance(study, dict):
        parsed.problems.append(Problem(None, "a study that is no object"))
        return
    identification = obj(study, "protocolSection", "identificationModule")
    nct_id = text(identification, "nctId")
    if not _NCT_ID.fullmatch(nct_id):
        parsed.problems.append(Problem(None, "identificationModule.nctId: missing, or no NCT id"))
        return
    key = f"nct_id:{nct_id.lower()}"
    parsed.unmapped.update(FIELDS.unknown(study))
    title = text(identification, "briefTitle") or text(identification, "officialTitle") or nct_id
    updated = _updated(study)
    add_record(
        parsed,
        key,
        source_type="clinicaltrials",
        title=one_line(title),
        text=_text(study) or title,
        url=f"https://clinicaltrials.gov/study/{nct_id}",
        published_at=updated[0] if updated else None,
        published_precision=updated[1] if updated else "day",
        identifiers={"nct_id": nct_id},
        publisher="ClinicalTrials.gov",
        publication_type="Registry Record",
        evidence_level=_evidence_level(study),
        subjects=_subjects(study),
        facts=_facts(study, parsed, key),
    )


def _text(study: Json) -> str:
    draft = Draft()
    write_protocol(draft, study)
    write_results(draft, study)
    write_references(draft, study)
    return draft.text()


def _updated(study: Json) -> Any:
    """The day on which the registry last posted an update, else the day it was submitted."""
    status = obj(study, "protocolSection", "statusModule")
    return when(text(status, "lastUpdatePostDateStruct", "date")) or when(
        text(status, "lastUpdateSubmitDate")
    )


def _evidence_level(study: Json) -> str:
    """The study's design in words: a registry record is a protocol, not a finding."""
    design = obj(study, "protocolSection", "designModule")
    parts = [
        plain(text(design, "studyType")),
        phase(design),
        plain(text(design, "designInfo", "allocation")),
    ]
    kept = [part for part in parts if part and part != "not applicable"]
    posted = flag(study, "hasResults")
    if posted is not None:
        kept.append("results posted" if posted else "no results posted")
    return one_line(": ".join(filter(None, ("Trial registration", ", ".join(kept)))))


def _subjects(study: Json) -> list[str]:
    derived = obj(study, "derivedSection")
    terms = [
        one_line(term)
        for module in ("conditionBrowseModule", "interventionBrowseModule")
        for mesh in rows(derived, module, "meshes")
        if (term := text(mesh, "term"))
    ]
    return list(dict.fromkeys(terms))


def _facts(study: Json, parsed: Parsed, key: str) -> Json:
    protocol = obj(study, "protocolSection")
    design = obj(protocol, "designModule")
    info = obj(design, "designInfo")
    eligibility = obj(protocol, "eligibilityModule")
    outcomes = obj(protocol, "outcomesModule")
    sponsors = obj(protocol, "sponsorCollaboratorsModule")
    countries = sites_by_country(study)
    return filled(
        {
            **_identity(obj(protocol, "identificationModule"), parsed, key),
            **_standing(study),
            "study_type": text(design, "studyType"),
            "phase": phase(design),
            "phases": texts(design, "phases"),
            "allocation": text(info, "allocation"),
            "intervention_model": text(info, "interventionModel"),
            "masking": text(info, "maskingInfo", "masking"),
            "primary_purpose": text(info, "primaryPurpose"),
            "enrollment": number(design, "enrollmentInfo", "count"),
            "enrollment_type": text(design, "enrollmentInfo", "type"),
            "conditions": texts(protocol, "conditionsModule", "conditions"),
            "arms": _arms(protocol),
            "interventions": _interventions(protocol),
            "primary_endpoints": _endpoints(outcomes, "primaryOutcomes"),
            "secondary_endpoints": _endpoints(outcomes, "secondaryOutcomes"),
            "sex": text(eligibility, "sex"),
            "minimum_age": text(eligibility, "minimumAge"),
            "maximum_age": text(eligibility, "maximumAge"),
            "sponsor": text(sponsors, "leadSponsor", "name"),
            "sponsor_class": text(sponsors, "leadSponsor", "class"),
            "collaborators": [
                name for row in rows(sponsors, "collaborators") if (name := text(row, "name"))
            ],
            "countries": list(countries),
            "sites": len(rows(protocol, "contactsLocationsModule", "locations")) or None,
            "condition_mesh": _mesh(study, "conditionBrowseModule"),
            "intervention_mesh": _mesh(study, "interventionBrowseModule"),
            "linked_pmids": _linked_pmids(protocol, parsed, key),
        }
    )


def _identity(identification: Json, parsed: Parsed, key: str) -> Json:
    aliases = texts(identification, "nctIdAliases")
    parsed.doubts += [
        Doubt(key, "nct_id", alias[:40]) for alias in aliases if not _NCT_ID.fullmatch(alias)
    ]
    return {
        "nct_id": text(identification, "nctId"),
        "nct_aliases": [alias for alias in aliases if _NCT_ID.fullmatch(alias)],
        "acronym": text(identification, "acronym"),
        "official_title": text(identification, "officialTitle"),
        "org_study_id": _strings(obj(identification, "orgStudyIdInfo"), "id", "type", "link"),
        "secondary_ids": [
            _strings(row, "id", "type", "domain", "link")
            for row in rows(identification, "secondaryIdInfos")
        ],
    }


def _standing(study: Json) -> Json:
    status = obj(study, "protocolSection", "statusModule")
    standing: Json = {
        "status": text(status, "overallStatus"),
        "last_known_status": text(status, "lastKnownStatus"),
        "why_stopped": text(status, "whyStopped"),
        "has_results": flag(study, "hasResults"),
    }
    for name, field in _DATES.items():
        standing[name] = text(status, field, "date")
        standing[f"{name}_type"] = text(status, field, "type")
    return standing


def _strings(value: Json, *names: str) -> Json:
    return filled({name: text(value, name) for name in names})


def _arms(protocol: Json) -> list[Json]:
    return [
        filled(
            {
                "label": text(arm, "label"),
                "type": text(arm, "type"),
                "interventions": texts(arm, "interventionNames"),
            }
        )
        for arm in rows(protocol, "armsInterventionsModule", "armGroups")
    ]


def _interventions(protocol: Json) -> list[Json]:
    return [
        filled(
            {
                "name": text(intervention, "name"),
                "type": text(intervention, "type"),
                "other_names": texts(intervention, "otherNames"),
            }
        )
        for intervention in rows(protocol, "armsInterventionsModule", "interventions")
    ]


def _endpoints(outcomes: Json, field: str) -> list[Json]:
    return [
        filled({"measure": text(row, "measure"), "time_frame": text(row, "timeFrame")})
        for row in rows(outcomes, field)
    ]


def _mesh(study: Json, module: str) -> list[Json]:
    return [
        _strings(mesh, "id", "term") for mesh in rows(study, "derivedSection", module, "meshes")
    ]


def _linked_pmids(protocol: Json, parsed: Parsed, key: str) -> list[Json]:
    """PMIDs of publications, each with its reference type and retractions."""
    linked = []
    for reference in rows(protocol, "referencesModule", "references"):
        pmid = text(reference, "pmid")
        if not pmid:
            continue
        if not _PMID.fullmatch(pmid):
            parsed.doubts.append(Doubt(key, "pmid", pmid[:40]))
            continue
        linked.append(
            filled(
                {
                    "pmid": pmid,
                    "type": text(reference, "type"),
                    "retractions": [
                        bracketed(text(row, "pmid"), text(row, "source"))
                        for row in rows(reference, "retractions")
                    ],
                }
            )
        )
    return linked
