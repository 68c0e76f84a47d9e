"""The pages over the real app: they are whole, they say what is so, and they run no text."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest
from bs4 import BeautifulSoup, Tag
from lxml import etree

from api_gateway.pages.rendering import policy, static_files
from benchmarks.pages import answer_body
from messages import Stage
from store.core.hashes import json_hash
from store.models import Document, DocumentVersion, now
from store.sources import watches
from store.texts import verifications
from store.texts.verifications import VERIFICATIONS
from tests.integration.gateway.conftest import Running
from tests.payloads import BATCHES, PAYLOADS

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HARMLESS = "harmless words"
ADDRESSES = ("href", "src", "action", "formaction", "cite", "srcset", "data")
ALLOWED = ("/", "#", "https://example.org/")


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "lxml")


def tags(html: str) -> list[tuple[str, tuple[str, ...]]]:
    """The elements of a page in their order, with the names of their attributes."""
    found = etree.HTML(html).iter(etree.Element)
    return [(str(one.tag), tuple(sorted(map(str, one.attrib)))) for one in found]


SHAPE = {"section", "h3", "p", "mark", "span", "tr", "td", "del", "ins"}
SHAPE_ATTRIBUTES = {"id", "class", "dir", "aria-label", "colspan"}


def frame(html: str) -> list[tuple[str, tuple[str, ...]]]:
    """The elements around a document's text; how many it has itself depends on its words."""
    return [
        (name, attributes)
        for name, attributes in tags(html)
        if name not in SHAPE or not SHAPE_ATTRIBUTES.issuperset(attributes)
    ]


def words(html: str) -> str:
    return " ".join("".join(etree.HTML(html).itertext()).split())


def refuse_foreign_addresses(html: str) -> None:
    for one in etree.HTML(html).iter(etree.Element):
        assert not [name for name in one.attrib if str(name).startswith("on")], one.attrib
        for name in ADDRESSES:
            assert one.get(name, "/").startswith(ALLOWED), one.attrib


def page(gateway: Running, path: str, status: int = 200) -> str:
    """What a browser shows at this address, wherever it is led from there."""
    response = gateway.client.get(path, headers=BROWSER, follow_redirects=True)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return response.text


def ask(gateway: Running, text: str, **fields: str) -> str:
    """Send the form as a browser does; the page it leads to."""
    response = gateway.client.post(
        "/ask",
        data={"question": text, "as_of": "", "patient_context": "", **fields},
        headers={**BROWSER, "Origin": gateway.url.rstrip("/")},
    )
    assert response.status_code == 303, response.text
    return str(response.headers["location"])


def answered(
    gateway: Running, text: str = "A question?", body: dict[str, Any] | None = None
) -> str:
    """A question with this answer; its page."""
    path = ask(gateway, text)
    gateway.answer(path.rpartition("/")[2], body or answer_body(1, 1))
    return path


def hold(gateway: Running, *texts: str, **fields: Any) -> UUID:
    """A document with these versions, the last one current; `fields` are those of all of them."""
    document = Document(source_type="pubmed", source_key=f"test:{uuid4()}", checked_at=now())
    given = {
        "title": "A title",
        "url": None,
        "publisher": None,
        "publication_type": None,
        "evidence_level": None,
        "version_label": None,
        "identifiers": {},
        "authors": [],
        "labels": [],
        "published_at": None,
        **fields,
    }
    with gateway.store.unit_of_work("test") as work:
        work.session.add(document)
        work.session.flush()
        for n, text in enumerate(texts, start=1):
            version = DocumentVersion(
                document_id=document.id,
                n=n,
                content_hash=json_hash([text, n]),
                text=text,
                structure={},
                source_type="pubmed",
                fetched_at=now(),
                status="current" if n == len(texts) else "superseded",
                **given,
            )
            work.session.add(version)
    return document.id


def checked(gateway: Running, text: str, told: str) -> str:
    """A finished verification of `text` in which every word that was found is `told`."""
    place = {
        "source": "D1",
        "document_id": None,
        "version": None,
        "chunk_id": None,
        "section": told,
        "start": 0,
        "end": 4,
        "quote": told,
        "quote_verdict": "verbatim",
        "citation": None,
    }
    statement = {
        "statement_id": "s1",
        "start": 0,
        "end": len(text),
        "text": text,
        "claims": True,
        "verdict": "unsupported",
        "verification_status": "unverified",
        "basis": None,
        "findings": [{"code": "number", "detail": told}],
        "citations": [place],
        "quotations": [
            {
                "start": 0,
                "end": 4,
                "text": told,
                "quote_verdict": "altered",
                "detail": told,
                "source": "D1",
                "found": place,
            }
        ],
        "identifiers": [told],
    }
    named = {"identifier": told, "kind": "doi", "value": told, "state": "held", "sources": ["D1"]}
    result = {
        "against": "documents",
        "statements": [statement],
        "identifiers": [named],
        "sources": [{"source": "D1", "title": told, "document_id": None}],
        "summary": {
            "claims": 1,
            "verified_count": 0,
            "partial_count": 0,
            "unverified_count": 1,
            "conflicting_count": 0,
        },
    }
    with gateway.store.unit_of_work("test", request_id=uuid4()) as work:
        row = verifications.submit(work, text, [{"title": told, "text": f"1234 {told}"}])
        VERIFICATIONS.done(work, row.id, result)
    return f"/verify/{row.id}"


# what is shown


def test_a_question_that_is_sent_leads_to_its_page_and_is_promised(gateway: Running) -> None:
    path = ask(gateway, "Does xyzomab help?", as_of="2026-01-31", patient_context="Mrs. Xyzzy")
    question_id = path.rpartition("/")[2]
    options = gateway.scalar("SELECT options FROM question WHERE id = :id", id=question_id)
    assert options == {"as_of": "2026-01-31", "patient_context": "Mrs. Xyzzy"}
    assert gateway.count("outbox", "payload->>'question_id' = :id", id=question_id) == 1
    html = page(gateway, path)
    assert "Does xyzomab help?" in words(html)
    assert "as of 31 Jan 2026" in words(html)
    assert "Mrs. Xyzzy" not in html


def test_the_page_of_an_open_question_works_without_scripts(gateway: Running) -> None:
    path = ask(gateway, "Open?")
    gateway.run_stage(path.rpartition("/")[2], Stage.RETRIEVE)
    found = soup(page(gateway, path))
    refresh = found.select_one('head noscript meta[http-equiv="refresh"]')
    assert refresh is not None
    assert found.select_one(f'a[href="{path}"]') is not None
    assert [one["data-status"] for one in found.select("[data-stage]")] == [
        "done",
        "pending",
        "pending",
        "pending",
    ]
    events = found.select_one("[data-events]")
    assert events is not None
    assert events["data-events"] == f"/v1{path}/events"


@pytest.mark.requirement("SP-B2")
@pytest.mark.requirement("EB-8.1")
def test_an_answer_is_shown_with_badges_clocks_references_and_links(gateway: Running) -> None:
    found = soup(page(gateway, answered(gateway)))
    claim = found.select_one("li.claim")
    assert isinstance(claim, Tag)
    assert "Verified" in claim.get_text()
    assert "published 20 Oct 2025" in " ".join(claim.get_text().split())
    assert "Fresh (38 h old, limit 7 d)" in " ".join(claim.get_text().split())
    link = claim.select_one("a.evidence-link")
    assert link is not None
    assert str(link["href"]).endswith("?start=10&end=90#span")
    reference = found.select_one("a.reference-title")
    assert reference is not None
    assert reference["href"] == "https://example.org/works/1"
    assert found.select_one('meta[http-equiv="refresh"]') is None


@pytest.mark.parametrize(
    ("form", "kind", "holds"),
    [
        ("md", "text/markdown", "# A question?"),
        ("bib", "application/x-bibtex", "@article{author2025,"),
        ("ris", "application/x-research-info-systems", "TY  - JOUR"),
    ],
)
def test_an_answer_can_be_taken_along(gateway: Running, form: str, kind: str, holds: str) -> None:
    response = gateway.client.get(f"{answered(gateway)}/export.{form}")
    assert response.status_code == 200
    assert response.headers["content-type"] == f"{kind}; charset=utf-8"
    assert holds in response.text


def test_exports_name_all_authors_of_the_cited_version(gateway: Running) -> None:
    document_id = hold(gateway, "Words.", authors=["Tie J", "Wang Y", "Loree JM", "Cohen JD"])
    body = answer_body(1, 1)
    body["evidence"][0]["version_id"] = str(
        gateway.scalar("SELECT id FROM document_version WHERE document_id = :id", id=document_id)
    )
    path = answered(gateway, body=body)
    assert "Tie, J. and Wang, Y. and Loree, J. M. and Cohen, J. D." in (
        gateway.client.get(f"{path}/export.bib").text
    )


def test_an_export_of_another_kind_or_of_no_answer_is_not_found(gateway: Running) -> None:
    assert gateway.client.get(f"{answered(gateway)}/export.exe").status_code == 404
    assert gateway.client.get(f"{ask(gateway, 'Open?')}/export.md").status_code == 404


def test_the_history_has_pages_and_recall_states(gateway: Running) -> None:
    for n in range(27):
        ask(gateway, f"Question of the history {n}?")
    found = soup(page(gateway, "/questions"))
    first = [str(one["href"]) for one in found.select("a.history-question")]
    assert len(first) == 25
    older = found.select_one('a[rel="next"]')
    assert older is not None
    second = soup(page(gateway, str(older["href"])))
    assert not set(first) & {str(one["href"]) for one in second.select("a.history-question")}
    assert "There are no such questions" in words(page(gateway, "/questions?recall=superseded"))


def abstained(gateway: Running, **changes: Any) -> str:
    cure = {"action": "refresh", "detail": "Fetch the named sources again.", "sources": ["pubmed"]}
    body = {
        **answer_body(1, 1),
        "abstained": True,
        "abstain_reason": "stale",
        "abstain_detail": "Checked too long ago.",
        "cure": cure,
        "sections": [],
        "claims": [],
        "references": [],
        "evidence": [],
        "summary": {"text": "", "supported_claim_ids": []},
        **changes,
    }
    return answered(gateway, "What is currently known?", body)


def test_the_history_is_searched_for_words_of_a_question(gateway: Running) -> None:
    ask(gateway, "Is 100%_pure xyzomab searched for?")
    ask(gateway, "Is something else searched for?")

    def found(words: str) -> list[str]:
        shown = soup(page(gateway, f"/questions?{urlencode({'q': words})}"))
        return [one.get_text() for one in shown.select("a.history-question")]

    assert found(" PURE Xyzomab ") == ["Is 100%_pure xyzomab searched for?"]
    assert found("100%_p") == ["Is 100%_pure xyzomab searched for?"], "no sign is a wildcard"
    assert found("100__p") == []


def test_the_history_tells_an_abstention_from_an_answer(gateway: Running) -> None:
    paths = {answered(gateway): "Answered", abstained(gateway): "No answer"}
    listed = soup(page(gateway, "/questions")).select("ol.history li")
    shown = {
        str(one.select("a.history-question")[0]["href"]): one.select(".badge")[0].get_text(
            strip=True
        )
        for one in listed
    }
    assert {path: shown[path] for path in paths} == paths


def test_an_abstention_says_why_and_offers_the_refresh_that_would_cure_it(
    gateway: Running,
) -> None:
    html = page(gateway, abstained(gateway))
    assert "The evidence is out of date" in words(html)
    assert "Fetch the named sources again." in words(html)
    assert not soup(html).select('form[action$="/cure"]'), "nothing is followed yet"
    with gateway.store.unit_of_work("test") as work:
        watches.follow(work, "pubmed", "ctDNA", "user", now())
    path = abstained(gateway)
    found = soup(page(gateway, path))
    assert [one["action"] for one in found.select('form[action$="/cure"]')] == [f"{path}/cure"]
    response = gateway.client.post(f"{path}/cure", data={})
    assert response.status_code == 303
    assert gateway.count("refresh") == 1
    curing = soup(page(gateway, str(response.headers["location"]).partition("#")[0]))
    region = curing.select_one("[data-await]")
    assert region is not None
    refresh = gateway.scalar("SELECT id FROM refresh")
    assert str(region["data-await"]).split() == [f"/v1/refreshes/{refresh}"]
    again = gateway.client.post(f"{path}/again", data={})
    assert again.status_code == 303
    assert again.headers["location"] != path
    assert "What is currently known?" in words(page(gateway, again.headers["location"]))


def test_a_question_that_is_refused_comes_back_with_what_was_written(gateway: Running) -> None:
    response = gateway.client.post(
        "/ask", data={"question": "Why?", "as_of": "yesterday", "patient_context": "x"}
    )
    assert response.status_code == 422
    found = soup(response.text)
    box, date = found.select_one("#question"), found.select_one("#as_of")
    assert box is not None
    assert date is not None
    assert box.get_text().strip() == "Why?"
    assert date["aria-invalid"] == "true"
    assert "as_of-error" in str(date["aria-describedby"]).split()


def test_the_form_refuses_a_day_to_come_and_says_so_beside_it(gateway: Running) -> None:
    response = gateway.client.post("/ask", data={"question": "Why?", "as_of": "2999-01-01"})
    assert response.status_code == 422
    told = soup(response.text).select_one("#as_of-error")
    assert told is not None
    assert "lies in the future" in told.get_text()


def test_what_was_asked_as_of_a_day_to_come_before_that_was_refused_is_asked_again(
    gateway: Running,
) -> None:
    path = ask(gateway, "Why?", as_of="2026-01-31")
    statement = """UPDATE question SET options = '{"as_of": "2999-01-01"}' WHERE id = :id"""
    gateway.execute(statement, id=path.rpartition("/")[2])
    assert "1 Jan 2999" in page(gateway, path)
    response = gateway.client.post(f"{path}/again", headers=BROWSER)
    assert response.status_code == 303
    assert "1 Jan 2999" in page(gateway, response.headers["location"])


def test_a_text_to_verify_without_words_or_a_source_without_a_title_is_told_what_to_do(
    gateway: Running,
) -> None:
    blank = {"text": " \r\n "}
    nameless = {"text": "A claim.", "source2": "Its words."}
    for sent, told in ((blank, "paste the text"), (nameless, "give source 2 a title")):
        response = gateway.client.post("/verify", data=sent, headers=BROWSER)
        assert response.status_code == 422
        assert told in words(response.text)
        assert "String should" not in response.text


def test_a_question_without_words_is_told_what_to_do(gateway: Running) -> None:
    response = gateway.client.post("/ask", data={"question": " \r\n "}, headers=BROWSER)
    assert response.status_code == 422
    told = soup(response.text).select_one("#question-error")
    assert told is not None
    assert told.get_text() == "write a question"


def test_the_mark_is_the_span_to_the_letter(gateway: Running) -> None:
    text = "## Results\n\nDose 𝟙𝟚 mg 🧬 of cafe\u0301,\r\nקודם zero\u200bwidth & <b>bold</b>.\n"
    document_id = gateway.put_document("older words", text)
    for start, end in ((12, 17), (17, 30), (0, len(text)), (20, 62), (len(text) - 1, len(text))):
        html = page(gateway, f"/evidence/{document_id}/versions/2?start={start}&end={end}")
        found = BeautifulSoup(html, "html.parser", preserve_whitespace_tags={"div"})
        marked = "".join(one.get_text() for one in found.select("#text mark"))
        assert marked == text[start:end]
        assert len(found.select("#span")) == 1


def test_a_superseded_version_says_so_and_leads_to_what_changed(gateway: Running) -> None:
    document_id = gateway.put_document("The rate was 12% there.", "The rate was 21% there.")
    html = page(gateway, f"/evidence/{document_id}/versions/1")
    assert "A newer one has taken its place" in words(html)
    found = soup(html).select_one(f'a[href="/evidence/{document_id}/diff?old=1&new=2"]')
    assert found is not None
    difference = soup(page(gateway, str(found["href"])))
    assert [one.get_text() for one in difference.select("del")] == ["12"]
    assert [one.get_text() for one in difference.select("ins")] == ["21"]


def test_a_retracted_work_says_so_on_top(gateway: Running) -> None:
    document_id = gateway.put_document("Words.")
    gateway.execute(
        "INSERT INTO notice (document_id, source, kind, notice_id, first_seen_at) "
        "VALUES (:id, 'crossref', 'retraction', 'doi:10.5555/notice', clock_timestamp())",
        id=document_id,
    )
    html = page(gateway, f"/evidence/{document_id}/versions/1")
    assert "This work was retracted, withdrawn or removed." in words(html)
    assert "retraction doi:10.5555/notice by the word of crossref" in words(html)


def test_a_document_without_a_number_leads_to_its_current_version(gateway: Running) -> None:
    document_id = gateway.put_document("One.", "Two.")
    response = gateway.client.get(f"/evidence/{document_id}")
    assert response.status_code == 307
    assert response.headers["location"] == f"/evidence/{document_id}/versions/2"
    first = gateway.scalar(
        "SELECT id FROM document_version WHERE document_id = :id AND n = 1", id=document_id
    )
    query = f"version_id={first}&start=0&end=3"
    response = gateway.client.get(f"/evidence/{document_id}?{query}")
    assert response.headers["location"] == f"/evidence/{document_id}/versions/1?start=0&end=3"


def test_a_pasted_text_is_promised_with_the_sources_beside_it(gateway: Running) -> None:
    response = gateway.client.post(
        "/verify",
        data={"text": "One line.\r\nAnother.", "title1": "Mine", "source1": "My own\r\nwords."},
    )
    assert response.status_code == 303
    path = str(response.headers["location"])
    row = gateway.scalar("SELECT text FROM verification WHERE id = :id", id=path.rpartition("/")[2])
    assert row == "One line.\nAnother."
    found = soup(page(gateway, path))
    assert found.select_one("[data-await]") is not None
    assert found.select_one('head noscript meta[http-equiv="refresh"]') is not None
    own = page(gateway, f"{path}/sources/1?start=3&end=6")
    assert [one.get_text() for one in soup(own).select("mark")] == ["own"]


def test_an_empty_text_comes_back_with_the_reason(gateway: Running) -> None:
    response = gateway.client.post("/verify", data={"text": "  "})
    assert response.status_code == 422
    assert soup(response.text).select_one('[role="alert"]') is not None


def test_verdicts_lead_to_the_words_they_rest_on(gateway: Running) -> None:
    path = checked(gateway, "It was 13%.", "1234 own words")
    found = soup(page(gateway, path))
    link = found.select_one("li.claim a.evidence-link")
    assert link is not None
    assert link["href"] == f"{path}/sources/1?start=0&end=4#span"
    marked = soup(page(gateway, str(link["href"]).partition("#")[0])).select("mark")
    assert [one.get_text() for one in marked] == ["1234"]


# what surrounds a page


def test_navigation_names_only_pages_that_are_served(gateway: Running) -> None:
    links = soup(page(gateway, "/")).select("header nav a")
    assert {"Ask", "History", "Verify"} <= {one.get_text() for one in links}
    for one in links:
        address = str(one["href"])
        assert gateway.client.get(address, headers=BROWSER, follow_redirects=True).is_success


def all_pages(gateway: Running) -> Iterable[str]:
    document_id = gateway.put_document("One.", "Two.")
    yield from ("/", "/questions", "/verify", "/nothing/here")
    yield from (ask(gateway, "Open?"), answered(gateway), abstained(gateway))
    yield f"/evidence/{document_id}/versions/1?start=0&end=2"
    yield f"/evidence/{document_id}/diff?old=1&new=2"
    yield f"/evidence?form={uuid4()}"
    yield checked(gateway, "It was 13%.", "1234 own words")


def test_every_page_has_a_policy_that_lets_nothing_in(gateway: Running) -> None:
    for path in all_pages(gateway):
        response = gateway.client.get(path, headers=BROWSER, follow_redirects=True)
        assert response.headers["content-security-policy"] == policy(), path
        assert response.headers["referrer-policy"] == "same-origin", path
        assert response.headers["x-content-type-options"] == "nosniff", path
        assert response.headers["cache-control"] == "no-store", path
        found = soup(response.text)
        assert not found.select("style, [style], script:not([src])"), path
        assert all(str(one["src"]).startswith("/static/") for one in found.select("script")), path


def test_only_the_page_of_an_answer_with_figures_lets_pictures_in(gateway: Running) -> None:
    figure = {
        "title": "A decision algorithm",
        "url": "https://example.org/works/1",
        "image_url": "https://images.example.org/1.png",
        "source": "A journal",
        "license": "CC BY",
    }
    path = answered(gateway, body={**answer_body(1, 1), "images": [figure]})
    response = gateway.client.get(path, headers=BROWSER)
    assert (
        "img-src 'self' data: https://images.example.org;"
        in (response.headers["content-security-policy"])
    )
    picture = soup(response.text).select_one("figure img")
    assert picture is not None
    assert picture["referrerpolicy"] == "no-referrer"


def test_static_files_are_kept_for_good_under_the_hash_of_their_content(gateway: Running) -> None:
    found = soup(page(gateway, "/"))
    sheet = found.select_one('link[rel="stylesheet"]')
    assert sheet is not None
    response = gateway.client.get(str(sheet["href"]))
    assert response.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in response.headers["cache-control"]
    assert gateway.client.get("/static/css/attest.css").headers["cache-control"] == "no-cache"
    for name in ("../rendering.py", "css/../../rendering.py", "%2e%2e/rendering.py", "nothing"):
        assert gateway.client.get(f"/static/{name}").status_code == 404


def test_the_first_page_is_small(gateway: Running) -> None:
    html = page(gateway, "/")
    linked = [one for name, one in static_files().items() if f"/static/{name}?" in html]
    assert len(html.encode()) + sum(len(one.content) for one in linked) < 150_000


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing/here", 404),
        ("GET", "/questions/00000000-0000-0000-0000-000000000000", 404),
        ("GET", "/questions/not-an-id", 404),
        ("GET", "/verify/00000000-0000-0000-0000-000000000000", 404),
        ("GET", "/evidence/00000000-0000-0000-0000-000000000000/versions/1", 404),
        ("GET", "/questions?cursor=x", 422),
        ("DELETE", "/questions", 405),
        ("POST", "/ask", 415),
    ],
)
def test_errors_are_pages_for_browsers_and_problems_for_programs(
    gateway: Running, method: str, path: str, status: int
) -> None:
    shown = gateway.client.request(method, path, headers=BROWSER)
    assert shown.status_code == status
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert shown.headers["x-request-id"] in shown.text
    assert shown.headers["content-security-policy"] == policy()
    plain = gateway.client.request(method, path)
    assert plain.status_code == status
    assert plain.headers["content-type"] == "application/problem+json"


def test_the_json_interface_stays_json_even_for_a_browser(gateway: Running) -> None:
    response = gateway.client.get("/v1/questions/not-an-id", headers=BROWSER)
    assert response.headers["content-type"] == "application/problem+json"


def test_a_body_that_is_too_large_is_refused_with_a_page(gateway: Running) -> None:
    response = gateway.client.post("/ask", data={"question": "q" * 200_000}, headers=BROWSER)
    assert response.status_code == 413
    assert "too large" in words(response.text)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"%",
        b"question=%zz%",
        b"\xff\xfe=\xff&question=\xff",
        b"&".join(b"f%d=1" % n for n in range(5000)),
        b"question=%00",
        b"question=%ed%a0%80&as_of=%ff",
        b"=&==&;;&question",
    ],
)
def test_a_form_that_no_browser_sends_is_an_error_of_its_sender(
    gateway: Running, body: bytes
) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/ask", "/verify"):
        response = gateway.client.post(path, content=body, headers=form)
        assert response.status_code in (303, 400, 413, 422), response.text


def test_a_span_outside_the_text_is_refused_with_a_page(gateway: Running) -> None:
    document_id = gateway.put_document("short")
    html = page(gateway, f"/evidence/{document_id}/versions/1?start=2&end=9", 422)
    assert "5 code points" in words(html)


@pytest.mark.parametrize("origin", ["https://example.com", "null"])
def test_a_form_of_another_site_is_refused(gateway: Running, origin: str) -> None:
    response = gateway.client.post(
        "/ask", data={"question": "Why?"}, headers={**BROWSER, "Origin": origin}
    )
    assert response.status_code == 403
    assert "text/html" in response.headers["content-type"]


def test_what_somebody_else_asked_is_not_there(gateway: Running) -> None:
    path = answered(gateway)
    other = checked(gateway, "It was 13%.", "words")
    gateway.execute(
        "UPDATE question SET owner = 'somebody' WHERE id = :id", id=path.rpartition("/")[2]
    )
    gateway.execute(
        "UPDATE verification SET owner = 'somebody' WHERE id = :id", id=other.rpartition("/")[2]
    )
    for address in (path, f"{path}/export.md", other, f"{other}/sources/1"):
        assert gateway.client.get(address).status_code == 404, address
    assert gateway.client.post(f"{path}/again", data={}).status_code == 404
    assert path not in page(gateway, "/questions")


# texts that would be markup


def laden(text: str) -> dict[str, Any]:
    """An answer in which every word that comes from a source or a model is `text`."""
    body = answer_body(1, 1)
    claim, record, reference = body["claims"][0], body["evidence"][0], body["references"][0]
    place = claim["citations"][0]
    claim["text"] = text
    claim["rewritten_from"] = {"findings": [{"code": text, "detail": text}]}
    place |= {"section": text, "quote": text, "citation": text}
    record["title"] = text
    record["source"]["name"] = text
    record["standing"]["notices"] = [
        {"source": text, "kind": text, "notice_id": text, "stated_on": None}
    ]
    reference |= {"title": text, "authors": text, "source": text, "badges": [text], "doi": text}
    side = {
        "evidence_id": text,
        "document_id": place["document_id"],
        "version_id": str(UUID(int=1)),
        "start": 0,
        "end": 4,
        "quote": text,
        "statement": text,
    }
    conflict = {
        "kind": text,
        "why": text,
        "subject": text,
        "outcome": text,
        "resolved": True,
        "rule": text,
        "stands": text,
        "sides": [side, side],
    }
    figure = {"title": text, "url": "https://example.org/1", "source": text, "license": text}
    return {
        **body,
        "query_type": text,
        "pico": {"patient": text},
        "tags": {"diseases": [text], "decisions": [text]},
        "sufficiency": {"score": 1, "level": text, "basis": text},
        "summary": {"text": text, "supported_claim_ids": ["c1-1"]},
        "sections": [{"heading": text, "claim_ids": ["c1-1"]}],
        "conflicts": [conflict],
        "images": [figure],
        "freshness_summary": {**body["freshness_summary"], "stale_sources": [text]},
        "recall": {"state": "current", "because": []},
        "provenance": {
            **body["provenance"],
            "generator": text,
            "model": text,
            "prompt_version": text,
            "fallback": {"note": text},
        },
    }


def shown_whole(text: str, html: str) -> bool:
    return " ".join(text.split()) in words(html)


def test_there_are_at_least_two_hundred_payloads() -> None:
    assert len(set(PAYLOADS)) >= 200
    assert all(any(one in text for text in BATCHES) for one in PAYLOADS)


def test_no_text_of_a_question_or_an_answer_becomes_markup(gateway: Running) -> None:
    usual = tags(page(gateway, answered(gateway, HARMLESS, laden(HARMLESS))))
    for text in BATCHES:
        html = page(gateway, answered(gateway, text, laden(text)))
        assert tags(html) == usual, text
        assert shown_whole(text, html), text
        refuse_foreign_addresses(html)


def test_no_text_of_a_question_becomes_markup_where_it_is_asked_and_listed(
    gateway: Running,
) -> None:
    usual = tags(page(gateway, f"/?q={HARMLESS}"))
    refused = tags(gateway.client.post("/ask", data={"question": HARMLESS, "as_of": "x"}).text)
    for text in BATCHES:
        box = gateway.client.get(
            "/", params={"q": text}, headers=BROWSER, follow_redirects=True
        ).text
        assert tags(box) == usual, text
        again = gateway.client.post(
            "/ask", data={"question": text, "as_of": text, "patient_context": text}
        )
        assert again.status_code == 422
        assert [one[0] for one in tags(again.text)] == [one[0] for one in refused], text
        assert shown_whole(text, again.text), text
    listed = 25
    for _ in range(listed):
        ask(gateway, HARMLESS)
    usual = tags(page(gateway, "/questions"))
    for at in range(0, len(PAYLOADS), listed):
        batch = PAYLOADS[at : at + listed]
        for text in batch:
            ask(gateway, text)
        html = page(gateway, "/questions")
        assert {one.get_text() for one in soup(html).select("a.history-question bdi")} >= {
            text for text in batch if text == text.strip() and "\u2028" not in text
        }
        if len(batch) == listed:
            assert tags(html) == usual
        refuse_foreign_addresses(html)


def test_no_text_of_a_document_becomes_markup(gateway: Running) -> None:
    usual: list[Any] = []
    for text in (HARMLESS, *BATCHES):
        document_id = hold(
            gateway,
            f"before {text} after",
            f"now {text} then",
            title=text,
            publisher=text,
            publication_type=text,
            authors=[text],
            labels=[text],
            identifiers={"doi": text},
            url=f"javascript:{text}",
        )
        whole = f"now {text} then"
        html = page(gateway, f"/evidence/{document_id}/versions/2?start=4&end={4 + len(text)}")
        marked = BeautifulSoup(html, "html.parser", preserve_whitespace_tags={"div"})
        assert "".join(one.get_text() for one in marked.select("#text mark")) == text
        shown = marked.select_one("#text")
        assert shown is not None
        assert shown.get_text() == whole
        difference = page(gateway, f"/evidence/{document_id}/diff?old=1&new=2")
        found = [frame(html), frame(difference)]
        usual = usual or found
        assert found == usual, text
        refuse_foreign_addresses(html)
        refuse_foreign_addresses(difference)


def test_no_text_that_is_verified_becomes_markup(gateway: Running) -> None:
    path = checked(gateway, HARMLESS, HARMLESS)
    usual = tags(page(gateway, path))
    own_usual = frame(page(gateway, f"{path}/sources/1?start=0&end=4"))
    for text in BATCHES:
        path = checked(gateway, text, text)
        html = page(gateway, path)
        assert tags(html) == usual, text
        refuse_foreign_addresses(html)
        own = page(gateway, f"{path}/sources/1?start=0&end=4")
        assert frame(own) == own_usual, text
        assert shown_whole(text, own), text


def test_no_answer_breaks_out_of_an_export(gateway: Running) -> None:
    usual = gateway.client.get(f"{answered(gateway, HARMLESS, laden(HARMLESS))}/export.md").text
    for text in BATCHES:
        path = answered(gateway, text, laden(f"x {text}\r\n{text} y"))
        md, bib, ris = (gateway.client.get(f"{path}/export.{one}").text for one in FORMS)
        assert md.count("\n") == usual.count("\n"), text
        assert len(re.findall(r"^@", bib, re.MULTILINE)) == 1, text
        assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in ris.splitlines()), text


FORMS = ("md", "bib", "ris")


def test_times_are_those_of_the_rows(gateway: Running) -> None:
    path = answered(gateway)
    shown = soup(page(gateway, path)).select_one(".question-head time")
    assert shown is not None
    asked = datetime.fromisoformat(str(shown["datetime"]))
    assert abs((datetime.now(UTC) - asked).total_seconds()) < 600
