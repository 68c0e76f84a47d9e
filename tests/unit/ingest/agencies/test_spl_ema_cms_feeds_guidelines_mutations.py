"""Whatever arrives: labels, EMA, CMS, feeds and guidelines end in a result or Malformed."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any
from xml.etree.ElementTree import fromstring, tostring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.fakes.cms import Cms
from tests.fakes.dailymed import DailyMed, spl
from tests.fakes.ema import Ema
from tests.fakes.news import Item, rss
from tests.fakes.web import Clock
from tests.fuzz.mutations import damaged, mutate_tree, mutated
from tests.fuzz.properties import a_payload_is_read_or_malformed
from tests.grid import grid
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.cms.coverage import parse_cms
from workers.ingest.parsers.dailymed import parse_dailymed, parse_listing
from workers.ingest.parsers.ema import parse_ema
from workers.ingest.parsers.feeds import parse_feed
from workers.ingest.parsers.guideline import parse_guideline

CLOCK = Clock(datetime(2026, 3, 1, tzinfo=UTC))


def _label() -> bytes:
    fake = DailyMed(CLOCK)
    fake.put("00000000-0000-4000-8000-000000000001", "Testovax")
    table = (
        b"<component><section><title>T</title><text><table><tr><td>1<footnote ID='n'>w</footnote>"
        b"</td></tr></table><list listType='ordered'><item>a<sup>2</sup></item></list></text>"
        b"<component><section><text><paragraph>p<br/>q</paragraph></text></section></component>"
        b"</section></component></structuredBody>"
    )
    label = spl(next(iter(fake.labels.values())))
    return label.replace(b"</structuredBody>", table)


def _medicines() -> Any:
    fake = Ema(CLOCK)
    fake.put("EMEA/H/C/000001", "Testovax")
    fake.put("EMEA/V/C/000002", "Testovet", category="Veterinary")
    return json.loads(fake.body())


def _coverage() -> Any:
    fake = Cms(CLOCK)
    fake.put("lcd", 38001, "MolDX: Made-up")
    fake.change("lcd", 38001, retirement_date="02/01/2026")
    row = fake.documents["lcd", 38001].row
    detail = {"indication": "&lt;p&gt;81000, 81001&lt;&sol;p&gt;", "bibliography": "x"}
    return {"report": "lcd", "asked_on": "2026-03-01", "data": [row], "detail": detail}


def _listing(payload: bytes) -> Parsed:
    parse_listing(payload, 1, "testovax")
    return Parsed()


def _with_name(content: bytes) -> bytes:
    return envelope.wrap(content, set_id="00000000-0000-4000-8000-000000000001")


def _in_feed(content: bytes) -> bytes:
    return envelope.wrap(content, feed="fda-press")


FEED = rss(
    "Made up",
    [
        Item("g1", "T", "<p>One <b>two</b></p>", "https://www.fda.gov/a", CLOCK()),
        Item("g2", "U", "", "https://evil.example/b", CLOCK()),
    ],
)
LISTING: Any = {
    "data": [{"setid": "00000000-0000-4000-8000-000000000001", "title": "TESTOVAX [X]"}],
    "metadata": {"next_page": "null", "total_elements": 1},
}
GUIDELINE: Any = json.loads(
    envelope.wrap(
        b"# H\n\nWords",
        path="a.md",
        sha256="0",
        sidecar={
            "title": "T",
            "organisation": "NCCN",
            "version": "1",
            "effective_date": "2026-01-31",
            "licence_note": "N",
        },
    )
)

Parser = Callable[[bytes], Parsed]
JSON_CASES: dict[str, tuple[Parser, Any]] = {
    "ema": (parse_ema, _medicines()),
    "cms": (parse_cms, _coverage()),
    "cms without text": (parse_cms, {**_coverage(), "without_text": True}),
    "dailymed listing": (_listing, LISTING),
    "guideline": (parse_guideline, GUIDELINE),
}
XML_CASES: dict[str, tuple[Parser, bytes, Callable[[bytes], bytes]]] = {
    "label": (parse_dailymed, _label(), bytes),
    "named label": (parse_dailymed, _label(), _with_name),
    "feed": (parse_feed, FEED, _in_feed),
}


def check_json(name: str, random: Random) -> None:
    """One example of a JSON payload after some damage."""
    parse, value = JSON_CASES[name]
    for _ in range(random.randrange(4)):
        value = mutated(value, random)
    payload = json.dumps(value).encode()
    if random.random() < 0.3:
        payload = damaged(payload, random)
    a_payload_is_read_or_malformed(parse, payload)


def check_xml(name: str, random: Random) -> None:
    """One example of an XML payload after some damage."""
    parse, content, packed = XML_CASES[name]
    root = fromstring(content)
    for _ in range(random.randrange(4)):
        mutate_tree(root, random)
    content = tostring(root, encoding="utf-8")
    if random.random() < 0.3:
        content = damaged(content, random)
    a_payload_is_read_or_malformed(parse, packed(content))


@pytest.mark.parametrize("name", JSON_CASES)
@examples(100)
@given(random=st.randoms(use_true_random=False))
def test_damaged_json_gives_a_result_or_malformed(name: str, random: Random) -> None:
    check_json(name, random)


@pytest.mark.parametrize("name", XML_CASES)
@examples(100)
@given(random=st.randoms(use_true_random=False))
def test_damaged_xml_gives_a_result_or_malformed(name: str, random: Random) -> None:
    check_xml(name, random)


@grid("name", [*JSON_CASES, *XML_CASES])
def test_undamaged_payloads_are_read(name: str) -> None:
    if name in JSON_CASES:
        parse, value = JSON_CASES[name]
        parsed = a_payload_is_read_or_malformed(parse, json.dumps(value).encode())
    else:
        reader, content, packed = XML_CASES[name]
        parsed = a_payload_is_read_or_malformed(reader, packed(content))
    assert isinstance(parsed, Parsed)
    assert parsed.records or name == "dailymed listing"
