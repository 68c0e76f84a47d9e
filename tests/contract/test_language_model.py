"""Every outcome of the Messages API is one kind of the port's, over real HTTP through the SDK."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from tests.fakes.messages_api import MessagesApi, error, message, refusal, usage
from tests.fakes.web import DROPPED, FakeWeb, Reply
from workers.language_model.anthropic import AnthropicModel
from workers.language_model.port import (
    LanguageModel,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    ModelUnusable,
    Prompt,
    Proposal,
)
from workers.language_model.prices import Billed, PriceTable, prices

KEY = "made-up-key-4711"
SECRET = "Zebrafinch"
"""Stands in prompt and output; no error and no log may hold it."""


class Part(BaseModel):
    score: Annotated[int, Field(ge=0, le=10)]


class Verdict(BaseModel):
    verdict: Literal["yes", "no"]
    parts: list[Part]


PROMPT = Prompt(
    purpose="rerank",
    version="1",
    system=f"Judge. {SECRET}. " + "Made-up instructions. " * 200,
    user=f"Is {SECRET} 5 µg — «é» ≥ 3 & a+b=%41?",
    shape=Verdict,
    max_tokens=300,
)
GOOD = '{"verdict": "yes", "parts": [{"score": 7}]}'


@dataclass
class World:
    """The adapter in front of the fake API."""

    api: MessagesApi
    web: FakeWeb
    model: LanguageModel
    slept: list[float] = field(default_factory=list)
    others: list[AnthropicModel] = field(default_factory=list)

    def adapter(self, key: str = KEY, name: str = "claude-sonnet-5-5") -> AnthropicModel:
        where = self.web.mirrors[self.api.origin]
        self.others.append(AnthropicModel(key, name, where, 10, self.slept.append))
        return self.others[-1]

    def propose(self) -> Proposal[Verdict]:
        return self.model.propose(PROMPT)

    def fail(self, *replies: Reply) -> ModelError:
        """The error that comes of these replies; it and all it leads to keep silent."""
        self.api.next.extend(replies)
        return failure(self.model)


def failure(model: LanguageModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.propose(PROMPT)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    for secret in (KEY, SECRET, "made up"):
        assert secret not in f"{caught.value} {caught.value!r} {caught.value.args}"
    return caught.value


@pytest.fixture
def world() -> Iterator[World]:
    api = MessagesApi({KEY})
    api.text = GOOD
    with FakeWeb(api) as web:
        slept: list[float] = []
        model = AnthropicModel(KEY, "claude-sonnet-5-5", web.mirrors[api.origin], 10, slept.append)
        made = World(api, web, model, slept)
        yield made
        for one in (model, *made.others):
            one.close()


def test_a_proposal_has_the_shape_the_model_the_tokens_and_the_hashes(world: World) -> None:
    made = world.propose()
    assert made.value == Verdict(verdict="yes", parts=[Part(score=7)])
    assert made.model == world.model.name == "claude-sonnet-5-5"
    assert made.usage.output_tokens == len(GOOD) // 4 + 1
    again, other = world.propose(), world.model.propose(replace(PROMPT, user="else"))
    assert made.prompt_hash == again.prompt_hash != other.prompt_hash
    assert made.prompt_hash != world.model.propose(replace(PROMPT, version="2")).prompt_hash
    assert made.output_hash == again.output_hash
    world.api.text = GOOD.replace("7", "8")
    assert world.propose().output_hash != made.output_hash


def test_the_request_holds_the_prompt_the_schema_and_a_cached_system(world: World) -> None:
    world.propose()
    (asked,) = world.api.asked
    cached = {"type": "text", "text": PROMPT.system, "cache_control": {"type": "ephemeral"}}
    assert asked["system"] == [cached]
    assert asked["messages"] == [{"role": "user", "content": PROMPT.user}]
    assert (asked["model"], asked["max_tokens"]) == ("claude-sonnet-5-5", 300)
    assert asked["output_config"]["format"]["schema"]["required"] == ["verdict", "parts"]
    world.model.propose(replace(PROMPT, system=""))
    assert "system" not in world.api.asked[1]


def test_a_system_is_written_to_the_cache_once_and_read_afterwards(world: World) -> None:
    first, second = world.propose().usage, world.propose().usage
    assert first.cache_write_tokens == second.cache_read_tokens > 512
    assert first.cache_read_tokens == second.cache_write_tokens == 0
    assert first.cost_usd is not None
    assert second.cost_usd is not None
    assert 0 < second.cost_usd < first.cost_usd


def test_a_refusal_is_an_outcome_of_its_own_and_not_repeated(world: World) -> None:
    refused = world.fail(refusal("bio"))
    assert isinstance(refused, ModelRefused)
    assert "(bio)" in str(refused)
    assert isinstance(world.fail(refusal(SECRET)), ModelRefused)
    assert len(world.web.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(message(GOOD, "max_tokens"), id="cut off though it parses"),
        pytest.param(message(GOOD, "model_context_window_exceeded"), id="window exceeded"),
        pytest.param(message(GOOD, "pause_turn"), id="paused"),
        pytest.param(message(GOOD, "a-new-reason"), id="unknown ending"),
        pytest.param(message(GOOD[:-5]), id="truncated JSON"),
        pytest.param(message(f"{SECRET}: yes, 7"), id="prose"),
        pytest.param(message(GOOD + GOOD.replace("yes", "no")), id="two answers"),
        pytest.param(message(""), id="empty"),
        pytest.param(message(GOOD, content=None), id="no content"),
        pytest.param(message(GOOD.replace("7", "11")), id="a limit the schema cannot say"),
        pytest.param(message(GOOD.replace("yes", SECRET)), id="not in the enumeration"),
        pytest.param(message(GOOD, usage=None), id="no usage"),
        pytest.param(message(GOOD, usage=usage(-1, 5)), id="negative usage"),
        pytest.param(Reply(200, f"<p>{SECRET}".encode(), {"Content-Type": "text/html"}), id="HTML"),
        pytest.param(Reply(200, b"{", {"Content-Type": "application/json"}), id="no JSON"),
        pytest.param(Reply(200, b"[1]", {"Content-Type": "application/json"}), id="a list"),
        pytest.param(error(400, "invalid_request_error", SECRET), id="400"),
        pytest.param(error(413, "request_too_large", SECRET), id="413"),
    ],
)
def test_what_cannot_be_used_is_unusable_and_not_repeated(world: World, reply: Reply) -> None:
    assert isinstance(world.fail(reply), ModelUnusable)
    assert (len(world.web.requests), world.slept) == (1, [])


@pytest.mark.parametrize(
    "reply",
    [
        *(error(status, "api_error", SECRET) for status in (409, 429, 500, 503, 529)),
        error(429, "rate_limit_error", SECRET, code="ramp_limit_exceeded"),
        Reply(520, b"<h1>Zebrafinch</h1>", {"Content-Type": "text/html"}),
    ],
    ids=lambda reply: str(reply.status),
)
def test_what_passes_by_itself_is_unavailable_after_two_more_attempts(
    world: World, reply: Reply
) -> None:
    world.web.fault = lambda _: reply
    away = failure(world.model)
    assert isinstance(away, ModelUnavailable)
    assert (away.lost, away.maybe_billed, away.usage) == (False, False, None)
    assert len(world.web.requests) == 3
    first, second = world.slept
    assert 0.25 <= first <= 0.75
    assert 0.5 <= second <= 1.5


@pytest.mark.parametrize(
    "reply",
    [
        *(error(status, "api_error", SECRET) for status in (408, 504)),
        Reply(502, b"<h1>Zebrafinch</h1>", {"Content-Type": "text/html"}),
        DROPPED,
        replace(message(GOOD), cut=40),
    ],
    ids=lambda reply: f"{reply.status}-{reply.cut}",
)
def test_an_answer_that_got_lost_may_be_billed_and_is_left_to_the_caller(
    world: World, reply: Reply
) -> None:
    lost = world.fail(reply)
    assert isinstance(lost, ModelUnavailable)
    assert (lost.lost, lost.maybe_billed, lost.usage) == (True, True, None)
    assert (len(world.web.requests), world.slept) == (1, [])


def test_a_request_that_never_left_is_repeated_and_cannot_be_billed() -> None:
    slept: list[float] = []
    with FakeWeb() as web:
        nobody = web.base
    model = AnthropicModel(KEY, "claude-sonnet-5-5", nobody, 10, slept.append)
    away = failure(model)
    model.close()
    assert isinstance(away, ModelUnavailable)
    assert (away.lost, away.maybe_billed, len(slept)) == (False, False, 2)


def test_what_cannot_be_used_says_what_it_used_or_that_nobody_knows(world: World) -> None:
    for reply in (refusal("bio"), message(GOOD, "max_tokens"), message("no JSON")):
        paid = world.fail(reply)
        assert paid.usage is not None
        assert paid.usage.cost_usd is not None
        assert paid.usage.cost_usd > 0
        assert not paid.maybe_billed
    page = Reply(200, b"<p>", {"Content-Type": "text/html"})
    for reply in (message(GOOD, usage=None), page, replace(page, body=b"{")):
        unknown = world.fail(reply)
        assert (unknown.usage, unknown.maybe_billed) == (None, True)
    free = world.fail(error(400, "invalid_request_error", "x"))
    assert (free.usage, free.maybe_billed) == (None, False)


def test_an_attempt_that_succeeds_after_trouble_is_the_answer(world: World) -> None:
    world.api.next.extend([error(529, "overloaded_error", "x"), error(503, "api_error", "x")])
    assert world.propose().value.verdict == "yes"
    assert len(world.slept) == 2


def test_a_short_retry_after_is_waited_for_and_a_long_one_is_handed_to_the_caller(
    world: World,
) -> None:
    world.api.next.append(error(429, "rate_limit_error", "x", {"retry-after": "5"}))
    world.propose()
    (waited,) = world.slept
    assert 5 < waited < 6
    for asked in ("5.1", "86400"):
        before = len(world.web.requests)
        late = world.fail(error(429, "rate_limit_error", SECRET, {"retry-after": asked}))
        assert isinstance(late, ModelUnavailable)
        assert late.retry_after == float(asked)
        assert len(world.web.requests) == before + 1
    assert world.slept == [waited]


def test_retry_after_may_be_a_date_and_nonsense_says_nothing(world: World) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    late = world.fail(error(529, "overloaded_error", "x", {"retry-after": date}))
    assert isinstance(late, ModelUnavailable)
    assert late.retry_after == pytest.approx(7200, abs=60)
    nonsense = [error(529, "overloaded_error", "x", {"retry-after": "soon"})] * 3
    late = world.fail(*nonsense)
    assert isinstance(late, ModelUnavailable)
    assert late.retry_after is None


def test_silence_is_unavailable_and_not_asked_again_because_it_is_billed(world: World) -> None:
    release = threading.Event()

    def silent(_: object) -> Reply:
        release.wait(30)
        return DROPPED

    world.web.fault = silent
    model = AnthropicModel(KEY, "claude-sonnet-5-5", world.web.mirrors[world.api.origin], 0.2)
    try:
        late = failure(model)
    finally:
        release.set()
    assert isinstance(late, ModelUnavailable)
    assert (late.lost, late.maybe_billed) == (False, True)
    assert len(world.web.requests) == 1


def test_a_long_answer_gets_more_patience(world: World) -> None:
    def slow(_: object) -> None:
        time.sleep(0.5)

    world.web.fault = slow
    model = AnthropicModel(KEY, "claude-sonnet-5-5", world.web.mirrors[world.api.origin], 0.2)
    assert isinstance(failure(model), ModelUnavailable)
    assert model.propose(replace(PROMPT, patience=100)).value.verdict == "yes"
    model.close()


@pytest.mark.parametrize(
    "reply",
    [
        error(402, "billing_error", SECRET),
        error(403, "permission_error", SECRET),
        error(
            429, "rate_limit_error", SECRET, {"retry-after": "1"}, "enforced_spend_limit_reached"
        ),
        error(429, "rate_limit_error", SECRET, code="contract_spend_limit_reached"),
        error(400, "invalid_request_error", "You have reached your specified API usage limits. x"),
        Reply(307, b"", {"Location": "/elsewhere"}),
    ],
    ids=lambda reply: str(reply.status),
)
def test_what_an_operator_must_mend_is_misconfigured_and_not_repeated(
    world: World, reply: Reply
) -> None:
    assert isinstance(world.fail(reply), ModelMisconfigured)
    assert (len(world.web.requests), world.slept) == (1, [])


def test_a_wrong_key_and_an_unknown_model_are_misconfigured(world: World) -> None:
    for model, status in (
        (world.adapter(key=f"{KEY}-not"), 401),
        (world.adapter(name="claude-none"), 404),
    ):
        wrong = failure(model)
        assert isinstance(wrong, ModelMisconfigured)
        assert str(status) in str(wrong)
        model.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"api_key": ""},
        {"api_key": f"{KEY}\nx"},
        {"model": ""},
        {"base_url": "ftp://x"},
        {"timeout": 0},
    ],
    ids=str,
)
def test_values_that_cannot_work_are_refused_at_once_without_being_repeated(
    wrong: dict[str, Any],
) -> None:
    with pytest.raises(ValueError, match="model") as caught:
        AnthropicModel(**({"api_key": KEY, "model": "m"} | wrong))
    assert KEY not in str(caught.value)


def test_no_log_at_any_level_holds_prompt_output_or_key(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        world.propose()
        world.fail(error(400, "invalid_request_error", SECRET))
        logging.getLogger("here").debug("is heard")
    assert "is heard" in caplog.text
    for secret in (KEY, SECRET, '"verdict"'):
        assert secret not in caplog.text


def test_text_that_is_no_unicode_is_unusable_and_not_sent(world: World) -> None:
    with pytest.raises(ModelUnusable) as caught:
        world.model.propose(replace(PROMPT, user="\ud800"))
    assert caught.value.__context__ is None
    assert (caught.value.maybe_billed, world.web.requests) == (False, [])


# --- prices ---------------------------------------------------------------------------------------

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "billed", "dollars"),
    [
        ("claude-sonnet-5-5", Billed(MILLION, 0), "2"),
        ("claude-sonnet-5-5-20260901", Billed(0, MILLION), "10"),
        ("claude-opus-5-5", Billed(0, 0, cache_read=MILLION), "0.2"),
        ("claude-opus-5", Billed(0, 0, cache_read=MILLION), "0.5"),
        ("claude-opus-5-5", Billed(0, 0, cache_write_5m=MILLION), "5"),
        ("claude-opus-5-5", Billed(0, 0, cache_write_1h=MILLION), "8"),
        ("claude-fable-5-1", Billed(MILLION, MILLION, place="us"), "66"),
        ("claude-opus-5", Billed(MILLION, MILLION), "30"),
        ("claude-haiku-5-5", Billed(60_000, MILLION, cache_read=40_000), "0.5064"),
        ("claude-haiku-5-5", Billed(60_001, MILLION, cache_read=40_000), "2.5320005"),
    ],
)
def test_a_cost_is_what_the_table_says(model: str, billed: Billed, dollars: str) -> None:
    assert prices().cost(model, billed) == Decimal(dollars)


@pytest.mark.parametrize(
    ("model", "billed"),
    [
        ("claude-opus-4-6", Billed(1, 1)),
        ("claude-sonnet-5-5-preview", Billed(1, 1)),
        ("claude-sonnet-5-5", Billed(1, 1, place="mars")),
        ("claude-sonnet-5-5", Billed(1, 1, tier="priority")),
        ("claude-sonnet-5-5", Billed(1, 1, speed="fast")),
    ],
)
def test_a_cost_that_is_not_known_is_none_and_never_zero(model: str, billed: Billed) -> None:
    assert prices().cost(model, billed) is None


def test_a_model_without_a_price_still_proposes_and_says_that_its_cost_is_unknown(
    world: World,
) -> None:
    made = world.adapter(name="claude-opus-4-6").propose(PROMPT)
    assert made.usage.cost_usd is None
    assert made.usage.input_tokens > 0


def test_the_answer_s_own_model_place_and_cache_decide_the_price(world: World) -> None:
    hour = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": MILLION}
    used = usage(0, 0, written=MILLION, cache_creation=hour, inference_geo="us")
    world.api.next.append(message(GOOD, model="claude-opus-5", usage=used))
    made = world.propose()
    assert (made.model, made.usage.cost_usd) == ("claude-opus-5", Decimal(11))
    assert made.usage.cache_write_tokens == MILLION


@pytest.mark.parametrize("model", [*prices().models, "claude-nobody-knows"])
def test_the_most_that_tokens_can_cost_is_no_less_than_any_price(model: str) -> None:
    most = prices().at_most(model, 120_000, 1_000)
    for billed in (
        Billed(120_000, 1_000, place="us"),
        Billed(0, 1_000, cache_write_5m=120_000, place="us"),
        Billed(0, 1_000, cache_read=120_000),
    ):
        known = prices().cost(model, billed)
        assert most >= (known or Decimal("0.01"))


@pytest.mark.parametrize("limits", [(5,), (None, None), (9, 5, None), (5, 5, None)])
def test_rows_of_a_model_must_rise_and_end_open(limits: tuple[int | None, ...]) -> None:
    table = json.loads(prices().model_dump_json())
    table["models"]["m"] = [{"up_to": one, "input": "1", "output": "1"} for one in limits]
    with pytest.raises(ValidationError, match="up_to"):
        PriceTable.model_validate(table)
