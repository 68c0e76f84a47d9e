"""Documents and sign-in in a real browser, with everything running."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.instances import Up
from tests.e2e.pages.conftest import PHONE_IN_THE_DARK, Seen, make_key
from tests.servers import wait_until
from tests.unit.extract.made import REPORT

Look = Callable[..., Seen]
POOR = (
    "GENOMIC REPORT of the laboratory for Mrs. Xyzzy. Mutations were looked for in BRCA1 and KRAS; "
    "variants, tumor mutational burden and microsatellite status are told in a letter."
)


def shows(seen: Seen, style: str, words: str) -> None:
    """Wait until these words of the text, and no others, are marked in this style."""
    script = (
        "(style) => [...document.querySelectorAll(`#text mark.${style}`)]"
        ".map((one) => one.textContent).join('')"
    )
    wait_until(lambda: bool(seen.says(script, style) == words), what=f"{words!r} is {style}")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pathology report about nobody."""
    path = tmp_path_factory.mktemp("report") / "report.txt"
    path.write_text(REPORT, encoding="utf-8")
    return path


def upload(seen: Seen, report: Path) -> None:
    seen.open("/extractions")
    seen.page.get_by_label("File", exact=True).set_input_files(report)
    seen.page.get_by_role("button", name="Extract").click()
    expect(seen.page.get_by_role("heading", name="How well it was read")).to_be_visible()


def test_upload_extraction_and_the_very_words_of_a_field(look: Look, report: Path) -> None:
    seen = look()
    seen.open("/extractions")
    seen.shot("documents")
    upload(seen, report)
    field = seen.page.locator("[data-span='grade-1']")
    words = "Nottingham grade 2"
    expect(field.locator("q")).to_have_text(words)
    shows(seen, "lit", "")
    field.hover()
    shows(seen, "lit", words)
    seen.page.mouse.move(0, 0)
    shows(seen, "lit", "")
    field.focus()
    shows(seen, "lit", words)
    seen.shot("extraction")
    field.click()
    expect(seen.page.locator("#span")).to_be_attached()
    shows(seen, "chosen", words)
    expect(seen.page.locator("svg.scores")).to_have_count(0)  # one time over it draws no line


def test_without_scripts_a_field_still_leads_to_its_words(look: Look, report: Path) -> None:
    seen = look()
    upload(seen, report)
    path = seen.page.url.removeprefix(seen.url)
    bare = look(java_script_enabled=False)
    bare.open(path)
    bare.page.locator("[data-span='histology-1']").click()
    marked = bare.page.locator("#text mark.chosen")
    expect(marked).to_have_text("Invasive ductal carcinoma")


def test_a_poor_document_is_reviewed(look: Look) -> None:
    seen = look()
    seen.open("/extractions")
    seen.page.get_by_label("Or paste its text").fill(POOR)
    seen.page.get_by_label("Type").select_option("genomics")
    seen.page.get_by_role("button", name="Extract").click()
    seen.page.get_by_role("link", name="Review it").click()
    seen.shot("review")
    seen.open("/reviews")
    seen.shot("reviews")
    seen.page.locator(".history a").first.click()
    seen.page.get_by_role("button", name="Accept as it is").click()
    expect(seen.page.locator(".question-head .badge")).to_have_text("Accepted")


def test_an_unreadable_document_says_what_would_help(look: Look) -> None:
    seen = look()
    seen.open("/extractions")
    seen.page.get_by_label("Or paste its text").fill("~^}{ ¤¦ xq |\\ §¬ zzk " * 30)
    seen.page.get_by_role("button", name="Extract").click()
    expect(seen.page.locator(".banner")).to_contain_text("What would help")
    seen.shot("unreadable")


NOTE = """HPI
62 y/o woman with cough for 3 weeks. She has type 2 diabetes.

Medications
Metformin 500 mg twice daily. Allergic to penicillin.

Assessment and plan
Uncontrolled diabetes. Start empagliflozin 10 mg daily. Follow up in 2 weeks.
"""


def test_a_note_is_summarized_beside_its_words(look: Look) -> None:
    seen = look()
    seen.open("/notes")
    seen.shot("notes")
    seen.page.get_by_label("Note", exact=True).fill(NOTE)
    seen.page.get_by_role("button", name="Summarize").click()
    item = seen.page.locator("[data-span='medicines_allergies-2']")
    item.hover()
    shows(seen, "lit", "Allergic to penicillin.")
    item.click()
    expect(seen.page.locator("#text mark.chosen")).to_have_text("Allergic to penicillin.")
    seen.shot("note")


def test_documents_are_as_good_on_a_phone_in_the_dark(look: Look, report: Path) -> None:
    seen = look(**PHONE_IN_THE_DARK)
    seen.open("/extractions")
    seen.shot("documents-phone-in-the-dark")
    upload(seen, report)
    seen.page.locator("[data-span='margins-1']").click()
    seen.shot("extraction-phone-in-the-dark")
    seen.open("/signin")
    seen.shot("signin-phone-in-the-dark")
    wide = seen.says("() => document.documentElement.scrollWidth > innerWidth")
    assert not wide


def test_sign_in_and_scopes(look: Look, keyed: Up, report: Path) -> None:
    seen = look(url=keyed.url)
    seen.expected = ("Failed to load resource",)
    seen.open("/extractions")
    expect(seen.page).to_have_url(re.compile(r"/signin\?next=%2Fextractions$"))
    seen.page.get_by_label("Key").fill("attest_wrong")
    seen.page.get_by_role("button", name="Sign in").click()
    expect(seen.page.get_by_role("alert")).to_contain_text("Not signed in")
    seen.shot("signin")
    seen.page.get_by_label("Key").fill(make_key(keyed, "ask", "read"))
    seen.page.get_by_role("button", name="Sign in").click()
    expect(seen.page).to_have_url(re.compile(r"/extractions\?form=[0-9a-f-]{36}$"))
    nav = seen.page.get_by_role("navigation", name="Pages")
    expect(nav.get_by_role("link", name="Extractions")).to_be_visible()
    expect(nav.get_by_role("link", name="Operate")).to_have_count(0)
    cookies: list[Any] = seen.page.context.cookies()
    assert [(one["httpOnly"], one["sameSite"]) for one in cookies] == [(True, "Strict")]
    upload(seen, report)
    seen.shot("signed-in")
    path = seen.page.url.removeprefix(keyed.url)
    seen.open("/")
    seen.page.get_by_label("Question").fill("Does Xyzomab lower mortality in heart failure?")
    seen.page.get_by_role("button", name="Ask").click()
    # It comes by the events, which the page's own script follows with the cookie.
    expect(seen.page.locator(".abstention")).to_be_visible()
    first = seen.page.url
    seen.page.get_by_role("button", name="Ask again").click()
    expect(seen.page).not_to_have_url(first)
    expect(seen.page.locator(".abstention")).to_be_visible()
    seen.page.get_by_role("button", name="Sign out").click()
    expect(seen.page.get_by_role("heading", name="Sign in")).to_be_visible()
    seen.open(path)
    expect(seen.page.get_by_role("heading", name="Sign in")).to_be_visible()
    seen.page.get_by_label("Key").fill(make_key(keyed, "read"))
    seen.page.get_by_role("button", name="Sign in").click()
    expect(seen.page).to_have_url(keyed.url + path)
    seen.open("/extractions")
    expect(seen.page.get_by_role("button", name="Extract")).to_have_count(0)
