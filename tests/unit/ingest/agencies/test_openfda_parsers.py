"""openFDA's labels, approvals, recalls and adverse event reports become records."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from clinical_text.structure import segment
from store.documents.records import SourceRecord
from tests.fakes.openfda import (
    made_up_application,
    made_up_label,
    made_up_recall,
    made_up_report,
)
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.json_payload import Fields
from workers.ingest.parsers.openfda import drugsfda as openfda_drugsfda
from workers.ingest.parsers.openfda import enforcement as openfda_enforcement
from workers.ingest.parsers.openfda import event as openfda_event
from workers.ingest.parsers.openfda import label as openfda_label
from workers.ingest.parsers.openfda import report as openfda_report
from workers.ingest.parsers.openfda.drugsfda import parse_drugsfda
from workers.ingest.parsers.openfda.enforcement import parse_enforcement
from workers.ingest.parsers.openfda.event import parse_event
from workers.ingest.parsers.openfda.label import parse_label
from workers.ingest.parsers.openfda.tables import table_rows

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
OPENFDA = SHARED / "data" / "openfda"
SAMPLES = SHARED / "data" / "wire_samples"
needs_shared = pytest.mark.skipif(not OPENFDA.is_dir(), reason="the recorded payloads are not here")

PARSERS: dict[str, Callable[[bytes], Parsed]] = {
    "label": parse_label,
    "drugsfda": parse_drugsfda,
    "enforcement": parse_enforcement,
    "event": parse_event,
}


def _page(*rows: Any, made: str | None = "2026-03-01") -> bytes:
    meta = {"last_updated": made} if made else {}
    return json.dumps({"meta": meta, "results": list(rows)}).encode()


def _one(parse: Callable[[bytes], Parsed], row: Any, **page: Any) -> SourceRecord:
    parsed = parse(_page(row, **page))
    assert parsed.problems == []
    assert parsed.unmapped == {}
    (record,) = parsed.records
    return record


# Labels.


def test_a_label_is_named_by_its_set_id() -> None:
    record = _one(parse_label, made_up_label(7))
    assert record.source_type == "label"
    assert record.key == "set_id:00000007-1111-4111-8111-111111111111"
    assert record.url == (
        "https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm"
        "?setid=00000007-1111-4111-8111-111111111111"
    )
    assert record.title == "IMAGINOL"
    assert record.publisher == "Invented Company"
    assert record.version_label == "version 1"
    assert record.published_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert record.facts["effective_on"] == "2026-01-01"
    assert record.facts["has_boxed_warning"] is True
    assert record.facts["brand_names"] == ["IMAGINOL"]


def test_label_sections_come_in_reading_order_with_tables_as_rows() -> None:
    record = _one(parse_label, {**made_up_label(1), "how_supplied": ["In no bottle."]})
    assert record.text.endswith(
        "## Dosage and Administration\n\nTake none.\n\n"
        "Doses\nWeight | Dose\nany at all | none\n\n## How Supplied\n\nIn no bottle."
    )
    assert [section.title for section in segment(record.text).sections] == [
        "Indications and Usage",
        "Boxed Warning",
        "Dosage and Administration",
        "How Supplied",
    ]


def test_old_and_otc_labels_have_warnings_of_the_old_kind() -> None:
    row = {**made_up_label(1), "warnings": ["Do not imagine."], "ask_doctor": ["If unreal."]}
    assert "## Warnings\n\nDo not imagine." in _one(parse_label, row).text
    assert "## Ask Doctor\n\nIf unreal." in _one(parse_label, row).text


def test_a_label_that_could_not_be_joined_is_titled_by_its_product() -> None:
    row = {**made_up_label(1), "openfda": {}}
    assert _one(parse_label, row).title == "Drug label 00000001-1111-4111-8111-111111111111"
    row["spl_product_data_elements"] = ["Imaginol imaginol NOTHING"]
    assert _one(parse_label, row).title == "Imaginol imaginol NOTHING"
    assert _one(parse_label, row).publisher == "U.S. Food and Drug Administration"


@grid(
    ("stated", "made", "published"),
    [
        ("20260301", "2026-03-01", True),
        ("20260303", "2026-03-01", True),
        ("20260304", "2026-03-01", False),
        ("30151102", "2026-03-01", False),
        ("30151102", None, False),
        ("20300101", None, True),
        ("20260230", "2026-03-01", False),
        ("2026", "2026-03-01", False),
    ],
)
def test_an_effective_time_in_the_future_is_a_fact_but_no_day_of_publication(
    stated: str, made: str | None, published: bool
) -> None:
    record = _one(parse_label, made_up_label(1, day=stated), made=made)
    assert (record.published_at is not None) == published
    assert record.facts["effective_on"].replace("-", "") == stated


def test_the_order_in_which_names_are_joined_makes_no_new_version() -> None:
    row = made_up_label(1)
    row["openfda"]["rxcui"] = ["2", "1", "1"]
    other = made_up_label(1)
    other["openfda"]["rxcui"] = ["1", "2"]
    first, second = _one(parse_label, row), _one(parse_label, other)
    assert first.facts["rxcuis"] == ["1", "2"]
    assert first.content_hash() == second.content_hash()


@grid(
    ("source", "rows"),
    [
        ("<table><tr><td>a</td><td> b\n c </td></tr><tr><th>d</th></tr></table>", "a | b c\nd"),
        ("<table><tr><td>a<table><tr><td>in</td></tr></table>b</td></tr></table>", "a in\nb"),
        ("<td>alone</td><td>&lt;5 &amp; more</td>", "alone | <5 & more"),
        ("<table><tr><td>a<!-- hidden -->b<sup>2</sup></td></tr></table>", "ab2"),
        (
            "<table><tr><th>Event</th><th>Drug</th><th>Placebo</th></tr>"
            "<tr><td>Rash</td><td/><td>5%</td></tr><tr><td>Pain</td><td>&#160;</td></tr></table>",
            "Event | Drug | Placebo\nRash |  | 5%\nPain",
        ),
        (
            '<table><tr><td rowspan="2">Pain</td><td colspan="2">1</td><td>2</td></tr>'
            "<tr><td>3</td><td>4</td><td>5</td></tr></table>",
            "Pain | 1 |  | 2\nPain | 3 | 4 | 5",
        ),
        ("no table", "no table"),
        ("a < b", "a < b"),
        ("", ""),
        ("<table></table>", ""),
        ("<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><td>&e;</td>", "]>&e;"),
        ("<tr><td>" * 3000 + "deep", "deep"),
        ("<" * 5000, "<" * 5000),
    ],
)
def test_tables_become_rows(source: str, rows: str) -> None:
    found = table_rows(source)
    assert found == rows or (rows == "deep" and "<td>" not in found)


# Approvals.


def test_an_application_is_a_record_with_its_decisions_by_date() -> None:
    row = made_up_application(123)
    row["submissions"] = [
        {
            "submission_type": "SUPPL",
            "submission_number": "2",
            "submission_status": "TA",
            "submission_status_date": "20260201",
            "submission_class_code": "LABELING",
            "submission_public_notes": "None was needed",
            "application_docs": [
                {"id": "1", "type": "Letter", "date": "20260202", "url": "http://fda.example/l.pdf"}
            ],
        },
        *row["submissions"],
    ]
    record = _one(parse_drugsfda, row)
    assert record.key == "regulator:drugsfda:NDA000123"
    assert record.source_type == "regulator"
    assert record.title == "FDA approvals: IMAGINOL, NDA000123"
    assert record.url is not None
    assert record.url.endswith("?event=overview.process&ApplNo=000123")
    assert record.published_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert record.facts["first_approved_on"] == "2026-01-01"
    assert record.facts["brand_names"] == ["IMAGINOL"]
    assert (
        "- 2026-01-01: original application 1 approved (STANDARD review).\n"
        "- 2026-02-01: supplement 2 tentatively approved (LABELING). None was needed."
        in record.text
    )
    assert "- Letter, 2026-02-02, of supplement 2: http://fda.example/l.pdf." in record.text


@pytest.mark.parametrize("number", ["", "NDA1", "021588", "nda021588", None, 5])
def test_an_application_without_a_number_is_a_problem(number: Any) -> None:
    row = {**made_up_application(1), "application_number": number}
    parsed = parse_drugsfda(_page(row, made_up_application(2)))
    assert [record.key for record in parsed.records] == ["regulator:drugsfda:NDA000002"]
    assert [problem.source_id for problem in parsed.problems] == [None]


# Recalls.


def test_a_recall_has_no_page_of_its_own() -> None:
    record = _one(parse_enforcement, {**made_up_recall(9), "termination_date": "20260220"})
    assert record.key == "regulator:recall:D-0009-2026"
    assert record.url is None
    assert record.title == (
        "Recall D-0009-2026 (Class II): imaginol tablets, 0 mg, made up for a test"
    )
    assert record.published_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert record.facts["terminated_on"] == "2026-02-20"
    assert "- Status: Ongoing." in record.text
    assert "## Reason for the recall\n\nThe product was never made." in record.text


@pytest.mark.parametrize("number", ["D-94-2014", "D-1-2026", "D-123456-12"])
def test_a_recall_s_number_may_be_short(number: str) -> None:
    record = _one(parse_enforcement, {**made_up_recall(9), "recall_number": number})
    assert record.key == f"regulator:recall:{number}"


def test_a_recall_with_a_number_of_another_form_is_a_problem_of_its_own() -> None:
    rows = [{**made_up_recall(9), "recall_number": words} for words in ("94/2014 (D)", "")]
    parsed = parse_enforcement(_page(*rows, made_up_recall(1)))
    assert len(parsed.records) == 1
    assert [one.source_id for one in parsed.problems] == ["regulator:recall:94/2014 (D)", None]


def test_a_recall_that_ends_is_a_new_version() -> None:
    row = made_up_recall(9)
    ended = {**row, "status": "Terminated"}
    first, second = _one(parse_enforcement, row), _one(parse_enforcement, ended)
    assert first.key == second.key
    assert first.content_hash() != second.content_hash()


# Adverse event reports.


def _faers(**parts: Any) -> bytes:
    reports = {"meta": {"last_updated": "2026-02-27", "results": {"total": 4321}}, "results": [{}]}
    return json.dumps({"faers": {"query": "a:b", "reports": reports, **parts}}).encode()


def test_counts_of_a_query_are_one_document_with_the_caveat_first() -> None:
    rows = [{"term": f"REACTION {n}", "count": 100 - n} for n in range(60)]
    (record,) = parse_event(
        _faers(
            reactions={"results": rows},
            seriousness={"results": [{"term": 1, "count": 4000}, {"term": "2", "count": 321}]},
            death={"results": [{"term": "1", "count": 12}]},
            days={
                "results": [
                    {"time": "20240131", "count": 1},
                    {"time": "20250101", "count": 2},
                    {"time": "20251231", "count": 3},
                ]
            },
        )
    ).records
    assert record.key == "regulator:faers:a:b"
    assert record.url is None
    assert record.published_at == datetime(2026, 2, 27, tzinfo=UTC)
    assert record.facts["reports"] == 4321
    assert (record.facts["serious"], record.facts["not_serious"]) == (4000, 321)
    assert record.facts["years"] == {"2024": 1, "2025": 5}
    assert len(record.facts["reactions"]) == 50
    first = segment(record.text).sections[0]
    assert first.title == "What these numbers are"
    assert "no measure of how often" in record.text
    assert "- Reports that match: 4,321." in record.text
    assert "- Reports of a death: 12." in record.text
    assert "- Reports of REACTION 0: 100." in record.text
    assert "- Reports received in 2025: 5." in record.text
    assert record.evidence_level is not None
    assert "not incidence" in record.evidence_level


@pytest.mark.parametrize("faers", [{}, {"query": "a:b"}, {"reports": {}}, {"query": []}])
def test_counts_without_query_or_total_are_malformed(faers: Any) -> None:
    with pytest.raises(Malformed):
        parse_event(json.dumps({"faers": faers}).encode())


def test_a_single_report_is_told_in_words() -> None:
    record = _one(parse_event, made_up_report(1))
    assert record.key == "regulator:faers:10000001"
    assert record.title == "Adverse event report 10000001: IMAGINOL"
    assert record.facts["suspects"] == ["IMAGINOL"]
    for sentence in (
        "- Seriousness: serious.",
        "- Serious because of: hospitalization.",
        "- Age at the event: 40 years.",
        "- Reaction: Boredom.",
        "- Drug: IMAGINOL; suspect.",
    ):
        assert sentence in record.text.splitlines()


# All of them.


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_a_bad_row_leaves_its_neighbours_whole(name: str) -> None:
    made = {
        "label": made_up_label,
        "drugsfda": made_up_application,
        "enforcement": made_up_recall,
        "event": made_up_report,
    }[name]
    nul = {key: f"{value}\x00" if key == "version" else value for key, value in made(2).items()}
    parsed = PARSERS[name](_page("words", None, {}, nul, made(1)))
    assert made(1).keys()
    assert parsed.records[-1].key == PARSERS[name](_page(made(1))).records[0].key
    assert len(parsed.problems) >= 3


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_the_404_of_an_empty_search_is_no_page(name: str) -> None:
    with pytest.raises(Malformed, match="NOT_FOUND"):
        PARSERS[name](b'{"error": {"code": "NOT_FOUND", "message": "No matches found!"}}')


def test_unknown_fields_are_counted() -> None:
    row = {**made_up_label(1), "moon_phase": ["full"], "warnings": "a string"}
    assert parse_label(_page(row)).unmapped == {"moon_phase[]": 1, "warnings": 1}


def _documented(document: Any, path: str = "") -> Iterator[str]:
    """Each field of openFDA's field reference."""
    if document.get("type") == "array":
        yield from _documented(document["items"], f"{path}[]")
    elif "properties" in document:
        for name, field in document["properties"].items():
            if isinstance(field, dict) and name != "meta":
                yield from _documented(field, f"{path}.{name}" if path else name)
    else:
        yield path


@needs_shared
@pytest.mark.parametrize(
    ("reference", "fields"),
    [
        ("druglabel", openfda_label.FIELDS),
        ("drugenforcement", openfda_enforcement.FIELDS),
        ("drugevent", openfda_report.FIELDS),
    ],
)
def test_every_field_of_the_reference_is_mapped_or_left_out(reference: str, fields: Fields) -> None:
    document = yaml.safe_load((OPENFDA / "fields" / f"{reference}.yaml").read_text())
    paths = list(_documented(document))
    assert len(paths) > 20
    assert [path for path in paths if not fields.covers(path)] == []


@needs_shared
def test_every_field_of_the_schema_of_approvals_is_mapped_or_left_out() -> None:
    schema = json.loads((OPENFDA / "schemas" / "drugsfda_schema.json").read_text())
    paths = [f"{path}[]" if path.startswith("openfda.") else path for path in _documented(schema)]
    assert len(paths) > 40
    assert [path for path in paths if not openfda_drugsfda.FIELDS.covers(path)] == []


@pytest.mark.parametrize(
    ("mapped", "left_out"),
    [
        (module.MAPPED, module.LEFT_OUT)
        for module in (openfda_label, openfda_drugsfda, openfda_enforcement, openfda_report)
    ],
)
def test_what_is_left_out_has_a_reason_and_is_not_mapped(mapped: Any, left_out: Any) -> None:
    assert not mapped & left_out.keys()
    assert all(len(reason) > 10 for reason in left_out.values())


# Recorded payloads.


@needs_shared
@pytest.mark.parametrize(
    ("file", "parse", "records"),
    [
        ("wire_samples/openfda_label_keytruda_trimmed.json", parse_label, 2),
        ("wire_samples/openfda_drugsfda.json", parse_drugsfda, 1),
        ("wire_samples/openfda_enforcement.json", parse_enforcement, 2),
        ("wire_samples/openfda_event.json", parse_event, 1),
        ("openfda/biomcp/label_keytruda_20260811.json", parse_label, 2),
        ("openfda/biomcp/drugsfda_imatinib_20260811.json", parse_drugsfda, 1),
    ],
)
def test_recorded_pages_parse(file: str, parse: Callable[[bytes], Parsed], records: int) -> None:
    parsed = parse((SHARED / "data" / file).read_bytes())
    assert len(parsed.records) == records
    assert (parsed.problems, parsed.doubts, parsed.unmapped) == ([], [], {})
    assert len({record.key for record in parsed.records}) == records
    assert all(segment(record.text).sentences for record in parsed.records)


@needs_shared
def test_recorded_single_rows_parse() -> None:
    label = json.loads((SAMPLES / "openfda_label_record.json").read_text())
    assert parse_label(_page(label)).unmapped == {"_note": 1}
    event = json.loads((OPENFDA / "faers" / "event.postannotation.json").read_text())
    (record,) = parse_event(_page(event)).records
    assert record.key == "regulator:faers:4562564-7"
    example = json.loads((OPENFDA / "api_doc_examples" / "drug_drugsfda_examples.json").read_text())
    assert parse_drugsfda(_page(example["result"])).records[0].facts["sponsor"] == "BEECHAM"
    recall = json.loads(
        (OPENFDA / "api_doc_examples" / "drug_enforcement_examples.json").read_text()
    )
    assert parse_enforcement(_page(recall["result"])).problems  # it has no recall number


@needs_shared
def test_recorded_counts_parse() -> None:
    counts = json.loads((SAMPLES / "openfda_event_count.json").read_text())
    (record,) = parse_event(_faers(reactions=counts)).records
    assert record.facts["reactions"] == [
        {"term": "MALIGNANT NEOPLASM PROGRESSION", "reports": 12016}
    ]
    # on its own it does not say which query it counts
    parsed = parse_event((SAMPLES / "openfda_event_count.json").read_bytes())
    assert (parsed.records, len(parsed.problems)) == ([], 1)


def _as_the_api_has_it(row: dict[str, str], number: int) -> dict[str, str]:
    """A row of the FDA's own enforcement report, with the API's names and days; the report has no
    field for the recall number."""
    named = {name.replace("-", "_"): value for name, value in row.items()}
    month, day, year = named["report_date"].split("/")
    return named | {"report_date": year + month + day, "recall_number": f"F-{number:04d}-2012"}


@needs_shared
def test_72_recorded_recalls_parse() -> None:
    lines = (OPENFDA / "res" / "ucm308307.json").read_text().splitlines()
    rows = [_as_the_api_has_it(json.loads(line), n) for n, line in enumerate(lines)]
    parsed = parse_enforcement(_page(*rows))
    assert len(parsed.records) == len(rows) == 72
    assert parsed.unmapped == {}
    for record in parsed.records:
        assert record.published_at is not None
        assert record.facts["classification"].startswith("Class ")


def test_the_counts_that_are_asked_for_are_those_that_are_read() -> None:
    asked = set(openfda_event.COUNTS)
    given = {part: {"results": [{"term": "1", "time": "20260101", "count": 7}]} for part in asked}
    (record,) = parse_event(_faers(**given)).records
    assert record.text.count(": 7.") == len(asked)
