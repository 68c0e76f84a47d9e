"""OpenAlex is asked for single works, which are free, and left alone in time (WIRE 5 and 10)."""

import pytest

from tests.contract.connectors.conftest import MakeClient
from tests.fakes.openalex import OpenAlex
from tests.fakes.web import Clock, FakeWeb
from workers.http.errors import Refused
from workers.ingest.connectors.openalex import OPENALEX
from workers.ingest.enrichment import BudgetSpent, Work

WORKS = [Work(f"pmid:{number}", f"10.5555/{number}") for number in range(1, 6)]


@pytest.fixture
def fake(clock: Clock) -> OpenAlex:
    fake = OpenAlex(clock)
    for work in WORKS:
        fake.put(work.doi)
    return fake


def test_each_work_has_a_statement_in_order(fake: OpenAlex, source_client: MakeClient) -> None:
    fake.change("10.5555/1", is_retracted=True)
    fake.change("10.5555/3", abstract_inverted_index=None)
    fake.delete("10.5555/2")
    with FakeWeb(fake) as web:
        said = OPENALEX.ask(source_client("openalex", web), WORKS)
        assert [request.path for request in web.requests] == [
            f"/works/doi:{work.doi}" for work in WORKS
        ]
    assert [one.key for one in said] == [work.key for work in WORKS]
    assert [one.known for one in said] == [True, False, True, True, True]
    assert [notice.kind for one in said for notice in one.notices] == ["retraction"]


@pytest.mark.parametrize("doi", ["10.5555/a/b", "10.5555/(sici)1<1:a>2.0;2-#?&%41"])
def test_odd_dois_arrive_as_they_are(doi: str, fake: OpenAlex, source_client: MakeClient) -> None:
    fake.put(doi)
    with FakeWeb(fake) as web:
        (said,) = OPENALEX.ask(source_client("openalex", web), [Work("pmid:9", doi)])
    assert said.doi == doi


def test_dots_that_would_mean_folders_are_never_asked(
    fake: OpenAlex, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        (said,) = OPENALEX.ask(source_client("openalex", web), [Work("a", "10.5555/../x")])
        assert not web.requests
    assert not said.known


def test_it_stops_before_a_falling_budget_is_used_up(
    fake: OpenAlex, clock: Clock, source_client: MakeClient
) -> None:
    fake.limit_usd, fake.cost_usd = 0.001, 0.0004
    with FakeWeb(fake) as web:
        client = source_client("openalex", web)
        with pytest.raises(BudgetSpent) as caught:
            OPENALEX.ask(client, WORKS)
        assert len(web.requests) == 2
        assert [one.key for one in caught.value.statements] == ["pmid:1", "pmid:2"]
        assert 0 < caught.value.seconds <= 12 * 3600  # the clock began at noon
        clock.advance(seconds=caught.value.seconds + 1)
        assert len(OPENALEX.ask(client, WORKS[2:4])) == 2


def test_a_budget_that_is_gone_is_waited_for_by_hours(
    fake: OpenAlex, source_client: MakeClient
) -> None:
    fake.spend(fake.limit_usd)
    with FakeWeb(fake) as web:
        with pytest.raises(BudgetSpent) as caught:
            OPENALEX.ask(source_client("openalex", web), WORKS)
        assert len(web.requests) == 1
    assert caught.value.seconds > 3600
    assert caught.value.statements == ()


def test_the_last_of_a_batch_may_use_up_the_budget(
    fake: OpenAlex, source_client: MakeClient
) -> None:
    fake.limit_usd = fake.cost_usd = 0.001
    with FakeWeb(fake) as web:
        assert len(OPENALEX.ask(source_client("openalex", web), WORKS[:1])) == 1


def test_the_key_goes_into_a_header_and_a_wrong_one_is_refused(
    fake: OpenAlex, source_client: MakeClient
) -> None:
    fake.keys.add("secret-key")
    with FakeWeb(fake) as web:
        OPENALEX.ask(source_client("openalex", web, key="secret-key"), WORKS[:1])
        assert "secret-key" not in web.requests[0].raw_path + str(web.requests[0].params)
        with pytest.raises(Refused) as caught:
            OPENALEX.ask(source_client("openalex", web, key="other-key"), WORKS[:1])
    assert "other-key" not in str(caught.value)
