"""The Operate pages in a real browser: a dead letter is found, tried, replayed, and it works."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from playwright.sync_api import expect

from store.core.database import connect
from store.core.unit_of_work import Store
from store.dead_letters.dead_letters import Death, bury
from store.embedded import read_connection
from tests.e2e.pages.conftest import PHONE_IN_THE_DARK, Seen
from tests.e2e.pages.test_pages import QUESTION
from tests.servers import wait_until

Look = Callable[..., Seen]

CAUSE = "the index is empty, says a test"
FAULT = re.compile("/operate/dead-letters/faults/")


@pytest.fixture
def store(site: Any) -> Any:
    """The store of the instance."""
    running = read_connection(site.data_dir)
    assert running is not None
    engine = connect(running.database_url)
    yield Store(engine)
    engine.dispose()


def until_held(store: Store, question_id: str) -> UUID:
    """The promise to retrieve for a question, once the paused stage has laid its message aside: one
    that came after the stage goes on would be worked on, dead or not."""
    found: list[UUID] = []

    def held() -> bool:
        with store.reading() as session:
            found[:] = session.execute(_HELD, {"question": question_id}).scalars()
        return bool(found)

    wait_until(held, 60, "the message was laid aside")
    return found[0]


_HELD = sa.text(
    "SELECT id FROM outbox WHERE payload->>'question_id' = :question AND status = 'pending'"
)


def kill(api: httpx.Client, store: Store, cause: str = CAUSE) -> str:
    """A question whose retrieve stage gave up; its address under `/v1`."""
    assert api.post("/v1/stages/retrieve/pause", json={"reason": "a test"}).is_success
    try:
        asked = api.post("/v1/questions", json={"question": QUESTION}).json()
        promise = until_held(store, asked["id"])
        death = Death(
            stage="retrieve",
            payload={"schema": "retrieve.v1", "question_id": asked["id"]},
            error_type="Permanent",
            cause=cause,
            traceback='Traceback (most recent call last):\n  File "made_up.py", line 1\nPermanent',
            outbox_id=promise,
        )
        with store.unit_of_work("a test") as work:
            bury(work, death, if_idle=False)
    finally:
        assert api.post("/v1/stages/retrieve/resume").is_success
    address = f"/v1/questions/{asked['id']}"
    assert api.get(address).json()["status"] == "failed"
    return address


def test_dead_letter_dry_run_replay_answer(look: Look, api: httpx.Client, store: Store) -> None:
    question = kill(api, store)
    seen = look()
    seen.open("/")
    seen.page.get_by_role("link", name="Operate", exact=True).click()
    expect(seen.page.get_by_role("heading", level=1)).to_have_text("Operate")
    seen.shot("operate")
    seen.page.get_by_role("navigation", name="Operate").get_by_role(
        "link", name="Dead letters"
    ).click()
    expect(seen.page).to_have_url(re.compile("/operate/dead-letters$"))
    seen.shot("dead-letters")
    seen.page.get_by_role("link", name=CAUSE).click()
    expect(seen.page).to_have_url(FAULT)
    seen.shot("fault")
    seen.page.locator("tbody a").first.click()
    expect(seen.page.get_by_text("made_up.py")).to_be_visible()
    seen.shot("dead-letter")
    seen.page.get_by_role("button", name="Try a replay").click()
    expect(seen.page.get_by_text("1 of 1 would be sent again")).to_be_visible()
    seen.shot("replay")
    assert api.get(question).json()["status"] == "failed", "a dry run changes nothing"
    seen.page.get_by_role("button", name="Replay 1 now").click()
    expect(seen.page.locator(".badge").first).to_have_text("Replayed")
    seen.shot("replayed")
    seen.page.goto(seen.url + question.removeprefix("/v1"))
    expect(seen.page.locator("li.claim").first).to_be_visible()


def test_a_letter_is_discarded_with_a_reason_and_without_scripts(
    look: Look, api: httpx.Client, store: Store
) -> None:
    kill(api, store, "a cause that nobody can mend")
    seen = look(java_script_enabled=False)
    seen.open("/operate/dead-letters")
    seen.page.get_by_role("link", name="a cause that nobody can mend").click()
    expect(seen.page).to_have_url(FAULT)
    seen.page.locator("tbody a").first.click()
    seen.page.get_by_label("Reason to give it up").fill("asked in a test")
    seen.page.get_by_role("button", name="Discard").click()
    expect(seen.page.locator(".badge").first).to_have_text("Discarded")
    expect(seen.page.get_by_text("asked in a test")).to_be_visible()


def test_the_chain_is_verified_whole_and_searched(look: Look, api: httpx.Client) -> None:
    api.post("/v1/stages/recall/pause", json={"reason": "a test"})
    api.post("/v1/stages/recall/resume")
    seen = look()
    seen.open("/operate/audit")
    expect(seen.page.locator("#chain ~ p .badge")).to_have_text("Whole")
    button = seen.page.get_by_role("button", name="Verify everything")
    if button.count():  # a short chain is checked whole whenever the page is opened
        button.click()
    expect(seen.page.locator("#chain ~ p").first).to_contain_text("from the first one")
    seen.page.get_by_label("Event", exact=True).fill("stage.paused")
    seen.page.get_by_label("Subject").fill("recall")
    seen.page.get_by_role("button", name="Search").click()
    expect(seen.page.locator("table.events .event")).to_have_text(["stage.paused"])
    seen.page.get_by_text("Payload").first.click()
    expect(seen.page.locator("pre").first).to_contain_text("reason_sha256")
    seen.shot("audit")


def test_quality_is_drawn_and_told(look: Look, api: httpx.Client, store: Store) -> None:
    asked = api.post("/v1/questions", json={"question": QUESTION}).json()
    api.get(f"/v1/questions/{asked['id']}", params={"wait": 30})
    seen = look()
    seen.open("/operate/quality")
    expect(seen.page.locator(".tile").first).to_contain_text("Answers")
    seen.shot("quality")
    seen.open("/operate")
    pictures = seen.page.locator("main img")
    expect(pictures.first).to_be_visible()
    for n in range(pictures.count()):
        pictures.nth(n).scroll_into_view_if_needed()
        width = "(one) => one.decode().then(() => one.naturalWidth)"
        assert pictures.nth(n).evaluate(width) > 0


@pytest.fixture
def paused(api: httpx.Client) -> Iterator[None]:
    """The stage summarize stands still, and works again whatever becomes of the test."""
    assert api.post("/v1/stages/summarize/pause", json={"reason": "a test"}).is_success
    yield
    assert api.post("/v1/stages/summarize/resume").is_success


@pytest.mark.usefixtures("paused")
def test_operate_is_as_good_on_a_phone_in_the_dark(
    look: Look, api: httpx.Client, store: Store
) -> None:
    kill(api, store, "a cause for the dark")
    followed = api.post("/v1/sources/pubmed/refresh", json={"query": "gout"}).json()
    api.get(followed["refreshes"][0]["href"], params={"wait": 30})
    letter = api.get("/v1/dead-letters").json()["dead_letters"][0]
    seen = look(**PHONE_IN_THE_DARK)
    for page, path in {
        "operate": "/operate",
        "dead-letters": "/operate/dead-letters",
        "fault": f"/operate/dead-letters/faults/{letter['fingerprint']}",
        "dead-letter": f"/operate/dead-letters/{letter['id']}",
        "replay": f"/operate/dead-letters/{letter['id']}/replay",
        "audit": "/operate/audit",
        "quality": "/operate/quality",
        "report": "/operate/report",
    }.items():
        seen.open(path)
        for one in seen.page.locator("main img").all():
            one.scroll_into_view_if_needed()
        seen.shot(f"{page}-phone-in-the-dark")
        wider = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not seen.says(wider), f"{page} scrolls sideways"


def test_a_stage_is_paused_and_resumed_with_its_buttons(look: Look, api: httpx.Client) -> None:
    seen = look()
    seen.open("/operate")
    line = seen.page.locator('[data-stage-line="extract"]')
    try:
        line.get_by_text("Pause", exact=False).first.click()
        line.get_by_label("Reason").fill("an upgrade")
        line.get_by_role("button", name="Pause extract").click()
        expect(line).to_contain_text("an upgrade")
        expect(line).to_contain_text("Paused")
        seen.shot("stage-paused")
        line.get_by_role("button", name="Resume").click()
        expect(line).to_contain_text("Works")
    finally:
        assert api.post("/v1/stages/extract/resume").is_success
