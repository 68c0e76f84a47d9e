"""Medicare coverage: reports, what changed since the marks, texts only where that is allowed."""

from collections.abc import Mapping
from typing import Any

import pytest

from store.documents.records import SourceRecord
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.cms import Cms as FakeCms
from tests.fakes.web import Clock, FakeWeb, Reply
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused
from workers.ingest.connectors.base import Ask, Continuation, Page
from workers.ingest.connectors.cms import CMS, TEXTS_A_STEP, Cms
from workers.ingest.parsers.base import Parsed

LICENSED = Cms(accept_license=True)


@pytest.fixture
def fake(clock: Clock) -> FakeCms:
    cms = FakeCms(clock)
    cms.put("lcd", 38001, "MolDX: Made-up Residual Disease Testing", indication="<p>Covered.</p>")
    cms.put("lcd", 38002, "Made-up Wheelchairs")
    cms.put("article", 57001, "MolDX: Billing of Made-up Tests")
    cms.put(
        "ncd",
        371,
        "Made-up Sequencing in Cancer",
        item_service_description="<p>It sequences.</p>",
        indications_limitations="<p>Covered once, if p &lt; 0.05.</p>",
    )
    return cms


def refresh(
    client: SourceClient, query: str, marks: Mapping[str, Any] | None = None, cms: Cms = CMS
) -> list[Page]:
    wanted = Ask(cms.check_query(query), None, client.now(), marks or {})
    found: list[Page] = []
    continuation: Continuation | None = None
    while not found or continuation is not None:
        found.append(cms.page(client, wanted, continuation))
        continuation = found[-1].next
        assert len(found) < 100, "the reports never end"
    return found


def read(found: list[Page]) -> Parsed:
    parsed = Parsed()
    for page in found:
        for payload in page.payloads:
            parsed.add(CMS.parse(payload.content))
    return parsed


def records(found: list[Page]) -> dict[str, SourceRecord]:
    return {record.key: record for record in read(found).records}


def test_moldx_is_what_titles_begin_with(fake: FakeCms, source_client: MakeClient) -> None:
    fake.put("lcd", 38003, "Not of MolDX: Made-up")
    with FakeWeb(fake) as web:
        found = records(refresh(source_client("cms", web), "MolDX"))
    assert set(found) == {"lcd_id:l38001", "lcd_id:a57001"}
    assert all(record.facts["moldx"] for record in found.values())


def test_words_and_ids_find_documents_of_all_three_reports(
    fake: FakeCms, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        everything = records(refresh(client, "made-up"))
        by_id = records(refresh(client, "L38002"))
    assert set(everything) == {"lcd_id:l38001", "lcd_id:l38002", "lcd_id:a57001", "payer:ncd:371"}
    assert set(by_id) == {"lcd_id:l38002"}


def test_the_licence_is_never_accepted_without_opt_in(
    fake: FakeCms, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        found = records(refresh(client, "moldx"))
        CMS.fetch(client, ["lcd_id:l38001"])
        asked = {request.path for request in web.requests}
    assert fake.accepted == 0
    assert not any("license" in path or "/data/lcd" in path for path in asked)
    assert "Covered." not in found["lcd_id:l38001"].text
    assert "- Effective date: 01/15/2026" in found["lcd_id:l38001"].text


def test_with_opt_in_an_lcd_has_its_text_unescaped_twice(
    fake: FakeCms, source_client: MakeClient
) -> None:
    fake.change(
        "lcd",
        38001,
        indication="<p>Covered&nbsp;for stage II/III, HR &lt; 1.</p><ul><li>once</li></ul>",
        summary_of_evidence="<p>None.</p>",
    )
    with FakeWeb(fake) as web:
        found = records(refresh(source_client("cms", web), "moldx", cms=LICENSED))
    text = found["lcd_id:l38001"].text
    assert "Necessity\n\nCovered\xa0for stage II/III, HR < 1.\n\n- once\n\n## Summary" in text
    assert fake.accepted == 1


def test_a_text_without_token_is_refused(fake: FakeCms, source_client: MakeClient) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        with pytest.raises(Refused, match="401"):
            client.get("https://api.coverage.cms.gov/v1/data/lcd", {"lcdid": 38001, "ver": 1})
        web.fault = lambda request: (
            Reply(401, b"{}") if request.path.endswith("/data/lcd") else None
        )
        with pytest.raises(Refused):
            refresh(client, "moldx", cms=LICENSED)


def test_an_ncd_has_its_text_without_any_licence(fake: FakeCms, source_client: MakeClient) -> None:
    with FakeWeb(fake) as web:
        found = records(refresh(source_client("cms", web), "sequencing"))
    record = found["payer:ncd:371"]
    assert "## Item/Service Description\n\nIt sequences." in record.text
    assert "Covered once, if p < 0.05." in record.text
    assert fake.accepted == 0


def test_only_what_changed_comes_again(
    fake: FakeCms, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        first = refresh(client, "made-up")
        before = len(web.requests)
        nothing = refresh(client, "made-up", first[-1].marks)
        assert records(nothing) == {}
        assert not any("/data/" in request.path for request in web.requests[before:])
        clock.advance(hours=1)
        fake.change("lcd", 38002)
        fake.change("ncd", 371, indications_limitations="<p>Covered twice.</p>")
        second = records(refresh(client, "made-up", nothing[-1].marks))
    assert set(second) == {"lcd_id:l38002", "payer:ncd:371"}
    assert second["lcd_id:l38002"].version_label == "2"
    assert "Covered twice." in second["payer:ncd:371"].text


def test_a_later_opt_in_fetches_the_texts_of_known_documents(
    fake: FakeCms, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        marks = refresh(client, "moldx")[-1].marks
        found = records(refresh(client, "moldx", marks, LICENSED))
    assert set(found) == {"lcd_id:l38001"}


def test_a_retirement_date_that_comes_withdraws_a_document_that_did_not_change(
    fake: FakeCms, clock: Clock, source_client: MakeClient
) -> None:
    fake.change("lcd", 38002, retirement_date="03/05/2026")
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        first = refresh(client, "wheelchairs")
        (record,) = read(first).records
        assert record.notices == ()
        clock.advance(hours=24 * 3)
        (record,) = read(refresh(client, "wheelchairs", first[-1].marks)).records
    (notice,) = record.notices
    assert (notice.kind, str(notice.stated_on)) == ("withdrawal", "2026-03-05")


def test_reports_are_read_by_token_to_their_end(fake: FakeCms, source_client: MakeClient) -> None:
    fake.page_size = 2
    for number in range(38010, 38015):
        fake.put("lcd", number, "Made-up Policy")
    with FakeWeb(fake) as web:
        found = refresh(source_client("cms", web), "made-up policy")
        tokens = [
            request.params.get("next_token")
            for request in web.requests
            if request.path.endswith("final-lcds")
        ]
    assert tokens == [None, "2", "4", "6"]
    assert len(records(found)) == 5


def test_a_token_that_leads_to_itself_is_malformed(
    fake: FakeCms, source_client: MakeClient
) -> None:
    loop = b'{"meta": {"next_token": "x"}, "data": [{"document_id": 1, "title": "Made-up"}]}'
    with FakeWeb(fake) as web:
        web.fault = lambda request: Reply(200, loop)
        with pytest.raises(Malformed, match="without end"):
            refresh(source_client("cms", web), "moldx")


def test_texts_come_some_at_a_time(fake: FakeCms, source_client: MakeClient) -> None:
    for number in range(400, 445):
        fake.put("ncd", number, "Made-up Rule", indications_limitations="<p>Yes.</p>")
    with FakeWeb(fake) as web:
        found = refresh(source_client("cms", web), "made-up rule")
    assert max(len(page.payloads) for page in found) == TEXTS_A_STEP
    assert len(records(found)) == 45
    assert len(found[-1].marks) == 45
    assert all(page.marks == {} for page in found[:-1])


def no_text(web: FakeWeb, *, missing: bool) -> None:
    web.fault = lambda request: (
        Reply(200, b'{"meta": {}, "data": []}') if missing and "/data/" in request.path else None
    )


def test_a_document_that_never_had_a_text_at_the_api_is_kept_as_its_row_and_asked_for_again(
    fake: FakeCms, source_client: MakeClient
) -> None:
    marks: Mapping[str, Any] = {}
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        for _ in range(2):
            no_text(web, missing=True)
            found = refresh(client, "sequencing", marks)
            parsed, marks = read(found), found[-1].marks
            assert parsed.records[0].text.startswith("# Made-up Sequencing in Cancer\n")
            assert [problem.source_id for problem in parsed.problems] == ["payer:ncd:371"]
        no_text(web, missing=False)
        found = refresh(client, "sequencing", marks)
        assert "It sequences." in records(found)["payer:ncd:371"].text
        assert records(refresh(client, "sequencing", found[-1].marks)) == {}


def test_an_empty_answer_replaces_no_text_that_is_held(
    fake: FakeCms, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        marks = refresh(client, "sequencing")[-1].marks
        clock.advance(hours=24)
        fake.change("ncd", 371)
        for _ in range(2):
            no_text(web, missing=True)
            found = refresh(client, "sequencing", marks)
            parsed, marks = read(found), found[-1].marks
            assert parsed.records == []
            assert [problem.source_id for problem in parsed.problems] == ["payer:ncd:371"]
        assert read([CMS.fetch(client, ["payer:ncd:371"])]).records == []
        no_text(web, missing=False)
        found = refresh(client, "sequencing", marks)
        assert "It sequences." in records(found)["payer:ncd:371"].text
        assert records(refresh(client, "sequencing", found[-1].marks)) == {}


def test_a_retired_document_is_withdrawn_though_its_text_is_gone(
    fake: FakeCms, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        marks = refresh(client, "l38001", cms=LICENSED)[-1].marks
        fake.change("lcd", 38001, retirement_date=f"{clock():%m/%d/%Y}")
        no_text(web, missing=True)
        (record,) = read(refresh(client, "l38001", marks, LICENSED)).records
    assert [notice.kind for notice in record.notices] == ["withdrawal"]


def test_all_that_is_listed_no_longer_is_told(fake: FakeCms, source_client: MakeClient) -> None:
    for number in range(58000, 58150):
        fake.put("article", number, "MolDX: Made-up Rule")
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        marks = refresh(client, "moldx rule")[-1].marks
        for number in range(58000, 58150):
            fake.delete("article", number)
        found = refresh(client, "moldx rule", marks)
    assert {problem.source_id for problem in read(found).problems} == set(marks)
    assert len(marks) == 150


def test_a_document_that_is_listed_no_longer_is_told(
    fake: FakeCms, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        marks = refresh(client, "made-up")[-1].marks
        fake.delete("lcd", 38002)
        found = refresh(client, "made-up", marks)
    parsed = read(found)
    assert [problem.source_id for problem in parsed.problems] == ["lcd_id:l38002"]
    assert parsed.gone == []
    assert all(page.complete for page in found)


def test_an_empty_report_is_a_fault_and_no_word_on_its_documents(
    fake: FakeCms, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        marks = refresh(client, "made-up")[-1].marks
        web.fault = lambda request: (
            Reply(200, b'{"meta": {}, "data": []}') if "final-lcds" in request.path else None
        )
        found = refresh(client, "made-up", marks)
    assert read(found).problems == []
    assert not all(page.complete for page in found)


def test_documents_by_key(fake: FakeCms, source_client: MakeClient) -> None:
    keys = ["lcd_id:l38001", "payer:ncd:371", "lcd_id:l11111", "pmid:1"]
    with FakeWeb(fake) as web:
        client = source_client("cms", web)
        plain = records([CMS.fetch(client, keys)])
        assert not any("articles" in request.path for request in web.requests)
        texts = records([LICENSED.fetch(client, keys)])
    assert set(plain) == set(texts) == set(keys[:2])
    assert "Covered." in texts["lcd_id:l38001"].text


@pytest.mark.parametrize("body", [b"<html>", b'{"meta": {}}', b'{"data": "x"}', b"[]"])
def test_an_answer_without_data_is_malformed(
    body: bytes, fake: FakeCms, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        web.fault = lambda request: Reply(200, body)
        with pytest.raises(Malformed):
            refresh(source_client("cms", web), "moldx")


@pytest.mark.parametrize("query", ["", ":", "x", "y" * 300])
def test_a_query_without_words_is_refused(query: str) -> None:
    with pytest.raises(InvalidQuery):
        CMS.check_query(query)


def test_a_query_has_one_spelling() -> None:
    assert CMS.check_query(" MolDX:  Lung 220.12 ") == "moldx lung 220.12"


def test_a_continuation_of_another_connector_is_refused(
    fake: FakeCms, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web, pytest.raises(Malformed):
        CMS.page(source_client("cms", web), Ask("moldx", None, clock()), {"page": 2})
