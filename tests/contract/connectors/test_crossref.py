"""Crossref is asked about DOIs as it wants to be asked (WIRE 5 and 10)."""

import pytest

from tests.contract.connectors.conftest import MakeClient
from tests.fakes.crossref import Crossref, update
from tests.fakes.web import Clock, FakeWeb, Reply
from workers.http.errors import Malformed, Unreachable
from workers.ingest.connectors.crossref import CROSSREF
from workers.ingest.enrichment import BudgetSpent, NoWord, RefusesThisWork, Work


@pytest.fixture
def fake(clock: Clock) -> Crossref:
    return Crossref(clock)


def test_each_work_has_a_statement_in_order(fake: Crossref, source_client: MakeClient) -> None:
    fake.put("10.5555/one", updated_by=[update("retraction", "10.5555/notice")])
    fake.put("10.5555/three")
    works = [
        Work("pmid:1", "10.5555/ONE"),
        Work("pmid:2", "10.5555/two"),
        Work("pmid:3", "10.5555/three"),
    ]
    with FakeWeb(fake) as web:
        said = CROSSREF.ask(source_client("crossref", web), works)
    assert [(one.key, one.known) for one in said] == [
        ("pmid:1", True),
        ("pmid:2", False),
        ("pmid:3", True),
    ]
    assert [[notice.kind for notice in one.notices] for one in said] == [["retraction"], [], []]


def test_a_retraction_that_comes_later_is_seen_when_asked_again(
    fake: Crossref, source_client: MakeClient
) -> None:
    fake.put("10.5555/one")
    work = [Work("pmid:1", "10.5555/one")]
    with FakeWeb(fake) as web:
        client = source_client("crossref", web)
        assert CROSSREF.ask(client, work)[0].notices == ()
        fake.change("10.5555/one", update_to=[update("retraction", "10.5555/one")])
        assert [notice.kind for notice in CROSSREF.ask(client, work)[0].notices] == ["retraction"]
        fake.delete("10.5555/one")
        assert not CROSSREF.ask(client, work)[0].known


@pytest.mark.parametrize("doi", ["10.5555/a/b", "10.5555/(sici)1<1:a>2.0;2-#?&%41", "10.5555/é"])
def test_odd_dois_arrive_as_they_are(doi: str, fake: Crossref, source_client: MakeClient) -> None:
    fake.put(doi)
    with FakeWeb(fake) as web:
        (said,) = CROSSREF.ask(source_client("crossref", web), [Work("pmid:1", doi)])
        assert web.requests[0].path == f"/works/{doi}"
        assert web.requests[0].raw_path.count("/") == doi.count("/") + 2
    assert said.doi == doi


def test_a_doi_that_is_an_address_of_something_else_is_unknown(
    fake: Crossref, source_client: MakeClient
) -> None:
    fake.put("10.5555/one")
    works = [Work("a", "10.5555/one/agency"), Work("b", "10.5555/../../members")]
    with FakeWeb(fake) as web:
        said = CROSSREF.ask(source_client("crossref", web), works)
        assert [request.path for request in web.requests] == ["/works/10.5555/one/agency"]
    assert [one.known for one in said] == [False, False]


@pytest.mark.parametrize("contact", ["", "someone@example.org"])
def test_the_polite_pool_is_told_whom_to_write_to(
    contact: str, fake: Crossref, source_client: MakeClient
) -> None:
    fake.put("10.5555/one")
    with FakeWeb(fake) as web:
        client = source_client("crossref", web, contact=contact)
        CROSSREF.ask(client, [Work("pmid:1", "10.5555/one")])
        assert web.requests[0].params.get("mailto", "") == contact


def test_what_was_said_before_crossref_wants_peace_is_kept(
    fake: Crossref, source_client: MakeClient
) -> None:
    fake.put("10.5555/one")
    fake.put("10.5555/two")
    with FakeWeb(fake) as web:
        web.fault = lambda request: (
            Reply(429, b"", {"Retry-After": "7200"}) if request.path.endswith("two") else None
        )
        works = [Work("pmid:1", "10.5555/one"), Work("pmid:2", "10.5555/two")]
        with pytest.raises(BudgetSpent) as caught:
            CROSSREF.ask(source_client("crossref", web), works)
    assert caught.value.seconds == 7200
    assert [one.key for one in caught.value.statements] == ["pmid:1"]


@pytest.mark.parametrize("status", [400, 414, 422])
def test_a_doi_that_crossref_does_not_take_is_told_among_the_others(
    fake: Crossref, source_client: MakeClient, status: int
) -> None:
    fake.put("10.5555/one")
    works = [Work("pmid:2", "10.5555/two"), Work("pmid:1", "10.5555/one")]
    with FakeWeb(fake) as web:
        web.fault = lambda request: Reply(status, b"") if request.path.endswith("two") else None
        bad, good = CROSSREF.ask(source_client("crossref", web), works)
        assert isinstance(bad, NoWord)
        assert isinstance(bad.error, RefusesThisWork)
        assert (bad.key, good.key) == ("pmid:2", "pmid:1")
        with pytest.raises(RefusesThisWork):
            CROSSREF.ask(source_client("crossref", web), works[:1])


def test_a_failure_is_tried_again_and_then_told(fake: Crossref, source_client: MakeClient) -> None:
    fake.put("10.5555/one")
    work = [Work("pmid:1", "10.5555/one")]
    with FakeWeb(fake) as web:
        client = source_client("crossref", web)
        web.fault = lambda request: Reply(502, b"") if len(web.requests) == 1 else None
        assert CROSSREF.ask(client, work)[0].known
        web.fault = lambda request: Reply(502, b"")
        with pytest.raises(Unreachable):
            CROSSREF.ask(client, work)


def test_an_answer_that_is_no_record_is_malformed(
    fake: Crossref, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        web.fault = lambda request: Reply(200, b"<html>welcome</html>")
        with pytest.raises(Malformed):
            CROSSREF.ask(source_client("crossref", web), [Work("pmid:1", "10.5555/one")])
