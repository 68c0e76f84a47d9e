"""Labels in SPL: sections in their order, narrative as text, data elements as facts."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from clinical_text.structure import segment
from store.documents.records import SourceRecord
from tests.fakes.dailymed import DailyMed, spl
from tests.fakes.web import Clock
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers import envelope
from workers.ingest.parsers.dailymed import parse_dailymed, parse_listing
from workers.ingest.parsers.spl.label import LEFT_OUT, MAPPED, parse_spl

SET_ID = "00000000-0000-4000-8000-000000000001"
SHARED = Path(__file__).resolve().parents[5] / "shared"
LABELS = SHARED / "data" / "openfda" / "spl"
SAMPLES = SHARED / "data" / "wire_samples"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the real payloads are not here")


def document(body: str, *, head: str = "", title: str = "Testovax (madeupmab)") -> bytes:
    return (
        f'<document xmlns="urn:hl7-org:v3"><title>{title}</title>'
        f'<effectiveTime value="20260131"/><setId root="{SET_ID}"/><versionNumber value="3"/>{head}'
        f"<component><structuredBody>{body}</structuredBody></component></document>"
    ).encode()


def section(text: str, *, title: str = "1 USES", code: str = "", inner: str = "") -> str:
    heading = f"<title>{title}</title>" if title else ""
    return f"<component><section>{code}{heading}<text>{text}</text>{inner}</section></component>"


def only(payload: bytes) -> SourceRecord:
    parsed = parse_spl(payload)
    assert parsed.problems == []
    (record,) = parsed.records
    return record


def narrative(text: str) -> str:
    return only(document(section(text))).text.partition("## 1 USES\n\n")[2]


def test_a_cell_over_several_rows_keeps_the_others_in_their_columns() -> None:
    table = (
        '<table><tr><th rowspan="2">Event</th><th colspan="2">Drug</th><th>Placebo</th></tr>'
        "<tr><th>all</th><th>severe</th><th>all</th></tr>"
        "<tr><td>Rash</td><td>5%</td><td>1%</td><td>2%</td></tr></table>"
    )
    assert narrative(table) == (
        "Event | Drug |  | Placebo\nEvent | all | severe | all\nRash | 5% | 1% | 2%"
    )


def test_a_label_is_named_by_its_set_id_and_links_to_its_own_page() -> None:
    record = only(document(section("<paragraph>Words.</paragraph>")))
    assert record.key == f"set_id:{SET_ID}"
    assert record.url == f"https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid={SET_ID}"
    assert record.source_type == "label"
    assert record.published_at == datetime(2026, 1, 31, tzinfo=UTC)
    assert record.facts["spl_version"] == 3


def test_facts_come_from_the_data_elements() -> None:
    fake = DailyMed(Clock(datetime(2026, 3, 2, tzinfo=UTC)))
    fake.put(SET_ID, "Testovax")
    record = only(spl(fake.labels[SET_ID]))
    assert record.title == "Testovax (madeupmab) injection"
    assert record.publisher == "Invented Labs, Inc."
    assert record.publication_type == "HUMAN PRESCRIPTION DRUG LABEL"
    assert record.facts == {
        "spl_id": "0f1e2d3c-0000-4000-8000-000000000001",
        "spl_version": 1,
        "effective_time": "2026-03-02",
        "initial_us_approval": 2031,
        "labeler": "Invented Labs, Inc.",
        "products": ["Testovax"],
        "generic_names": ["madeupmab"],
        "active_ingredients": ["MADEUPMAB"],
        "active_moieties": ["MADEUPMAB"],
        "dosage_forms": ["INJECTION"],
        "routes": ["SUBCUTANEOUS"],
        "application_numbers": ["BLA000001"],
        "marketing_categories": ["BLA"],
        "ndc_count": 1,
        "sections": [{"loinc": "34067-9", "title": "1 INDICATIONS AND USAGE"}],
    }


def test_sections_nest_as_headings_and_segment_finds_them() -> None:
    inner = section("<paragraph>Once.</paragraph>", title="2.1 Adults")
    record = only(
        document(
            section("<paragraph>For tests.</paragraph>", title="1 USES")
            + section("<paragraph>As told.</paragraph>", title="2 DOSES", inner=inner)
        )
    )
    assert record.text == (
        "Testovax (madeupmab)\n\n## 1 USES\n\nFor tests.\n\n## 2 DOSES\n\nAs told.\n\n"
        "### 2.1 Adults\n\nOnce."
    )
    found = [one.title for one in segment(record.text).sections]
    assert found == ["", "1 USES", "2 DOSES", "2.1 Adults"]


def test_a_section_without_title_is_named_by_its_code_unless_that_says_nothing() -> None:
    named = '<code code="42231-1" displayName="SPL MEDGUIDE SECTION"/>'
    unnamed = '<code code="42229-5" displayName="SPL UNCLASSIFIED SECTION"/>'
    record = only(
        document(
            section("<paragraph>Read.</paragraph>", title="", code=named)
            + section("<paragraph>More.</paragraph>", title="", code=unnamed)
            + section("", title="", code=named)
        )
    )
    assert record.text.endswith("\n\n## MEDGUIDE\n\nRead.\n\nMore.")


def test_a_title_alone_is_kept() -> None:
    record = only(document(section("", title="4.1 Active made-up disease")))
    assert record.text.endswith("\n\n## 4.1 Active made-up disease")


@grid(
    ("text", "expected"),
    [
        ("<paragraph>One <content>two</content>\n  three.</paragraph>", "One two three."),
        ("<paragraph>One<br/>two</paragraph>", "One\ntwo"),
        ("Loose words<paragraph>One</paragraph>tail", "Loose words\n\nOne\n\ntail"),
        (
            "<list><item>a</item><item>b<list><item>c</item></list></item></list>"
            "<paragraph>d</paragraph>",
            "- a\n- b\n- c\n\nd",
        ),
        (
            '<list listType="ordered"><caption>Steps</caption><item>a</item><item>b</item></list>',
            "Steps\n\n1. a\n2. b",
        ),
        (
            "<table><caption>Table 1</caption><thead><tr><th/><th>A</th></tr></thead>"
            "<tbody><tr><td>x<paragraph>y</paragraph></td><td>1</td></tr><tr><td/></tr></tbody>"
            "</table>",
            "Table 1\n\n| A\nx y | 1",
        ),
        ("<paragraph>5 mg/m<sup>2</sup>, H<sub>2</sub>O, X<sup>®</sup></paragraph>",
         "5 mg/m², H2O, X®"),
        (
            '<paragraph>a<footnote ID="n">why</footnote> b<footnoteRef IDREF="n"/></paragraph>',
            "a† b†\n\n† why",
        ),
        (
            '<table><tbody><tr><td>1<footnote ID="n">why</footnote></td></tr></tbody></table>'
            "<paragraph>after</paragraph>",
            "1†\n\n† why\n\nafter",
        ),
        ('<renderMultiMedia referencedObject="x"/><paragraph>a</paragraph>', "a"),
        ("<unheardOf>kept</unheardOf>", "kept"),
    ],
)  # fmt: skip
def test_narrative(text: str, expected: str) -> None:
    assert narrative(text) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (
            "These highlights do not include all the information needed to use X. See full "
            "prescribing information for X.<br/>X<sup>®</sup> (y) tablets<br/>"
            "Initial U.S. Approval: 1996",
            "X® (y) tablets",
        ),
        (
            "These highlights do not include all. See full prescribing information for X. "
            "X (y) tablets Initial U.S. Approval: 1996",
            "X (y) tablets",
        ),
        ("Aspirin tablets", "Aspirin tablets"),
        ("", "Drug label"),
        ("These highlights do not include all", "Drug label"),
    ],
)
def test_the_title_is_the_line_that_names_the_product(title: str, expected: str) -> None:
    record = only(document(section("<paragraph>Words.</paragraph>"), title=title))
    assert record.title == expected


@pytest.mark.parametrize(
    ("value", "day", "precision"),
    [
        ("20140113", "2014-01-13", "day"),
        ("20140113120000+0000", "2014-01-13", "day"),
        ("201401", "2014-01", "month"),
        ("2014", "2014", "year"),
    ],
)
def test_the_date_has_the_precision_that_is_stated(value: str, day: str, precision: str) -> None:
    payload = document(section("x")).replace(b'value="20260131"', f'value="{value}"'.encode())
    record = only(payload)
    assert (record.facts["effective_time"], record.published_precision) == (day, precision)


@pytest.mark.parametrize("value", ["20141345", "soon", "2014011", "00000000"])
def test_a_date_or_version_that_is_none_is_a_doubt(value: str) -> None:
    payload = document(section("x")).replace(b'value="20260131"', f'value="{value}"'.encode())
    parsed = parse_spl(payload.replace(b'value="3"', b'value="three"'))
    assert [doubt.kind for doubt in parsed.doubts] == ["effective_time", "spl_version"]
    assert parsed.records[0].published_at is None
    assert "spl_version" not in parsed.records[0].facts


def test_a_label_without_set_id_is_a_problem() -> None:
    parsed = parse_spl(document(section("x")).replace(SET_ID.encode(), b"none"))
    assert (parsed.records, len(parsed.problems)) == ([], 1)


def test_highlights_and_pictures_are_left_out_and_unknown_elements_counted() -> None:
    inner = (
        "<excerpt><highlight><text>digest</text></highlight></excerpt>"
        "<component><observationMedia><text>picture</text></observationMedia></component>"
        "<novelty><deeper/></novelty>"
    )
    parsed = parse_spl(document(section("x", inner=inner), head="<oddity/><oddity/>"))
    assert "digest" not in parsed.records[0].text
    assert "picture" not in parsed.records[0].text
    assert parsed.unmapped == Counter({"document/oddity": 2, "section/novelty": 1})


def test_what_is_mapped_is_not_left_out_as_well() -> None:
    mapped = {f"{parent}/{child}" for parent, names in MAPPED.items() for child in names.split()}
    assert not mapped & set(LEFT_OUT)


@grid(
    "payload",
    [
        b"",
        b"not xml",
        b'{"gone": 5}',
        b"<html/>",
        b"<document/>",
        document(section("x"))[:-20],
        b'<!DOCTYPE d [<!ENTITY a "b">]><document xmlns="urn:hl7-org:v3">&a;</document>',
        b'<document xmlns="urn:hl7-org:v3">' + b"<component>" * 5000,
    ],
)
def test_what_is_no_label_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse_dailymed(payload)


def test_a_word_that_a_label_is_gone() -> None:
    assert parse_dailymed(envelope.gone(f"set_id:{SET_ID}")).gone == [f"set_id:{SET_ID}"]
    assert parse_dailymed(envelope.problem(None, "x")).problems[0].reason == "x"


@needs_shared
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "humira.xml",
            {
                "title": "HUMIRA (adalimumab) injection, for subcutaneous use",
                "set_id": "608d4f0d-b19f-46d3-749a-7159aa5f933d",
                "version": 1560,
                "labeler": "AbbVie Inc.",
                "active": ["ADALIMUMAB"],
                "application": "BLA125057",
                "day": "2013-09-30",
            },
        ),
        (
            "lipitor-orig.xml",
            {
                "title": "LIPITOR® (atorvastatin calcium) Tablets for oral administration",
                "set_id": "c6e131fe-e7df-4876-83f7-9156fc4e8228",
                "version": 11,
                "labeler": "Parke-Davis Div of Pfizer Inc",
                "active": ["ATORVASTATIN CALCIUM TRIHYDRATE"],
                "application": "NDA020702",
                "day": "2014-01-13",
            },
        ),
    ],
)
def test_real_labels(name: str, expected: dict[str, object]) -> None:
    payload = (LABELS / name).read_bytes()
    parsed = parse_spl(payload)
    assert (parsed.problems, parsed.doubts, dict(parsed.unmapped)) == ([], [], {})
    (record,) = parsed.records
    assert {
        "title": record.title,
        "set_id": record.identifiers.set_id,
        "version": record.facts["spl_version"],
        "labeler": record.facts["labeler"],
        "active": record.facts["active_ingredients"],
        "application": record.facts["application_numbers"][0],
        "day": record.facts["effective_time"],
    } == expected
    titles = [one.title for one in segment(record.text).sections]
    assert "5.1 Serious Infections" in titles or "5.1 Skeletal Muscle" in titles


@needs_shared
@pytest.mark.parametrize("name", ["humira.xml", "lipitor-orig.xml"])
def test_no_word_of_a_real_labels_sections_is_lost(name: str) -> None:
    payload = (LABELS / name).read_bytes()
    text = parse_spl(payload).records[0].text.translate(str.maketrans("²³⁹⁰¹", "23901"))
    kept = Counter(letter for letter in text if letter.isalnum())
    wanted: Counter[str] = Counter()
    root = fromstring(payload)
    for one in root.iter("{urn:hl7-org:v3}section"):
        for part in ("title", "text"):
            found = one.find(f"{{urn:hl7-org:v3}}{part}")
            if found is not None:
                wanted.update(letter for letter in "".join(found.itertext()) if letter.isalnum())
    assert not wanted - kept


@needs_shared
def test_a_real_listing_with_a_homonym() -> None:
    payload = (SAMPLES / "dailymed_spls.json").read_bytes()
    found = parse_listing(payload, 1, "siliq")
    assert found.set_ids == ("1a550c33-456a-4833-814e-8591aea7c688",)
    assert (found.next_page, found.total) == (None, 2)
    assert len(parse_listing(payload, 1, None).set_ids) == 2


@grid(
    ("following", "data", "expected"),
    [
        (2, [1], 2), ("2", [1], 2), ("null", [1], None), (None, [1], None), ("", [1], None),
        (1, [1], None), (2, [], None), (True, [1], None), ([2], [1], None),
    ],
)  # fmt: skip
def test_where_a_listing_goes_on(following: object, data: list[int], expected: int | None) -> None:
    import json

    body = {"data": data, "metadata": {"next_page": following, "total_elements": "5"}}
    found = parse_listing(json.dumps(body).encode(), 1, None)
    assert (found.next_page, found.total) == (expected, 5)
