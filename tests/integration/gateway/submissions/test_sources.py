"""Sources over real servers: how they stand, refreshing, waiting for that, findings, gauges."""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from clinical_text.structure import segment
from knowledge.feeds.sources import connector_policies
from store.documents import findings
from store.documents.documents import put_versions
from store.documents.findings import NewFinding
from store.documents.records import SourceRecord
from store.models import Watch
from store.sources import freshness, refreshes, source_states, watches
from tests.integration.gateway.conftest import Running, serving
from workers.http.errors import QuotaExhausted, Unreachable

ABSENT = "00000000-0000-4000-8000-000000000000"
KNOWN = list(connector_policies())


@pytest.fixture
def own(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway over an empty database."""
    with serving(settings_for(new_database())) as running:
        yield running


def _moment(**ago: float) -> datetime:
    return datetime.now(UTC) - timedelta(**ago)


def _follow(gateway: Running, source: str, query: str, **fields: Any) -> UUID:
    """A watch as it is after some time: `fields` are set on it."""
    with gateway.store.unit_of_work("test") as work:
        watch = watches.follow(work, source, query, "user", fields.pop("at", _moment(hours=1)))
        for name, value in fields.items():
            setattr(watch, name, value)
        work.session.add(watch)
    return watch.id


def _ran(gateway: Running, watch_id: UUID, *, error: str | None = None, hours: float = 5) -> UUID:
    """A refresh of the watch that began and ended `hours` ago."""
    at = _moment(hours=hours)
    with gateway.store.unit_of_work("test") as work:
        watch = work.session.get_one(Watch, watch_id)
        refresh = refreshes.request(work, watch, "user", at)
        refreshes.begin(work, refresh, watch, at)
        if error is None:
            refresh.status = "storing"
            refreshes.finish_if_stored(work, refresh, at)
        else:
            refreshes.fail(work, refresh, error, at)
    return refresh.id


def _bring(gateway: Running, source: str, key: str, *texts: str) -> UUID:
    """A document of which a connector brought these versions."""
    with gateway.store.unit_of_work("test") as work:
        for text in texts:
            record = SourceRecord(
                source_type="clinicaltrials", source_key=key, title="A title", text=text
            )
            [stored] = put_versions(work, [(record, segment(text))], source=source)
    return stored.document_id


def _sources(gateway: Running, **params: Any) -> dict[str, dict[str, Any]]:
    response = gateway.client.get("/v1/sources", params=params)
    assert response.status_code == 200, response.text
    return {source["name"]: source for source in response.json()["sources"]}


def _problem(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    return body


def _is(text: str, moment: datetime) -> bool:
    return abs(datetime.fromisoformat(text) - moment) < timedelta(minutes=1)


# --- how they stand -------------------------------------------------------------------------------


def test_nothing_is_listed_before_anything_is_followed_and_all_sources_on_request(
    own: Running,
) -> None:
    assert own.client.get("/v1/sources").json() == {"sources": [], "held": []}
    every = _sources(own, all=True)
    assert list(every) == KNOWN
    pubmed = every["pubmed"]
    assert (pubmed["status"], pubmed["sla_hours"]) == ("idle", 168)
    assert (pubmed["tier"], pubmed["badge"]) == ("peer-reviewed", "PubMed")
    for name in ("age_hours", "in_sla", "last_success_at", "last_error", "next_run_at"):
        assert pubmed[name] is None
    assert (every["crossref"]["source_type"], every["crossref"]["tier"]) == (None, None)


def test_a_source_shows_the_age_of_its_oldest_query_its_success_and_its_next_run(
    own: Running,
) -> None:
    older = _follow(own, "pubmed", "ctDNA", at=_moment(hours=60))
    younger = _follow(own, "pubmed", "MRD")
    _ran(own, older, hours=50)
    _ran(own, younger, hours=3)
    asked = _moment()
    [(name, pubmed)] = _sources(own).items()
    assert (name, pubmed["title"], pubmed["source_type"]) == ("pubmed", "PubMed", "pubmed")
    assert (pubmed["status"], pubmed["in_sla"], pubmed["breached_since"]) == ("ok", True, None)
    assert pubmed["age_hours"] == pytest.approx(50, abs=0.1)
    assert _is(pubmed["last_success_at"], _moment(hours=3))
    assert _is(pubmed["next_run_at"], _moment())  # 50 h ago, and every 24 h: it is due
    first, second = pubmed["watches"]
    assert (first["id"], first["query"], first["status"]) == (str(older), "ctDNA", "complete")
    assert second["age_hours"] == pytest.approx(3, abs=0.1)
    # its time of day may have come within these 3 hours: then it is due
    assert asked <= datetime.fromisoformat(second["next_run_at"]) < _moment(hours=-24)


def test_a_query_that_was_never_complete_has_no_age_and_is_due(own: Running) -> None:
    _follow(own, "ema", "atezolizumab")
    ema = _sources(own)["ema"]
    assert (ema["age_hours"], ema["in_sla"], ema["last_success_at"]) == (None, True, None)
    assert _is(ema["next_run_at"], _moment())
    assert ema["watches"][0]["status"] is None


def test_a_source_older_than_its_sla_says_since_when_noticed_or_not(own: Running) -> None:
    late = _follow(own, "news", "fda-press", at=_moment(hours=30))
    news = _sources(own)["news"]
    assert (news["in_sla"], news["watches"][0]["in_sla"]) == (False, False)
    assert _is(news["breached_since"], _moment(hours=6))
    with own.store.unit_of_work("test") as work:
        freshness.notice_breach(work, work.session.get_one(Watch, late), _moment())
    assert _is(_sources(own)["news"]["breached_since"], _moment(hours=6))
    assert 'attest_sla_breaches_total{source="news"} 1.0' in own.client.get("/metrics").text


def test_guideline_files_age_by_version_and_have_no_sla(own: Running) -> None:
    _follow(own, "guidelines", "*", at=_moment(days=400), cursor_at=_moment(days=399))
    guidelines = _sources(own)["guidelines"]
    assert (guidelines["sla_hours"], guidelines["in_sla"]) == (None, None)
    assert guidelines["age_hours"] == pytest.approx(399 * 24, abs=0.1)


def test_a_failing_query_shows_its_error_and_its_next_try(own: Running) -> None:
    _ran(own, _follow(own, "cms", "moldx"), error="cms: 503 after 4 tries", hours=0)
    cms = _sources(own)["cms"]
    assert (cms["status"], cms["last_error"]) == ("ok", "cms: 503 after 4 tries")
    assert _is(cms["last_error_at"], _moment())
    [watch] = cms["watches"]
    assert (watch["status"], watch["last_error"]) == ("failed", "cms: 503 after 4 tries")
    assert _moment() < datetime.fromisoformat(cms["next_run_at"]) < _moment(minutes=-15)


def test_an_error_that_is_over_is_still_the_last_error_of_the_source(own: Running) -> None:
    with own.store.unit_of_work("test") as work:
        source_states.failed(work.session, "cms", Unreachable("cms: time-out"), _moment(hours=9))
        source_states.succeeded(work.session, "cms", _moment(hours=8))
    _ran(own, _follow(own, "cms", "moldx"), hours=2)
    cms = _sources(own)["cms"]
    assert (cms["status"], cms["reason"], cms["last_error"]) == ("ok", None, "cms: time-out")
    assert _is(cms["last_error_at"], _moment(hours=9))
    assert cms["watches"][0]["last_error"] is None


def test_a_degraded_source_says_why_and_runs_no_sooner_than_it_may_be_asked(own: Running) -> None:
    _ran(own, _follow(own, "openalex", "*"), error="openalex: 401", hours=0)
    with own.store.unit_of_work("test") as work:
        source_states.failed(
            work.session, "openalex", QuotaExhausted("openalex: 401", 7200), _moment()
        )
    openalex = _sources(own)["openalex"]
    assert (openalex["status"], openalex["reason"]) == ("degraded", "openalex: 401")
    assert _is(openalex["retry_at"], _moment(hours=-2))
    assert openalex["next_run_at"] == openalex["retry_at"]
    assert 'attest_source_degraded{source="openalex"} 1.0' in own.client.get("/metrics").text


def test_a_source_that_is_no_longer_followed_is_idle_and_listed_while_it_is_held(
    own: Running,
) -> None:
    stopped = _follow(own, "dailymed", "atezolizumab", active=False, cursor_at=_moment(days=30))
    dailymed = _sources(own)["dailymed"]
    assert (dailymed["status"], dailymed["in_sla"], dailymed["next_run_at"]) == ("idle", None, None)
    assert (dailymed["watches"][0]["id"], dailymed["watches"][0]["active"]) == (str(stopped), False)
    assert dailymed["age_hours"] is None


def test_documents_versions_and_open_findings_are_counted_by_who_brought_them(
    own: Running,
) -> None:
    first = _bring(own, "clinicaltrials", "one", "Enrolling.", "Closed.")
    _bring(own, "clinicaltrials", "two", "Enrolling.")
    own.put_document("uploaded", source_type="clinicaltrials")
    with own.store.unit_of_work("test") as work:
        new = [NewFinding("unmapped", "a.b"), NewFinding("malformed", "doi:1", first)]
        findings.put(work, "clinicaltrials", new, _moment(hours=2))
        findings.restate(work, "clinicaltrials", "malformed", [first], [], _moment())
    registry = _sources(own)["clinicaltrials"]
    assert (registry["documents"], registry["versions"], registry["findings_open"]) == (2, 3, 1)
    [held] = own.client.get("/v1/sources").json()["held"]
    assert (held["source_type"], held["documents"]) == ("clinicaltrials", 3)


def test_what_is_held_is_as_fresh_as_the_watch_that_follows_it(own: Running) -> None:
    long_ago = _moment(days=9)
    document_id = own.put_document("one", source_type="pubmed", fetched_at=long_ago)
    [held] = own.client.get("/v1/sources").json()["held"]
    assert held["stale"] is True
    watch_id = _follow(own, "pubmed", "ctDNA", cursor_at=_moment(hours=1))
    with own.store.unit_of_work("test") as work:
        watches.vouch(work.session, watch_id, "pubmed", [document_id], long_ago)
    [held] = own.client.get("/v1/sources").json()["held"]
    assert held["stale"] is False
    assert _is(held["oldest_check_at"], _moment(hours=1))


def test_a_watch_of_a_source_that_this_release_does_not_know_hides_no_other(own: Running) -> None:
    _follow(own, "ema", "atezolizumab")
    own.execute("UPDATE watch SET source = 'retired'")
    _follow(own, "cms", "moldx")
    assert list(_sources(own)) == ["cms"]


# --- refreshing -----------------------------------------------------------------------------------


@pytest.fixture
def untouched(gateway: Running) -> Iterator[None]:
    """Nothing may have been written by the end of the test, but who was refused."""
    tables = ("watch", "refresh", "outbox")
    other = "event NOT LIKE 'access.refused%'"
    before = [gateway.count(table) for table in tables], gateway.count("audit_event", other)
    yield
    after = [gateway.count(table) for table in tables], gateway.count("audit_event", other)
    assert after == before


@pytest.mark.requirement("DC-3")
def test_a_query_is_followed_and_its_refresh_promised(own: Running) -> None:
    response = own.client.post("/v1/sources/pubmed/refresh", json={"query": " ctDNA  AND MRD "})
    assert response.status_code == 202, response.text
    [promised] = response.json()["refreshes"]
    assert promised["status"] == "queued"
    assert promised["href"] == f"/v1/refreshes/{promised['id']}" == response.headers["location"]
    [watch] = _sources(own)["pubmed"]["watches"]
    assert (watch["id"], watch["query"]) == (promised["watch_id"], "ctDNA AND MRD")
    assert (watch["active"], watch["origin"], watch["status"]) == (True, "user", "queued")
    request_id = response.headers["x-request-id"]
    where = "stage = 'refresh' AND payload ->> 'refresh_id' = :id AND request_id = :request"
    assert own.count("outbox", where, id=promised["id"], request=request_id) == 1
    events = own.client.get("/v1/audit", params={"subject": promised["id"]}).json()["events"]
    assert [event["event"] for event in events] == ["refresh.requested"]
    assert "ctDNA" not in str(events)


def test_a_refresh_under_way_is_given_and_not_doubled(own: Running) -> None:
    once = own.client.post("/v1/sources/ema/refresh", json={"query": "atezolizumab"}).json()
    again = own.client.post("/v1/sources/ema/refresh", json={"query": "atezolizumab"}).json()
    every = own.client.post("/v1/sources/ema/refresh").json()
    assert once == again == every
    assert (own.count("refresh"), own.count("outbox")) == (1, 1)


def test_without_a_query_all_that_is_followed_is_refreshed(own: Running) -> None:
    followed = [_follow(own, "cms", query) for query in ("moldx", "residual disease")]
    _follow(own, "cms", "stopped", active=False)
    _follow(own, "ema", "atezolizumab")
    for body in (None, {}, {"keep": True}):
        response = own.client.post("/v1/sources/cms/refresh", json=body)
        assert response.status_code == 202, response.text
        promised = response.json()["refreshes"]
        assert [one["watch_id"] for one in promised] == [str(one) for one in followed]
        assert response.headers["location"] == promised[0]["href"]


def test_a_query_may_be_asked_once_without_being_followed(own: Running) -> None:
    body = {"query": "elacestrant", "keep": False}
    [promised] = own.client.post("/v1/sources/ema/refresh", json=body).json()["refreshes"]
    ema = _sources(own)["ema"]
    assert (ema["status"], ema["watches"][0]["active"]) == ("idle", False)
    assert ema["watches"][0]["refresh_id"] == promised["id"]
    followed = _follow(own, "ema", "atezolizumab")
    own.client.post("/v1/sources/ema/refresh", json={"query": "atezolizumab", "keep": False})
    assert own.count("watch", "id = :id AND active", id=followed) == 1, "it stays followed"
    own.client.post("/v1/sources/ema/refresh", json={"query": "elacestrant"})
    assert own.count("watch", "active") == 2


@pytest.mark.usefixtures("untouched")
def test_an_unknown_source_is_a_404_that_lists_the_known_ones(gateway: Running) -> None:
    for name in ("XYZZY", "..", "PubMed"):
        response = gateway.client.post(f"/v1/sources/{name}%20/refresh", json={"query": "q"})
        problem = _problem(response, 404)
        assert problem["sources"] == KNOWN
        assert "clinicaltrials" in problem["detail"]
        assert "XYZZY" not in response.text


@pytest.mark.usefixtures("untouched")
def test_a_source_without_followed_queries_says_what_to_do(gateway: Running) -> None:
    problem = _problem(gateway.client.post("/v1/sources/dailymed/refresh"), 422)
    assert problem["errors"][0]["field"] == "body.query"
    assert "name a query" in problem["errors"][0]["message"]


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("source", "query", "why"),
    [
        ("pubmed", "", "blank"),
        ("pubmed", " \t ", "blank"),
        ("pubmed", "x" * 4001, "4,000"),
        ("pubmed", "XYZZY\nctDNA", "control or invisible"),
        ("pubmed", "XYZZY\x07", "control or invisible"),
        ("pubmed", "XYZZY\u202ectDNA", "control or invisible"),
        ("pubmed", '"XYZZY AND ctDNA', "quotation mark"),
        ("pubmed", "(XYZZY AND (ctDNA)", "opens a bracket ("),
        ("pubmed", "XYZZY) AND (ctDNA", "closes a bracket )"),
        ("openfda-label", "effective_time:[20260101 TO 20270101", "opens a bracket ["),
        ("pubmed", "http://10.0.0.1/XYZZY", "an address is no query"),
        ("dailymed", "https://example.org/XYZZY", "an address is no query"),
        ("clinicaltrials", "file:///etc/XYZZY", "an address is no query"),
        ("europepmc", "FILE:/XYZZY", "an address is no query"),
        ("ema", "gopher://XYZZY", "an address is no query"),
        ("cms", "//metadata.internal/XYZZY", "an address is no query"),
        ("cms", "169.254.169.254/XYZZY", "an address is no query"),
        ("guidelines", "/etc/XYZZY", "an address is no query"),
        ("guidelines", "../XYZZY", "an address is no query"),
        ("news", "https://example.org/XYZZY.xml", "an address is no query"),
        ("news", "XYZZY", "ema-news, fda-medwatch, fda-press"),
        ("crossref", "XYZZY", "write * for all"),
    ],
)
def test_a_query_that_cannot_work_is_a_422_that_says_why_and_repeats_nothing(
    gateway: Running, source: str, query: str, why: str
) -> None:
    response = gateway.client.post(f"/v1/sources/{source}/refresh", json={"query": query})
    [error] = _problem(response, 422)["errors"]
    assert error["field"] == "body.query"
    assert why in error["message"]
    assert "XYZZY" not in response.text


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": 5}, "body.query"),
        ({"query": "q", "keep": "yes"}, "body.keep"),
        ({"keep": False}, "body.keep"),
        ({"query": "q", "source": "x"}, "body.?"),  # a caller's own name is not repeated
        ([], "body"),
        ("q", "body"),
    ],
)
def test_a_body_that_does_not_fit_is_a_422_naming_the_field(
    gateway: Running, body: object, field: str
) -> None:
    response = gateway.client.post("/v1/sources/pubmed/refresh", json=body)
    assert _problem(response, 422)["errors"][0]["field"].startswith(field)


@pytest.mark.usefixtures("untouched")
def test_a_refresh_is_asked_for_in_json_from_the_same_origin(gateway: Running) -> None:
    url = "/v1/sources/pubmed/refresh"
    broken = gateway.client.post(url, content=b"{", headers={"Content-Type": "application/json"})
    _problem(broken, 400)
    form = gateway.client.post(url, data={"query": "q"})
    _problem(form, 415)
    foreign = gateway.client.post(url, headers={"Origin": "https://evil.example"})
    _problem(foreign, 403)


# --- waiting for a refresh ------------------------------------------------------------------------


def _promise(gateway: Running, query: str) -> str:
    response = gateway.client.post("/v1/sources/ema/refresh", json={"query": query})
    return str(response.json()["refreshes"][0]["id"])


def _end(gateway: Running, refresh_id: str, error: str | None = None) -> None:
    """End a refresh as its stages do."""
    at = datetime.now(UTC)
    with gateway.store.unit_of_work("test") as work:
        refresh = refreshes.locked(work.session, UUID(refresh_id))
        assert refresh is not None
        refreshes.begin(work, refresh, work.session.get_one(Watch, refresh.watch_id), at)
        refresh.total, refresh.records, refresh.fresh, refresh.problems = 3, 3, 2, 1
        if error is not None:
            refreshes.fail(work, refresh, error, at)
            return
        refreshes.advance(work, refresh, continuation=None, payloads=1, request_id=uuid4())
        refreshes.finish_if_stored(work, refresh, at)


def test_a_refresh_shows_what_it_is_for_and_how_far_it_is(gateway: Running) -> None:
    refresh_id = _promise(gateway, "shown")
    response = gateway.client.get(f"/v1/refreshes/{refresh_id}")
    assert response.headers["retry-after"] == "1"
    found = response.json()
    assert (found["source"], found["query"], found["reason"]) == ("ema", "shown", "user")
    assert (found["status"], found["error"], found["finished_at"]) == ("queued", None, None)
    _end(gateway, refresh_id)
    response = gateway.client.get(f"/v1/refreshes/{refresh_id}")
    assert "retry-after" not in response.headers
    found = response.json()
    assert (found["status"], found["steps"], found["payloads"]) == ("complete", 1, 1)
    assert (found["total"], found["records"], found["fresh"], found["problems"]) == (3, 3, 2, 1)
    assert found["started_at"] <= found["finished_at"]
    assert found["retry_at"] is None


def test_a_failed_refresh_says_why_and_when_it_is_tried_again(gateway: Running) -> None:
    refresh_id = _promise(gateway, "failing")
    _end(gateway, refresh_id, "ema: 403")
    found = gateway.client.get(f"/v1/refreshes/{refresh_id}").json()
    assert (found["status"], found["error"]) == ("failed", "ema: 403")
    assert _moment() < datetime.fromisoformat(found["retry_at"])


def test_a_long_poll_answers_when_the_refresh_ends(gateway: Running) -> None:
    refresh_id = _promise(gateway, "waited for")
    url = f"{gateway.url}/v1/refreshes/{refresh_id}"
    notices = gateway.server.config.app.state.gateway.notices  # type: ignore[union-attr]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(httpx.get, url, params={"wait": 60}, timeout=90)
        deadline = time.monotonic() + 60
        while notices.waiters == 0:
            assert time.monotonic() < deadline, "nobody waits"
            time.sleep(0.01)
        _end(gateway, refresh_id)
        assert waiting.result(60).json()["status"] == "complete"
    assert notices.waiters == 0


def test_a_long_poll_of_an_unfinished_refresh_ends_with_its_present_state(
    gateway: Running,
) -> None:
    refresh_id = _promise(gateway, "not yet")
    response = gateway.client.get(f"/v1/refreshes/{refresh_id}", params={"wait": 0.2})
    assert (response.status_code, response.json()["status"]) == (200, "queued")


def test_a_refresh_that_is_not_there_is_a_404(gateway: Running) -> None:
    for name in (ABSENT, "no-uuid"):
        _problem(gateway.client.get(f"/v1/refreshes/{name}"), 404)
    for wait in ("-1", "61", "nan", "x"):
        response = gateway.client.get(f"/v1/refreshes/{ABSENT}", params={"wait": wait})
        _problem(response, 422)


# --- findings -------------------------------------------------------------------------------------


def test_findings_are_listed_by_source_and_kind_and_paged_once(own: Running) -> None:
    document_id = own.put_document("one")
    with own.store.unit_of_work("test") as work:
        new = [NewFinding("unmapped", f"field.{n}", detail={"seen": n}) for n in range(5)]
        findings.put(work, "pubmed", new, _moment(hours=3))
        findings.put(
            work, "ema", [NewFinding("malformed", "doi:10.1/x", document_id)], _moment(hours=2)
        )
    listed = own.client.get("/v1/findings").json()
    assert listed["next_cursor"] is None
    assert [one["kind"] for one in listed["findings"]] == ["malformed"] + ["unmapped"] * 5
    newest = listed["findings"][0]
    assert (newest["source"], newest["subject"]) == ("ema", "doi:10.1/x")
    assert (newest["document_id"], newest["resolved_at"]) == (str(document_id), None)
    seen: list[str] = []
    params: dict[str, Any] = {"source": "pubmed", "kind": "unmapped", "limit": 2}
    while True:
        page = own.client.get("/v1/findings", params=params).json()
        seen += [one["subject"] for one in page["findings"]]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert seen == [f"field.{n}" for n in (4, 3, 2, 1, 0)]
    assert own.client.get("/v1/findings", params={"kind": "conflict"}).json()["findings"] == []


def test_resolved_findings_are_listed_on_request(own: Running) -> None:
    document_id = own.put_document("one")
    with own.store.unit_of_work("test") as work:
        new = [NewFinding("malformed", "doi:10.1/x", document_id)]
        findings.put(work, "ema", new, _moment(hours=2))
        findings.restate(work, "ema", "malformed", [document_id], [], _moment())
    for status, count in (("open", 0), ("resolved", 1), ("all", 1)):
        found = own.client.get("/v1/findings", params={"status": status}).json()["findings"]
        assert len(found) == count, status


def test_filters_of_findings_that_cannot_fit_are_refused(gateway: Running) -> None:
    for params in ({"kind": "odd"}, {"status": "odd"}, {"limit": "0"}, {"cursor": "odd"}):
        _problem(gateway.client.get("/v1/findings", params=params), 422)
    problem = _problem(gateway.client.get("/v1/findings", params={"source": "odd"}), 404)
    assert problem["sources"] == KNOWN


# --- gauges ---------------------------------------------------------------------------------------


def _samples(gateway: Running) -> dict[str, dict[str, float]]:
    """The gauges of sources: name → source → value."""
    found: dict[str, dict[str, float]] = {}
    for line in gateway.client.get("/metrics").text.splitlines():
        match = re.fullmatch(r'(attest_s\w+)\{source="([a-z-]+)"\} (\S+)', line)
        if match:
            found.setdefault(match[1], {})[match[2]] = float(match[3])
        else:
            assert not re.match(r"attest_s(ource|la)_", line), line
    return found


def test_the_gauges_say_what_the_list_says(own: Running) -> None:
    _ran(own, _follow(own, "pubmed", "XYZZY", at=_moment(hours=9)), hours=4)
    _follow(own, "news", "fda-press", at=_moment(hours=30))
    _follow(own, "guidelines", "*")
    _bring(own, "pubmed", "one", "First.", "Second.")
    samples, listed = _samples(own), _sources(own)
    assert samples["attest_source_age_hours"] == {"pubmed": pytest.approx(4, abs=0.1)}
    assert samples["attest_source_sla_hours"] == {"pubmed": 168, "news": 24}
    assert samples["attest_source_in_sla"] == {"pubmed": 1, "news": 0}
    assert samples["attest_source_degraded"] == {"pubmed": 0, "news": 0, "guidelines": 0}
    success = datetime.fromisoformat(listed["pubmed"]["last_success_at"]).timestamp()
    assert samples["attest_source_last_success_timestamp_seconds"] == {"pubmed": success}
    runs = samples["attest_source_next_run_timestamp_seconds"]
    assert runs.keys() == {"pubmed", "news", "guidelines"}
    next_run = datetime.fromisoformat(listed["pubmed"]["next_run_at"]).timestamp()
    assert runs["pubmed"] == pytest.approx(next_run)
    assert samples["attest_source_documents"]["pubmed"] == 1
    assert samples["attest_source_versions"]["pubmed"] == 2
    assert samples["attest_source_findings_open"]["pubmed"] == 0
    assert samples["attest_sla_breaches_total"] == {"pubmed": 0, "news": 0, "guidelines": 0}
    assert "XYZZY" not in own.client.get("/metrics").text


def test_sources_without_a_database_are_a_503_and_the_metrics_still_come(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    url = "postgresql+psycopg://127.0.0.1:1/none"
    with serving(settings_for(url)) as away:
        for response in (
            away.client.get("/v1/sources"),
            away.client.post("/v1/sources/ema/refresh", json={"query": "q"}),
            away.client.get(f"/v1/refreshes/{ABSENT}"),
            away.client.get("/v1/findings"),
        ):
            _problem(response, 503)
        assert "attest_database_up 0.0" in away.client.get("/metrics").text
