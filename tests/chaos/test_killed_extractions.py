"""A worker is killed while it extracts a document: nothing is lost and nothing is paid twice."""

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from messages import Stage
from store.core.unit_of_work import Store
from store.extractions import extractions
from store.extractions.extractions import EXTRACTIONS
from tests.chaos.checker import wait_quiet
from tests.chaos.hold import Hold
from tests.fakes.learner import Learner
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb, Reply
from tests.integration.clinical.extracting import KEY, LETTER, learner, timeless
from tests.integration.runtime.harness import rows
from tests.servers import Fleet, wait_until
from workers.inline import InlineWorker
from workers.language_model.anthropic import AnthropicModel

pytestmark = pytest.mark.requirement("MV-3.3")


@pytest.fixture
def api(fleet: Fleet) -> Iterator[MessagesApi]:
    """The model of the fleet."""
    service = MessagesApi({KEY})
    with FakeWeb(service) as web:
        given = {
            "anthropic_api_key": KEY,
            "anthropic_url": web.mirrors[service.origin],
            "lease_seconds": 2.5,
        }
        fleet.settings = fleet.settings.model_copy(update=given)
        yield service
        fleet.stop()


def submit(store: Store) -> UUID:
    with store.unit_of_work("test") as work:
        return extractions.submit(work, LETTER).id


def result_of(store: Store, extraction_id: UUID) -> dict[str, Any]:
    with store.reading() as session:
        row = EXTRACTIONS.get(session, extraction_id)
    assert row is not None
    assert row.status == "done", row.error
    assert row.result is not None
    found: dict[str, Any] = timeless(row.result)
    return found


def without_memory(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key != "provenance"}


@pytest.mark.parametrize("n", [1, 2])
def test_mv_3_3_kill_9_between_iterations_ends_in_the_same_result_without_a_second_payment(
    n: int, api: MessagesApi, fleet: Fleet, published: Store, hold: Hold
) -> None:
    """Iteration `n` has been paid for and is not committed; those before it are."""
    untouched = learner()
    api.writer = untouched.write
    undisturbed = InlineWorker(fleet.settings, published)
    whole = submit(undisturbed.store)
    undisturbed.run()
    undisturbed.close()
    assert isinstance(undisturbed.context.language_model, AnthropicModel)
    undisturbed.context.language_model.close()
    expected = result_of(published, whole)
    with published.unit_of_work("test") as work:  # both begin without a remembered prompt
        work.session.connection().exec_driver_sql("DELETE FROM prompt_memory")

    model = learner()
    api.writer = model.write
    hold.commit_of(Stage.EXTRACT, f"NEW.n = {n}")
    victim = fleet.start("worker", "--threads=1")
    fleet.start("scheduler")
    extraction_id = submit(published)
    hold.wait_for()
    assert len(rows(published, "SELECT FROM extraction_iteration WHERE extraction_id = :id",
                    id=extraction_id)) == n - 1  # fmt: skip
    victim.kill()
    victim.wait()
    hold.release()
    fleet.start("worker", "--threads=1")
    wait_quiet(published)
    assert without_memory(result_of(published, extraction_id)) == without_memory(expected)
    assert len(model.prompts) == len(untouched.prompts) == expected["iterations"]
    assert len(set(model.prompts)) == len(model.prompts)
    cost = "SELECT DISTINCT cost_usd FROM extraction"
    assert len(rows(published, cost)) == 1, "both documents cost the same"


class _Stuck(Learner):
    """Never answers the second request for fields, until it is let go."""

    def __init__(self, knows: Mapping[str, Any], hidden: Mapping[str, Any]) -> None:
        super().__init__(knows, hidden)
        self.asked = threading.Event()
        self.go = threading.Event()

    def write(self, body: Mapping[str, Any]) -> str | Reply:
        answer = super().write(body)
        if len(self.prompts) == 2:
            self.asked.set()
            self.go.wait(60)
        return answer


def test_mv_3_3_kill_9_while_the_model_writes_does_not_send_the_request_again(
    api: MessagesApi, fleet: Fleet, published: Store
) -> None:
    """It may have been paid for, and nobody knows: rules make that iteration, and it says so."""
    known = learner()
    model = _Stuck(known.knows, known.hidden)
    api.writer = model.write
    victim = fleet.start("worker", "--threads=1")
    fleet.start("scheduler")
    extraction_id = submit(published)
    asked: Callable[[], bool] = model.asked.is_set
    wait_until(asked, 60, "the second request")
    victim.kill()
    victim.wait()
    model.go.set()
    fleet.start("worker", "--threads=1")
    wait_quiet(published)
    result = result_of(published, extraction_id)
    assert len(set(model.prompts)) == len(model.prompts)
    assert result["provenance"]["consulted"][1]["fallback"] == "lost"
    assert result["provenance"]["cost_usd"] is None, "it is not known, and not nothing"
