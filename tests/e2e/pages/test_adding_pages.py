"""Adding evidence in a real browser: from an answer that lacks it to one that cites it."""

import re
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.pages.conftest import Seen

Look = Callable[..., Seen]
WIDTHS = pytest.mark.parametrize("width", [1280, 380])
WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
LONG = "pneumonoultramicroscopicsilicovolcanoconiosis" * 5


def finding(drug: str) -> str:
    return f"In made-up gout, {drug} lowered uric acid by 12%."


def made_up_drug() -> str:
    """A name that no other test uses."""
    return f"Qu{''.join(sign for sign in uuid4().hex if sign.isalpha())}mab"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A guideline, a PDF that is none inside, and a letter of a word processor."""
    guideline = tmp_path / "guideline.md"
    guideline.write_text(f"# A made-up guideline {uuid4()}\n\nNothing is said in it.\n", "utf-8")
    broken = tmp_path / f"{LONG}.pdf"
    broken.write_bytes(b"%PDF-1.4 and nothing else")
    letter = tmp_path / "letter.docx"
    letter.write_bytes(b"PK\x03\x04 rubbish")
    return [guideline, broken, letter]


def sideways(seen: Seen) -> bool:
    return bool(seen.says(WIDER))


@WIDTHS
def test_from_no_evidence_to_an_answer_that_cites_what_was_added(look: Look, width: int) -> None:
    drug = made_up_drug()
    seen = look(viewport={"width": width, "height": 900})
    seen.open("/")
    seen.page.get_by_label("Question").fill(f"Does {drug} lower uric acid in gout?")
    seen.page.get_by_role("button", name="Ask").click()
    seen.page.locator(".abstention").get_by_role("link", name="Add evidence").click()
    expect(seen.page.get_by_text("For the question")).to_be_visible()
    seen.page.get_by_label("What it is").select_option("guideline")
    seen.page.get_by_label("Or paste a text").fill(f"# Results\n\n{finding(drug)}\n")
    seen.page.get_by_label("Title of the text").fill(f"A made-up guideline on {drug}")
    seen.page.get_by_text("Date, identifiers and where it comes from").click()
    seen.page.get_by_label("Published").fill("2026-01")
    seen.shot(f"adding-{width}")
    assert not sideways(seen)
    seen.page.get_by_role("button", name="Add").click()
    expect(seen.page.locator(".sent .badge")).to_have_text("Held")
    expect(seen.page.get_by_role("heading", level=1)).to_have_text("All of it is held")
    seen.shot(f"added-{width}")
    assert not sideways(seen)
    seen.page.locator(".sent").get_by_role("link").click()
    expect(seen.page.locator("#text")).to_contain_text(finding(drug))
    seen.page.go_back()
    seen.page.get_by_role("button", name="Ask again").click()
    claim = seen.page.locator("li.claim").first
    expect(claim).to_contain_text(finding(drug))
    expect(claim.locator(".place-source")).to_contain_text(f"A made-up guideline on {drug}")


@WIDTHS
def test_each_file_tells_what_became_of_it(look: Look, files: list[Path], width: int) -> None:
    seen = look(viewport={"width": width, "height": 900})
    seen.expected = ("Failed to load resource: the server responded with a status of 422",)
    seen.open("/evidence")
    seen.page.get_by_label("Files").set_input_files(files)
    seen.page.get_by_label("Title of the text").fill("")
    seen.page.get_by_role("button", name="Add").click()
    expect(seen.page.get_by_role("alert")).to_contain_text("Save it as PDF")
    expect(seen.page.get_by_role("heading", name="2 documents were sent")).to_be_visible()
    seen.shot(f"adding-refused-{width}")
    assert not sideways(seen)
    seen.page.get_by_role("link", name="See how far they are").click()
    badges = seen.page.locator(".sent .lead-head .badge")
    expect(badges).to_have_text(["Held", "Not read"])
    expect(seen.page.locator(".sent .reason")).to_contain_text("PDF")
    seen.shot(f"added-refused-{width}")
    assert not sideways(seen)


def test_back_and_reload_send_nothing_twice(look: Look, api: httpx.Client) -> None:
    def submitted() -> int:
        found = api.get("/v1/audit", params={"event": "document.submitted"}).json()
        assert found["next_cursor"] is None
        return len(found["events"])

    drug, before = made_up_drug(), submitted()
    seen = look()
    seen.open("/evidence")
    address = seen.page.url
    assert "form=" in address

    def send() -> str:
        seen.page.get_by_label("Or paste a text").fill(finding(drug))
        seen.page.get_by_label("Title of the text").fill(drug)
        seen.page.get_by_role("button", name="Add").click()
        expect(seen.page).to_have_url(re.compile("/evidence/sent/"))
        expect(seen.page.locator(".sent .badge")).to_have_text("Held")
        return seen.page.url

    first = send()
    seen.page.reload()
    expect(seen.page.locator(".sent > li")).to_have_count(1)
    seen.page.goto(address)
    expect(seen.page.get_by_text("Something was sent from this form already")).to_be_visible()
    assert send() == first
    expect(seen.page.locator(".sent > li")).to_have_count(1)
    assert submitted() == before + 1


def test_evidence_is_added_with_the_keyboard_alone(look: Look) -> None:
    drug = made_up_drug()
    seen = look()
    seen.open("/evidence")
    keys = seen.page.keyboard
    keys.press("Tab")
    keys.press("Enter")  # skip to the content
    reached: list[str] = []
    for _ in range(30):
        keys.press("Tab")
        name = seen.says("() => document.activeElement.id || document.activeElement.type")
        reached.append(str(name))
        seen_focus = seen.says(
            "() => getComputedStyle(document.activeElement).outlineStyle !== 'none'"
        )
        assert seen_focus, name
        if name == "text":
            keys.type(finding(drug))
        elif name == "title":
            keys.type(drug)
            break
    assert reached[-4:] == ["source_type", "file", "text", "title"]
    keys.press("Enter")
    expect(seen.page.locator(".sent .badge")).to_have_text("Held")


def test_evidence_is_added_without_scripts(look: Look) -> None:
    drug = made_up_drug()
    seen = look(java_script_enabled=False)
    seen.open("/evidence")
    seen.page.get_by_label("Or paste a text").fill(finding(drug))
    seen.page.get_by_label("Title of the text").fill(drug)
    seen.page.get_by_role("button", name="Add").click()
    expect(seen.page.locator(".sent .badge")).to_have_text("Held")  # it loads itself again
    expect(seen.page).to_have_url(re.compile("/evidence/sent/"))


def test_an_error_loses_nothing_that_was_written(look: Look) -> None:
    seen = look()
    seen.expected = ("Failed to load resource: the server responded with a status of 422",)
    seen.open("/evidence")
    seen.page.get_by_label("Or paste a text").fill("Two\nlines.")
    seen.page.get_by_text("Date, identifiers and where it comes from").click()
    seen.page.get_by_label("DOI").fill("11.1")
    seen.page.get_by_role("button", name="Add").click()
    alert = seen.page.get_by_role("alert")
    expect(alert).to_contain_text("Title: write a title")
    expect(alert).to_contain_text("DOI: begins with 10.")  # all of it at once
    red = "(one) => getComputedStyle(one).borderTopColor"
    assert seen.page.get_by_label("DOI").evaluate(red) != seen.page.get_by_label("PMID").evaluate(
        red
    )
    expect(seen.page.get_by_label("Or paste a text")).to_have_value("Two\nlines.")
    seen.shot("adding-errors")
    alert.get_by_role("link", name="Title", exact=True).click()
    expect(seen.page.get_by_label("Title of the text")).to_be_focused()
    seen.page.keyboard.type("A title")
    seen.page.keyboard.press("Enter")
    expect(alert).to_contain_text("DOI: begins with 10.")
    expect(alert).not_to_contain_text("Title")
    expect(seen.page.get_by_label("DOI")).to_have_value("11.1")  # its part is open


def test_too_much_is_told_before_it_is_sent(look: Look, tmp_path: Path) -> None:
    seen = look()
    seen.open("/evidence")
    many = [tmp_path / f"{n}.txt" for n in range(21)]
    for one in many:
        one.write_text(one.name, "utf-8")
    seen.page.get_by_label("Files").set_input_files(many)
    told = seen.page.get_by_text("21 files are chosen; up to 20 are taken at once.")
    expect(told).to_be_visible()
    seen.shot("adding-too-many")
    seen.page.get_by_role("button", name="Add").click()
    expect(seen.page).to_have_url(re.compile("/evidence\\?form="))  # the browser holds it back
    large = tmp_path / "large.txt"
    large.write_bytes(b"x" * (33 * 1024**2))
    seen.page.get_by_label("Files").set_input_files([large])
    expect(seen.page.get_by_text("The chosen files have 33.0 MB")).to_be_visible()
    seen.page.get_by_label("Files").set_input_files(many[:1])
    expect(told).to_be_hidden()
    seen.page.get_by_role("button", name="Add").click()
    expect(seen.page.locator(".sent .badge")).to_have_text("Held")
