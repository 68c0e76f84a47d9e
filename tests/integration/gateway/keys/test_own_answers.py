"""Whoever may submit may read by its id what became of it, and nothing else."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from cli.commands.questions.ask import ask
from store.access.keys import Issued
from store.core.settings import get_settings
from tests.integration.gateway.conftest import Running, working
from tests.integration.gateway.keys.test_keys import bearer, make_key, problem
from tests.integration.gateway.keys.test_signin import HTML, QUESTION, sign_in, token
from tests.integration.gateway.operation.test_backlog import SUBMISSIONS

ASKED = [path for path in SUBMISSIONS if path != "/v1/documents"]


@pytest.fixture
def kiosk(locked: Running) -> Issued:
    """A key that may ask and has no scope to read."""
    return make_key(locked, "ask", owner="kiosk")


def submitted(running: Running, issued: Issued, path: str) -> str:
    """The address of what was submitted with this key."""
    response = running.client.post(path, json=SUBMISSIONS[path], headers=bearer(issued))
    assert response.status_code == 202, response.text
    return str(response.headers["location"])


@pytest.mark.requirement("OP-3.2")
@pytest.mark.parametrize("path", ASKED)
def test_op_3_2_who_may_ask_reads_what_came_of_it(
    locked: Running, kiosk: Issued, path: str
) -> None:
    address = submitted(locked, kiosk, path)
    got = locked.client.get(address, headers=bearer(kiosk))
    assert got.status_code == 200, got.text
    assert got.json()["id"] == address[-36:]
    if path == "/v1/extractions":
        assert locked.client.get(f"{address}/text", headers=bearer(kiosk)).status_code == 200


def test_who_may_ask_follows_the_question(locked: Running, kiosk: Issued) -> None:
    address = submitted(locked, kiosk, "/v1/questions")
    headers = {**bearer(kiosk), "Last-Event-ID": "end"}
    assert locked.client.get(f"{address}/events", headers=headers).status_code == 204


@pytest.mark.parametrize("path", ASKED)
def test_another_owners_is_still_missing(locked: Running, kiosk: Issued, path: str) -> None:
    theirs = submitted(locked, make_key(locked, "ask", owner="ward-9"), path)
    problem(locked.client.get(theirs, headers=bearer(kiosk)), 404, "not-found")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/questions",
        "/v1/questions/recalls",
        "/v1/extractions",
        "/v1/sources",
        "/v1/findings",
        "/v1/reviews",
        "/questions",
    ],
)
def test_who_may_only_ask_reads_no_list(locked: Running, kiosk: Issued, path: str) -> None:
    problem(locked.client.get(path, headers=bearer(kiosk)), 403, "missing-scope")


def test_who_may_only_ask_reads_no_document(locked: Running, kiosk: Issued) -> None:
    document = locked.put_document("It says so.")
    for path in (f"/v1/documents/{document}", f"/v1/documents/{document}/versions"):
        problem(locked.client.get(path, headers=bearer(kiosk)), 403, "missing-scope")


@pytest.mark.requirement("OP-3.2")
def test_op_3_2_who_may_upload_reads_what_became_of_the_upload_and_nothing_else(
    locked: Running,
) -> None:
    mine, theirs = (make_key(locked, "documents", owner=one) for one in ("lab", "ward-9"))
    address = submitted(locked, mine, "/v1/documents")
    got = locked.client.get(address, headers=bearer(mine))
    assert got.status_code == 200, got.text
    assert got.json()["kind"] == "submission"
    problem(locked.client.get(address, headers=bearer(theirs)), 404, "not-found")
    document = f"/v1/documents/{locked.put_document('It says so.')}"
    problem(locked.client.get(document, headers=bearer(mine)), 404, "not-found")
    reader = make_key(locked, "read", owner="lab")
    assert locked.client.get(document, headers=bearer(reader)).status_code == 200
    problem(locked.client.get(f"{document}/versions", headers=bearer(mine)), 403, "missing-scope")


@pytest.fixture
def browser(locked: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=locked.url, timeout=30, headers=HTML) as client:
        yield client


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        ("/ask", QUESTION),
        ("/verify", {"text": "Aspirin lowers the risk."}),
        ("/notes", {"text": "Chief complaint: cough."}),
        ("/extractions", {"text": "Glucose 5.4 mmol/L"}),
    ],
)
def test_a_form_leads_to_a_page_that_its_sender_may_see(
    browser: httpx.Client, kiosk: Issued, form: str, fields: dict[str, Any]
) -> None:
    sign_in(browser, kiosk)
    csrf = token(browser.get("/" if form == "/ask" else form, follow_redirects=True).text)
    sent = browser.post(form, data={**fields, "csrf": csrf})
    assert sent.status_code == 303, sent.text
    assert browser.get(sent.headers["location"]).status_code == 200


def test_attest_ask_ends_with_its_answer(
    locked: Running, kiosk: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTEST_KEY", kiosk.secret)
    get_settings.cache_clear()
    try:
        with working(locked):
            question = ask(locked.url, {"question": "Does zorbinib help?"}, timeout_seconds=30)
    finally:
        get_settings.cache_clear()
    assert question["status"] == "answered"
