"""What a newcomer does with a new instance, in the browser alone: ten tasks, clicks and seconds."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, expect
from pypdf import PdfReader

from store.core.database import connect
from store.core.unit_of_work import Store
from store.embedded import read_connection
from tests.e2e.instances import Up
from tests.e2e.pages.conftest import Seen, following
from tests.e2e.pages.test_operate_pages import CAUSE, kill
from tests.e2e.pages.test_pages import QUESTION, SLIDE, marked
from tests.unit.extract.made import REPORT

Look = Callable[..., Seen]

DOSE = {
    "source_type": "guideline",
    "source_key": "dose",
    "title": "A made-up guideline on the dose of xyzomab in gout",
    "publisher": "A made-up society",
    "evidence_level": "guideline",
    "published_at": "2026-10-01T00:00:00Z",
}
DOSED = "# Recommendations\n\nAdults with gout should receive xyzomab at {} mg once daily.\n"


@pytest.fixture(scope="module")
def fresh(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """An instance with nothing in it, and a PubMed to follow."""
    with following(tmp_path_factory.mktemp("tasks")) as running:
        yield running


PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
"""Milliseconds from the beginning of a navigation to the first words on the screen."""


class Person:
    """Somebody at a browser; what is clicked and typed is counted."""

    def __init__(self, seen: Seen) -> None:
        self.seen, self.page = seen, seen.page
        self.clicks = 0
        self.told: list[str] = []

    def clicks_on(self, role: Any, name: str | re.Pattern[str], within: Any = None) -> None:
        self.click((within or self.page).get_by_role(role, name=name).first)

    def click(self, place: Locator) -> None:
        place.click()
        self.clicks += 1

    def types(self, label: str, words: str) -> None:
        self.page.get_by_label(label, exact=True).first.fill(words)

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        """One task; a picture of its end is kept if somebody asked for pictures."""
        self.clicks, began = 0, time.monotonic()
        yield
        took, painted = time.monotonic() - began, self.seen.says(PAINTED)
        self.told.append(f"{name}: {self.clicks} clicks, {took:.1f} s; paint {painted:.0f} ms")
        self.seen.shot(f"task-{name.replace(' ', '-')}")


def change_the_guideline(api: httpx.Client, dose: str) -> None:
    """A new version of a document, as its society publishes one."""
    sent = api.post("/v1/documents", json={**DOSE, "text": DOSED.format(dose)})
    assert sent.status_code == 202, sent.text
    found: dict[str, Any] = {"status": "pending"}
    while found["status"] == "pending":
        found = api.get(sent.headers["location"]).json()
    assert found["status"] == "done", found


def test_ten_tasks_need_no_command_line(look: Look, fresh: Up, tmp_path: Path) -> None:
    seen = look(url=fresh.url)
    api = httpx.Client(base_url=fresh.url, timeout=60)
    running = read_connection(fresh.data_dir)
    assert running is not None
    store = Store(connect(running.database_url))
    me = Person(seen)
    page = seen.page

    with me.task("01 first fill"):
        seen.open("/")
        me.clicks_on("button", "Load the samples")
        expect(page.get_by_role("heading", level=1)).to_have_text("All of it is held")

    with me.task("02 ask"):
        me.clicks_on("link", re.compile("Ask"), page.get_by_role("navigation", name="Pages"))
        me.types("Question", QUESTION)
        me.clicks_on("button", "Ask")
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
    answer = page.url

    with me.task("03 check a citation"):
        me.click(page.locator(".lead a.evidence-link").first)
        assert marked(seen)

    with me.task("04 follow a subject"):
        me.clicks_on("link", "Library")
        me.clicks_on("link", "What is followed")
        page.get_by_label("Source").select_option("pubmed")
        me.types("Query", "gout")
        me.clicks_on("button", re.compile("^Follow$"))
        line = page.locator("tbody tr").filter(has_text="gout")
        expect(line).to_contain_text("Followed")
        expect(line).to_contain_text("ago")

    with me.task("05 verify a slide"):
        me.clicks_on("link", "Verify")
        me.types("Text", SLIDE)
        me.clicks_on("button", "Verify")
        expect(page.locator("li.claim .badge").first).to_have_text("Supported")

    change_the_guideline(api, "12")
    asked = api.post("/v1/questions", json={"question": "What is the dose of xyzomab in gout?"})
    before = api.get(asked.headers["location"], params={"wait": 30}).json()
    assert "12 mg" in str(before["answer"]["claims"]), before["answer"]
    change_the_guideline(api, "21")
    with me.task("06 find what changed"):
        me.clicks_on("link", "History")
        line = page.locator(".history li").filter(has_text="dose of xyzomab").last
        expect(line).to_contain_text("Superseded")
        me.click(line.get_by_role("link"))
        me.clicks_on("link", DOSE["title"], page.locator("section.banner"))
        expect(page.locator("del")).to_have_text("12")
        expect(page.locator("ins")).to_have_text("21")

    kill(api, store)
    with me.task("07 replay a dead letter"):
        me.clicks_on("link", "Operate")
        me.clicks_on("link", re.compile(": Dead letters"))
        me.clicks_on("link", CAUSE)
        me.clicks_on("button", "Try a replay of 1")
        me.clicks_on("button", "Replay 1 now")
        expect(page.get_by_text("Replayed").first).to_be_visible()

    with me.task("08 hand it to a colleague"):
        me.clicks_on("link", "History")
        me.clicks_on("link", QUESTION)
        me.clicks_on("button", "Make a link")
        link = page.locator(".shared-link").inner_text()
    colleague = look(url=fresh.url)
    colleague.page.goto(link)
    expect(colleague.page.get_by_text("Shared by its owner")).to_be_visible()

    with me.task("09 read a report"):
        me.clicks_on("link", "Extractions")
        me.types("Or paste its text", REPORT)
        me.clicks_on("button", "Extract")
        expect(page.locator("[data-span='grade-1'] q")).to_have_text("Nottingham grade 2")

    with me.task("10 print"):
        page.goto(answer)
        paper = tmp_path / "answer.pdf"
        page.pdf(path=paper, format="A4")
        assert len(PdfReader(paper).pages) <= 2

    store.engine.dispose()
    api.close()
    assert len(me.told) == 10
    if seen.shots is not None:
        (seen.shots / "tasks.txt").write_text("\n".join(me.told), encoding="utf-8")
