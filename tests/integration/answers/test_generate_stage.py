"""A question whose answer a language model drafts: real adapter, fake API, real PostgreSQL."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col, select

from store.core.settings import Settings
from store.models import Answer, AuditEvent, Draft, ModelUsage
from store.reports import model_usage
from tests.fakes.judging import careful
from tests.fakes.messages_api import MessagesApi, error, message, refusal
from tests.fakes.web import DROPPED, FakeWeb, Reply
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker
from workers.language_model.anthropic import AnthropicModel

KEY = "made-up-key-4711"
ENDPOINT = (
    "The primary endpoint of the ctDNA-guided trial was recurrence-free survival at 2 years in "
    "colon cancer."
)
NOTHING: dict[str, Any] = {
    "diseases": [],
    "decisions": [],
    "patient": None,
    "intervention": None,
    "comparison": None,
    "outcome": None,
}
Writer = Callable[[Mapping[str, Any]], str | Reply]


def answer(key: str, **other: Any) -> str:
    """An honest draft on the example record."""
    claim = {"heading": "CLINICAL TRIALS", "text": ENDPOINT, "evidence_id": key, "quote": ENDPOINT}
    return json.dumps({"verdict": "ANSWER", "claims": [claim], "missing": []} | other)


def honest(data: Mapping[str, Any]) -> str:
    return answer(data["evidence"][0]["key"])


def mends_nothing(data: Mapping[str, Any]) -> str:
    return json.dumps({"repaired": []})


@dataclass
class World:
    """A worker with a key, and the API in front of it."""

    worker: InlineWorker
    api: MessagesApi
    web: FakeWeb
    writer: Writer = honest
    mender: Writer = mends_nothing

    def __post_init__(self) -> None:
        self.api.writer = self._write

    def _write(self, body: Mapping[str, Any]) -> str | Reply:
        """Understanding adds nothing; drafts are the test's; a judge says that all is supported."""
        fields = body["output_config"]["format"]["schema"]["properties"]
        content = body["messages"][0]["content"]
        if "decisions" in fields:
            return json.dumps(NOTHING)
        if "claims" in fields:
            return self.writer(json.loads(content))
        if "repaired" in fields:
            return self.mender(json.loads(content))
        return careful(content)

    def ask(self, text: str = TRIAL_QUESTION) -> UUID:
        question_id = ask(self.worker.store, text)
        self.worker.run()
        return question_id

    def draft(self, question_id: UUID) -> dict[str, Any]:
        with self.worker.store.reading() as session:
            return session.get_one(Draft, question_id).body

    def drafts_asked(self) -> list[dict[str, Any]]:
        return [
            json.loads(body["messages"][0]["content"])
            for body in self.api.asked
            if "claims" in body["output_config"]["format"]["schema"]["properties"]
        ]

    def usage(self, question_id: UUID, purpose: str) -> list[ModelUsage]:
        with self.worker.store.reading() as session:
            return list(
                session.exec(
                    select(ModelUsage)
                    .where(ModelUsage.subject == str(question_id), ModelUsage.purpose == purpose)
                    .order_by(col(ModelUsage.id))
                )
            )

    def events(self, question_id: UUID) -> dict[str, dict[str, Any]]:
        with self.worker.store.reading() as session:
            rows = session.exec(select(AuditEvent).where(AuditEvent.subject == str(question_id)))
            return {row.event: row.payload for row in rows}

    def make_due(self) -> None:
        """Pauses and leases are over: what is not done is sent again."""
        with self.worker.store.unit_of_work("test") as unit:
            unit.session.execute(sa.text("UPDATE stage_run SET lease_until = now()"))
            unit.session.execute(
                sa.text(
                    "UPDATE outbox SET not_before = now(), status = 'pending' "
                    "WHERE status IN ('pending', 'published')"
                )
            )


Start = Callable[..., World]


@pytest.fixture
def start(settings: Settings, inline: InlineWorker) -> Iterator[Start]:
    """Starts a worker with a key, after the example record was ingested."""
    ingest(inline.store, TRIAL)
    inline.run()
    api, opened = MessagesApi({KEY}), []
    with FakeWeb(api) as web:

        def begin(**changed: Any) -> World:
            given = {
                "anthropic_api_key": KEY,
                "anthropic_url": web.mirrors[api.origin],
                "anthropic_seconds": 5,
            }
            own = settings.model_copy(update=given | changed)
            opened.append(InlineWorker(own, inline.store, sleep=lambda _: None))
            return World(opened[-1], api, web)

        yield begin
        for one in opened:
            one.close()
            if isinstance(one.context.language_model, AnthropicModel):
                one.context.language_model.close()


def test_a_draft_by_the_model_is_stored_with_what_made_it_and_its_cost(start: Start) -> None:
    world = start()
    question_id = world.ask()
    body = world.draft(question_id)
    assert (body["generator"], body["model"], body["form"]) == (
        "anthropic",
        "claude-sonnet-5-5",
        "trial",
    )
    assert [one["text"] for one in body["claims"]] == [ENDPOINT]
    assert "fallback" not in body
    understood, drafted = (world.usage(question_id, one) for one in ("understand", "generate"))
    assert [one.outcome for one in (*understood, *drafted)] == ["proposed", "proposed"]
    costs = [one.cost_usd for one in (*understood, *drafted) if one.cost_usd is not None]
    assert len(costs) == 2
    assert Decimal(body["cost_usd"]) == sum(costs)
    assert get_question(world.worker.store, question_id).status == "answered"


def test_only_passages_that_retrieval_found_are_sent_under_their_keys(start: Start) -> None:
    world = start()
    world.ask()
    (asked,) = world.drafts_asked()
    assert asked["question"] == TRIAL_QUESTION
    assert [one["key"] for one in asked["evidence"]] == ["E1"]
    for passage in asked["evidence"][0]["passages"]:
        assert passage in TRIAL["text"]


@pytest.mark.requirement("MC-2.1d")
def test_mc_2_1d_the_choice_of_the_prompt_is_logged(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    world = start()
    capsys.readouterr()
    world.ask()
    lines = [line for line in capsys.readouterr().out.splitlines() if "answer_form_chosen" in line]
    assert len(lines) == 1
    for told in ("form=trial", "query_type=clinical_trials", "by_model=True"):
        assert told in lines[0]


def test_a_claim_that_fell_is_worded_anew_by_its_drafter_and_shown_so(start: Start) -> None:
    def wrong(data: Mapping[str, Any]) -> str:
        key = data["evidence"][0]["key"]
        text = ENDPOINT.replace("2 years", "17 years")
        claim = {"heading": "CLINICAL TRIALS", "text": text, "evidence_id": key, "quote": ENDPOINT}
        return json.dumps({"verdict": "ANSWER", "claims": [claim], "missing": []})

    def mend(data: Mapping[str, Any]) -> str:
        (fallen,) = data["fallen"]
        assert "17" in " ".join(fallen["reasons"])
        claim = {"claim_id": fallen["claim_id"], "text": ENDPOINT, "quote": ENDPOINT}
        return json.dumps({"repaired": [claim]})

    world = start()
    world.writer, world.mender = wrong, mend
    question_id = world.ask()
    with world.worker.store.reading() as session:
        (claim,) = session.get_one(Answer, question_id).body["claims"]
    assert (claim["text"], claim["verdict"]) == (ENDPOINT, "supported")
    assert claim["repaired_from"]["findings"] == ["number"]
    assert "17 years" not in json.dumps(claim)
    assert len(world.usage(question_id, "repair")) == 1
    (verdict,) = world.events(question_id)["question.verified"]["verdicts"]
    assert verdict["repaired_from"]
    assert verdict["judged"]["replies"] == ["SUPPORTED"]


def test_a_model_that_abstains_leaves_a_draft_without_claims_and_an_abstention(
    start: Start,
) -> None:
    world = start()
    world.writer = lambda data: answer("E1", verdict="ABSTAIN_UNVERIFIED", claims=[])
    question_id = world.ask()
    body = world.draft(question_id)
    assert (body["abstained"], body["claims"], body["generator"]) == (True, [], "anthropic")
    with world.worker.store.reading() as session:
        assert session.get_one(Answer, question_id).body["abstained"]


def test_without_a_key_nothing_is_asked_and_the_draft_is_extractive_as_before(
    start: Start,
) -> None:
    world = start(anthropic_api_key="")
    body = world.draft(world.ask())
    assert (body["generator"], "fallback" in body) == ("extractive", False)
    assert body["claims"]
    assert world.web.requests == []


def test_without_evidence_no_draft_is_asked_for(start: Start) -> None:
    world = start()
    question_id = world.ask("Which dose of metformin is recommended in pregnancy?")
    assert world.draft(question_id)["claims"] == []
    assert world.drafts_asked() == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(refusal("bio"), "refused", id="refused"),
        pytest.param(message("{", "max_tokens"), "unusable", id="truncated"),
        pytest.param(message(answer("E99")), "unusable", id="invented evidence alone"),
        pytest.param(error(400, "invalid_request_error", "x"), "unusable", id="not accepted"),
        pytest.param(error(401, "authentication_error", "x"), "misconfigured", id="wrong key"),
        pytest.param(
            error(429, "rate_limit_error", "x", {"retry-after": "9"}, "organization_on_hold"),
            "misconfigured",
            id="spending limit",
        ),
        pytest.param(
            error(429, "rate_limit_error", "x", {"retry-after": "86400"}),
            "unavailable",
            id="come back in a day",
        ),
    ],
)
def test_where_the_model_gives_no_draft_the_answer_is_extractive_at_once_and_says_why(
    start: Start, reply: Reply, reason: str
) -> None:
    world = start()
    world.writer = lambda data: reply
    question_id = world.ask()
    body = world.draft(question_id)
    assert (body["generator"], body["fallback"]["reason"]) == ("extractive", reason)
    assert body["fallback"]["note"].endswith("made of sentences of the sources.")
    assert body["claims"]
    assert "model" not in body
    assert body["consulted"]["model"] == "claude-sonnet-5-5"
    assert len(world.usage(question_id, "generate")) == 1
    assert get_question(world.worker.store, question_id).status == "answered"
    events = world.events(question_id)
    assert events["question.drafted"]["fallback"] == reason
    told = events.get("language_model.misconfigured")
    assert (told is not None) == (reason == "misconfigured")
    if told:
        assert told["cause"].startswith("The language model")


def test_a_spent_budget_of_the_question_is_an_extractive_answer_that_says_so(
    start: Start,
) -> None:
    world = start(question_budget_usd=Decimal("0.0001"))
    question_id = world.ask()
    body = world.draft(question_id)
    assert body["fallback"]["reason"] == "budget_spent"
    assert body["cost_usd"] == "0"
    assert world.web.requests == []
    assert "question" in world.events(question_id)["language_model.budget_spent"]["cause"]


def test_a_spent_budget_of_the_day_stops_the_next_question_and_not_its_answer(
    start: Start,
) -> None:
    with_money = start()
    paid = with_money.ask()
    assert with_money.draft(paid)["generator"] == "anthropic"
    world = start(day_budget_usd=Decimal(with_money.draft(paid)["cost_usd"]))
    question_id = world.ask()
    assert world.draft(question_id)["fallback"]["reason"] == "budget_spent"
    assert get_question(world.worker.store, question_id).status == "answered"


def test_an_overloaded_model_is_asked_again_later_and_its_draft_counts(start: Start) -> None:
    world = start()
    replies = [error(529, "overloaded_error", "x", {"retry-after": "20"})]
    world.writer = lambda data: replies.pop() if replies else honest(data)
    question_id = world.ask()
    assert get_question(world.worker.store, question_id).status == "running"
    world.make_due()
    world.worker.run()
    assert world.draft(question_id)["generator"] == "anthropic"
    assert [one.outcome for one in world.usage(question_id, "generate")] == [
        "unavailable",
        "proposed",
    ]


def test_a_model_that_stays_away_is_given_up_after_a_few_tries_that_cost_no_attempt(
    start: Start,
) -> None:
    world = start()
    world.writer = lambda data: error(529, "overloaded_error", "x", {"retry-after": "20"})
    question_id = world.ask()
    for _ in range(2):
        assert get_question(world.worker.store, question_id).status == "running"
        world.make_due()
        world.worker.run()
    body = world.draft(question_id)
    assert (body["generator"], body["fallback"]["reason"]) == ("extractive", "unavailable")
    assert len(world.usage(question_id, "generate")) == 3
    assert get_question(world.worker.store, question_id).status == "answered"


def test_a_model_that_stays_silent_is_given_up_and_each_silence_counts_at_its_most(
    start: Start,
) -> None:
    world, release = start(anthropic_seconds=0.3), threading.Event()

    def silent(data: Mapping[str, Any]) -> Reply:
        release.wait(30)
        return DROPPED

    world.writer = silent
    try:
        question_id = world.ask()
        for _ in range(2):
            world.make_due()
            world.worker.run()
    finally:
        release.set()
    body = world.draft(question_id)
    assert (body["fallback"]["reason"], body["cost_usd"]) == ("unavailable", None)
    silences = world.usage(question_id, "generate")
    assert [(one.outcome, one.cost_usd) for one in silences] == [("unavailable", None)] * 3
    assert all(one.input_tokens > 1000 for one in silences)


def test_answers_that_got_lost_make_the_cost_unknown_and_never_zero(start: Start) -> None:
    world = start()
    replies = [DROPPED]
    world.web.fault = lambda request: (
        replies.pop() if replies and b'"missing"' in request.body else None
    )
    question_id = world.ask()
    body = world.draft(question_id)
    assert (body["generator"], body["cost_usd"]) == ("anthropic", None)
    lost, drafted = world.usage(question_id, "generate")
    assert (lost.outcome, lost.cost_usd) == ("unavailable", None)
    assert lost.output_tokens > drafted.output_tokens > 0


def test_a_worker_that_dies_between_the_call_and_the_commit_counts_each_call_once(
    start: Start,
) -> None:
    """Both calls were paid for and both are counted; only one draft is stored."""
    world = start()
    died: list[bool] = []

    def dies_once(data: Mapping[str, Any]) -> str:
        if not died:
            died.append(True)
            # As if the process had been stopped for longer than its lease: another one took over.
            with world.worker.store.unit_of_work("test") as unit:
                unit.session.execute(
                    sa.text("UPDATE stage_run SET token = token + 1 WHERE stage = 'generate'")
                )
        return honest(data)

    world.writer = dies_once
    question_id = world.ask()
    assert [one.outcome for one in world.usage(question_id, "generate")] == ["proposed"]
    with world.worker.store.reading() as session:
        assert session.get(Draft, question_id) is None
    world.make_due()
    world.worker.run()
    rows = world.usage(question_id, "generate")
    assert [one.outcome for one in rows] == ["proposed", "proposed"]
    with world.worker.store.reading() as session:
        cost = model_usage.cost_of(session, str(question_id))
    assert cost is not None
    assert Decimal(world.draft(question_id)["cost_usd"]) <= cost
    assert get_question(world.worker.store, question_id).status == "answered"


def test_reranking_is_paid_from_the_same_budget(start: Start) -> None:
    world = start(rerank=True)
    ingest(world.worker.store, TRIAL | {"source_key": "test-other", "title": "Another record"})
    world.worker.run()
    plain = world.api.writer

    def write(body: Mapping[str, Any]) -> str | Reply | None:
        fields = body["output_config"]["format"]["schema"]["properties"]
        return json.dumps({"order": ["C2", "C1"]}) if "order" in fields else plain(body)

    world.api.writer = write
    question_id = world.ask()
    assert [one.outcome for one in world.usage(question_id, "rerank")] == ["proposed"]
    with world.worker.store.reading() as session:
        cost = model_usage.cost_of(session, str(question_id))
    assert cost is not None
    assert cost >= Decimal(world.draft(question_id)["cost_usd"])
