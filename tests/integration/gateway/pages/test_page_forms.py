"""One form, one submission: whatever a page sends may be sent again, and comes once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from store.models import ModelUsage, now
from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import make_key
from tests.integration.gateway.keys.test_signin import sign_in, token
from tests.integration.gateway.pages.test_pages import BROWSER, answered, page, soup, words


@dataclass(frozen=True)
class Sent:
    """A form: the page it stands on, where it goes, what is in it, and the rows it makes."""

    page: str
    action: str
    fields: dict[str, str]
    changed: dict[str, str]
    table: str


FORMS = {
    one.table: one
    for one in (
        Sent("/", "/ask", {"question": "Does ctDNA help?"}, {"as_of": "2026-01-31"}, "question"),
        Sent("/verify", "/verify", {"text": "It helps."}, {"text": "It harms."}, "verification"),
        Sent("/notes", "/notes", {"text": "Cough."}, {"title": "A visit"}, "note"),
        Sent(
            "/extractions",
            "/extractions",
            {"text": "Hb 9 g/dL"},
            {"profile": "clinical"},
            "extraction",
        ),
    )
}
EACH = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def key_of(html: str) -> str:
    return str(soup(html).select_one('main input[name="key"]')["value"])  # type: ignore[index]


def led(gateway: Running, path: str) -> str:
    """The address with the key of a form, to which whoever opens the page is led."""
    response = gateway.client.get(path, headers=BROWSER)
    assert response.status_code == 303, response.text
    return str(response.headers["location"])


def send(client: httpx.Client, form: Sent, key: str, **fields: str) -> httpx.Response:
    return client.post(form.action, data={"key": key, **form.fields, **fields}, headers=BROWSER)


def place(response: httpx.Response) -> str:
    assert response.status_code == 303, response.text
    return str(response.headers["location"])


@EACH
def test_a_form_that_is_sent_twice_is_one_submission(gateway: Running, form: Sent) -> None:
    key, before = key_of(page(gateway, form.page)), gateway.count(form.table)
    first, second = (place(send(gateway.client, form, key)) for _ in range(2))
    assert first == second
    assert gateway.count(form.table) == before + 1


@EACH
def test_a_form_that_is_sent_many_times_at_once_is_one_submission(
    gateway: Running, form: Sent
) -> None:
    key, before = key_of(page(gateway, form.page)), gateway.count(form.table)

    def click(_: int) -> str:
        with httpx.Client(base_url=gateway.url) as client:
            return place(send(client, form, key))

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(click, range(6)))) == 1
    assert gateway.count(form.table) == before + 1


@EACH
def test_a_form_that_was_gone_back_to_and_changed_is_another_submission(
    gateway: Running, form: Sent
) -> None:
    key, before = key_of(page(gateway, form.page)), gateway.count(form.table)
    first = place(send(gateway.client, form, key))
    others = {place(send(gateway.client, form, key, **form.changed)) for _ in range(2)}
    assert len(others) == 1
    assert first not in others
    assert gateway.count(form.table) == before + 2


@EACH
def test_a_form_that_is_loaded_again_is_the_same_form_and_tells_what_was_sent(
    gateway: Running, form: Sent
) -> None:
    address = led(gateway, form.page)
    first = page(gateway, address)
    assert key_of(first) == key_of(page(gateway, address))
    assert key_of(first) != key_of(page(gateway, led(gateway, form.page)))
    assert "already" not in words(first)
    sent = place(send(gateway.client, form, key_of(first)))
    gone_back = page(gateway, address)
    assert "sent from this form already" in words(gone_back)
    (link,) = soup(gone_back).select(".banner.quiet a[href]")[:1]
    assert link["href"] == sent


@EACH
def test_a_form_that_is_refused_keeps_its_key(gateway: Running, form: Sent) -> None:
    key = str(uuid4())
    name = next(iter(form.fields))
    refused = send(gateway.client, form, key, **{name: " "})
    assert refused.status_code == 422
    assert key_of(refused.text) == key


@EACH
def test_a_form_without_a_key_or_with_rubbish_for_one_is_sent_all_the_same(
    gateway: Running, form: Sent
) -> None:
    before = gateway.count(form.table)
    for key in ("", "rubbish", "\x00"):
        place(send(gateway.client, form, key))
    assert gateway.count(form.table) == before + 3


@EACH
def test_what_was_sent_from_a_form_a_day_ago_is_sent_anew(gateway: Running, form: Sent) -> None:
    """A bookmark of a form, or a tab that is never closed, gives no answer of last week."""
    address = led(gateway, form.page)
    key = key_of(page(gateway, address))
    first = place(send(gateway.client, form, key))
    gateway.execute(
        f"UPDATE {form.table} SET created_at = created_at - interval '25 hours' WHERE id = :id",
        id=UUID(first.rpartition("/")[2]),
    )
    assert "already" not in words(page(gateway, address))
    assert place(send(gateway.client, form, key)) != first


@EACH
def test_no_hash_of_the_words_alone_stands_beside_them(gateway: Running, form: Sent) -> None:
    """Two forms with the same words have nothing in common (invariant 11)."""
    keys = []
    for _ in range(2):
        made = place(send(gateway.client, form, str(uuid4()))).rpartition("/")[2]
        query = f"SELECT idempotency_key FROM {form.table} WHERE id = :id"
        keys.append(str(gateway.scalar(query, id=UUID(made))))
    assert all(one.startswith("page:") and len(one) <= 255 for one in keys)
    assert len({one.rpartition(":")[2] for one in keys}) == 2


def test_an_example_is_written_into_the_form_it_leads_to(gateway: Running) -> None:
    found = soup(page(gateway, led(gateway, "/?q=Does%20ctDNA%20%26%20MRD%20help%3F")))
    assert found.select_one("#question").get_text().strip() == "Does ctDNA & MRD help?"  # type: ignore[union-attr]


def test_asking_again_twice_from_one_page_asks_once(gateway: Running) -> None:
    shown = page(gateway, answered(gateway))
    (form,) = soup(shown).select("form#again")
    before = gateway.count("question")
    data = {str(one["name"]): str(one["value"]) for one in form.select("input[name]")}
    sent = [
        place(gateway.client.post(str(form["action"]), data=data, headers=BROWSER))
        for _ in range(2)
    ]
    assert sent[0] == sent[1]
    assert gateway.count("question") == before + 1
    assert key_of(page(gateway, answered(gateway))) != data["key"]


@pytest.mark.parametrize("table", ["question", "note", "extraction"])
def test_a_day_that_is_spent_keeps_the_words_and_gives_what_was_sent_before(
    locked: Running, table: str
) -> None:
    form: Any = FORMS[table]
    limits = {"usd_a_day": Decimal("0.50")}
    poor = make_key(locked, "ask", "read", owner=f"poor-{table}", limits=limits)
    with httpx.Client(base_url=locked.url, headers=BROWSER) as browser:
        sign_in(browser, poor)
        shown = browser.get(form.page, follow_redirects=True).text
        csrf, key = token(shown), key_of(shown)
        sent = place(send(browser, form, key, csrf=csrf))
        with locked.store.unit_of_work("test") as work:
            cost = {"purpose": "draft", "model": "m", "outcome": "p", "cost_usd": Decimal(9)}
            made = UUID(sent.rpartition("/")[2])
            question = browser.post("/ask", data={"question": "q", "csrf": csrf})
            spent = str(made) if table == "question" else place(question).rpartition("/")[2]
            work.session.add(ModelUsage(at=now(), subject=spent, **cost))
        assert place(send(browser, form, key, csrf=csrf)) == sent
        refused = send(browser, form, str(uuid4()), csrf=csrf)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert "language models have cost" in words(refused.text).lower()
        assert next(iter(form.fields.values())) in words(refused.text)
