"""Keys made and ended in the page, the feed under a link of its own, and pages sent compressed."""

import re
from collections.abc import Iterator
from uuid import UUID
from xml.etree import ElementTree

import httpx
import pytest

from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import bearer, make_key, refusals
from tests.integration.gateway.keys.test_signin import HTML, sign_in, token
from tests.integration.gateway.submissions.test_recalls import affect, answered, reaffirm, supersede

SECRET = re.compile(r"attest_[0-9a-f]{10}_[A-Za-z0-9_-]{43}")
NEW = {"name": "ward 3 desk", "owner": "ward-3", "days": "30", "ask": "yes", "read": "yes"}
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def browser(locked: Running) -> Iterator[httpx.Client]:
    """A browser of somebody who may manage keys."""
    with httpx.Client(base_url=locked.url, timeout=30, headers=HTML) as client:
        sign_in(client, make_key(locked, "keys", "ask", owner="desk"))
        yield client


def csrf(browser: httpx.Client) -> str:
    return token(browser.get("/operate/keys").text)


def test_a_key_is_made_in_the_page_shown_once_and_revoked_there(
    locked: Running, browser: httpx.Client
) -> None:
    shown = browser.post("/operate/keys", data={**NEW, "csrf": csrf(browser)})
    assert (shown.status_code, shown.headers["cache-control"]) == (200, "no-store")
    (secret,) = set(SECRET.findall(shown.text))
    assert secret not in browser.get("/operate/keys").text
    asked = locked.client.get("/v1/questions", headers=bearer(secret))
    assert asked.status_code == 200
    key_id = locked.scalar("SELECT id FROM access_key WHERE owner = 'ward-3'")
    told = "event = 'key.created' AND subject = :id AND actor LIKE 'key:%'"
    assert locked.count("audit_event", told, id=str(key_id)) == 1
    again = browser.post("/operate/keys", data={**NEW, "csrf": csrf(browser)})
    assert again.status_code == 422, "a form that is sent twice makes one key"
    assert "this owner has a key of that name" in again.text
    assert locked.count("access_key", "owner = 'ward-3'") == 1
    ended = browser.post(f"/operate/keys/{key_id}/revoke", data={"csrf": csrf(browser)})
    assert ended.status_code == 303
    assert locked.client.get("/v1/questions", headers=bearer(secret)).status_code == 401
    assert locked.count("audit_event", "event = 'key.revoked' AND subject = :id", id=str(key_id))


def test_who_may_not_manage_keys_or_was_led_here_by_another_page_makes_none(
    locked: Running, browser: httpx.Client
) -> None:
    before = locked.count("access_key")
    assert browser.post("/operate/keys", data=NEW).status_code == 403
    assert refusals(locked, reason="no_csrf_token", route="POST /operate/keys")
    elsewhere = {"Origin": "https://elsewhere.example"}
    given = {**NEW, "csrf": csrf(browser)}
    assert browser.post("/operate/keys", data=given, headers=elsewhere).status_code == 403
    operator = make_key(locked, "ask", "read", "documents", "operate", "audit")
    assert locked.client.get("/operate/keys", headers=bearer(operator)).status_code == 403
    sent = locked.client.post("/operate/keys", data=NEW, headers=bearer(operator))
    assert sent.status_code == 403
    assert locked.count("access_key") == before + 1


def test_a_key_that_does_not_fit_is_told_in_the_form(
    locked: Running, browser: httpx.Client
) -> None:
    wrong = {
        "no days": ({"days": ""}, "1 to 1095 days"),
        "too many days": ({"days": "9" * 40}, "1 to 1095 days"),
        "a strange owner": ({"owner": "Ward 3\0"}, "an owner is written in lower case"),
        "no name": ({"name": " "}, "name has 1 to 100"),
        "no scope": ({"ask": "", "read": ""}, "scopes are one or more"),
    }
    before = locked.count("access_key")
    for name, (given, words) in wrong.items():
        shown = browser.post("/operate/keys", data={**NEW, **given, "csrf": csrf(browser)})
        assert shown.status_code == 422, name
        assert words in shown.text, name
    assert locked.count("access_key") == before
    missing = f"/operate/keys/{UUID(int=1)}/revoke"
    assert browser.post(missing, data={"csrf": csrf(browser)}).status_code == 404


def entries(feed: httpx.Response) -> list[tuple[str, str]]:
    """Title and link of each entry."""
    assert feed.status_code == 200, feed.text
    assert feed.headers["content-type"].startswith("application/atom+xml")
    return [
        (one.findtext(f"{ATOM}title") or "", one.find(f"{ATOM}link").attrib["href"])  # type: ignore[union-attr]
        for one in ElementTree.fromstring(feed.text).iter(f"{ATOM}entry")
    ]


def test_a_feed_tells_what_became_of_ones_answers_until_its_link_is_ended(
    gateway: Running,
) -> None:
    gateway.execute("DELETE FROM answer_recall")
    document_id = gateway.put_document("Some words.")
    first, second = (answered(gateway, document_id) for _ in range(2))
    affect(gateway, document_id)
    reaffirm(gateway, first)
    new = supersede(gateway, second)
    foreign = answered(gateway, document_id)
    gateway.execute("UPDATE question SET owner = 'ward-9' WHERE id = :id", id=foreign)
    affect(gateway, document_id)
    reaffirm(gateway, foreign)
    page = gateway.client.post("/questions/feed", headers=HTML)
    (link,) = re.findall(r"http://[^<\s]+/feeds/[\w-]+", page.text)
    with httpx.Client() as reader:
        told = entries(reader.get(link))
        superseded, reaffirmed = told
        assert superseded[0].startswith("Superseded")
        assert superseded[1] == f"{gateway.url}/questions/{new}"
        assert reaffirmed[0].startswith("Reaffirmed")
        assert reaffirmed[1] == f"{gateway.url}/questions/{first}"
        assert "ctDNA" not in reader.get(link).text, "words that are erased here stay in no reader"
        key_id = gateway.scalar("SELECT id FROM access_key WHERE revoked_at IS NULL")
        assert link not in gateway.client.get("/questions/feed", headers=HTML).text
        ended = gateway.client.post(f"/questions/feed/{key_id}/end", headers=HTML)
        assert ended.status_code == 303
        assert reader.get(link).status_code == 401


def test_no_key_that_opens_more_works_in_an_address(gateway: Running) -> None:
    whole = make_key(gateway, "read", "feed")
    assert gateway.client.get(f"/feeds/{whole.secret}").status_code == 404
    narrow = make_key(gateway, "feed")
    assert gateway.client.get(f"/feeds/{narrow.secret}").status_code == 200
    other = gateway.client.get("/v1/questions", headers=bearer(narrow))
    assert other.status_code == 403
    mine = gateway.client.post(f"/questions/feed/{whole.key.id}/end", headers=HTML)
    assert mine.status_code == 404, "only links are ended here"


def test_what_is_sent_is_compressed_but_for_streams_and_no_secret_of_it_is_constant(
    locked: Running, browser: httpx.Client
) -> None:
    pages = [browser.get("/operate/keys") for _ in range(2)]
    assert all(page.headers["content-encoding"] == "gzip" for page in pages)
    assert "Accept-Encoding" in pages[0].headers["vary"]
    assert token(pages[0].text) != token(pages[1].text)
    plain = browser.get("/operate/keys", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    key = bearer(make_key(locked, "ask"))
    asked = locked.client.post("/v1/questions", json={"question": "Does it?"}, headers=key)
    events = f"{asked.headers['location']}/events"
    with locked.client.stream("GET", events, headers=key) as stream:
        assert "content-encoding" not in stream.headers
        assert next(stream.iter_lines())
