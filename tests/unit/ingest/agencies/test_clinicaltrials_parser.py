"""ClinicalTrials.gov studies become records that say all that the registry says, or why not."""

import copy
import functools
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from clinical_text.structure import segment
from store.documents.records import SourceRecord
from tests.fakes.clinicaltrials import made_up_study
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.clinicaltrials.fields import FIELDS
from workers.ingest.parsers.clinicaltrials.results import MOST_FREQUENT
from workers.ingest.parsers.clinicaltrials.study import LEFT_OUT, MAPPED, parse

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
needs_shared = pytest.mark.skipif(
    not (SHARED / "data" / "ctgov_v2").is_dir(), reason="the recorded payloads are not here"
)

DAY = date(2026, 3, 1)
ALL_STATUSES = [
    "ACTIVE_NOT_RECRUITING",
    "COMPLETED",
    "ENROLLING_BY_INVITATION",
    "NOT_YET_RECRUITING",
    "RECRUITING",
    "SUSPENDED",
    "TERMINATED",
    "WITHDRAWN",
    "AVAILABLE",
    "NO_LONGER_AVAILABLE",
    "TEMPORARILY_NOT_AVAILABLE",
    "APPROVED_FOR_MARKETING",
    "WITHHELD",
    "UNKNOWN",
    "SOMETHING_NEW",
]


def _one(study: Any) -> SourceRecord:
    parsed = parse(json.dumps(study).encode())
    assert parsed.problems == []
    (record,) = parsed.records
    return record


def _study(**protocol: Any) -> dict[str, Any]:
    study = made_up_study("NCT00000001", DAY)
    for module, fields in protocol.items():
        study["protocolSection"].setdefault(module, {}).update(fields)
    return study


def test_a_study_becomes_a_registry_record() -> None:
    record = _one(_study())
    assert record.source_type == "clinicaltrials"
    assert record.key == "nct_id:nct00000001"
    assert record.identifiers.nct_id == "NCT00000001"
    assert record.url == "https://clinicaltrials.gov/study/NCT00000001"
    assert record.title == "A made-up study of nothing in particular"
    assert record.publication_type == "Registry Record"
    assert record.publisher == "ClinicalTrials.gov"
    assert record.evidence_level == (
        "Trial registration: interventional, Phase 2, no results posted"
    )
    assert record.published_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert record.fetched_at is None


def test_facts_are_as_the_registry_has_them() -> None:
    study = _study(
        statusModule={"overallStatus": "TERMINATED", "whyStopped": "Nobody came"},
        referencesModule={
            "references": [
                {"pmid": "123", "type": "RESULT"},
                {"pmid": "456", "type": "DERIVED", "retractions": [{"pmid": "9", "source": "J"}]},
                {"citation": "Without a number"},
            ]
        },
        contactsLocationsModule={
            "locations": [{"country": "Utopia"}, {"country": "Atlantis"}, {"country": "Utopia"}]
        },
    )
    facts = _one(study).facts
    assert facts["nct_id"] == "NCT00000001"
    assert facts["phases"] == ["PHASE2"]
    assert facts["phase"] == "Phase 2"
    assert facts["status"] == "TERMINATED"
    assert facts["why_stopped"] == "Nobody came"
    assert (facts["enrollment"], facts["enrollment_type"]) == (1234, "ESTIMATED")
    assert facts["primary_endpoints"] == [{"measure": "Made-up endpoint", "time_frame": "2 years"}]
    assert facts["start_date"] == "2024-03"
    assert facts["last_update_posted"] == "2026-03-01"
    assert facts["has_results"] is False
    assert facts["countries"] == ["Utopia", "Atlantis"]
    assert facts["org_study_id"] == {"id": "MADE-UP-001"}
    assert facts["linked_pmids"] == [
        {"pmid": "123", "type": "RESULT"},
        {"pmid": "456", "type": "DERIVED", "retractions": ["9 (J)"]},
    ]
    assert None not in facts.values()
    assert "secondary_endpoints" not in facts


def test_each_fact_reads_on_its_own() -> None:
    text = _one(_study()).text
    for sentence in (
        "- Overall status: recruiting.",
        "- Enrollment: 1,234 participants (estimated).",
        "- Phase: Phase 2.",
        "- Study start: 2024-03 (actual).",
        "- Primary outcome: Made-up endpoint.",
        "- Sponsor: Invented University (other).",
    ):
        assert sentence in text.splitlines()


def test_sections_come_in_the_order_of_a_clinician() -> None:
    study = made_up_study("NCT00000001", DAY, results=True)
    protocol = study["protocolSection"]
    protocol["eligibilityModule"] = {
        "sex": "ALL",
        "minimumAge": "18 Years",
        "eligibilityCriteria": "Inclusion Criteria:\n\n* Imagined\n\nExclusion Criteria:\n\n* Real",
    }
    protocol["referencesModule"] = {"references": [{"pmid": "1", "citation": "Nobody. 2020."}]}
    titles = [section.title for section in segment(_one(study).text).sections]
    assert titles == [
        "Summary",
        "Status",
        "Design",
        "Conditions and keywords",
        "Primary outcomes",
        "Eligibility",
        "Inclusion Criteria",
        "Exclusion Criteria",
        "Sponsor and collaborators",
        "Primary outcome result: Made-up endpoint",
        "References",
    ]


def test_eligibility_is_kept_to_the_letter_and_escapes_are_the_signs_they_stand_for() -> None:
    criteria = "Inclusion Criteria:\n\n* Age {}=18\n    * nested  item\n\nExclusion:\n\n1. none"
    module = {"eligibilityCriteria": criteria.format("\\>")}
    assert criteria.format(">") in _one(_study(eligibilityModule=module)).text


@grid("status", ALL_STATUSES)
def test_no_study_is_left_out_for_its_status(status: str) -> None:
    record = _one(made_up_study("NCT00000001", DAY, status=status))
    assert record.facts["status"] == status


@pytest.mark.parametrize(
    ("stated", "day", "precision"),
    [
        ("2024-03-05", datetime(2024, 3, 5, tzinfo=UTC), "day"),
        ("2024-03", datetime(2024, 3, 1, tzinfo=UTC), "month"),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC), "year"),
        ("2024-02-30", None, "day"),
        ("soon", None, "day"),
    ],
)
def test_partial_dates_keep_their_precision(
    stated: str, day: datetime | None, precision: str
) -> None:
    record = _one(_study(statusModule={"lastUpdatePostDateStruct": {"date": stated}}))
    assert (record.published_at, record.published_precision) == (day, precision)
    assert record.facts["last_update_posted"] == stated


def test_results_name_measure_group_value_spread_and_comparison() -> None:
    text = _one(made_up_study("NCT00000001", DAY, results=True)).text
    assert (
        "- Made-up endpoint: Made-up arm median 18.9 Months "
        "(95% Confidence Interval 15.2 to 21.4)." in text
    )
    assert "- Made-up endpoint: Nothing median NA Months (Not reached)." in text
    assert (
        "- Analysis of Made-up endpoint, Made-up arm; Nothing: Hazard Ratio (HR) 0.46, "
        "95% CI 0.37 to 0.57, p <0.0001 (Log Rank)." in text
    )


def test_only_the_most_frequent_adverse_events_are_shown_and_it_says_so() -> None:
    study = made_up_study("NCT00000001", DAY)
    events = [
        {"term": f"Event {n}", "stats": [{"groupId": "E", "numAffected": n, "numAtRisk": 90}]}
        for n in range(50)
    ]
    study["resultsSection"] = {
        "adverseEventsModule": {
            "eventGroups": [
                {"id": "E", "title": "All", "seriousNumAffected": 49, "seriousNumAtRisk": 90}
            ],
            "seriousEvents": events,
        }
    }
    text = _one(study).text
    assert "- Participants with serious adverse events, All: 49 of 90." in text
    assert f"- The {MOST_FREQUENT} most frequent serious adverse events of 50 follow." in text
    assert "- Serious adverse event Event 49: All 49 of 90 affected." in text
    assert "Event 29:" not in text
    assert text.count("- Serious adverse event ") == MOST_FREQUENT


def test_a_group_is_described_once() -> None:
    study = made_up_study("NCT00000001", DAY, results=True)
    (measure,) = study["resultsSection"]["outcomeMeasuresModule"]["outcomeMeasures"]
    measure["groups"][0]["description"] = "People who took nothing"
    study["resultsSection"]["outcomeMeasuresModule"]["outcomeMeasures"] = [measure, measure]
    assert _one(study).text.count("People who took nothing") == 1


def test_a_title_alone_is_a_record() -> None:
    study = {"protocolSection": {"identificationModule": {"nctId": "NCT00000002"}}}
    record = _one(study)
    assert record.title == "NCT00000002"
    assert "NCT00000002" in record.text


def test_a_bad_study_leaves_its_neighbours_whole() -> None:
    good = made_up_study("NCT00000001", DAY)
    bad = copy.deepcopy(good)
    bad["protocolSection"]["identificationModule"] |= {
        "nctId": "NCT00000002",
        "briefTitle": "nul \x00",
    }
    nameless: dict[str, Any] = {"protocolSection": {"identificationModule": {"nctId": "NCT2"}}}
    page = {"studies": [bad, 5, nameless, good]}
    parsed = parse(json.dumps(page).encode())
    assert [record.key for record in parsed.records] == ["nct_id:nct00000001"]
    assert [problem.source_id for problem in parsed.problems] == ["nct_id:nct00000002", None, None]
    assert "nul" not in "".join(problem.reason.split(":")[0] for problem in parsed.problems)


def test_facts_that_no_database_holds_are_a_problem() -> None:
    for words in ("half \ud800", "nul \x00"):
        study = _study(sponsorCollaboratorsModule={"leadSponsor": {"name": words}})
        parsed = parse(json.dumps(study).encode())
        assert parsed.records == []
        assert parsed.problems[0].source_id == "nct_id:nct00000001"


def test_pmids_and_aliases_that_are_none_are_doubts() -> None:
    study = _study(
        referencesModule={"references": [{"pmid": "12a", "type": "RESULT"}]},
        identificationModule={"nctIdAliases": ["NCT00000009", "NCT9"]},
    )
    parsed = parse(json.dumps(study).encode())
    assert [(doubt.kind, doubt.value) for doubt in parsed.doubts] == [
        ("nct_id", "NCT9"),
        ("pmid", "12a"),
    ]
    assert "linked_pmids" not in parsed.records[0].facts
    assert parsed.records[0].facts["nct_aliases"] == ["NCT00000009"]


def test_unknown_fields_are_counted_by_path() -> None:
    study = _study(designModule={"novelty": [{"a": 1}, {"a": None}], "phases": "PHASE1"})
    study["Words of a patient?"] = "x"
    assert parse(json.dumps(study).encode()).unmapped == {
        "protocolSection.designModule.novelty[].a": 1,
        "protocolSection.designModule.phases": 1,
        "?": 1,
    }


def test_the_day_of_the_data_set_makes_no_new_version() -> None:
    study = _study()
    before = _one(study).content_hash()
    study["derivedSection"]["miscInfoModule"]["versionHolder"] = "2026-09-09"
    assert _one(study).content_hash() == before


def test_an_error_body_is_malformed() -> None:
    with pytest.raises(Malformed):
        parse(b"`filter.phase` is unknown parameter")


@grid("path", sorted(LEFT_OUT))
def test_what_is_left_out_has_a_reason_and_is_not_mapped(path: str) -> None:
    assert len(LEFT_OUT[path]) > 10
    assert path.removesuffix("/*") not in MAPPED


# The registry's own list of fields.


def _schema_paths(schema: Any, schemas: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each field of an OpenAPI schema with its type."""
    if "$ref" in schema:
        yield from _schema_paths(schemas[schema["$ref"].rpartition("/")[2]], schemas, path)
        return
    if schema.get("type") == "array":
        yield from _schema_paths(schema["items"], schemas, f"{path}[]")
        return
    if "properties" not in schema:
        yield path, schema.get("format") or schema["type"]
        return
    for name, field in schema["properties"].items():
        yield from _schema_paths(field, schemas, f"{path}.{name}" if path else name)


@functools.cache
def _fields_of_the_registry() -> dict[str, str]:
    if not SHARED.is_dir():
        return {}
    document = yaml.load(
        (SHARED / "data" / "ctgov_v2" / "ctg-oas-v2.yaml").read_text(), yaml.CSafeLoader
    )
    schemas = document["components"]["schemas"]
    return dict(_schema_paths(schemas["Study"], schemas))


def _value(path: str, kind: str, number: int) -> Any:
    name = path.rpartition(".")[2]
    if name == "nctId" and "identification" in path:
        return "NCT00000001"
    if name == "nctIdAliases[]":
        return "NCT00000002"
    if name == "groupId" or name == "groupIds[]" or path.endswith("roups[].id"):
        return "G1"
    if name == "pmid":
        return str(1000 + number)
    values = {"boolean": True, "integer": 1000 + number, "number": 1000.5, "date": "2020-01-02"}
    return values.get(kind, f"V{number}")


def _put(study: Any, path: str, value: Any) -> None:
    steps = path.replace("[]", ".[]").split(".")
    at = study
    for step, following in zip(steps, [*steps[1:], ""], strict=True):
        empty: Any = value if not following else [] if following == "[]" else {}
        if step == "[]":
            if not at or not following:
                at[:] = [empty]
            at = at[0]
        else:
            if step not in at or not following:
                at[step] = empty
            at = at[step]


def _complete_study() -> dict[str, Any]:
    study: dict[str, Any] = {}
    for number, (path, kind) in enumerate(_fields_of_the_registry().items()):
        _put(study, path, _value(path, kind, number))
    return study


def _changed(path: str, value: Any) -> Any:
    if path.endswith("identificationModule.nctId") or path.endswith("nctIdAliases[]"):
        return "NCT00000003"
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "2" + value[1:] + "1" if value[0].isdigit() else f"{value}W"
    return value + 1


def _without_class_denominators(study: dict[str, Any]) -> None:
    """They stand before those of the whole measure."""
    results = study["resultsSection"]
    for measure in (
        *results["outcomeMeasuresModule"]["outcomeMeasures"],
        *results["baselineCharacteristicsModule"]["measures"],
    ):
        for row in measure["classes"]:
            row.pop("denoms", None)


@needs_shared
def test_every_field_of_the_registry_is_mapped_or_left_out_with_a_reason() -> None:
    fields = _fields_of_the_registry()
    assert len(fields) > 300
    assert [path for path in fields if not FIELDS.covers(path)] == []
    assert not MAPPED - fields.keys()
    assert parse(json.dumps(_complete_study()).encode()).unmapped == {}


@needs_shared
@grid("path", sorted(_fields_of_the_registry()))
def test_a_change_of_a_mapped_field_changes_the_record_and_of_another_does_not(path: str) -> None:
    study = _complete_study()
    if "denoms[]" in path and "classes[]" not in path:
        _without_class_denominators(study)
    number = list(_fields_of_the_registry()).index(path)
    kind = _fields_of_the_registry()[path]
    before = _one(study).content_hash()
    _put(study, path, _changed(path, _value(path, kind, number)))
    assert (_one(study).content_hash() != before) == (path in MAPPED)


# Recorded payloads.


def _recorded(*places: str) -> list[Path]:
    data = SHARED / "data"
    return sorted(path for place in places for path in data.glob(place)) if SHARED.is_dir() else []


@needs_shared
@grid(
    "path",
    _recorded("ctgov_v2/full/*.json", "ctgov_v2/biomcp/*.json", "wire_samples/ctgov_*.json"),
)
def test_recorded_payloads_parse(path: Path) -> None:
    if path.name in ("search_melanoma_20260811.json", "ctgov_errors.json"):
        # the receipts say: another service of the NCI, and a list of error texts
        with pytest.raises(Malformed):
            parse(path.read_bytes())
        return
    parsed = parse(path.read_bytes())
    assert parsed.records
    assert (parsed.problems, parsed.doubts) == ([], [])
    # PALLAS as captured has a list that the capturing project added to the registry's
    assert [name for name in parsed.unmapped if "locations_nested" not in name] == []
    for record in parsed.records:
        assert record.key == f"nct_id:{record.facts['nct_id'].lower()}"
        assert segment(record.text).sections


@needs_shared
def test_recorded_results_are_told_in_full() -> None:
    (path,) = _recorded("wire_samples/ctgov_results_*.json")
    text = parse(path.read_bytes()).records[0].text
    assert "median 18.9 Months (95% Confidence Interval 15.2 to 21.4), 279 Participants" in text
    assert "Hazard Ratio (HR) 0.46, 95% CI 0.37 to 0.57 (two sided), p <0.0001 (Log Rank)" in text
    assert "Overall Study, started: Osimertinib 80 mg (Global Cohort) 279;" in text


@needs_shared
def test_a_large_record_is_a_readable_text() -> None:
    (path,) = _recorded("ctgov_v2/full/NCT02513394.json")
    (record,) = parse(path.read_bytes()).records
    assert path.stat().st_size > 1_000_000
    assert len(record.text) < 60_000
    assert record.facts["sites"] == 437
    assert "- 437 sites in 21 countries." in record.text
    assert "Boston" not in record.text.split("## References")[0].split("## Locations")[1][:2000]
