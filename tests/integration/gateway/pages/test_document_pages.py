"""The pages of documents and reviews over the real app; the stage runs in this process."""

import re
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from bs4 import BeautifulSoup
from sqlmodel import Session

from api_gateway.pages.rendering import policy
from store.extractions import extractions
from store.models import ExtractionRow, Review, now
from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import make_key
from tests.integration.gateway.keys.test_signin import sign_in, token
from tests.integration.gateway.pages.test_pages import (
    BROWSER,
    page,
    refuse_foreign_addresses,
    soup,
    tags,
)
from tests.integration.gateway.submissions.test_extractions import POOR, run, worker  # noqa: F401  a fixture
from tests.payloads import BATCHES
from tests.unit.extract.made import REPORT
from workers.inline import InlineWorker

UNREADABLE = "~^}{ ¤¦ xq |\\ §¬ zzk " * 30


def send(gateway: Running, text: str = REPORT, **fields: str) -> str:
    """Send a pasted text as a browser does; the page that it leads to."""
    response = gateway.client.post(
        "/extractions",
        data={"text": text, "title": "", "document_type": "", "profile": "batch", **fields},
        files={"file": ("", b"", "application/octet-stream")},
        headers={**BROWSER, "Origin": gateway.url.rstrip("/")},
    )
    assert response.status_code == 303, response.text
    return str(response.headers["location"])


def row_of(gateway: Running, path: str) -> ExtractionRow:
    with Session(gateway.store.engine) as session:
        return session.get_one(ExtractionRow, UUID(path.rpartition("/")[2]))


def shown(html: str) -> str:
    """The text as a browser gives it back."""
    found = soup(html).find(id="text")
    assert found is not None
    return found.get_text()


def marked(html: str, name: str) -> str:
    return "".join(
        one.get_text()
        for one in soup(html).find_all("mark")
        if name in str(one["data-spans"]).split()
    )


def test_a_pasted_document_is_followed_and_its_fields_stand_beside_their_words(
    gateway: Running,
    worker: InlineWorker,  # noqa: F811
) -> None:
    path = send(gateway, REPORT.replace("\n", "\r\n"), title="A made-up visit")
    waiting = page(gateway, path)
    assert f'data-follow="/v1{path}"' in waiting
    assert 'http-equiv="refresh"' in waiting
    run(gateway, worker)
    html = page(gateway, path)
    assert shown(html) == REPORT
    fields = row_of(gateway, path).result["fields"]  # type: ignore[index]
    compared = 0
    for name, body in fields.items():
        for n, one in enumerate(body.get("items") or [body], start=1):
            if one.get("start") is None or one["end"] - one["start"] > len(REPORT) / 2:
                continue
            words = REPORT[one["start"] : one["end"]]
            assert marked(html, f"{name}-{n}") == words
            link = soup(html).find("a", attrs={"data-span": f"{name}-{n}"})
            assert link is not None
            assert link.q is not None
            assert link.q.get_text() == words
            chosen = page(gateway, str(link["href"]).partition("#")[0])
            stands_out = soup(chosen).find_all("mark", class_="chosen")
            assert "".join(part.get_text() for part in stands_out) == words
            assert len(soup(chosen).find_all(id="span")) == 1
            compared += 1
    assert compared >= 6
    said = " ".join(soup(html).get_text().split())
    assert re.search(r"score 0\.9\d\d of 1, as good as", said)
    listed = soup(page(gateway, "/extractions")).find("a", href=path)
    assert listed is not None
    assert listed.get_text() == "A made-up visit"


def test_a_file_is_taken_with_its_type_and_profile(gateway: Running) -> None:
    response = gateway.client.post(
        "/extractions",
        data={"text": "", "title": "", "document_type": "pathology", "profile": "clinical"},
        files={"file": ("report.txt", REPORT.encode(), "text/plain")},
        headers=BROWSER,
    )
    row = row_of(gateway, response.headers["location"])
    assert (row.filename, row.asked_type, row.profile) == ("report.txt", "pathology", "clinical")
    assert row.content == REPORT.encode()


def test_without_a_browsers_script_nothing_else_is_needed(gateway: Running) -> None:
    for path in ("/extractions", "/reviews", send(gateway)):
        response = gateway.client.get(path, headers=BROWSER, follow_redirects=True)
        assert response.headers["content-security-policy"] == policy()
        html = response.text
        refuse_foreign_addresses(html)
        assert not soup(html).find_all(style=True)
        assert not [one for one in soup(html).find_all("script") if one.get_text().strip()]


@pytest.mark.parametrize(
    ("text", "file", "status"),
    [
        ("", None, 422),
        ("  \n", None, 422),
        ("a\x00b", None, 422),
        ("x" * 300_001, None, 422),
        ("", ("report.pdf", b"no pdf", "application/pdf"), 422),
        ("", ("report.exe", b"MZ\x90\x00\x03", "application/octet-stream"), 415),
    ],
)
def test_what_cannot_be_read_is_told_in_the_form(
    gateway: Running, text: str, file: Any, status: int
) -> None:
    response = gateway.client.post(
        "/extractions",
        data={"text": text, "profile": "batch"},
        files={"file": file or ("", b"", "application/octet-stream")},
        headers=BROWSER,
    )
    assert response.status_code == status, response.text[:300]
    assert "The document was not sent" in response.text


@pytest.mark.parametrize("text", ["", " \r\n "])
def test_who_sends_no_document_is_told_what_to_do(gateway: Running, text: str) -> None:
    response = gateway.client.post(
        "/extractions",
        data={"text": text, "title": "A made-up title"},
        files={"file": ("", b"", "application/octet-stream")},
        headers=BROWSER,
    )
    assert response.status_code == 422
    assert "The document was not sent: choose a file or paste a text" in response.text
    assert "at least 1 character" not in response.text
    assert "A made-up title" in response.text


def test_an_unreadable_document_says_what_is_wrong_and_what_would_help(
    gateway: Running,
    worker: InlineWorker,  # noqa: F811
) -> None:
    path = send(gateway, UNREADABLE)
    run(gateway, worker)
    html = page(gateway, path)
    result = row_of(gateway, path).result or {}
    for one in (*result["readability"]["issues"], *result["suggestions"]):
        assert one.lower() in soup(html).get_text().lower()
    assert shown(html) == row_of(gateway, path).text


def reviewed(gateway: Running, worker: InlineWorker) -> str:  # noqa: F811
    """The page of the review of a document that came out badly."""
    path = send(gateway, POOR, document_type="genomics", title="A poor report")
    run(gateway, worker)
    link = soup(page(gateway, path)).find("a", href=re.compile("^/reviews/."))
    assert link is not None
    return str(link["href"])


def test_a_review_is_accepted_once(
    gateway: Running,
    worker: InlineWorker,  # noqa: F811
) -> None:
    path = reviewed(gateway, worker)
    assert soup(page(gateway, "/reviews")).find("a", href=path) is not None
    assert gateway.client.post(f"{path}/accept", headers=BROWSER).status_code == 303
    html = page(gateway, path)
    assert "Accepted" in html
    assert "Accept as it is" not in html
    assert soup(page(gateway, "/reviews")).find("a", href=path) is None
    assert soup(page(gateway, "/reviews?status=accepted")).find("a", href=path) is not None
    assert gateway.client.post(f"{path}/accept", headers=BROWSER).status_code == 409


def test_a_correction_is_the_documents_own_words_found_again(
    gateway: Running,
    worker: InlineWorker,  # noqa: F811
) -> None:
    path = reviewed(gateway, worker)
    form = soup(page(gateway, path)).find("form", action=f"{path}/correct")
    assert form is not None
    names = [str(one["name"]) for one in form.find_all("textarea")]
    as_it_is = {
        str(one["name"]): one.get_text().removeprefix("\n") for one in form.find_all("textarea")
    }
    empty = next(name for name in names if not as_it_is[name])

    def correct(**changed: str) -> httpx.Response:
        return gateway.client.post(f"{path}/correct", data={**as_it_is, **changed}, headers=BROWSER)

    nothing = correct()
    assert nothing.status_code == 422
    assert "nothing was changed" in nothing.text
    for wrong, told in (("A word of mine", "does not stand"), ("for", "stands 2 times")):
        refused = correct(**{empty: wrong})
        assert refused.status_code == 422
        assert told in refused.text
    kept = correct(**{empty: "the  LABORATORY for\r\n"})
    assert kept.status_code == 303, kept.text
    html = page(gateway, path)
    assert "Corrected by a person" in html
    assert "the laboratory for" in html


def test_payloads_in_documents_show_as_text(gateway: Running) -> None:
    """Of each page, the elements are those of the page with harmless words."""

    def made(words: str) -> tuple[str, ...]:
        with gateway.store.unit_of_work("test") as work:
            row = extractions.submit(work, f"A {words} B", title=words)
            row.filename = words
            place = {"start": 2, "end": 2 + len(words)}
            fields = {
                "grade": {"value": {"kind": "grade", "level": words}, "status": "found", **place},
                "site": {"value": words, "status": "ambiguous", **place},
            }
            row.result = {
                "fields": fields, "type": "pathology", "confidence": 0.5, "parts": [],
                "provenance": {"generator": words},
            }  # fmt: skip
            row.status, row.outcome, row.score = "done", "extracted", 0.5
            work.session.add(row)
            key = row.id
            review = Review(extraction_id=key, score=0.5)
            work.session.add(review)
            open_id = review.id
        with gateway.store.unit_of_work("test") as work:
            row = extractions.submit(work, f"A {words} B", title=words)
            row.result, row.status, row.outcome = {"fields": fields}, "done", "extracted"
            work.session.add(row)
            told = {"grade": [{"value": words, "start": 2, "end": 3, "words": words}]}
            decided = Review(
                extraction_id=row.id,
                score=0.5,
                status="corrected",
                corrected=told,
                decided_by="key:x",
                decided_at=now(),
            )
            work.session.add(decided)
            decided_id = decided.id
        with gateway.store.unit_of_work("test") as work:
            row = extractions.submit(work, f"A {words} B", title=words)
            row.result = {
                "error": words, "readability": {"issues": [words]}, "suggestions": [words]
            }  # fmt: skip
            row.status, row.outcome = "done", "unreadable"
            work.session.add(row)
            pages = (f"/extractions/{key}", f"/extractions/{row.id}")
            return *pages, f"/reviews/{open_id}", f"/reviews/{decided_id}"

    harmless = [tags(page(gateway, path)) for path in made("harmless words")]
    for payload in BATCHES:
        for path, expected in zip(made(payload), harmless, strict=True):
            html = page(gateway, path)
            assert tags(html) == expected, payload
            refuse_foreign_addresses(html)
            assert shown(html) == f"A {payload} B"


def test_another_owners_document_is_not_there(locked: Running) -> None:
    with (
        httpx.Client(base_url=locked.url, headers=BROWSER) as mine,
        httpx.Client(base_url=locked.url, headers=BROWSER) as theirs,
    ):
        sign_in(mine, make_key(locked, "ask", "read", owner="ward-1"))
        sign_in(theirs, make_key(locked, "ask", "read", owner="ward-2"))
        form = mine.get("/extractions", follow_redirects=True).text
        assert 'enctype="multipart/form-data"' in form
        given = {"text": REPORT, "title": "A made-up secret", "profile": "batch"}
        file = {"file": ("", b"", "application/octet-stream")}
        assert mine.post("/extractions", data=given, files=file).status_code == 403
        sent = mine.post("/extractions", data={**given, "csrf": token(form)}, files=file)
        path = sent.headers["location"]
        assert mine.get(path).status_code == 200
        assert mine.get(f"/v1{path}").status_code == 200  # what its script asks for
        missing = theirs.get(f"/extractions/{uuid4()}")
        foreign = theirs.get(path)
        assert (foreign.status_code, missing.status_code) == (404, 404)
        plain = [BeautifulSoup(one.text, "lxml").find("main") for one in (foreign, missing)]
        words = [re.sub("[0-9a-f-]{36}", "", one.get_text()) for one in plain if one]
        assert words[0] == words[1]
        assert "A made-up secret" not in theirs.get("/extractions", follow_redirects=True).text
        sign_in(theirs, make_key(locked, "read", owner="ward-1"))
        reading = theirs.get("/extractions").text
        assert "A made-up secret" in reading
        assert 'enctype="multipart/form-data"' not in reading


def test_another_owners_review_is_not_there(locked: Running) -> None:
    with locked.store.unit_of_work("test") as work:
        row = extractions.submit(work, REPORT, owner="ward-1", title="A made-up secret")
        result = {"fields": {}, "needs_review": True}
        ended = extractions.Ended("extracted", score=0.5, needs_review=True)
        extractions.done(work, row, result, ended)
    with httpx.Client(base_url=locked.url, headers=BROWSER) as browser:
        sign_in(browser, make_key(locked, "ask", "read", owner="ward-1"))
        link = soup(browser.get("/reviews").text).find("a", href=re.compile("^/reviews/."))
        assert link is not None
        path = str(link["href"])
        assert browser.get(path).status_code == 200
        every = make_key(locked, owner="ward-2")
        sign_in(browser, every)
        assert "A made-up secret" not in browser.get("/reviews").text
        given = {"csrf": token(browser.get("/reviews").text), "field-grade": "2"}
        assert browser.get(path).status_code == 404
        assert browser.post(f"{path}/accept", data=given).status_code == 404
        assert browser.post(f"{path}/correct", data=given).status_code == 404
        sign_in(browser, make_key(locked, "read", owner="ward-1"))
        assert "Accept as it is" not in browser.get(path).text
        given["csrf"] = token(browser.get(path).text)
        assert browser.post(f"{path}/accept", data=given).status_code == 403
        sign_in(browser, make_key(locked, "ask", "read", owner="ward-1"))
        given["csrf"] = token(browser.get(path).text)
        assert browser.post(f"{path}/accept", data={}).status_code == 403
        assert browser.post(f"{path}/accept", data=given).status_code == 303
