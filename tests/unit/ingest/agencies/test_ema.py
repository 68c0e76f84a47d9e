"""Rows of the EMA's table of medicines."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from clinical_text.structure import segment
from store.documents.records import SourceRecord
from tests.fakes.ema import Ema
from tests.fakes.web import Clock
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.ema import VETERINARY, parse_ema

NUMBER = "EMEA/H/C/000001"


def row(**columns: Any) -> dict[str, Any]:
    fake = Ema(Clock(datetime(2026, 3, 2, tzinfo=UTC)))
    fake.put(NUMBER, "Testovax", **columns)
    return fake.rows[NUMBER]


def parse(*rows: Any) -> Parsed:
    return parse_ema(json.dumps({"meta": {"timestamp": "x"}, "data": list(rows)}).encode())


def only(**columns: Any) -> SourceRecord:
    parsed = parse(row(**columns))
    assert parsed.problems == []
    return parsed.records[0]


def test_a_row_is_a_record_with_its_columns_as_facts() -> None:
    record = only()
    assert record.key == f"regulator:ema:{NUMBER}"
    assert record.title == "Testovax (madeupmab)"
    assert record.url == "https://www.ema.europa.eu/en/medicines/human/EPAR/testovax"
    assert record.published_at == datetime(2026, 3, 2, tzinfo=UTC)
    assert record.facts == {
        "ema_product_number": NUMBER,
        "medicine_status": "Authorised",
        "inn": "madeupmab",
        "atc_code": "L01ZZ99",
        "holder": "Invented Pharma B.V.",
        "revision_number": "7",
        "active_substances": ["madeupmab"],
        "therapeutic_areas": ["Colorectal Neoplasms"],
        "marketing_authorisation_date": "2021-02-03",
        "last_updated_date": "2026-03-02",
        "conditional_approval": False,
        "orphan_medicine": True,
        "additional_monitoring": False,
        "biosimilar": False,
        "generic": False,
    }


def test_the_indication_is_kept_to_the_letter_in_a_section_of_its_own() -> None:
    words = "It is for adults\n- with a  made-up disease (1 < 2);\n- without."
    text = only(therapeutic_indication=words).text
    assert text.endswith(f"\n\n## Therapeutic indication\n\n{words}")
    assert [one.title for one in segment(text).sections] == ["Testovax", "Therapeutic indication"]


@pytest.mark.parametrize(
    "status", ["Withdrawn", "Revoked", "Expired", "Refused", "Application withdrawn", "Lapsed"]
)
def test_an_authorisation_that_ended_is_what_the_document_says_and_no_notice(status: str) -> None:
    record = only(medicine_status=status)
    assert record.notices == ()
    assert f"- Medicine status: {status}\n" in record.text
    assert record.facts["medicine_status"] == status


def test_values_may_be_strings_or_lists() -> None:
    listed = only(active_substance=["a", "b"], medicine_status=["Authorised"])
    assert listed == only(active_substance="a; b", medicine_status="Authorised")
    assert listed.facts["active_substances"] == ["a", "b"]


@pytest.mark.parametrize(
    ("written", "fact"),
    [("03/02/2021", "2021-02-03"), ("2021-02-03", "2021-02-03"), ("2021-02-03T10:00:00Z",) * 2],
)
def test_dates_are_day_month_year_or_iso(written: str, fact: str) -> None:
    assert (
        only(marketing_authorisation_date=written).facts["marketing_authorisation_date"]
        == fact[:10]
    )


@pytest.mark.parametrize("written", ["31/02/2021", "02/31/2021", "soon", "1/2", "//"])
def test_a_date_that_is_none_is_a_doubt(written: str) -> None:
    parsed = parse(row(marketing_authorisation_date=written))
    assert [doubt.kind for doubt in parsed.doubts] == ["marketing_authorisation_date"]
    assert "marketing_authorisation_date" not in parsed.records[0].facts


@pytest.mark.parametrize(
    "url",
    [
        "http://www.ema.europa.eu/en/medicines/x", "https://evil.example/en", "javascript:x",
        "https://www.ema.europa.eu@evil.example/x", "https://www.ema.europa.eu/", "https://[",
        "https://www.ema.europa.eu/en/a b",
    ],
)  # fmt: skip
def test_an_address_that_is_not_the_emas_is_left_out(url: str) -> None:
    parsed = parse(row(medicine_url=url))
    assert parsed.records[0].url is None
    assert [doubt.kind for doubt in parsed.doubts] == ["url"]


def test_bad_rows_are_problems_and_their_neighbours_survive() -> None:
    other = row() | {"ema_product_number": "EMEA/H/C/000009"}
    parsed = parse(
        5, row(ema_product_number=""), row(name_of_medicine=""), other, other, row(generic=None)
    )
    assert [problem.source_id for problem in parsed.problems] == [
        None,
        None,
        f"regulator:ema:{NUMBER}",
        "regulator:ema:EMEA/H/C/000009",
        f"regulator:ema:{NUMBER}",
    ]
    assert [record.key for record in parsed.records] == ["regulator:ema:EMEA/H/C/000009"]


def test_veterinary_rows_and_unknown_columns_are_counted() -> None:
    vet = row(category="Veterinary")
    parsed = parse(vet, vet, row(species="cats", empty_one=""))
    assert parsed.unmapped == {VETERINARY: 2, "data[].species": 1, "data[].empty_one": 1}


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"{}", b'{"data": 1}', b"<html>", b"\xff", b"[" * 9**5]
)
def test_what_is_no_table_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse_ema(payload)
