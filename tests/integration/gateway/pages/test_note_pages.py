"""The pages of notes over the real app."""

from uuid import UUID

import httpx
import pytest

from store.texts import notes
from store.texts.notes import NOTES
from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import make_key
from tests.integration.gateway.keys.test_signin import sign_in, token
from tests.integration.gateway.pages.test_document_pages import marked, shown
from tests.integration.gateway.pages.test_pages import (
    BROWSER,
    page,
    refuse_foreign_addresses,
    soup,
    tags,
)
from tests.payloads import BATCHES

NO_FILE = {"file": ("", b"", "application/octet-stream")}


def send(gateway: Running, text: str, title: str = "") -> str:
    response = gateway.client.post(
        "/notes", data={"text": text, "title": title}, files=NO_FILE, headers=BROWSER
    )
    assert response.status_code == 303, response.text
    return str(response.headers["location"])


def summarized(gateway: Running, text: str, *spans: tuple[int, int], told: str = "told") -> str:
    """A note with an item in a list, and a recommendation, for each span; its page."""
    with gateway.store.unit_of_work("test") as work:
        note = notes.submit(work, text, told)
        items = [
            {"text": text[start:end], "source": f"{told} section, chunk_0:{start}-{end}"}
            for start, end in spans
        ]
        plan = [
            {
                "number": n,
                "recommendation": one["text"],
                "source": one["source"],
                "confidence": 0.5,
                "hallucination_guard_note": told,
            }
            for n, one in enumerate(items, start=1)
        ]
        result = {
            "summary": {"assessment": items},
            "plan": {"recommendations": plan},
            "validation": {"items": len(items), "invalid_citations": 0},
            "provenance": {"generator": told, "fallback": {"plan": {"note": told}}},
        }
        NOTES.done(work, note.id, result)
    return f"/notes/{note.id}"


def test_a_note_is_sent_and_waited_for(gateway: Running) -> None:
    path = send(gateway, "HPI\r\nShe coughs.", "A made-up visit")
    html = page(gateway, path)
    assert f'data-await="/v1{path}"' in html
    assert "A made-up visit" in html
    found = gateway.scalar("SELECT text FROM note WHERE id = :id", id=UUID(path.rpartition("/")[2]))
    assert found == "HPI\nShe coughs."


def test_items_that_overlap_mark_their_words_to_the_letter(gateway: Running) -> None:
    text = "𝒜 She\r\n coughs 🧬 and <b>smokes</b>."
    spans = ((0, 12), (2, 20), (11, len(text)), (5, 900))
    html = page(gateway, path := summarized(gateway, text, *spans))
    assert shown(html) == text
    for n, (start, end) in enumerate(spans, start=1):
        expected = text[start:end] if end <= len(text) else ""
        assert marked(html, f"plan-{n}") == expected
        assert marked(html, f"assessment-{n}") == "", "what the plan has is told once"
        link = soup(html).find("a", attrs={"data-span": f"plan-{n}"})
        assert (link is not None) is bool(expected)
        chosen = soup(page(gateway, f"{path}?item=plan-{n}")).find_all("mark", class_="chosen")
        assert "".join(one.get_text() for one in chosen) == expected


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("", ("", b"")),
        ("a\x00b", ("", b"")),
        ("x" * 200_001, ("", b"")),
        ("", ("note.txt", b"\xff\xfe\xfd")),
    ],
)
def test_what_is_no_note_is_told_in_the_form(
    gateway: Running, text: str, file: tuple[str, bytes]
) -> None:
    response = gateway.client.post(
        "/notes", data={"text": text}, files={"file": (*file, "text/plain")}, headers=BROWSER
    )
    assert response.status_code == 422
    assert "The note was not sent" in response.text


@pytest.mark.parametrize("file", [("", b""), ("empty.txt", b""), ("blank.txt", b" \n")])
def test_who_sends_no_note_is_told_what_to_do(gateway: Running, file: tuple[str, bytes]) -> None:
    response = gateway.client.post(
        "/notes", data={"text": ""}, files={"file": (*file, "text/plain")}, headers=BROWSER
    )
    assert response.status_code == 422
    assert "The note was not sent: paste a note or choose a file with its text" in response.text
    assert "at least 1 character" not in response.text


def test_payloads_in_notes_show_as_text(gateway: Running) -> None:
    def made(words: str) -> str:
        text = f"A {words} B"
        return page(gateway, summarized(gateway, text, (0, 3), (2, len(text)), told=words))

    usual = tags(made("harmless words"))
    for text in BATCHES:
        html = made(text)
        assert tags(html) == usual, text
        assert shown(html) == f"A {text} B"
        refuse_foreign_addresses(html)


def test_another_owners_note_is_not_there(locked: Running) -> None:
    with httpx.Client(base_url=locked.url, headers=BROWSER) as browser:
        sign_in(browser, make_key(locked, "ask", "read", owner="ward-1"))
        given = {
            "text": "She coughs.",
            "csrf": token(browser.get("/notes", follow_redirects=True).text),
        }
        assert browser.post("/notes", data={"text": "x"}, files=NO_FILE).status_code == 403
        path = browser.post("/notes", data=given, files=NO_FILE).headers["location"]
        assert browser.get(path).status_code == 200
        assert browser.get(f"/v1{path}").status_code == 200
        sign_in(browser, make_key(locked, "ask", "read", owner="ward-2"))
        assert browser.get(path).status_code == 404
        assert browser.get(f"/v1{path}").status_code == 404


def test_the_list_has_the_owners_own_notes_newest_first_in_pages(locked: Running) -> None:
    with locked.store.unit_of_work("test") as work:
        for n in range(27):
            notes.submit(work, "She coughs.", f"Visit {n}", owner="ward-3")
        notes.submit(work, "He sneezes.", "Somebody else's", owner="ward-4")
    with httpx.Client(base_url=locked.url, headers=BROWSER) as browser:
        sign_in(browser, make_key(locked, "read", owner="ward-3"))
        first = soup(browser.get("/notes").text)
        names = [one.get_text() for one in first.select(".history-question")]
        older = str(first.select('a[rel="next"]')[0]["href"])
        second = soup(browser.get(older).text)
        names += [one.get_text() for one in second.select(".history-question")]
        assert names == [f"Visit {n}" for n in reversed(range(27))]
        assert not first.select("textarea")  # this key may read and not ask
        assert browser.get("/notes", params={"cursor": "rubbish"}).status_code == 422


def test_an_erased_note_is_a_line_without_its_title(gateway: Running) -> None:
    path = summarized(gateway, "Xyzzy coughs.", told="Xyzzy")
    assert gateway.client.delete(f"/v1{path}").status_code == 204
    (line,) = soup(page(gateway, "/notes")).select(f'a[href="{path}"]')
    assert line.get_text() == "A note whose words were erased"
