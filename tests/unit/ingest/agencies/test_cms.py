"""Rows and texts of Medicare coverage documents, and what must not be in them."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from clinical_text.structure import segment
from store.documents.records import SourceRecord
from tests.fakes.cms import Cms, escaped
from tests.fakes.web import Clock
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.cms.coverage import parse_cms, plain
from workers.ingest.parsers.cms.cpt import CODES, ROW, without_cpt

SHARED = Path(__file__).resolve().parents[5] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the real payloads are not here")


def row(report: str = "lcd", number: int = 38001, **columns: Any) -> dict[str, Any]:
    fake = Cms(Clock(datetime(2026, 3, 2, 10, tzinfo=UTC)))
    fake.put(report, number, "MolDX: Made-up Tests")
    return fake.documents[report, number].row | columns


def parse(
    *rows: Any, report: str = "lcd", detail: Any = None, asked_on: str = "2026-03-02"
) -> Parsed:
    body = {"report": report, "asked_on": asked_on, "data": list(rows), "detail": detail}
    return parse_cms(json.dumps(body).encode())


def only(*rows: Any, **options: Any) -> SourceRecord:
    parsed = parse(*rows, **options)
    assert (parsed.problems, parsed.doubts, dict(parsed.unmapped)) == ([], [], {})
    return parsed.records[0]


def test_a_row_alone_is_a_record() -> None:
    record = only(row())
    assert record.key == "lcd_id:l38001"
    assert record.url == (
        "https://www.cms.gov/medicare-coverage-database/view/lcd.aspx?lcdid=38001&ver=1"
    )
    assert record.published_at == datetime(2026, 3, 2, tzinfo=UTC)
    assert record.publication_type == "Local Coverage Determination"
    assert record.facts["contractors"] == [
        "Invented Administrators, LLC (MAC - Part A)",
        "Made-up Health Solutions, LLC (MAC - Part B)",
    ]
    assert record.facts["effective_date"] == "2026-01-15"
    assert record.facts["moldx"] is True
    assert "retirement_date" not in record.facts
    assert record.text.startswith("# MolDX: Made-up Tests\n\n- Document: L38001\n- Type: Local")


def test_an_ncd_is_named_by_its_number_and_linked_to_its_page() -> None:
    record = only(row("ncd", 371), report="ncd")
    assert record.key == "payer:ncd:371"
    assert record.url == (
        "https://www.cms.gov/medicare-coverage-database/view/ncd.aspx?ncdid=371&ncdver=1"
    )
    assert record.facts["chapter"] == "190"
    assert record.identifiers.lcd_id is None


def test_sections_of_the_text_stand_in_their_order() -> None:
    detail = {"bibliography": "<p>B</p>", "indication": "<p>I</p>", "doc_reqs": "", "lcd_id": 38001}
    text = only(row(), detail=detail).text
    assert [one.title for one in segment(text).sections][1:] == [
        "Coverage Indications, Limitations, and/or Medical Necessity",
        "Bibliography",
    ]


@grid(
    ("sent", "expected"),
    [
        ("&lt;p&gt;One&lt;&sol;p&gt;&lt;p&gt;HR &amp;lt; 1&lt;/p&gt;", "One\n\nHR < 1"),
        ("&lt;p&gt;A&amp;nbsp;B &amp;ldquo;C&amp;rdquo; D&amp;sol;E&lt;/p&gt;", "A\xa0B “C” D/E"),
        ("<p>One &lt; two &amp; three</p>", "One < two & three"),
        ("HR &lt; 1 and p &lt;0.05", "HR < 1 and p <0.05"),
        ("plain", "plain"),
        ("", ""),
        (escaped("<ul><li>a</li><li>10<sup>9</sup></li></ul>"), "- a\n- 10⁹"),
        (
            escaped("<table><tr><td>a</td><td>b</td></tr><tr><td>1</td></tr></table>"),
            "a | b\n1",
        ),
    ],
)
def test_html_is_unescaped_twice(sent: str, expected: str) -> None:
    assert plain(sent) == expected


@pytest.mark.parametrize(
    ("retired", "asked_on", "notices"),
    [
        ("03/01/2026", "2026-03-02", 1), ("03/02/2026", "2026-03-02", 1),
        ("03/03/2026", "2026-03-02", 0), ("N/A", "2026-03-02", 0), ("", "2026-03-02", 0),
    ],
)  # fmt: skip
def test_a_retirement_date_that_has_come_is_a_withdrawal(
    retired: str, asked_on: str, notices: int
) -> None:
    record = only(row(retirement_date=retired), asked_on=asked_on)
    assert len(record.notices) == notices
    if notices:
        assert record.notices[0].kind == "withdrawal"
        assert record.notices[0].stated_on == datetime.strptime(retired, "%m/%d/%Y").date()  # noqa: DTZ007


def test_dates_and_ids_that_are_none_are_doubts() -> None:
    parsed = parse(row(updated_on="13/45/2026", document_display_id="DL38001"))
    assert sorted(doubt.kind for doubt in parsed.doubts) == ["lcd_id", "updated_on"]
    (record,) = parsed.records
    assert record.key == "payer:lcd:38001"
    assert record.identifiers.lcd_id is None


@pytest.mark.parametrize(
    "url",
    [
        "http://www.cms.gov/medicare-coverage-database/view/lcd.aspx?lcdid=38001",
        "https://www.cms.gov/medicare-coverage-database/search.aspx?keyword=x",
        "https://www.cms.gov/medicare-coverage-database/view/lcd.aspx?lcdid=99999&ver=1",
        "https://evil.example/lcd.aspx?lcdid=38001",
        "/medicare-coverage-database/view/lcd.aspx?lcdid=38001",
        "",
    ],
)
def test_an_address_of_anything_else_is_not_taken(url: str) -> None:
    assert only(row(url=url)).url == (
        "https://www.cms.gov/medicare-coverage-database/view/lcd.aspx?lcdid=38001&ver=1"
    )


def test_bad_rows_are_problems_and_their_neighbours_survive() -> None:
    parsed = parse(5, {}, row(title=""), row("lcd", 38002))
    assert [problem.source_id for problem in parsed.problems] == [None, None, "lcd_id:l38001"]
    assert [record.key for record in parsed.records] == ["lcd_id:l38002"]


def test_unknown_columns_are_counted() -> None:
    parsed = parse(row(novelty="x"), detail={"indication": "I", "keywords": ["a", "b"]})
    assert parsed.unmapped == {"novelty": 1, "detail.keywords[]": 2}


def test_a_word_from_the_connector_is_passed_on() -> None:
    assert parse_cms(envelope.problem("lcd_id:l1", "why")).problems[0].source_id == "lcd_id:l1"


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"{}", b'{"report": "lcd", "data": []}', b'{"report": "x", "asked_on": "2026"}'],
)
def test_what_is_no_report_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse_cms(payload)


# --- CPT ------------------------------------------------------------------------------------------


@grid(
    ("text", "expected", "codes"),
    [
        ("Bill 81000, 81001 and 81002.", f"Bill {CODES}.", 3),
        ("Bill 81000-81002; also 0001U/0002U.", f"Bill {CODES}; also {CODES}.", 4),
        ("CPT code 81000 is covered.", f"CPT code {CODES} is covered.", 1),
        ("CPT® 0001U is covered.", f"CPT® {CODES} is covered.", 1),
        ("81000 | made-up descriptor.", ROW, 1),
        ("Group 1 | 81000 | made-up descriptor", ROW, 1),
        ("81000 made-up descriptor, 5 or more genes", ROW, 1),
        ("- 81000: made-up descriptor.", ROW, 1),
        ("Before\n\n81000\n\nAfter", f"Before\n\n{ROW}\n\nAfter", 1),
    ],
)
def test_codes_and_their_descriptors_are_left_out(text: str, expected: str, codes: int) -> None:
    assert without_cpt(text) == (expected, codes)


@grid(
    "text",
    [
        "12345 patients were treated.",
        "A total of 12345 patients",
        "L38001 and A57001",
        "2019;14:10021-10034",
        "HCPCS code G0452",
        "12,345 or 23,456",
        "0.12345 and 1.23456",
        "ICD-10 codes C18.0-C18.9",
        "in 2019-2021",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert without_cpt(text) == (text, 0)


def test_codes_in_a_text_are_counted_as_a_fact_and_the_bibliography_is_left_alone() -> None:
    detail = {"indication": "Bill 81000 and 81001.", "bibliography": "Pages 12010-12020"}
    record = only(row(), detail=detail)
    assert record.facts["cpt_codes_left_out"] == 2
    assert "81000" not in record.text
    assert "Pages 12010-12020" in record.text


# --- real rows ------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.parametrize("name", ["cms_lcd/lcd_list.json", "wire_samples/cms_lcd_rows.json"])
def test_real_rows(name: str) -> None:
    rows = json.loads((SHARED / "data" / name).read_bytes())
    parsed = parse(*rows, asked_on="2026-07-15")
    assert (parsed.problems, parsed.doubts, dict(parsed.unmapped)) == ([], [], {})
    assert len(parsed.records) == len(rows)
    first = parsed.records[0]
    assert (first.key, first.facts["document_version"]) == ("lcd_id:l33610", 70)
    assert first.url == rows[0]["url"]
    assert first.published_at is not None
    assert first.published_at.date() == date(2026, 6, 19)
    assert len(first.facts["contractors"]) == 2
