"""Servers of one's own, of either API, well-behaved or not: every outcome is one of the port's."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from store.core.settings import Settings
from tests.fakes import chat_api, messages_api
from tests.fakes.chat_api import ChatApi
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import DROPPED, FakeWeb, Reply
from workers.language_model import model_for, table_of
from workers.language_model.anthropic import AnthropicModel
from workers.language_model.chat import MOST_BYTES, ChatModel
from workers.language_model.port import (
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    ModelUnusable,
    Prompt,
    Usage,
)
from workers.language_model.prices import prices

SECRET = "Zebrafinch"
"""Stands in prompt and output; no error may hold it."""


class Verdict(BaseModel):
    verdict: Literal["yes", "no"]
    score: Annotated[int, Field(ge=0, le=10)]


PROMPT = Prompt("judge", "1", f"Judge {SECRET}.", "Is it?", Verdict, max_tokens=300)
GOOD = '{"verdict": "yes", "score": 7}'


@dataclass
class House:
    """A model of one's own in front of a fake server; both APIs, one behaviour."""

    api: ChatApi | MessagesApi
    web: FakeWeb
    model: ChatModel | AnthropicModel
    says: Callable[..., Reply]
    """An answer by text and how it ended: done, cut or unknown."""

    def fail(self, *replies: Reply) -> ModelError:
        """The error that comes of these replies; it keeps silent about all that was said."""
        self.api.next.extend(replies)
        with pytest.raises(ModelError) as caught:
            self.model.propose(PROMPT)
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.args}"
        return caught.value

    def instructions(self, number: int = -1) -> str:
        return json.dumps(self.api.asked[number])


def _chat_says(text: str | None, ending: str = "done", **other: Any) -> Reply:
    reason = {"done": "stop", "cut": "length", "unsaid": None}[ending]
    return chat_api.completion(text, reason, **other)


def _messages_says(text: str | None, ending: str = "done", **other: Any) -> Reply:
    reason = {"done": "end_turn", "cut": "max_tokens", "unsaid": None}[ending]
    content = [] if text is None else [{"type": "text", "text": text}]
    return messages_api.message("", reason, "m", **({"content": content} | other))


@pytest.fixture(params=["chat", "messages"])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    own = prices().with_own(Decimal(2), Decimal(4))
    api: ChatApi | MessagesApi = ChatApi() if request.param == "chat" else MessagesApi({""}, {"m"})
    with FakeWeb(api) as web:
        url = web.mirrors[api.origin]
        model: ChatModel | AnthropicModel = (
            ChatModel(url, "m", timeout=10, sleep=lambda _: None, table=own)
            if request.param == "chat"
            else AnthropicModel("", "m", f"{url}/v1", 10, lambda _: None, own=True, table=own)
        )
        api.text = GOOD
        yield House(api, web, model, _chat_says if request.param == "chat" else _messages_says)
        model.close()


def test_a_server_is_asked_without_a_key_and_told_the_shape_in_words_too(house: House) -> None:
    made = house.model.propose(PROMPT)
    assert (made.value, made.model) == (Verdict(verdict="yes", score=7), "m")
    told = house.instructions()
    for part in (SECRET, "Is it?", "JSON Schema", "json_schema"):
        assert part in told
    again, other = house.model.propose(PROMPT), house.model.propose(replace(PROMPT, user="else"))
    assert made.prompt_hash == again.prompt_hash != other.prompt_hash


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"Here is my answer, {SECRET}:\n{GOOD}\nI hope that it helps.",
        f'<think>Or {{"verdict": "no", "score": 1}}?</think>{GOOD}',
        f"{GOOD}\n{GOOD}",
    ],
    ids=["fence", "prose", "thoughts", "twice the same"],
)
def test_what_stands_around_an_object_is_taken_off(house: House, text: str) -> None:
    house.api.next.append(house.says(text))
    assert house.model.propose(PROMPT).value == Verdict(verdict="yes", score=7)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD[:-6], "does not end"),
        (f"{GOOD} {GOOD[:9]}", "does not end"),
        (f"{GOOD} {GOOD.replace('yes', 'no')}", "different objects"),
        (GOOD.replace("7", "11"), "score"),
        (GOOD.replace("yes", SECRET), "verdict"),
        ('{"verdict": "yes", "verdict": "no", "score": 7}', "same name twice"),
        (f"I say yes, {SECRET}.", "no JSON object"),
        ("", "no JSON object"),
        (None, "no JSON object"),
        ('[["verdict", "yes"]]', "no JSON object"),
        ('{"a":' * 500 + "}" * 500, "recursion"),
    ],
)
def test_a_reply_of_another_shape_is_unusable_and_its_fault_can_be_told(
    house: House, text: str | None, fault: str
) -> None:
    found = house.fail(house.says(text))
    assert isinstance(found, ModelUnusable)
    assert fault in (found.fault or "")
    assert found.usage is not None
    assert len(house.web.requests) == 1
    house.model.propose(replace(PROMPT, correction="made-up fault"))
    assert "made-up fault" in house.instructions()


def test_a_reply_that_was_cut_off_is_unusable_though_it_parses_and_is_not_asked_for_again(
    house: House,
) -> None:
    found = house.fail(house.says(GOOD, "cut"))
    assert isinstance(found, ModelUnusable)
    assert found.fault is None


def test_a_server_that_does_not_say_how_it_ended_is_judged_by_its_object(house: House) -> None:
    house.api.next.append(house.says(GOOD, "unsaid"))
    assert house.model.propose(PROMPT).value.score == 7
    assert isinstance(house.fail(house.says(GOOD[:-4], "unsaid")), ModelUnusable)


def test_an_unsaid_usage_counts_as_the_most_that_it_can_be_and_costs_an_unknown_sum(
    house: House,
) -> None:
    for unsaid in (None, {}, {"prompt_tokens": -1}, {"input_tokens": "x"}):
        house.api.next.append(house.says(GOOD, usage=unsaid))
        assert house.model.propose(PROMPT).usage == Usage(PROMPT.most_input_tokens, 300)


def test_a_stated_price_makes_the_cost_known(house: House) -> None:
    used = house.model.propose(PROMPT).usage
    read = used.input_tokens + used.cache_read_tokens
    assert used.cost_usd == (read * 2 + used.output_tokens * 4) / Decimal(1_000_000)
    assert prices().with_own(Decimal(0), None) == prices()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_by_itself_is_unavailable_after_two_more_attempts(
    house: House, status: int
) -> None:
    house.web.fault = lambda _: chat_api.error(status, SECRET)
    assert isinstance(house.fail(), ModelUnavailable)
    assert len(house.web.requests) == 3


def test_a_long_retry_after_is_handed_to_the_caller(house: House) -> None:
    house.web.fault = lambda _: chat_api.error(503, SECRET, {"retry-after": "3600"})
    late = house.fail()
    assert isinstance(late, ModelUnavailable)
    assert (late.retry_after, late.maybe_billed, len(house.web.requests)) == (3600, False, 1)


@pytest.mark.parametrize("status", [401, 403, 404, 307])
def test_what_an_operator_must_mend_is_misconfigured(house: House, status: int) -> None:
    house.web.fault = lambda _: chat_api.error(status, SECRET, {"location": "/elsewhere"})
    assert isinstance(house.fail(), ModelMisconfigured)
    assert len(house.web.requests) == 1


def test_a_lost_answer_may_be_billed_and_silence_too(house: House) -> None:
    lost = house.fail(replace(house.says(GOOD), cut=30))
    assert isinstance(lost, ModelUnavailable)
    assert (lost.lost, lost.maybe_billed) == (True, True)
    release = threading.Event()

    def silent(_: object) -> Reply:
        release.wait(30)
        return DROPPED

    house.web.fault = silent
    house.model._seconds = 0.2
    try:
        late = house.fail()
    finally:
        release.set()
    assert isinstance(late, ModelUnavailable)
    assert (late.lost, late.maybe_billed) == (False, True)


@pytest.mark.parametrize(
    "body", [b"<p>Zebrafinch", b"{", b"[1]", b"null", b'{"choices": 5, "content": 5}', b"\xff"]
)
def test_what_is_no_answer_of_the_api_is_unusable(house: House, body: bytes) -> None:
    reply = Reply(200, body, {"Content-Type": "application/json"})
    assert isinstance(house.fail(reply), ModelUnusable)


def test_a_server_that_refuses_the_schema_is_asked_in_words_alone_from_then_on(
    house: House,
) -> None:
    def refuses(request: Any) -> Reply | None:
        schemed = b'"response_format"' in request.body or b'"output_config"' in request.body
        return chat_api.error(400, SECRET) if schemed else None

    house.web.fault = refuses
    assert house.model.propose(PROMPT).value.score == 7
    before = len(house.web.requests)
    house.model.propose(PROMPT)
    assert len(house.web.requests) == before + 1
    assert "JSON Schema" in house.instructions()


def test_a_request_that_no_form_of_is_accepted_is_unusable_and_costs_nothing(house: House) -> None:
    house.web.fault = lambda _: chat_api.error(400, SECRET)
    found = house.fail()
    assert isinstance(found, ModelUnusable)
    assert (found.usage, found.maybe_billed, found.fault) == (None, False, None)


def test_text_that_is_no_unicode_is_unusable_and_not_sent(house: House) -> None:
    with pytest.raises(ModelUnusable):
        house.model.propose(replace(PROMPT, user="\ud800"))
    assert house.web.requests == []


@pytest.fixture
def chat() -> Iterator[tuple[ChatApi, FakeWeb, ChatModel]]:
    api = ChatApi()
    api.text = GOOD
    with FakeWeb(api) as web:
        model = ChatModel(web.mirrors[api.origin], "m", timeout=10, sleep=lambda _: None)
        yield api, web, model
        model.close()


def test_the_schema_of_a_chat_is_strict_and_has_a_type_everywhere(
    chat: tuple[ChatApi, FakeWeb, ChatModel],
) -> None:
    api, _, model = chat
    model.propose(PROMPT)
    (asked,) = api.asked
    assert [one["role"] for one in asked["messages"]] == ["system", "user"]
    assert (asked["max_tokens"], asked["temperature"]) == (300, 0)
    wanted = asked["response_format"]["json_schema"]
    assert (wanted["strict"], wanted["schema"]["additionalProperties"]) == (True, False)
    assert wanted["schema"]["required"] == ["verdict", "score"]
    assert all("type" in one for one in wanted["schema"]["properties"].values())


def test_a_reasoning_model_is_asked_in_the_dialect_that_it_accepts(
    chat: tuple[ChatApi, FakeWeb, ChatModel],
) -> None:
    api, _, model = chat
    api.refused = {"max_tokens", "temperature"}
    model.propose(PROMPT)
    (asked,) = api.asked
    assert asked["max_completion_tokens"] == 300
    assert "response_format" in asked


def test_a_declined_chat_and_an_empty_account_have_their_kinds(
    chat: tuple[ChatApi, FakeWeb, ChatModel],
) -> None:
    api, web, model = chat
    declined = [{"finish_reason": "stop", "message": {"content": None, "refusal": SECRET}}]
    api.next.append(chat_api.completion("", choices=declined))
    with pytest.raises(ModelRefused):
        model.propose(PROMPT)
    api.next.append(chat_api.completion("", "content_filter"))
    with pytest.raises(ModelRefused):
        model.propose(PROMPT)
    before = len(web.requests)
    api.next.append(chat_api.error(429, SECRET, {}, "insufficient_quota"))
    with pytest.raises(ModelMisconfigured, match="spending"):
        model.propose(PROMPT)
    assert len(web.requests) == before + 1


def test_an_answer_without_end_is_given_up(chat: tuple[ChatApi, FakeWeb, ChatModel]) -> None:
    api, _, model = chat
    api.next.append(chat_api.completion("x" * MOST_BYTES))
    with pytest.raises(ModelUnusable) as caught:
        model.propose(PROMPT)
    assert caught.value.maybe_billed


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_an_address_may_end_as_people_write_it(path: str) -> None:
    api = ChatApi({"k-1"})
    api.text = GOOD
    with FakeWeb(api) as web:
        model = ChatModel(f"{web.mirrors[api.origin]}{path}", "m", "k-1")
        assert model.propose(PROMPT).value.score == 7
        model.close()


@pytest.mark.parametrize(
    "wrong", [{"url": "ftp://x"}, {"model": ""}, {"key": "a b"}, {"key": "\u00e9"}, {"timeout": 0}]
)
def test_values_that_cannot_work_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the model"):
        ChatModel(**({"url": "http://x", "model": "m"} | wrong))


def test_the_settings_choose_the_adapter_and_the_prices() -> None:
    own = {"model_url": "http://h", "model_name": "m", "model_input_usd": 0, "model_output_usd": 0}
    chat, messages = Settings(**own), Settings(**own, model_api="messages")
    for settings, kind in ((chat, ChatModel), (messages, AnthropicModel)):
        model = model_for(settings)
        assert isinstance(model, kind)
        assert table_of(settings).at_most("anything", 10**6, 10**6) == 0
        model.close()
    assert model_for(Settings()) is None
    assert table_of(Settings()) == prices()
