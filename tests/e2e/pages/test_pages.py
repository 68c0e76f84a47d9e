"""The pages in a real browser: what a clinician clicks, with everything running."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.pages.conftest import CURABLE, FINDING, PHONE_IN_THE_DARK, Seen

Look = Callable[..., Seen]

QUESTION = "What clinical trials are studying MRD-guided treatment de-escalation?"
UNKNOWN = (
    "Does ctDNA-guided adjuvant therapy improve survival after resection of pancreatic cancer?"
)
SLIDE = (
    "Two-year recurrence-free survival was 93.5% with ctDNA guidance and 92.4% with standard "
    "management, an absolute difference of 1.1 percentage points (95% CI -4.1 to 6.2), which met "
    "noninferiority [1].\n\nThe authors speak of “a new standard of care for every patient” [1]."
    "\n\nCIRCULATE-US is registered as NCT04264702.\n\nReferences\n\n"
    "[1] Tie J et al. PMID: 35657320\n"
)
FILE_NAME = (
    "NCCN_Guidelines_Colon_Cancer_Version_1.2026_January_15_2026_Physician_Edition_final.txt"
)
"""A title as imports take it from a file: one word of 88 characters."""


@pytest.fixture(scope="module")
def answered(site: Any) -> str:
    """The page of an answered question."""
    with httpx.Client(base_url=site.url, timeout=60) as client:
        asked = client.post("/v1/questions", json={"question": QUESTION}).json()
        body = client.get(f"/v1/questions/{asked['id']}", params={"wait": 30}).json()
    assert body["answer"]["abstained"] is False
    return f"/questions/{asked['id']}"


def marked(seen: Seen) -> str:
    """The words that the browser shows as the cited span, once its page is there."""
    expect(seen.page.locator("#span")).to_be_in_viewport()
    found: str = seen.says(
        "() => [...document.querySelectorAll('#text mark')].map((one) => one.textContent).join('')"
    )
    return found


def test_ask_progress_answer_citation_and_the_very_words(look: Look, api: httpx.Client) -> None:
    seen = look()
    seen.open("/")
    seen.shot("ask")
    assert api.post("/v1/stages/generate/pause", json={"reason": "a test"}).is_success
    try:
        seen.page.get_by_label("Question").fill(QUESTION)
        seen.page.get_by_role("button", name="Ask").click()
        done = seen.page.locator('[data-stage="retrieve"][data-status="done"]')
        expect(done).to_be_visible()
        expect(done.locator(".took")).not_to_be_empty()
        expect(seen.page.locator('[data-stage="audit"]')).to_contain_text("not yet")
        seen.shot("progress")
    finally:
        assert api.post("/v1/stages/generate/resume").is_success
    claims = seen.page.locator("li.claim")
    expect(claims.first).to_be_visible()
    expect(seen.page.locator(".lead .badge").first).to_have_text("Verified")
    expect(seen.page.get_by_text("Last updated")).to_be_visible()
    seen.page.get_by_role("button", name="It is right").click()
    expect(seen.page.get_by_role("button", name="It is right (1)")).to_be_visible()
    seen.page.get_by_role("button", name="Make a link").click()
    expect(seen.page.locator(".shared-link")).to_be_visible()
    seen.shot("answer")
    here = seen.page.url
    seen.page.locator(".shared-link").click()
    expect(seen.page.get_by_text("Shared by its owner")).to_be_visible()
    seen.shot("shared")
    seen.open(here.removeprefix(seen.url))
    answer = api.get("/v1" + seen.page.url.removeprefix(seen.url).partition("?")[0]).json()[
        "answer"
    ]
    for claim in answer["claims"][:3]:
        place = claim["citations"][0]
        seen.page.locator(f"#claim-{claim['claim_id']} a.evidence-link").first.click()
        assert marked(seen) == place["quote"]
        seen.page.go_back()
    seen.page.locator(f"#claim-{answer['claims'][0]['claim_id']} a.evidence-link").first.click()
    seen.shot("evidence", whole=False)
    seen.page.get_by_role("link", name=QUESTION).first.click()
    seen.page.get_by_label("Question").fill("And in stage III colon cancer?")
    seen.page.get_by_role("button", name="Ask", exact=True).click()
    expect(seen.page.get_by_text("asked on from")).to_be_visible()
    whole = f"{QUESTION.removesuffix('?')} in stage III colon cancer?"
    expect(seen.page.get_by_role("heading", level=1)).to_have_text(whole)


def test_an_abstention_names_what_would_cure_it(look: Look) -> None:
    seen = look()
    seen.open("/")
    seen.page.get_by_role("link", name=UNKNOWN).click()
    expect(seen.page.get_by_label("Question")).to_have_value(UNKNOWN)
    seen.page.get_by_role("button", name="Ask").click()
    banner = seen.page.locator(".abstention")
    expect(banner).to_contain_text("No evidence is held on this")
    expect(banner).to_contain_text("What would help")
    seen.shot("abstention")


def test_abstention_refresh_answer(look: Look, api: httpx.Client) -> None:
    followed = api.post("/v1/sources/pubmed/refresh", json={"query": "gout"}).json()
    api.get(followed["refreshes"][0]["href"], params={"wait": 30})
    seen = look()
    seen.open("/")
    seen.page.get_by_label("Question").fill(CURABLE)
    seen.page.get_by_role("button", name="Ask").click()
    banner = seen.page.locator(".abstention")
    expect(banner).to_contain_text("PubMed")
    # It was set going by the abstention itself; the page tells when it has ended.
    expect(banner.locator(".curing")).to_have_text("PubMed: complete")
    seen.shot("cured")
    banner.get_by_role("button", name="Ask again").click()
    expect(seen.page.locator("li.claim").first).to_contain_text(FINDING)
    seen.page.locator("li.claim a.evidence-link").first.click()
    assert marked(seen) == FINDING


def test_a_pasted_text_comes_back_with_a_verdict_on_every_claim(look: Look) -> None:
    seen = look()
    seen.open("/verify")
    seen.shot("verify")
    seen.page.get_by_label("Text", exact=True).first.fill(SLIDE)
    seen.page.get_by_role("button", name="Verify").click()
    claims = seen.page.locator("li.claim")
    expect(claims).to_have_count(3)
    expect(claims.first.locator(".badge").first).to_have_text("Supported")
    expect(claims.nth(1)).to_contain_text("Not found")
    expect(seen.page.locator("#identifiers + .identifiers")).to_contain_text("PMID 35657320")
    seen.shot("verdicts")
    quote = claims.first.locator("blockquote").inner_text()
    claims.first.locator("a.evidence-link").click()
    assert marked(seen) == quote


def test_a_text_is_checked_against_sources_of_ones_own(look: Look) -> None:
    seen = look()
    seen.open("/verify")
    seen.page.get_by_label("Text", exact=True).first.fill(
        "Xyzomab cured 12% of the patients.\n\nXyzomab cured 21% of the patients."
    )
    seen.page.get_by_text("Compare with your own sources instead").click()
    own = seen.page.get_by_role("group", name="Source 1")
    own.get_by_label("Title").fill("My own made-up record")
    own.get_by_label("Text").fill("# Results\n\nXyzomab cured 12% of the patients.")
    seen.page.get_by_role("button", name="Verify").click()
    claim = seen.page.locator("li.claim").first
    expect(claim).to_contain_text("Supported")
    claim.locator("a.evidence-link").click()
    expect(seen.page.locator("#span")).to_be_in_viewport()
    assert marked(seen) == "Xyzomab cured 12% of the patients."
    seen.shot("own-source")
    seen.page.go_back()
    wrong = seen.page.locator("li.claim").nth(1)
    expect(wrong.locator(".badge").first).to_have_text("Contradicted")
    expect(wrong.locator("mark.differs")).to_have_text("21%")
    expect(wrong).to_contain_text("The source has “12%” where this says “21%”.")
    seen.shot("contradicted")


def test_every_page_is_as_good_on_a_phone_in_the_dark(
    look: Look, answered: str, api: httpx.Client
) -> None:
    place = api.get(f"/v1{answered}").json()["answer"]["claims"][0]["citations"][0]
    evidence = f"/evidence/{place['document_id']}/versions/{place['version']}"
    seen = look(**PHONE_IN_THE_DARK)
    for page, path in {
        "ask": "/",
        "answer": answered,
        "history": "/questions",
        "library": "/library?q=ctDNA",
        "watches": "/library/watches",
        "verify": "/verify",
        "evidence": f"{evidence}?start={place['start']}&end={place['end']}#span",
    }.items():
        seen.open(path)
        seen.shot(f"{page}-phone-in-the-dark", whole=page != "evidence")
        wider = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not seen.says(wider), f"{page} scrolls sideways"


def test_versions_are_compared_side_by_side(look: Look, api: httpx.Client, site: Any) -> None:
    record = {
        "source_type": "document",
        "source_key": "two-versions",
        "title": "A made-up record in two versions",
        "text": "# Dose\n\nXyzomab was given at 12 mg.\n",
    }
    for text in (record["text"], record["text"].replace("12 mg", "21 mg")):
        sent = api.post("/v1/documents", json={**record, "text": text})
        assert sent.status_code == 202, sent.text
        found: dict[str, Any] = {}
        while found.get("status", "pending") == "pending":
            found = api.get(sent.headers["location"]).json()
        assert found["status"] == "done", found
    document_id = found["outcome"]["documents"][0]["document_id"]
    seen = look()
    seen.open(f"/evidence/{document_id}/versions/1")
    expect(seen.page.get_by_text("A newer one has taken its place")).to_be_visible()
    seen.shot("superseded")
    seen.page.get_by_role("link", name="See what changed").click()
    expect(seen.page.locator("del")).to_have_text("12")
    expect(seen.page.locator("ins")).to_have_text("21")
    seen.shot("diff")


@pytest.mark.parametrize("width", [380, 1280])
def test_a_title_without_a_space_scrolls_no_page_sideways(
    look: Look, answered: str, api: httpx.Client, width: int
) -> None:
    record = {"source_type": "guideline", "title": FILE_NAME, "text": "# Dose\n\nA made-up dose.\n"}
    sent = api.post("/v1/documents", json={**record, "source_key": "file-name"})
    found = api.get(sent.headers["location"]).json()
    while found["status"] == "pending":
        found = api.get(sent.headers["location"]).json()
    document_id = found["outcome"]["documents"][0]["document_id"]
    seen = look(viewport={"width": width, "height": 844})
    wider = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    seen.open(f"/evidence/{document_id}/versions/1")
    expect(seen.page.get_by_role("heading", level=1)).to_have_text(FILE_NAME)
    assert not seen.says(wider), "the evidence scrolls sideways"
    seen.open(answered)
    for place in (".reference-title bdi", ".place-source", "main h2", "main h1"):
        shown = seen.page.locator(place).first
        shown.evaluate("(one, title) => { one.textContent = title; }", FILE_NAME)
        assert not seen.says(wider), f"{place} scrolls the answer sideways"


def test_an_error_is_a_page_with_the_id_of_its_request(look: Look) -> None:
    seen = look()
    seen.expected = ("Failed to load resource: the server responded with a status of 404",)
    seen.open("/nothing/here")
    expect(seen.page.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    seen.shot("error")


def test_everything_works_without_scripts(look: Look, answered: str) -> None:
    seen = look(java_script_enabled=False)
    seen.open("/")
    seen.page.get_by_label("Question").fill(QUESTION)
    seen.page.get_by_role("button", name="Ask").click()
    expect(seen.page.locator("li.claim").first).to_be_visible()
    assert not seen.page.locator("button.copy").first.is_visible()
    seen.page.locator("li.claim a.evidence-link").first.click()
    expect(seen.page.locator("#span")).to_be_in_viewport()


def test_the_keyboard_reaches_everything_and_the_focus_is_seen(look: Look) -> None:
    seen = look()
    seen.open("/")
    seen.page.keyboard.press("Tab")
    expect(seen.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    seen.page.keyboard.press("Enter")
    seen.page.keyboard.press("Tab")
    expect(seen.page.get_by_label("Question")).to_be_focused()
    seen.page.keyboard.type(QUESTION)
    seen.page.keyboard.press("Control+Enter")
    expect(seen.page.locator("li.claim").first).to_be_visible()


def test_an_answer_is_copied_as_it_is_exported(
    look: Look, answered: str, api: httpx.Client
) -> None:
    seen = look(permissions=["clipboard-read", "clipboard-write"])
    seen.open(answered)
    for name, form in (("Markdown", "md"), ("BibTeX", "bib"), ("RIS", "ris")):
        seen.page.get_by_role("button", name=f"Copy {name}").click()
        expect(seen.page.locator("[data-copied]")).to_have_text("Copied")
        copied = seen.says("() => navigator.clipboard.readText()")
        exported = api.get(f"{answered}/export.{form}").text
        assert copied.replace("\r\n", "\n") == exported.replace("\r\n", "\n")
        expect(seen.page.locator("[data-copied]")).to_be_empty()


def test_a_browser_gives_back_strange_texts_to_the_letter(look: Look, api: httpx.Client) -> None:
    text = (
        "# Results\n\nDose 𝟙𝟚 mg 🧬 of cafe\u0301,\rקודם zero\u200bwidth\ufeff & <b>bold</b> "
        "\u202etfel\u202c end\u0085 of\u2028it\x0c.\n"
    )
    sent = api.post(
        "/v1/verifications",
        json={"text": "It is so.", "documents": [{"title": "Strange", "text": text}]},
    ).json()
    seen = look()
    for start, end in ((0, len(text)), (11, 60), (16, 18), (25, 45)):
        seen.open(f"/verify/{sent['id']}/sources/1?start={start}&end={end}")
        assert marked(seen) == text[start:end]
        whole = seen.says("() => document.querySelector('#text').textContent")
        assert whole == text
