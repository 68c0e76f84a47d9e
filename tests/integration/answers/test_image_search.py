"""Images are looked for where the operator wants them, and never hold up an answer (EB-6)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from store.sources import source_states
from tests.fakes.openi import OpenI
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply
from workers.inline import InlineWorker
from workers.retrieve.images.openi import images
from workers.retrieve.understanding.read import search_terms, understand
from workers.runtime.stage import Context

QUESTION = "Which anticoagulant in atrial fibrillation with chronic kidney disease?"
TITLE = "Anticoagulation in atrial fibrillation"


@pytest.fixture
def web() -> Iterator[FakeWeb]:
    fake = OpenI()
    fake.put(TITLE, "Algorithm of treatment.")
    with FakeWeb(fake) as web:
        yield web


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))


@pytest.fixture
def context(inline: InlineWorker, web: FakeWeb, clock: Clock) -> Context:
    """Of an operator who wants images."""
    wants = {"image_search": True, "source_mirrors": web.mirrors}
    settings = inline.context.settings.model_copy(update=wants)
    return replace(inline.context, settings=settings, now=clock, sleep=clock.sleep)


def found(context: Context, question: str = QUESTION) -> list[str]:
    """The titles of the images."""
    shown = images(context, understand(question), search_terms(question))
    return [one["title"] for one in shown]


@pytest.mark.requirement("EB-6.1")
def test_eb_6_1_nobody_is_asked_unless_the_operator_wants_images(
    context: Context, web: FakeWeb
) -> None:
    unasked = context.settings.model_copy(update={"image_search": False})
    assert found(replace(context, settings=unasked)) == []
    assert found(context, "What is atrial fibrillation?") == []
    assert web.requests == []
    assert found(context) == [TITLE]


@pytest.mark.parametrize("fault", [DROPPED, Reply(500, b""), Reply(200, b"<html>")])
def test_a_service_that_fails_costs_an_answer_its_images_only_and_is_left_alone(
    context: Context, web: FakeWeb, clock: Clock, fault: Reply
) -> None:
    web.fault = lambda request: fault
    for _ in range(source_states.FAILURES + 2):
        assert found(context) == []
    assert len(web.requests) == source_states.FAILURES
    web.fault = lambda request: None
    assert found(context) == []
    clock.advance(hours=2)
    assert found(context) == [TITLE]
