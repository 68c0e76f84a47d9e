"""Requests to the language model are paid from budgets, and each is written down exactly once."""

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pydantic import BaseModel
from sqlmodel import Session, col, select

from store.core.unit_of_work import Store
from store.models import ModelUsage, now
from store.reports import model_usage
from store.reports.usage_totals import UsageTotals
from tests.fakes.messages_api import MessagesApi, error, message, refusal, usage
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply
from tests.servers import wait_until
from workers.language_model.anthropic import AnthropicModel
from workers.language_model.budgeted import Budget, BudgetedModel
from workers.language_model.port import (
    BudgetSpent,
    LanguageModel,
    ModelError,
    ModelUnavailable,
    Prompt,
    Proposal,
    T,
)
from workers.language_model.prices import prices

KEY = "made-up-key-4711"
SECRET = "Zebrafinch"
NAME = "claude-sonnet-5-5"
PLENTY = Budget(Decimal(1000), Decimal(1000))


class Verdict(BaseModel):
    verdict: str


PROMPT = Prompt("judge", "judge-1", f"Judge {SECRET}.", "Is it?", Verdict, max_tokens=500)
MOST = prices().at_most(NAME, PROMPT.most_input_tokens, PROMPT.max_tokens)
GOOD = json.dumps({"verdict": "yes"})


@dataclass
class World:
    """The fake API, the real adapter, the real database."""

    store: Store
    api: MessagesApi
    web: FakeWeb
    clock: Clock = field(default_factory=lambda: Clock(datetime(2026, 3, 1, 12, tzinfo=UTC)))
    opened: list[AnthropicModel] = field(default_factory=list)

    def adapter(self, name: str = NAME, key: str = KEY, seconds: float = 10) -> AnthropicModel:
        where = self.web.mirrors[self.api.origin]
        self.opened.append(AnthropicModel(key, name, where, seconds, lambda _: None))
        return self.opened[-1]

    def model(
        self, subject: str = "q1", budget: Budget = PLENTY, of: LanguageModel | None = None
    ) -> BudgetedModel:
        return BudgetedModel(
            of or self.adapter(),
            self.store,
            subject,
            budget,
            now=self.clock,
            sleep=lambda _: None,
        )

    def rows(self) -> Sequence[ModelUsage]:
        with Session(self.store.engine) as session:
            return session.exec(select(ModelUsage).order_by(col(ModelUsage.id))).all()

    def cost_of(self, subject: str = "q1") -> Decimal | None:
        with Session(self.store.engine) as session:
            return model_usage.cost_of(session, subject)


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    api = MessagesApi({KEY})
    api.text = GOOD
    with FakeWeb(api) as web:
        made = World(store, api, web)
        yield made
        for one in made.opened:
            one.close()


def fail(model: LanguageModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.propose(PROMPT)
    return caught.value


def test_a_proposal_is_one_row_with_its_tokens_and_cost(world: World) -> None:
    made = world.model().propose(PROMPT)
    (row,) = world.rows()
    assert (row.subject, row.purpose, row.model, row.outcome) == ("q1", "judge", NAME, "proposed")
    assert (row.input_tokens, row.output_tokens) == (
        made.usage.input_tokens,
        made.usage.output_tokens,
    )
    assert row.cost_usd == made.usage.cost_usd == world.cost_of()
    assert row.at == world.clock()


def test_a_request_stands_in_the_ledger_before_it_is_sent(world: World) -> None:
    seen: list[tuple[str, Decimal | None]] = []

    def look(_: object) -> None:
        seen.extend((row.outcome, row.cost_usd) for row in world.rows())

    world.web.fault = look
    world.model().propose(PROMPT)
    assert seen == [("asked", None)]


@pytest.mark.parametrize(
    ("reply", "outcome", "known"),
    [
        pytest.param(refusal("bio"), "refused", True, id="refused"),
        pytest.param(message(GOOD, "max_tokens"), "unusable", True, id="cut off"),
        pytest.param(message(GOOD, usage=None), "unusable", False, id="no usage"),
        pytest.param(error(504, "timeout_error", "x"), "unavailable", False, id="gateway"),
        pytest.param(DROPPED, "unavailable", False, id="lost"),
    ],
)
def test_a_failure_that_is_billed_costs_and_one_that_may_be_costs_an_unknown_sum(
    world: World, reply: Reply, outcome: str, known: bool
) -> None:
    world.web.fault = lambda _: reply
    fail(world.model())
    rows = world.rows()
    assert {row.outcome for row in rows} == {outcome}
    if known:
        (row,) = rows
        assert row.cost_usd is not None
        assert world.cost_of() == row.cost_usd > 0
    else:
        assert world.cost_of() is None
        assert all(row.output_tokens == PROMPT.max_tokens for row in rows)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (error(529, "overloaded_error", "x", {"retry-after": "86400"}), "unavailable"),
        (error(401, "authentication_error", "x"), "misconfigured"),
        (error(429, "rate_limit_error", "x", {}, "enforced_spend_limit_reached"), "misconfigured"),
        (error(400, "invalid_request_error", "x"), "unusable"),
    ],
    ids=["overloaded", "key", "spending limit", "refused request"],
)
def test_a_failure_that_nobody_bills_is_written_down_and_costs_nothing(
    world: World, reply: Reply, outcome: str
) -> None:
    world.api.next.append(reply)
    fail(world.model())
    (row,) = world.rows()
    assert (row.outcome, row.input_tokens) == (outcome, 0)
    assert row.cost_usd == world.cost_of() == 0


def test_a_time_out_is_counted_as_the_most_that_it_can_cost_and_not_repeated(
    world: World,
) -> None:
    release = threading.Event()

    def silent(_: object) -> Reply:
        release.wait(30)
        return DROPPED

    world.web.fault = silent
    try:
        late = fail(world.model(of=world.adapter(seconds=0.2)))
    finally:
        release.set()
    assert isinstance(late, ModelUnavailable)
    (row,) = world.rows()
    assert (row.outcome, row.cost_usd) == ("unavailable", None)
    assert row.input_tokens == PROMPT.most_input_tokens
    world.web.fault = lambda _: None
    assert isinstance(fail(world.model(budget=Budget(MOST * 2 - 1, PLENTY.day_usd))), BudgetSpent)
    assert world.model(budget=Budget(MOST * 2, PLENTY.day_usd)).propose(PROMPT)


def test_a_lost_answer_is_asked_for_once_more_as_a_request_of_its_own(world: World) -> None:
    world.api.next.append(DROPPED)
    assert world.model().propose(PROMPT).value.verdict == "yes"
    assert [row.outcome for row in world.rows()] == ["unavailable", "proposed"]
    assert world.cost_of() is None


def test_a_reply_of_another_shape_is_asked_for_once_more_and_the_model_is_told_its_fault(
    world: World,
) -> None:
    world.api.next.append(message('{"verdict": 5}'))
    assert world.model().propose(PROMPT).value.verdict == "yes"
    assert [row.outcome for row in world.rows()] == ["unusable", "proposed"]
    first, second = (asked["system"] for asked in world.api.asked)
    assert second[0] == first[0]
    assert "verdict: Input should be a valid string" in second[1]["text"]
    world.api.next.extend([message("prose"), message("prose")])
    assert "shape" in str(fail(world.model()))
    assert [row.outcome for row in world.rows()][2:] == ["unusable", "unusable"]


def test_no_more_replies_are_asked_for_than_may_be(world: World) -> None:
    budget = replace(PLENTY, requests=2)
    world.api.next.append(DROPPED)  # no reply
    model = world.model(budget=budget)
    model.propose(PROMPT)  # asked for again: both are spent
    assert "were made" in str(fail(model))
    assert model.left == 0
    few = world.model(budget=replace(PLENTY, requests=1))
    world.api.next.append(message("prose"))
    assert not isinstance(fail(few), BudgetSpent)
    assert isinstance(fail(few), BudgetSpent)


def test_a_price_of_the_operator_s_own_counts_against_the_budgets(world: World) -> None:
    free = prices().with_own(Decimal(0), Decimal(0))
    model = BudgetedModel(
        world.adapter(),
        world.store,
        "q9",
        Budget(Decimal(0), Decimal(0)),
        now=world.clock,
        table=free,
    )
    assert model.propose(PROMPT).value.verdict == "yes"


def test_a_budget_is_never_overrun_however_many_ask_at_once(world: World) -> None:
    """Each holds the most it can cost while it runs, so only as many run as the budget holds."""
    room, all_ = 3, 8
    budget = Budget(PLENTY.subject_usd, MOST * room)
    open_ = threading.Event()
    world.web.fault = lambda _: None if open_.wait(30) else DROPPED
    model = world.adapter()

    def ask(n: int) -> str:
        try:
            world.model(f"q{n}", budget, model).propose(PROMPT)
        except BudgetSpent:
            return "spent"
        return "proposed"

    with ThreadPoolExecutor(all_) as pool:
        asked = [pool.submit(ask, n) for n in range(all_)]
        try:
            wait_until(lambda: sum(one.done() for one in asked) == all_ - room, 60, "refusals")
        finally:
            open_.set()
        outcomes = sorted(one.result(60) for one in asked)
    assert outcomes == ["proposed"] * room + ["spent"] * (all_ - room)
    assert len(world.web.requests) == room


def test_what_was_reserved_and_not_used_is_free_again(world: World) -> None:
    budget = Budget(MOST + Decimal("0.001"), PLENTY.day_usd)
    for _ in range(2):
        world.model(budget=budget).propose(PROMPT)
    cost = world.cost_of()
    assert cost is not None
    assert cost < MOST


def test_budgets_are_kept_by_subject_and_by_day(world: World) -> None:
    spent = Budget(MOST, PLENTY.day_usd)
    world.model("q1", spent).propose(PROMPT)
    assert "question" in str(fail(world.model("q1", spent)))
    assert world.model("q2", spent).propose(PROMPT)
    by_day = Budget(PLENTY.subject_usd, MOST)
    assert "day" in str(fail(world.model("q3", by_day)))
    world.clock.advance(hours=11, minutes=59)
    assert isinstance(fail(world.model("q3", by_day)), BudgetSpent)
    world.clock.advance(minutes=1)
    assert world.model("q3", by_day).propose(PROMPT)


def test_a_request_that_the_budget_refuses_is_not_sent_and_not_written_down(world: World) -> None:
    assert isinstance(fail(world.model(budget=Budget(Decimal(0), Decimal(0)))), BudgetSpent)
    assert (world.web.requests, list(world.rows())) == ([], [])


def test_a_model_without_a_price_counts_as_the_dearest_and_its_answers_cost_an_unknown_sum(
    world: World,
) -> None:
    unpriced = world.adapter("claude-opus-4-6")
    assert isinstance(
        fail(world.model(budget=Budget(MOST, PLENTY.day_usd), of=unpriced)), BudgetSpent
    )
    world.model(of=unpriced).propose(PROMPT)
    assert world.cost_of() is None
    with Session(world.store.engine) as session:
        (one,) = model_usage.spent(session, subject="q1").unpriced
    assert one.model == "claude-opus-4-6"
    assert 0 < one.output_tokens < PROMPT.max_tokens


class Dies:
    """A model whose process is killed while it waits."""

    name = NAME

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        raise KeyboardInterrupt


def test_a_process_that_dies_while_it_asks_leaves_the_most_that_it_can_have_cost(
    world: World,
) -> None:
    with pytest.raises(KeyboardInterrupt):
        world.model(of=Dies()).propose(PROMPT)
    (row,) = world.rows()
    assert (row.outcome, row.cost_usd) == ("asked", None)
    budget = Budget(MOST * 2 - Decimal("0.0001"), PLENTY.day_usd)
    assert isinstance(fail(world.model(budget=budget)), BudgetSpent)
    assert world.cost_of() is None


def test_an_answer_dearer_than_the_prompt_allowed_is_counted_whole(world: World) -> None:
    world.api.next.append(message(GOOD, usage=usage(10**6, 10**6)))
    world.model().propose(PROMPT)
    assert world.cost_of() == 12
    assert isinstance(fail(world.model(budget=Budget(Decimal(12), Decimal(99)))), BudgetSpent)


def test_totals_are_by_purpose_and_outcome(world: World) -> None:
    world.model("q1").propose(PROMPT)
    world.model("q2").propose(PROMPT)
    world.model("q2").propose(replace(PROMPT, purpose="rerank"))
    world.api.next.append(message(GOOD, usage=None))
    fail(world.model())
    with Session(world.store.engine) as session:
        found = UsageTotals().totals(session, now())
    assert [(one.purpose, one.outcome, one.requests, one.unpriced) for one in found] == [
        ("judge", "proposed", 2, 0),
        ("judge", "unusable", 1, 1),
        ("rerank", "proposed", 1, 0),
    ]
    assert found[0].cost_usd > 0
    assert found[1].cost_usd == 0


def test_no_log_and_no_row_holds_words_or_the_key(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.model().propose(PROMPT)
    world.api.next.append(error(401, "authentication_error", SECRET))
    fail(world.model())
    told = capsys.readouterr()
    written = f"{told.out}{told.err}{[row.model_dump() for row in world.rows()]}"
    assert "language_model_misconfigured" in written
    for secret in (SECRET, KEY, "yes"):
        assert secret not in written


def test_the_most_tokens_of_a_prompt_are_no_fewer_than_its_bytes() -> None:
    odd = replace(PROMPT, user="\U0001f9ec µ \ud800")
    assert odd.most_input_tokens >= len(odd.user.encode("utf-8", "surrogatepass"))
