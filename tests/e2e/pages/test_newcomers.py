"""What somebody meets who is new here: a paste too long, a sign-in that ended, a slow answer."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.instances import Up
from tests.e2e.pages.conftest import Seen, make_key

Look = Callable[..., Seen]
REFUSED = "Failed to load resource: the server responded with a status of"


def paste(seen: Seen, label: str, text: str) -> None:
    """Put a text into a box as people do; `fill` would go around the browser's own limit."""
    seen.says("(text) => navigator.clipboard.writeText(text)", text)
    seen.page.get_by_label(label, exact=True).first.focus()
    seen.page.keyboard.press("Control+V")


@pytest.mark.parametrize(
    ("path", "label", "button", "words"),
    [
        ("/", "Question", "Ask", "Does ctDNA predict recurrence? " * 140),
        ("/notes", "Note", "Summarize", "HPI\nShe coughs.\n" * 14_000),
        ("/extractions", "Or paste its text", "Extract", "Glucose 5.4 mmol/L\n" * 17_000),
        ("/verify", "Text", "Verify", "Aspirin raises the risk.\n" * 45_000),
        ("/evidence", "Or paste a text", "Add", "Xyzomab was given.\n" * 17_000),
    ],
)
def test_a_text_that_is_too_long_is_told_to_be_and_never_cut_in_silence(
    look: Look, path: str, label: str, button: str, words: str
) -> None:
    seen = look(permissions=["clipboard-read", "clipboard-write"])
    seen.expected = (REFUSED,)
    seen.open(path)
    paste(seen, label, words + "ALLERGIC TO PENICILLIN.")
    if path == "/evidence":
        seen.page.get_by_label("Title of the text").fill("A title")
    seen.page.get_by_role("button", name=button, exact=True).click()
    expect(seen.page.get_by_role("alert")).to_be_visible()
    expect(seen.page.locator("main")).to_contain_text(re.compile("more than [0-9,]+ characters"))


def test_an_empty_instance_says_that_nothing_is_held_and_how_to_begin(
    look: Look, keyed: Up
) -> None:
    seen = look(url=keyed.url)
    seen.open("/")
    seen.sign_in(make_key(keyed, "ask", "read", "documents"))
    expect(seen.page.get_by_text("Nothing is held yet")).to_be_visible()
    expect(seen.page.get_by_text("Examples for the sample corpus")).to_have_count(0)
    seen.shot("empty-ask")
    seen.page.locator("main").get_by_role("link", name="Add evidence").click()
    expect(seen.page.get_by_role("heading", level=1)).to_have_text("Add evidence")
    seen.page.get_by_role("link", name="Library").click()
    expect(seen.page.get_by_role("button", name="Load the samples")).to_be_visible()
    seen.shot("empty-library")


@pytest.mark.parametrize(
    ("path", "label", "button", "leads_to"),
    [
        ("/", "Question", "Ask", "/questions/[0-9a-f-]{36}"),
        ("/notes", "Note", "Summarize", "/notes/[0-9a-f-]{36}"),
        ("/evidence", "Or paste a text", "Add", "/evidence/sent/[0-9a-f-]{36}"),
    ],
)
def test_what_was_written_outlives_a_sign_in_that_ended(
    look: Look, keyed: Up, path: str, label: str, button: str, leads_to: str
) -> None:
    seen = look(url=keyed.url)
    key = make_key(keyed, "ask", "read", "documents")
    seen.open(path)
    seen.sign_in(key)
    seen.page.get_by_label(label, exact=True).fill("She coughs since Monday.")
    if path == "/evidence":
        seen.page.get_by_label("Title of the text").fill("A title")
    seen.page.context.clear_cookies()  # as when its time has passed
    seen.page.get_by_role("button", name=button, exact=True).click()
    told = seen.page.get_by_role("alert")
    expect(told).to_contain_text("Not sent: the sign-in has ended")
    seen.shot(f"session-ended-{button.lower()}")
    with seen.page.context.expect_page() as opened:
        told.get_by_role("link").click()
    seen.sign_in(key, window=opened.value)
    opened.value.close()
    expect(seen.page.get_by_label(label, exact=True)).to_have_value("She coughs since Monday.")
    seen.page.get_by_role("button", name=button, exact=True).click()
    expect(seen.page).to_have_url(re.compile(leads_to))


def test_without_scripts_a_form_that_was_not_taken_is_said_not_to_be(look: Look, keyed: Up) -> None:
    seen = look(url=keyed.url, java_script_enabled=False)
    key = make_key(keyed, "ask", "read")
    seen.open("/notes")
    seen.sign_in(key)
    seen.page.get_by_label("Note", exact=True).fill("She coughs since Monday.")
    seen.page.context.clear_cookies()
    seen.page.get_by_role("button", name="Summarize").click()
    expect(seen.page.get_by_role("alert")).to_contain_text("was not taken")
    seen.sign_in(key)
    expect(seen.page).to_have_url(re.compile(r"/notes\?form=[0-9a-f-]{36}$"))


@pytest.mark.parametrize("scripts", [True, False])
def test_an_answer_that_takes_long_says_what_it_waits_for(
    look: Look, api: httpx.Client, scripts: bool
) -> None:
    assert api.post("/v1/stages/retrieve/pause", json={"reason": "a test"}).is_success
    try:
        seen = look(java_script_enabled=scripts)
        seen.open("/")
        seen.page.get_by_label("Question").fill("Does ctDNA predict recurrence?")
        seen.page.get_by_role("button", name="Ask").click()
        told = seen.page.get_by_text("stands still: stopped by")
        expect(told).to_be_visible()
        if scripts:
            seen.shot("slow")
    finally:
        assert api.post("/v1/stages/retrieve/resume").is_success
    expect(seen.page.locator("li.claim, .abstention").first).to_be_visible()


def test_nobody_is_sent_to_openapi_from_a_page_that_is_not_there(look: Look) -> None:
    seen = look()
    seen.expected = (REFUSED,)
    seen.open("/nothing/here")
    expect(seen.page.locator("main")).to_contain_text("There is no page at this address")
    expect(seen.page.locator("main")).not_to_contain_text("openapi")
    seen.open("/questions/123")
    expect(seen.page.locator("main")).not_to_contain_text("UUID")
