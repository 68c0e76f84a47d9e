"""The Operate pages over the real app: what is so is said, forms do it, and no text is markup."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from bs4 import Tag
from lxml import etree

from api_gateway.auth.access import Scope
from api_gateway.dead_letters import page_routes
from api_gateway.pages import rendering
from api_gateway.pages.rendering import policy, seen
from messages import Stage
from store.dead_letters.dead_letters import Death
from store.models import ModelUsage, now
from store.pipeline import circuits
from store.sources import watches
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import bearer, make_key
from tests.integration.gateway.operation.test_dead_letters_api import (
    CANARY,
    behind_hopeless_ones,
    died,
)
from tests.integration.gateway.operation.test_quality_api import seal
from tests.integration.gateway.pages.test_pages import (
    BROWSER,
    HARMLESS,
    page,
    refuse_foreign_addresses,
    shown_whole,
    soup,
    tags,
    words,
)
from tests.payloads import BATCHES
from workers.runtime.failures import bury

ABSENT = "00000000-0000-4000-8000-000000000000"
LETTERS = "/operate/dead-letters"
TEMPLATES = Path(rendering.__file__).parent / "templates"
PLACES = (
    "/operate",
    LETTERS,
    f"{LETTERS}?status=all",
    "/operate/audit",
    "/operate/quality",
    "/operate/report",
)


@pytest.fixture
def desk(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway over a database of this test."""
    with serving(settings_for(new_database())) as running:
        yield running


def send(desk: Running, path: str, **fields: str) -> Any:
    """A form as a browser sends it."""
    kind = "application/x-www-form-urlencoded"  # also of a form without fields
    sent = {**BROWSER, "Origin": desk.url.rstrip("/"), "Content-Type": kind}
    return desk.client.post(path, data=fields, headers=sent)


def row(html: str, heading: str) -> str:
    """The words of the row of a table that begins so."""
    (found,) = [
        one.get_text(" ", strip=True)
        for one in soup(html).select("tr")
        if (head := one.select_one('th[scope="row"]')) and head.get_text(" ").startswith(heading)
    ]
    return " ".join(found.split())


def the(html: str, selector: str) -> Tag:
    """The one element."""
    (found,) = soup(html).select(selector)
    return found


def follow(desk: Running, query: str = "ctDNA") -> None:
    with desk.store.unit_of_work("test") as work:
        watches.follow(work, "pubmed", query, "user", now())


def use(desk: Running, cost: str | None) -> None:
    """A request to a language model that cost so much."""
    known = None if cost is None else Decimal(cost)
    with desk.store.unit_of_work("test") as work:
        work.session.add(
            ModelUsage(at=now(), purpose="draft", model="m", outcome="done", cost_usd=known)
        )


# the overview


def test_the_overview_says_in_words_what_is_late_stopped_dead_and_paid(desk: Running) -> None:
    follow(desk)
    ago = "now() - interval '400 days'"
    desk.execute(f"UPDATE watch SET created_at = {ago}, followed_at = {ago}, cursor_at = {ago}")
    desk.execute("UPDATE watch SET last_error = 'it was away', last_error_at = now()")
    died(desk, 10)
    with desk.store.unit_of_work("somebody") as work:
        circuits.pause(work, "verify", "an upgrade")
    use(desk, "0.25")
    use(desk, None)
    html = page(desk, "/operate")
    pubmed = row(html, "PubMed")
    assert "Late" in pubmed
    assert "400 d" in pubmed
    assert "it was away" in pubmed
    assert "Stopped itself" in row(html, "retrieve")
    assert "10 of retrieve" in row(html, "retrieve")
    paused = row(html, "verify")
    assert "Paused" in paused
    assert "an upgrade by somebody" in paused
    shown = words(html)
    assert "US$ 0.2500" in shown
    assert "2 requests to language models" in shown
    assert "Sources in time Late 0 of 1" in " ".join(soup(html).get_text(" ").split())
    assert {one.get_text() for one in soup(html).select(".badge") if one.select("svg.icon")} == {
        one.get_text() for one in soup(html).select(".badge")
    }, "no state is told by its color alone"


def test_an_instance_in_which_nothing_happened_has_its_pages_too(desk: Running) -> None:
    assert "Nothing is followed" in words(page(desk, "/operate"))
    assert "Nothing waits for a decision" in words(page(desk, LETTERS))
    assert "It stopped none." in words(page(desk, "/operate/quality"))
    assert "There are no such events" in words(page(desk, "/operate/audit?event=none"))
    assert "Nothing was written yet" in words(page(desk, "/operate/audit"))


def test_the_last_hours_are_drawn_and_told_by_the_hour(desk: Running) -> None:
    answered = desk.ask()
    desk.run_stage(answered, Stage.RETRIEVE)
    desk.run_stage(answered, Stage.AUDIT)
    earlier = desk.ask()
    desk.run_stage(earlier, Stage.AUDIT)
    at = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    ended = "UPDATE stage_run SET finished_at = :at WHERE subject = :id"
    asked = "UPDATE question SET created_at = :at WHERE id = :id"
    for question_id, hour in ((answered, at), (earlier, at - timedelta(hours=2))):
        desk.execute(ended, at=hour, id=question_id)
        desk.execute(asked, at=hour - timedelta(seconds=3), id=question_id)
    html = page(desk, "/operate")
    assert row(html, f"{at:%H:%M}").split() == [f"{at:%H:%M}", "2", "1", "3.0", "s", "3.0", "s"]
    before = row(html, f"{at - timedelta(hours=2):%H:%M}")
    assert before.split()[1:] == ["1", "1", "3.0", "s", "3.0", "s"]
    for what in ("done", "seconds"):
        drawn = desk.client.get(f"/operate/pace/{what}.svg", params={"theme": "dark"})
        assert drawn.headers["content-type"] == "image/svg+xml"
    assert desk.client.get("/operate/pace/other.svg").status_code == 404


def test_the_navigation_leads_to_every_operate_page(desk: Running) -> None:
    html = page(desk, "/operate")
    assert the(html, 'header nav a[aria-current="page"]')["href"] == "/operate"
    inner = [str(one["href"]) for one in soup(html).select('nav[aria-label="Operate"] a')]
    assert inner == [
        *("/operate", LETTERS, "/operate/jobs", "/operate/rechecks"),
        *("/operate/report", "/operate/quality", "/operate/keys", "/operate/audit"),
    ]
    for path in inner:
        here = page(desk, path)
        assert the(here, 'nav[aria-label="Operate"] a[aria-current]')["href"] == path
        assert the(here, 'header nav a[aria-current="page"]')["href"] == "/operate"


# dead letters


@pytest.mark.requirement("DC-5")
def test_a_letter_is_found_by_its_fault_tried_and_replayed_by_forms(desk: Running) -> None:
    (letter_id,) = died(desk)
    fault = the(page(desk, LETTERS), ".faults h2 a")
    assert fault.get_text() == "the index is empty"
    listed = page(desk, str(fault["href"]))
    letter = the(listed, "tbody a")
    assert letter["href"] == f"{LETTERS}/{letter_id}"
    html = page(desk, str(letter["href"]))
    assert "the index is empty" in words(html)
    attempt = the(html, 'form[method="get"]')
    dry = page(desk, str(attempt["action"]))
    assert "1 of 1 would be sent again" in words(dry)
    assert desk.count("dead_letter", "status = 'open'") == 1, "a dry run changes nothing"
    confirm = the(dry, 'main form[method="post"]')
    response = send(desk, str(confirm["action"]))
    assert (response.status_code, response.headers["location"]) == (303, letter["href"])
    after = page(desk, str(letter["href"]))
    assert "Replayed" in words(after)
    assert not soup(after).select("main form"), "there is nothing left to decide"
    assert desk.count("dead_letter", "status = 'replayed'") == 1
    assert desk.count("audit_event", "event = 'message.replayed' AND actor = 'operator'") == 1
    again = send(desk, str(confirm["action"]))
    assert again.status_code == 409
    assert "replayed already" in words(again.text)
    assert desk.count("audit_event", "event = 'message.replayed'") == 1


def test_all_letters_of_a_fault_are_replayed_at_once_and_no_others(desk: Running) -> None:
    died(desk, 3)
    (other,) = died(desk, cause="another")
    fingerprint = desk.scalar(
        "SELECT fingerprint FROM dead_letter WHERE id <> :id LIMIT 1", id=other
    )
    path = f"{LETTERS}/faults/{fingerprint}/replay"
    assert "3 of 3 would be sent again" in words(page(desk, path))
    assert desk.count("dead_letter", "status = 'open'") == 4
    response = send(desk, path)
    assert response.status_code == 303
    assert words(page(desk, response.headers["location"])).count("Replayed") >= 3
    assert desk.scalar("SELECT id FROM dead_letter WHERE status = 'open'") == UUID(other)


def test_a_replay_page_counts_all_and_leads_behind_what_is_refused(
    desk: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks at so many at once: what can never succeed there hides nothing behind it."""
    monkeypatch.setattr(page_routes, "REPLAY_LIMIT", 2)
    behind_hopeless_ones(desk)
    fingerprint = desk.scalar("SELECT fingerprint FROM dead_letter LIMIT 1")
    path = f"{LETTERS}/faults/{fingerprint}/replay"
    first = page(desk, path)
    assert "0 of 2 would be sent again" in words(first)
    assert "oldest 2 of 5" in words(first)
    second = page(desk, str(the(first, 'a[rel="next"]')["href"]))
    assert "1 of 2 would be sent again" in words(second)
    assert "5 are open" in words(second)
    cursor = str(the(second, 'main form[method="post"] input[name="cursor"]')["value"])
    response = send(desk, path, cursor=cursor)
    assert response.status_code == 303
    assert desk.count("dead_letter", "status = 'replayed'") == 1
    third = page(desk, str(the(second, 'a[rel="next"]')["href"]))
    assert "1 of 1 would be sent again" in words(third)
    assert not soup(third).select('a[rel="next"]')
    assert desk.client.get(path, params={"cursor": "x"}, headers=BROWSER).status_code == 422


def test_what_would_be_refused_says_why_and_has_no_button(desk: Running) -> None:
    (letter_id,) = died(desk, error_type="InvalidMessage", cause="its fields do not fit")
    path = f"{LETTERS}/{letter_id}/replay"
    dry = page(desk, path)
    assert "0 of 1 would be sent again" in words(dry)
    assert "never succeed" in words(dry)
    assert not soup(dry).select('main form[method="post"]')
    assert soup(dry).select(f'a[href="{path}?force=true"]')
    assert "Forced" in words(page(desk, f"{path}?force=true"))
    response = send(desk, path)
    assert response.status_code == 409
    assert "text/html" in response.headers["content-type"]


def test_a_letter_is_discarded_for_a_reason_that_stays(desk: Running) -> None:
    (letter_id,) = died(desk)
    path = f"{LETTERS}/{letter_id}"
    for bad in ("", " ", "x" * 501, "a\x07b"):
        response = send(desk, f"{path}/discard", reason=bad)
        assert response.status_code == 422
        assert the(response.text, "#reason")["aria-invalid"] == "true"
    assert desk.count("dead_letter", "status = 'open'") == 1
    response = send(desk, f"{path}/discard", reason="asked twice")
    assert (response.status_code, response.headers["location"]) == (303, path)
    assert "asked twice" in words(page(desk, path))
    assert desk.count("audit_event", "payload::text LIKE '%asked twice%'") == 0
    assert "Discarded" in words(page(desk, f"{LETTERS}?status=discarded"))
    assert send(desk, f"{path}/replay").status_code == 409


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{LETTERS}/{ABSENT}", 404),
        ("GET", f"{LETTERS}/{ABSENT}/replay", 404),
        ("POST", f"{LETTERS}/{ABSENT}/replay", 404),
        ("POST", f"{LETTERS}/{ABSENT}/discard", 404),
        ("GET", f"{LETTERS}/not-an-id", 422),
        ("GET", f"{LETTERS}/faults/{'0' * 16}", 404),
        ("GET", f"{LETTERS}/faults/zz", 422),
        ("GET", f"{LETTERS}?status=odd", 422),
        ("GET", f"{LETTERS}?cursor=x", 422),
        ("GET", "/operate/audit?cursor=x", 422),
        ("GET", "/operate/quality?days=91", 422),
        ("GET", "/operate/quality/charts/odd.svg", 404),
        ("GET", "/operate/quality/charts/quote_anchor_coverage.svg", 404),
    ],
)
def test_what_is_not_there_or_cannot_be_meant_is_a_page_too(
    gateway: Running, method: str, path: str, status: int
) -> None:
    data = {"reason": "x"} if method == "POST" else None
    response = gateway.client.request(method, path, data=data, headers=BROWSER)
    assert (response.status_code, response.headers["content-type"]) in (
        (status, "text/html; charset=utf-8"),
        (404, "text/html; charset=utf-8"),  # an id that is none is not found
    )


@pytest.mark.parametrize("origin", ["https://example.com", "null"])
def test_a_form_of_another_site_changes_nothing(desk: Running, origin: str) -> None:
    (letter_id,) = died(desk)
    headers = {**BROWSER, "Origin": origin}
    for path in (
        f"{LETTERS}/{letter_id}/replay",
        f"{LETTERS}/{letter_id}/discard",
        "/operate/audit/verify",
    ):
        response = desk.client.post(path, data={"reason": "x"}, headers=headers)
        assert response.status_code == 403
    assert desk.count("dead_letter", "status = 'open'") == 1


# audit


@pytest.mark.requirement("DC-6")
def test_events_are_found_by_each_field_and_every_page_keeps_the_search(desk: Running) -> None:
    asked = desk.ask()
    with desk.store.unit_of_work("a-stranger") as work:
        for n in range(60):
            work.record("odd.event", f"subject-{n}", n=n)

    def found(**query: str) -> list[str]:
        html = desk.client.get("/operate/audit", params=query, headers=BROWSER).text
        return [one.get_text() for one in soup(html).select("table.events .event")]

    assert found(event="odd.event") == ["odd.event"] * 50
    assert found(subject="subject-7") == ["odd.event"]
    assert found(subject=asked) != []
    assert set(found(actor="a-stranger")) == {"odd.event"}
    assert found(since="2999-01-01T00:00") == []
    assert found(until="2000-01-01") == []
    first = page(desk, "/operate/audit?event=odd.event")
    older = the(first, 'a[rel="next"]')
    second = page(desk, str(older["href"]))
    assert len(soup(second).select("table.events tbody tr")) == 10
    assert the(second, "#event")["value"] == "odd.event"
    numbers = [
        int(one.get_text())
        for html in (first, second)
        for one in soup(html).select('table.events th[scope="row"]')
    ]
    assert numbers == sorted(set(numbers), reverse=True)


def test_a_moment_that_is_none_is_refused_beside_its_field(gateway: Running) -> None:
    html = page(gateway, "/operate/audit?since=yesterday", 422)
    assert the(html, "#since")["aria-invalid"] == "true"
    assert "write a moment such as" in words(html)


@pytest.mark.requirement("DC-6")
def test_the_end_of_the_chain_is_checked_and_all_of_it_only_on_demand(desk: Running) -> None:
    with desk.store.unit_of_work("test") as work:
        for n in range(1100):
            work.record("odd.event", str(n))
    head = desk.scalar("SELECT seq FROM audit_head")
    html = page(desk, "/operate/audit")
    assert f"behind event {head - 1000:,}" in words(html)
    assert "Whole" in words(html)
    desk.execute("ALTER TABLE audit_event DISABLE TRIGGER ALL")
    desk.execute("UPDATE audit_event SET actor = 'nobody' WHERE seq = 2")
    assert "Broken" not in words(page(desk, "/operate/audit")), "it is behind what is looked at"
    button = the(html, 'main form[method="post"]')
    whole = send(desk, str(button["action"]), event="odd.event")
    assert whole.status_code == 200
    assert "Broken" in words(whole.text)
    assert "event 2 is not what was written" in words(whole.text)
    assert the(whole.text, "#event")["value"] == "odd.event"
    desk.execute("UPDATE audit_event SET actor = 'nobody' WHERE seq = :seq", seq=head - 5)
    assert f"event {head - 5} is not what was written" in words(page(desk, "/operate/audit"))
    assert "Broken" in words(page(desk, "/operate"))


# quality


@pytest.mark.requirement("MC-4.1a")
def test_metrics_stand_beside_their_targets_with_a_chart_and_the_same_as_a_table(
    desk: Running,
) -> None:
    seal(desk)
    seal(desk, nccn=8, guidelines=8, routing_compliant=False)
    seal(desk, days_ago=2, verified=5, unverified=5)
    html = page(desk, "/operate/quality")
    share = the(html, '[data-metric="avg_nccn_share_trial_queries"]')
    told = " ".join(share.get_text(" ").split())
    assert "0.4" in told
    assert "Missed" in told
    assert "target < 0.3" in told
    assert "over 3" in told
    days = {
        one.select("th")[0].get_text(): [cell.get_text() for cell in one.select("td")]
        for one in the(html, '[data-metric="supported_claim_rate"]').select("tbody tr")
    }
    today = datetime.now(UTC).date().isoformat()
    assert days[today] == ["1", "20"]
    assert ["0.5", "10"] in days.values()
    assert ["unknown", "0"] in days.values()
    pictures = soup(html).select("main img")
    assert len(pictures) >= 6
    for one in pictures:
        assert len(str(one["alt"])) > 30
        drawn(desk, str(one["src"]))
    for dark in soup(html).select("main source"):
        drawn(desk, str(dark["srcset"]))


def drawn(desk: Running, path: str) -> bytes:
    """A drawing that must come, and hold nothing that runs or leads elsewhere."""
    response = desk.client.get(path)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["content-security-policy"].startswith(
        "default-src 'none'; style-src 's"
    )
    assert response.headers["x-content-type-options"] == "nosniff"
    found = etree.fromstring(response.content)
    assert not [one for one in found.iter(etree.Element) if str(one.tag).endswith("}script")]
    return response.content


def test_a_chart_has_a_dot_for_each_day_that_is_known(desk: Running) -> None:
    seal(desk)
    seal(desk, days_ago=2)
    content = drawn(desk, "/operate/quality/charts/routing_compliance_rate.svg?days=7")
    assert content.count(b"<circle") == 2
    assert b"<circle" not in drawn(desk, "/operate/quality/charts/marc.final_score.svg?days=7")


def test_the_cost_of_each_day_is_told_with_what_is_not_known_of_it(desk: Running) -> None:
    use(desk, "0.25")
    use(desk, "0.5")
    use(desk, None)
    html = page(desk, "/operate/quality?days=1")
    today = datetime.now(UTC).date().isoformat()
    (costs,) = [one for one in soup(html).select("table") if "Cost by day" in one.get_text()]
    assert [one.get_text() for one in costs.select("tbody tr:first-child > *")] == [
        today,
        "US$ 0.7500",
        "3",
        "1",
    ]
    drawn(desk, "/operate/quality/cost.svg?days=1&theme=dark")


@pytest.mark.requirement("MC-4.2c")
def test_the_report_is_a_page_too_and_tells_what_was_missed_stopped_and_judged(
    desk: Running,
) -> None:
    empty = words(page(desk, "/operate/report"))
    assert "0 answers sealed" in empty
    assert "Every target that can be judged is met." in empty
    seal(desk, routing_compliant=False)
    told = page(desk, "/operate/report?days=1")
    assert "1 answer sealed" in words(told)
    first = soup(told).select("table")[0].get_text()
    assert "routing_compliance_rate" in first
    assert "share of answers that lead with" in first


# who may


def test_each_page_asks_for_its_scope_and_shows_no_way_to_another(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    with serving(settings_for(new_database(), require_keys=True)) as locked:
        reader, operator, auditor = (
            {**BROWSER, **bearer(make_key(locked, one))}
            for one in (Scope.READ, Scope.OPERATE, Scope.AUDIT)
        )
        paths = [*PLACES, f"{LETTERS}/{uuid4()}", "/operate/quality/cost.svg"]

        def status(path: str, headers: Mapping[str, str]) -> int:
            return locked.client.get(path, headers=headers).status_code

        assert {status(path, reader) for path in paths} == {403}
        assert {path for path in paths if status(path, operator) == 403} == {"/operate/audit"}
        assert {path for path in paths if status(path, auditor) != 403} == {
            "/operate",
            "/operate/audit",
        }
        led = locked.client.get("/operate", headers=auditor)
        assert (led.status_code, led.headers["location"]) == (303, "/operate/audit")
        seen = locked.client.get("/operate", headers=operator).text
        assert "/operate/audit" not in seen
        assert "Audit chain" not in seen
        alone = locked.client.get("/operate/audit", headers=auditor).text
        assert [one["href"] for one in soup(alone).select("nav.filters a")] == ["/operate/audit"]


def test_forms_of_whoever_signed_in_carry_the_token_of_the_sign_in(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    with serving(settings_for(new_database(), require_keys=True)) as locked:
        issued = make_key(locked, Scope.OPERATE, Scope.AUDIT)
        died_of = Death("retrieve", {}, "UnknownMessage", "never in use", id=uuid4())
        bury(locked.store, died_of)
        assert send(locked, "/signin", key=issued.secret).status_code == 303
        path = f"{LETTERS}/{died_of.id}"
        without = send(locked, f"{path}/discard", reason="x")
        assert without.status_code == 403
        form = the(page(locked, path), 'main form[method="post"]')
        token = form.select('input[name="csrf"]')[0]["value"]
        sent = send(locked, f"{path}/discard", reason="x", csrf=str(token))
        assert sent.status_code == 303
        assert locked.count("audit_event", "actor = :actor", actor=f"key:{issued.key.id}") >= 1


def test_every_form_that_writes_has_a_place_for_the_token() -> None:
    written = [one.read_text("utf-8") for one in sorted((TEMPLATES / "operate").glob("*.html"))]
    forms = [
        found.group(1)
        for text in written
        for found in re.finditer(r'<form [^>]*method="post"[^>]*>(.{10})', text)
    ]
    assert forms == ["{{ csrf }}"] * 8


def test_a_stage_is_paused_for_a_reason_and_resumed_and_both_are_audited(desk: Running) -> None:
    paused = send(desk, "/operate/stages/summarize/pause", reason="an upgrade")
    assert (paused.status_code, paused.headers["location"]) == (303, "/operate#stage-summarize")
    told = row(page(desk, "/operate"), "summarize")
    assert "Paused" in told
    assert "an upgrade by operator" in told
    assert "Resume" in told
    where = "event = :event AND subject = 'summarize' AND actor = 'operator'"
    assert desk.count("audit_event", where, event="stage.paused") == 1
    assert send(desk, "/operate/stages/summarize/resume").status_code == 303
    told = row(page(desk, "/operate"), "summarize")
    assert "Works" in told
    assert "Resume" not in told
    assert desk.count("audit_event", where, event="stage.resumed") == 1


def test_a_pause_without_a_reason_changes_nothing_and_says_so_beside_its_field(
    desk: Running,
) -> None:
    refused = send(desk, "/operate/stages/verify/pause", reason=" ")
    assert refused.status_code == 422
    field = the(refused.text, "#reason-verify")
    assert field["aria-describedby"] == "error-verify"
    assert the(refused.text, "#error-verify").get_text(strip=True)
    assert desk.count("stage_circuit", "state <> 'closed'") == 0
    assert send(desk, "/operate/stages/nonsense/pause", reason="x").status_code in (404, 422)


def test_a_stage_is_paused_by_operators_only_and_by_no_form_of_another_site(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    with serving(settings_for(new_database(), require_keys=True)) as locked:
        issued = make_key(locked, "audit")
        path = "/operate/stages/verify/pause"
        refused = locked.client.post(path, data={"reason": "x"}, headers=bearer(issued))
        assert refused.status_code == 403
        operator = make_key(locked, "operate")
        assert send(locked, "/signin", key=operator.secret).status_code == 303
        assert send(locked, path, reason="x").status_code == 403
        assert send(locked, "/operate/stages/verify/resume").status_code == 403
        assert locked.count("stage_circuit", "state <> 'closed'") == 0
        forms = soup(page(locked, "/operate")).select('form[action$="verify/pause"]')
        token = forms[0].select('input[name="csrf"]')[0]["value"]
        assert send(locked, path, reason="x", csrf=str(token)).status_code == 303
        assert locked.count("stage_circuit", "state = 'paused'") == 1


# what surrounds the pages, and texts


def every_page(desk: Running) -> list[str]:
    """The addresses of all pages, those of all dead letters included."""
    with desk.store.engine.connect() as connection:
        letters = connection.exec_driver_sql("SELECT id, fingerprint FROM dead_letter").all()
    each = [
        path
        for one in letters
        for path in (
            *(f"{LETTERS}/{one.id}", f"{LETTERS}/{one.id}/replay"),
            *(f"{LETTERS}/faults/{one.fingerprint}", f"{LETTERS}/faults/{one.fingerprint}/replay"),
        )
    ]
    return [*PLACES, *each]


def test_every_page_has_the_policy_that_lets_nothing_in(desk: Running) -> None:
    died(desk)
    seal(desk)
    for path in every_page(desk):
        response = desk.client.get(path, headers=BROWSER)
        assert response.status_code == 200, path
        assert response.headers["content-security-policy"] == policy(), path
        assert response.headers["cache-control"] == "no-store", path
        found = soup(response.text)
        assert not found.select("style, [style], script:not([src])"), path
        refuse_foreign_addresses(response.text)


def test_invariant_11_no_page_has_a_word_of_a_question_a_note_or_a_document(
    desk: Running,
) -> None:
    (letter_id,) = died(desk)
    follow(desk, f"{CANARY} and more")
    desk.ask(f"Does {CANARY} help?", patient_context=f"Mr. {CANARY}")
    desk.put_document(f"The words {CANARY}.", title=f"A title with {CANARY}")
    foreign = {"schema": CANARY, CANARY: CANARY, "note": f"the {CANARY} patient"}
    bury(desk.store, Death("retrieve", foreign, "UnknownMessage", "never in use", id=uuid4()))
    seal(desk)
    assert desk.count("question", f"text LIKE '%{CANARY}%'") >= 2
    pages = every_page(desk)
    assert f"{LETTERS}/{letter_id}" in pages
    for path in pages:
        assert CANARY not in page(desk, path), path


def test_no_text_of_an_event_a_death_or_an_error_becomes_markup(desk: Running) -> None:
    follow(desk)
    (letter_id,) = died(desk)
    given_up = died(desk, cause="another")[0]
    assert send(desk, f"{LETTERS}/{given_up}/discard", reason="x").status_code == 303
    desk.execute("ALTER TABLE audit_event DISABLE TRIGGER ALL")
    desk.execute("DELETE FROM audit_event WHERE seq > 3")
    with desk.store.unit_of_work("test") as work:
        circuits.pause(work, "verify", "x")
    fault = desk.scalar("SELECT fingerprint FROM dead_letter WHERE id = :id", id=letter_id)
    usual: list[Any] = []
    for text in (HARMLESS, *BATCHES):
        put(desk, text)
        found = {
            path: page(desk, path)
            for path in (
                *("/operate", LETTERS, f"{LETTERS}/faults/{fault}", f"{LETTERS}/{letter_id}"),
                *(f"{LETTERS}/{given_up}", f"{LETTERS}/{letter_id}/replay", "/operate/audit"),
            )
        }
        searched = desk.client.get(
            "/operate/audit",
            params=dict.fromkeys(("subject", "event", "actor", "since", "until"), text[:150]),
            headers=BROWSER,
        )
        assert searched.status_code == (422), "the moments are none"
        for html in (*found.values(), searched.text):
            refuse_foreign_addresses(html)
        shape = [tags(html) for html in (*found.values(), searched.text)]
        usual = usual or shape
        assert shape == usual, text
        for path in ("/operate", f"{LETTERS}/{letter_id}", "/operate/audit"):
            assert shown_whole(seen(text), found[path]), (path, text)


def put(desk: Running, text: str) -> None:
    """Write `text` wherever these pages read a text that somebody else has written."""
    payload = "payload = jsonb_build_object(said.words, said.words)"
    columns = {
        "watch": ("last_error", "last_error_at = now()"),
        "stage_circuit": ("reason changed_by",),
        "dead_letter": (
            "cause traceback error_type subject code_version message_schema",
            payload,
        ),
        "dead_letter_resolution": ('reason "by"',),
        "audit_event": ("actor event subject", payload),
    }
    for table, (names, *others) in columns.items():
        changes = [*(f"{name} = said.words" for name in names.split()), *others]
        desk.execute(
            f"UPDATE {table} SET {', '.join(changes)} "
            "FROM (SELECT CAST(:text AS text) AS words) AS said",
            text=text,
        )
