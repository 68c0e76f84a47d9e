"""Adding evidence on the pages: the same submission as over the API, followed until it is held."""

import json
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from bs4 import BeautifulSoup

from api_gateway.backpressure.load import CALM_SECONDS
from tests.integration.gateway.conftest import Running, serving, working
from tests.integration.gateway.keys.test_keys import make_key
from tests.integration.gateway.keys.test_signin import sign_in, token
from tests.integration.gateway.pages.test_pages import (
    BROWSER,
    answered,
    page,
    refuse_foreign_addresses,
    soup,
    tags,
    words,
)
from tests.payloads import BATCHES
from tests.servers import wait_until

TEXT = "# Results\n\nXyzomab lowered made-up mortality by 12%.\n"
NO_FILE = ("", b"", "application/octet-stream")
ABSTAINED = {
    "abstained": True,
    "abstain_reason": "no_evidence",
    "abstain_detail": "No stored source speaks to this question.",
    "cure": {"action": "add_sources", "detail": "Add sources that speak to it, then ask again."},
}


def file(name: str, content: str | bytes = TEXT) -> tuple[str, tuple[str, bytes, str]]:
    told = content if isinstance(content, bytes) else content.encode()
    return "file", (name, told, "application/octet-stream")


def form_page(gateway: Running, path: str = "/evidence") -> str:
    """An empty form, at the address that it is led to."""
    response = gateway.client.get(path, headers=BROWSER, follow_redirects=True)
    assert response.status_code == 200, response.text
    return response.text


def key_of(html: str) -> str:
    return str(soup(html).select_one('input[name="key"]')["value"])  # type: ignore[index]


def send(
    gateway: Running, *files: Any, key: str | None = None, status: int = 303, **fields: str
) -> httpx.Response:
    """Send the form as a browser does."""
    given = {"key": key or key_of(form_page(gateway)), "text": "", "title": "", **fields}
    response = gateway.client.post(
        "/evidence",
        data=given,
        files=files or [("file", NO_FILE)],
        headers={**BROWSER, "Origin": gateway.url.rstrip("/")},
    )
    assert response.status_code == status, response.text
    return response


def place(response: httpx.Response) -> str:
    return str(response.headers["location"])


def held(gateway: Running, path: str) -> BeautifulSoup:
    """The page of what was sent, once all of it is done."""
    with working(gateway):
        wait_until(
            lambda: not soup(page(gateway, path)).select("[data-look]"), 60, "all of it is done"
        )
    return soup(page(gateway, path))


def test_files_are_sent_and_followed_until_they_are_held(gateway: Running) -> None:
    title = f"A made-up trial {uuid4()}"
    record = {"source_type": "pubmed", "title": title, "text": TEXT}
    path = place(
        send(
            gateway, file("one.md", f"# {uuid4()}\n\nWords."), file("two.json", json.dumps(record))
        )
    )
    waiting = soup(page(gateway, path))
    assert [one.get_text() for one in waiting.select(".sent .badge")] == ["Waiting", "Waiting"]
    assert waiting.select('noscript meta[http-equiv="refresh"]')
    done = held(gateway, path)
    assert [one.get_text() for one in done.select(".sent .badge")] == ["Held", "Held"]
    link = done.find("a", string=title)
    assert link is not None
    assert (
        title in page(gateway, str(link["href"])).replace("&#39;", "'")
        or gateway.client.get(str(link["href"]), headers=BROWSER, follow_redirects=True).status_code
        == 200
    )
    assert 'href="/"' in str(done.main)


def test_a_pasted_text_keeps_its_title_date_and_identifiers(gateway: Running) -> None:
    title = f"A made-up guideline {uuid4()}"
    path = place(
        send(
            gateway,
            text=TEXT.replace("\n", "\r\n"),
            title=title,
            source_type="guideline",
            published="2024-03",
            url="https://example.org/guideline",
            publisher="A made-up society",
            publication_type="Practice Guideline",
            version_label="2.2024",
            authors="A. Nobody\r\nB. Nobody\r\n",
            pmid="PMID: 999999999",
            doi="https://doi.org/10.1000/182",
            nct_id="nct99999999",
        )
    )
    held(gateway, path)
    found = gateway.client.get(f"/v1/documents/{_item(gateway, path)}").json()
    document = found["outcome"]["documents"][0]["document_id"]
    version = gateway.client.get(f"/v1/documents/{document}").json()["version"]
    assert (version["title"], version["source_type"]) == (title, "guideline")
    assert version["published_at"].startswith("2024-03-01")
    assert version["identifiers"] == {
        "pmid": "999999999", "doi": "10.1000/182", "nct_id": "NCT99999999",
    }  # fmt: skip
    assert version["authors"] == ["A. Nobody", "B. Nobody"]
    assert (version["publisher"], version["version_label"]) == ("A made-up society", "2.2024")
    assert gateway.client.get(f"/v1/documents/{document}/versions/1/text").text == TEXT


def _item(gateway: Running, path: str) -> UUID:
    batch = UUID(path.rpartition("/")[2].partition("?")[0])
    found: UUID = gateway.scalar("SELECT id FROM ingest_item WHERE batch_id = :b", b=batch)
    return found


def test_what_is_kept_is_what_the_api_keeps(gateway: Running) -> None:
    """The form and the API write the same row: there is no second way in."""
    title = f"The same record {uuid4()}"
    body = {"source_type": "pubmed", "title": title, "text": TEXT, "identifiers": {}}
    sent = gateway.client.post("/v1/documents", json=body).json()["id"]
    path = place(send(gateway, title=title, text=TEXT, source_type="pubmed"))
    columns = "filename, media_type, source_type, status, first_line, owner"
    rows = [
        gateway.scalar(f"SELECT ({columns})::text FROM ingest_item WHERE id = :id", id=one)
        for one in (UUID(sent), _item(gateway, path))
    ]
    assert rows[0] == rows[1]
    kept = [
        json.loads(
            bytes(gateway.scalar("SELECT content FROM ingest_item WHERE id = :id", id=one)).decode()
        )
        for one in (UUID(sent), _item(gateway, path))
    ]
    assert kept[0] == {**kept[1], "identifiers": {}}


def test_the_same_form_sent_twice_is_one_submission(gateway: Running) -> None:
    key = key_of(form_page(gateway))
    before = gateway.count("ingest_item")
    one = file("one.txt", f"{uuid4()}")
    first = send(gateway, one, key=key, title="T", text=TEXT)
    again = send(gateway, one, key=key, title="T", text=TEXT)
    assert place(first) == place(again)
    assert gateway.count("ingest_item") == before + 2
    more = send(gateway, file("other.txt", f"{uuid4()}"), key=key)
    assert place(more) == place(first)  # the form was gone back to, and another file was chosen
    assert gateway.count("ingest_item") == before + 3
    anew = send(gateway, one, title="T", text=TEXT)
    assert place(anew) != place(first)


def test_a_form_that_is_loaded_again_or_gone_back_to_is_the_same_form(gateway: Running) -> None:
    led = gateway.client.get("/evidence", headers=BROWSER)
    assert led.status_code == 303
    first = page(gateway, place(led))
    assert key_of(first) == key_of(page(gateway, place(led)))
    assert key_of(first) != key_of(form_page(gateway))
    assert "already" not in first
    sent = place(send(gateway, file("one.txt", f"{uuid4()}"), key=key_of(first)))
    gone_back = page(gateway, place(led))
    assert "Something was sent from this form already" in gone_back
    assert f'href="{sent}"' in gone_back


def test_one_file_that_is_refused_does_not_hold_back_the_others(gateway: Running) -> None:
    before = gateway.count("ingest_item")
    response = send(
        gateway,
        file("good.txt", f"Good {uuid4()}"),
        file("letter.docx", b"PK\x03\x04 rubbish"),
        file("old.txt", "\ufeffWörter".encode("utf-16")),
        source_type="guideline",
        status=422,
    )
    told = words(response.text)
    assert "letter.docx" in told
    assert "neither the suffix nor the media type" not in told
    assert "UTF-16: save it as UTF-8" in told
    assert "1 document was sent" in told
    assert gateway.count("ingest_item") == before + 1
    (link,) = soup(response.text).select('.banner a[href^="/evidence/sent/"]')
    assert "good.txt" in page(gateway, str(link["href"]))
    chosen = soup(response.text).select_one("#source_type option[selected]")
    assert chosen is not None
    assert chosen["value"] == "guideline"


@pytest.mark.parametrize(
    ("fields", "field", "told"),
    [
        ({"text": TEXT}, "title", "write a title"),
        ({"title": "T"}, "text", "paste the text"),
        ({"text": " \r\n", "title": "T"}, "text", "paste the text"),
        ({"text": TEXT, "title": "T", "published": "soon"}, "published", "2026-01-31"),
        ({"text": TEXT, "title": "T", "published": "2024-02-31"}, "published", "2026-01-31"),
        ({"text": TEXT, "title": "T", "pmid": "abc"}, "pmid", "a number"),
        ({"text": TEXT, "title": "T", "doi": "11.1"}, "doi", "begins with 10."),
        ({"text": TEXT, "title": "T", "nct_id": "NCT1"}, "nct_id", "eight digits"),
        ({"text": TEXT, "title": "T", "pmcid": "1"}, "pmcid", "PMC and a number"),
        ({"text": TEXT, "title": "T", "url": "ftp://x"}, "url", "http"),
        ({"text": TEXT, "title": "T" * 1001}, "title", "1000"),
        ({"text": "x" * 300_001, "title": "T"}, "text", "300,000"),
        ({"text": "a\x00b", "title": "T"}, "text", "NUL"),
    ],
)
def test_what_is_missing_is_told_beside_its_field_and_nothing_is_lost(
    gateway: Running, fields: dict[str, str], field: str, told: str
) -> None:
    before = gateway.count("ingest_item")
    given = {"source_type": "label", "publisher": "A made-up journal", **fields}
    response = send(gateway, status=422, **given)
    shown = soup(response.text)
    error = shown.find(id=f"{field}-error")
    assert error is not None, words(response.text)
    assert told.lower() in error.get_text().lower()
    box = shown.find(id=field)
    assert box is not None
    assert box.get("aria-invalid") == "true"
    assert f"{field}-error" in str(box["aria-describedby"]).split()
    assert shown.find(id="publisher")["value"] == "A made-up journal"  # type: ignore[index]
    for name in ("text", "title", "published", "pmid", "doi", "url"):
        kept = shown.find(id=name)
        assert kept is not None
        back = kept.get_text().removeprefix("\n") if name == "text" else kept["value"]
        if "\x00" not in given.get(name, ""):
            wanted = given.get(name, "").replace("\r\n", "\n")
            assert str(back).replace("\r\n", "\n") == wanted  # as a browser reads a page
    assert gateway.count("ingest_item") == before


def test_who_sends_an_empty_form_is_told_what_to_do(gateway: Running) -> None:
    error = soup(send(gateway, status=422).text).find(id="file-error")
    assert error is not None
    assert "Choose a file or paste a text" in error.get_text()


def test_details_go_with_one_plain_file_and_are_not_dropped_in_silence(gateway: Running) -> None:
    title = f"A file with details {uuid4()}"
    path = place(send(gateway, file("plain.txt"), title=title, pmid="999999998"))
    assert title in words(str(held(gateway, path)))
    before = gateway.count("ingest_item")
    response = send(gateway, file("paper.pdf", b"%PDF-1.4 x"), title="T", status=422)
    told = soup(response.text).find(id="text-error")
    assert told is not None
    assert "Of a PDF only the title is read, no date and no identifier" in words(str(told))
    assert "paste its text" in words(str(told))
    assert gateway.count("ingest_item") == before


def test_the_form_says_before_anything_is_sent_what_is_read_from_a_file(gateway: Running) -> None:
    """Else who adds a PDF takes its date and identifiers for read."""
    box = soup(form_page(gateway)).find(id="file")
    assert box is not None
    told = words(str(soup(form_page(gateway)).find(id="file-read")))
    assert "file-read" in str(box["aria-describedby"]).split()
    for kind in ("PDF", "HTML", "Markdown", "JSON"):
        assert kind in told
    assert "no date and no identifier" in told


def test_a_file_that_cannot_be_read_says_why_in_plain_words(gateway: Running) -> None:
    path = place(send(gateway, file("broken.pdf", b"%PDF-1.4 and nothing else")))
    done = held(gateway, path)
    assert [one.get_text() for one in done.select(".sent .badge")] == ["Not read"]
    assert "PDF" in done.select_one(".sent .reason").get_text()  # type: ignore[union-attr]
    assert done.find("a", href="/evidence") is not None


def test_lines_that_are_no_records_are_named(gateway: Running) -> None:
    good = json.dumps({"title": f"Good {uuid4()}", "text": TEXT})
    path = place(send(gateway, file("records.jsonl", f'{good}\n{{"title": "No text"}}\n')))
    done = held(gateway, path)
    assert [one.get_text() for one in done.select(".sent .badge")] == ["Held"]
    assert "line 2" in words(str(done)).lower()


def test_what_was_held_before_is_told(gateway: Running) -> None:
    given = {"title": f"Twice {uuid4()}", "text": TEXT}
    held(gateway, place(send(gateway, **given)))
    again = held(gateway, place(send(gateway, **given)))
    assert [one.get_text() for one in again.select(".sent .badge")] == ["Held already"]


def test_a_dead_document_says_who_can_help(gateway: Running) -> None:
    path = place(send(gateway, file("one.txt", f"{uuid4()}")))
    gateway.execute(
        "UPDATE ingest_item SET status = 'failed', error = 'KeyError at x:1' WHERE id = :id",
        id=_item(gateway, path),
    )
    html = page(gateway, path)
    assert "A stage gave up on it" in html
    assert "KeyError" not in html


def test_an_abstained_answer_leads_to_adding_evidence_and_back(gateway: Running) -> None:
    question = answered(gateway, "Does Xyzomab help?", _abstained())
    (link,) = soup(page(gateway, question)).select('.abstention a[href^="/evidence?"]')
    form = form_page(gateway, str(link["href"]))
    assert "Does Xyzomab help?" in form
    asked = question.rpartition("/")[2]
    path = place(send(gateway, file("one.txt", f"{uuid4()}"), question=asked))
    assert path.endswith(f"?question={asked}")
    done = held(gateway, path)
    (again,) = done.select(f'form[action="/questions/{asked}/again"]')
    assert "Ask again" in again.get_text()
    assert gateway.client.post(str(again["action"]), headers=BROWSER).status_code == 303


def _abstained() -> dict[str, Any]:
    from benchmarks.pages import answer_body

    return {**answer_body(1, 1), "claims": [], "sections": [], "references": [], **ABSTAINED}


@pytest.mark.parametrize("asked", ["rubbish", "00000000-0000-4000-8000-000000000000"])
def test_a_question_that_there_is_not_changes_nothing(gateway: Running, asked: str) -> None:
    assert form_page(gateway, f"/evidence?question={asked}")
    path = place(send(gateway, file("one.txt", f"{uuid4()}"), question=asked))
    assert "/again" not in page(gateway, path)


def test_limits_and_kinds_are_told_before_anything_is_sent(gateway: Running) -> None:
    told = words(form_page(gateway))
    assert "32 MB" in told
    assert "20 files" in told
    for one in ("Markdown", "HTML", "PDF", "JSON", "UTF-8", "PubMed", "Drug labels"):
        assert one in told


def test_more_files_than_are_taken_at_once_are_refused_in_the_form(gateway: Running) -> None:
    before = gateway.count("ingest_item")
    files = [file(f"{n}.txt", f"{n} {uuid4()}") for n in range(21)]
    response = send(gateway, *files, title="kept", text="kept too", status=422)
    assert "20 files" in soup(response.text).find(id="file-error").get_text()  # type: ignore[union-attr]
    assert soup(response.text).find(id="title")["value"] == "kept"  # type: ignore[index]
    assert gateway.count("ingest_item") == before


def test_only_who_may_add_documents_sees_the_form_and_only_owners_see_what_was_sent(
    locked: Running,
) -> None:
    with httpx.Client(base_url=locked.url, headers=BROWSER, timeout=30) as browser:
        sign_in(browser, make_key(locked, "ask", "read", owner="ward-1"))
        assert 'href="/evidence"' not in browser.get("/", follow_redirects=True).text
        assert browser.get("/evidence").status_code == 403
        sign_in(browser, make_key(locked, "documents", owner="ward-1"))
        form = browser.get("/evidence", follow_redirects=True)
        given = {"key": key_of(form.text), "csrf": token(form.text), "text": "", "title": ""}
        files = [file("one.txt", "One."), file("two.txt", "Two.")]
        without = {name: one for name, one in given.items() if name != "csrf"}
        assert browser.post("/evidence", data=without, files=files).status_code == 403
        sent = browser.post("/evidence", data=given, files=files)
        assert sent.status_code == 303, sent.text
        path = place(sent)
        assert browser.get(path).status_code == 200
        assert browser.get(f"{path}/state").status_code == 200
        assert (
            path in browser.get("/evidence", follow_redirects=True).text
        )  # among what was sent lately
        sign_in(browser, make_key(locked, "documents", "read", owner="ward-2"))
        assert browser.get(path).status_code == 404
        assert browser.get(f"{path}/state").status_code == 404
        assert path not in browser.get("/evidence", follow_redirects=True).text
        stolen = browser.get("/evidence", follow_redirects=True)
        mine = {**given, "csrf": token(stolen.text)}
        theirs = browser.post("/evidence", data=mine, files=files)
        assert place(theirs) != path  # a key of a form means its owner's own


def test_payloads_in_names_titles_and_words_show_as_text(gateway: Running) -> None:
    def made(told: str) -> str:
        response = send(
            gateway, file(f"{told[:80]}.docx", b"PK\x03\x04"), title=told[:900], doi=told[:100],
            text=told, status=422,
        )  # fmt: skip
        return response.text

    usual = tags(made("harmless words"))
    for text in BATCHES:
        html = made(text.replace("\x00", " ").replace("/", "|"))
        assert tags(html) == usual, text
        refuse_foreign_addresses(html)


def test_when_there_is_no_room_the_form_keeps_its_words_and_what_was_sent_stays_sent(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    with serving(settings_for(new_database(), backlog_max=1)) as full:
        key, given = key_of(form_page(full)), {"title": "A title", "text": TEXT}
        first = send(full, key=key, **given)
        time.sleep(CALM_SECONDS + 0.1)  # for as long a gateway believes what it counted
        refused = send(full, status=429, **{**given, "title": "Another title"})
        assert int(refused.headers["retry-after"]) > 0
        assert "as many as are accepted" in words(refused.text)
        assert soup(refused.text).find(id="title")["value"] == "Another title"  # type: ignore[index]
        assert place(send(full, key=key, **given)) == place(first)
        assert full.count("ingest_item") == 1
