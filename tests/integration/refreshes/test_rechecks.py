"""A new gate: what an earlier one let through is found, told and recalled; replies are not asked
for again.

The earlier gate of these tests knew no hard fact, no doubt and no verifier: its language model
alone decided. The model is the real adapter over a fake API.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import select

from cli.commands.audit import replay as audit_replay
from store.audit import audit
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import Answer, AnswerQuality, AnswerRecall, Recheck, RecheckAnswer
from store.recalls import log, rechecks
from store.recalls.rechecks import AnotherRuns
from tests.fakes.judging import careful
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker
from workers.language_model.anthropic import AnthropicModel
from workers.runtime.stage import handle
from workers.verify import checking, recheck_stage, stage
from workers.verify.passages.locating import locate

KEY = "made-up-key-4711"
ENDPOINT = (
    "The primary endpoint of the ctDNA-guided trial was recurrence-free survival at 2 years in "
    "colon cancer."
)
SHARES = (
    "In stage II colon cancer, adjuvant chemotherapy was given to 15% of the ctDNA-guided patients "
    "and to 28% of the others."
)
TRUE = ("Recurrence-free survival at 2 years was the primary endpoint in colon cancer.", ENDPOINT)
WRONG = ("Recurrence-free survival at 17 years was what they looked at first of all.", ENDPOINT)
"""A figure that the document does not have: today a hard fact."""
DOUBTED = ("Chemotherapy went to 15% of those whose treatment ctDNA did not guide.", SHARES)
"""Exchanged arms: today a doubt."""


NOTHING: dict[str, Any] = {
    "diseases": [],
    "decisions": [],
    **dict.fromkeys(("patient", "intervention", "comparison", "outcome", "condition")),
}


@dataclass
class World:
    """A worker with a language model that drafts `claims` and supports what is in `believes`."""

    worker: InlineWorker
    api: MessagesApi
    claims: list[tuple[str, str]] = field(default_factory=list)
    denies: set[str] = field(default_factory=set)

    def says(self, body: Mapping[str, Any]) -> str:
        properties = body["output_config"]["format"]["schema"]["properties"]
        if "decisions" in properties:
            return json.dumps(NOTHING)
        data = json.loads(body["messages"][0]["content"])
        if "verdicts" in properties:
            told = json.loads(careful(data))["verdicts"]
            texts = {one["claim_id"]: one["claim"] for one in data["claims"]}
            ours = {text for text, _ in self.claims}
            for verdict in told:
                if texts[verdict["claim_id"]] in ours:
                    held = texts[verdict["claim_id"]] not in self.denies
                    verdict["verdict"] = "SUPPORTED" if held else "UNSUPPORTED"
            return json.dumps({"verdicts": told})
        if "claims" in properties:
            key = data["evidence"][0]["key"]
            claims = [
                {"heading": "CLINICAL TRIALS", "text": text, "evidence_id": key, "quote": quote}
                for text, quote in self.claims
            ]
            return json.dumps({"verdict": "ANSWER", "claims": claims, "missing": []})
        return "{}"

    def answered(self, *claims: tuple[str, str]) -> UUID:
        """Ask; gives the id of the question, whose answer shows these claims."""
        self.claims = list(claims)
        question_id = ask(self.worker.store, TRIAL_QUESTION)
        self.worker.run()
        shown = {one["text"] for one in body(self.worker.store, question_id)["claims"]}
        assert {text for text, _ in claims} <= shown
        return question_id

    def recheck(self, *, dry_run: bool = False, **options: bool) -> rechecks.Progress:
        """A run to its end, and what comes of it."""
        with self.worker.store.unit_of_work("test") as work:
            run = rechecks.start(work, dry_run=dry_run, **options)
        self.worker.run()
        with self.worker.store.reading() as session:
            return rechecks.progress(session, session.get_one(Recheck, run.id))

    def asked(self) -> int:
        return len(self.api.asked)


def body(store: Store, question_id: UUID) -> dict[str, Any]:
    with store.reading() as session:
        return dict(session.get_one(Answer, question_id).body)


def changes(store: Store, run: Recheck) -> list[RecheckAnswer]:
    with store.reading() as session:
        return rechecks.whole(session, run.id)


def recall(store: Store, question_id: UUID) -> AnswerRecall | None:
    with store.reading() as session:
        return session.get(AnswerRecall, question_id)


def is_whole(store: Store) -> bool:
    with store.reading() as session:
        return audit.verify(session).whole


@pytest.fixture
def world(settings: Settings, inline: InlineWorker) -> Iterator[World]:
    ingest(inline.store, TRIAL)
    inline.run()
    api = MessagesApi({KEY})
    with FakeWeb(api) as web:
        given = {"anthropic_api_key": KEY, "anthropic_url": web.mirrors[api.origin]}
        worker = InlineWorker(settings.model_copy(update=given), inline.store)
        made = World(worker, api)
        api.writer = made.says
        yield made
        worker.close()
        if isinstance(worker.context.language_model, AnthropicModel):
            worker.context.language_model.close()


@contextmanager
def earlier_gate(name: str = "earlier") -> Iterator[None]:
    """What is answered inside went through a gate without facts, doubts and verifier."""
    with pytest.MonkeyPatch.context() as patch:
        blind = {"facts": lambda *_: (), "doubting": lambda *_: ()}
        patch.setattr(checking, "locate", partial(locate, **blind))
        patch.setattr(checking, "read", lambda located, *_: list(located))
        patch.setattr(stage, "gate_version", lambda: name)
        yield


def test_a_claim_that_a_hard_fact_vetoes_today_is_found_told_and_recalled(world: World) -> None:
    store = world.worker.store
    with earlier_gate():
        wrong, right = world.answered(WRONG), world.answered((ENDPOINT, ENDPOINT))
    sealed, events = body(store, wrong), _events(store)
    dry = world.recheck(dry_run=True)
    assert dry.outcomes == {"stands": 1, "falls": 1, "needs_judge": 0, "unreadable": 0}
    assert dry.run.answers == 2
    assert (dry.checks, dry.claims) == ({"number": 1}, 1)
    (told,) = changes(store, dry.run)
    assert (told.question_id, told.outcome, told.gate_before) == (wrong, "falls", "earlier")
    assert told.findings == [
        {
            "claim_id": "c1",
            "finding": "gate",
            "before": "supported",
            "after": "unsupported",
            "checks": ["number"],
        }
    ]
    assert recall(store, wrong) is None, "a dry run recalls nothing"
    assert _events(store) - events == {"recheck.started", "recheck.ended"}

    real = world.recheck()
    assert real.outcomes == dry.outcomes
    row = recall(store, wrong)
    assert row is not None
    assert (row.state, row.because[0]["change"]) == ("superseded", "gate")
    assert row.because[0]["gate"] == real.run.gate
    assert [one["checks"] for one in row.findings] == [["number"]]
    assert row.superseded_by is not None
    assert get_question(store, row.superseded_by).status == "answered"
    assert "17 years" not in str(body(store, row.superseded_by)["claims"])
    assert recall(store, right) is None
    assert body(store, wrong) == sealed, "what was attested never changes"
    with store.reading() as session:
        owner = log.feed(session, owner=get_question(store, wrong).owner).changes
    assert [one.state for one in owner if one.question_id == wrong] == ["affected", "superseded"]
    assert {"answer.rechecked", "answer.affected", "answer.superseded"} <= _events(store)
    assert is_whole(store)


def test_a_second_run_looks_at_nothing_that_is_settled_unless_it_is_asked_to(world: World) -> None:
    with earlier_gate():
        world.answered(WRONG)
        world.answered((ENDPOINT, ENDPOINT))
    today = world.answered((ENDPOINT, ENDPOINT))
    assert world.recheck().done == 2
    again = world.recheck()
    assert (again.done, again.run.answers, again.run.status) == (0, 0, "done")
    everything = world.recheck(everything=True)
    assert everything.outcomes["stands"] == 3, "the superseded one is history, its successor counts"
    with world.worker.store.reading() as session:
        seen = session.exec(
            select(RecheckAnswer.question_id).where(RecheckAnswer.recheck_id == everything.run.id)
        )
        assert today in set(seen)


def test_what_the_record_does_not_answer_needs_a_judge_who_is_asked_only_if_told_to(
    world: World,
) -> None:
    store = world.worker.store
    with earlier_gate():
        question_id = world.answered(DOUBTED)
    asked = world.asked()
    found = world.recheck()
    assert found.outcomes["needs_judge"] == 1, changes(store, found.run)
    assert all(check.startswith("doubt ") for check in found.checks)
    assert world.asked() == asked, "nobody was asked"
    assert recall(store, question_id) is None
    world.denies = {DOUBTED[0]}
    found = world.recheck(ask=True)
    assert world.asked() > asked
    assert found.outcomes["falls"] == 1
    row = recall(store, question_id)
    assert row is not None
    assert row.state == "superseded"
    assert is_whole(store)


def test_a_judge_who_settles_what_was_open_lets_the_answer_stand(world: World) -> None:
    with earlier_gate():
        question_id = world.answered(DOUBTED)
    assert world.recheck(ask=True).outcomes["stands"] == 1
    assert recall(world.worker.store, question_id) is None
    assert world.recheck().done == 0


def test_what_the_record_answers_is_not_asked_again(world: World) -> None:
    question_id = world.answered(TRUE)
    asked = world.asked()
    assert world.recheck(everything=True, ask=True).outcomes["stands"] == 1
    assert world.asked() == asked
    with world.worker.store.reading() as session:
        assert session.get_one(AnswerQuality, question_id).own_words == 1


def test_an_answer_that_cannot_be_read_is_told_and_holds_up_no_other(world: World) -> None:
    with earlier_gate():
        first, second = world.answered(WRONG), world.answered(WRONG)
    with world.worker.store.unit_of_work("test") as work:
        work.session.execute(sa.text("SET LOCAL session_replication_role = replica"))
        work.session.execute(  # no sealed answer is ever changed otherwise: a trigger keeps it
            sa.text("UPDATE answer SET body = body - 'provenance' WHERE question_id = :id"),
            {"id": first},
        )
    found = world.recheck()
    assert (found.outcomes["unreadable"], found.outcomes["falls"]) == (1, 1)
    assert recall(world.worker.store, first) is None
    assert recall(world.worker.store, second) is not None


def test_steps_go_through_all_answers_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = recheck_stage.recall_policy().model_copy(update={"recheck_answers": 2})
    monkeypatch.setattr(recheck_stage, "recall_policy", lambda: policy)
    with earlier_gate():
        ids = {world.answered((ENDPOINT, ENDPOINT)) for _ in range(5)}
    found = world.recheck()
    assert (found.outcomes["stands"], found.run.answers) == (5, 5)
    with world.worker.store.reading() as session:
        seen = session.exec(select(RecheckAnswer.question_id))
        assert set(seen) == ids
        steps = sa.text("SELECT count(*) FROM stage_run WHERE stage = 'recheck'")
        assert session.execute(steps).scalar_one() == 3


def test_one_run_at_a_time_is_found_again_and_others_are_refused(store: Store) -> None:
    with store.unit_of_work("test") as work:
        first = rechecks.start(work, dry_run=True).id
    with store.unit_of_work("test") as work:
        assert rechecks.start(work, dry_run=True).id == first
    with (
        pytest.raises(AnotherRuns, match="a dry run is under way"),
        store.unit_of_work("test") as work,
    ):
        rechecks.start(work, dry_run=False)


def test_a_run_whose_message_lost_its_id_ends_and_another_may_begin(inline: InlineWorker) -> None:
    lost = {"schema": "recheck.v1"}
    with inline.store.unit_of_work("test") as work:
        run = rechecks.start(work, dry_run=True)
    with inline.store.unit_of_work("test") as work:
        promise = work.session.execute(
            sa.text("UPDATE outbox SET payload = CAST(:lost AS jsonb) RETURNING id"),
            {"lost": json.dumps(lost)},
        ).scalar_one()
    handle(inline.context, recheck_stage.SPEC, lost, promise)
    with inline.store.reading() as session:
        ended = session.get_one(Recheck, run.id)
    assert ended.status == "failed"
    assert "recheck.v1" in str(ended.error)
    with inline.store.unit_of_work("test") as work:
        assert rechecks.start(work, dry_run=False).id != run.id


def test_a_worker_of_another_release_ends_the_run_and_says_what_to_do(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = world.worker.store
    with store.unit_of_work("test") as work:
        run = rechecks.start(work, dry_run=False)
        work.session.flush()
        work.session.execute(sa.text("UPDATE recheck SET gate = 'another', answers = 1"))
    world.worker.run()
    with store.reading() as session:
        ended = session.get_one(Recheck, run.id)
    assert (ended.status, ended.gate) == ("failed", "another")
    assert "start it again" in str(ended.error)
    assert world.recheck().run.status == "done"


def test_a_replay_reads_the_record_and_a_recomputation_tells_what_differs(world: World) -> None:
    store = world.worker.store
    with earlier_gate():
        question_id = world.answered(WRONG)
    with store.reading() as session:
        rows = audit_replay.read(session, question_id)
    replayed = audit_replay.replay(rows)
    assert (replayed.same, replayed.differences) == (True, [])
    first, *rest = audit_replay.recompute(rows)
    assert first.startswith("the gate was earlier then, it is ")
    assert "claim c1: supported then, unsupported under the gate of today, by number" in rest


def test_a_recomputation_by_the_same_gate_differs_in_nothing(world: World) -> None:
    question_id = world.answered(TRUE)
    with world.worker.store.reading() as session:
        rows = audit_replay.read(session, question_id)
    assert audit_replay.recompute(rows) == []
    assert audit_replay.replay(rows).differences == []


def _events(store: Store) -> set[str]:
    with store.reading() as session:
        return set(session.execute(sa.text("SELECT DISTINCT event FROM audit_event")).scalars())
