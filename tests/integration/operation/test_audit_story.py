"""An answer can be audited: what each event keeps, the trail, and the same bytes again.

The language model is the real adapter over a fake API; the question goes through all stages.
"""

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from cli.commands.audit import replay as audit_replay
from cli.commands.audit.replay import CannotReplay, Replay
from knowledge.version import knowledge_version
from messages import Stage
from store.audit import log, trail
from store.core.hashes import json_hash, keyed, text_hash
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import Draft
from store.operations import erasure
from tests.fakes.judging import careful
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb
from tests.integration.clinical import guesses
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker
from workers.language_model.anthropic import AnthropicModel

KEY = "made-up-key-4711"
QUOTE = (
    "The primary endpoint of the ctDNA-guided trial was recurrence-free survival at 2 years in "
    "colon cancer."
)
REWORDED = "Recurrence-free survival at 2 years was the primary endpoint in colon cancer."
ENROLLED = "It enrolled 455 patients in 23 centres."
WRONG = "It enrolled 544 patients in 23 centres."
PATIENT = "Quxelda Vorbengrim"
"""No such name; a question with it gets a wrong claim too, which is hedged."""
NOTHING: dict[str, Any] = {
    "diseases": [],
    "decisions": [],
    **dict.fromkeys(("patient", "intervention", "comparison", "outcome", "condition")),
}


REPLIES: list[str] = []
"""What the fake judge has replied."""


def said(body: Mapping[str, Any]) -> str:
    """What the fake model says: nothing new, a reworded claim, and that claims are supported."""
    properties = body["output_config"]["format"]["schema"]["properties"]
    content = body["messages"][0]["content"]
    if "decisions" in properties:
        return json.dumps({key: NOTHING.get(key) for key in properties})
    data = json.loads(content)
    if "claims" in properties:
        key = data["evidence"][0]["key"]
        claim = {"heading": "CLINICAL TRIALS", "evidence_id": key, "quote": QUOTE}
        claims = [claim | {"text": text} for text in (REWORDED, QUOTE)]
        if PATIENT in content:
            claims.append(claim | {"quote": ENROLLED, "text": WRONG})
        return json.dumps({"verdict": "ANSWER", "claims": claims, "missing": []})
    REPLIES.append(careful(data))
    return REPLIES[-1]


@pytest.fixture
def modelled(settings: Settings, inline: InlineWorker) -> Iterator[InlineWorker]:
    """A worker with a language model, and the example record held."""
    ingest(inline.store, TRIAL)
    inline.run()
    api = MessagesApi({KEY})
    api.writer = said
    with FakeWeb(api) as web:
        given = {"anthropic_api_key": KEY, "anthropic_url": web.mirrors[api.origin]}
        worker = InlineWorker(settings.model_copy(update=given), inline.store)
        yield worker
        worker.close()
        if isinstance(worker.context.language_model, AnthropicModel):
            worker.context.language_model.close()


@pytest.fixture
def ruled(inline: InlineWorker) -> InlineWorker:
    """A worker without one."""
    ingest(inline.store, TRIAL)
    inline.run()
    return inline


def answered(worker: InlineWorker, text: str = TRIAL_QUESTION, **options: Any) -> UUID:
    """A question, answered."""
    question_id = ask(worker.store, text, **options)
    worker.run()
    return question_id


def events(store: Store, question_id: UUID) -> dict[str, dict[str, Any]]:
    """The payloads of a question's events."""
    with store.reading() as session:
        page = log.query(session, subject=str(question_id), limit=1000)
        return {one.event: one.payload for one in page.rows}


def replay(store: Store, question_id: UUID) -> Replay:
    """Compose the answer again, from the rows alone."""
    with store.reading() as session:
        rows = audit_replay.read(session, question_id)
    return audit_replay.replay(rows)


def change(store: Store, statement: str, **values: Any) -> None:
    """Somebody who may switch triggers off changes a row."""
    with store.engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL session_replication_role = replica"))
        connection.execute(sa.text(statement), values)


def requests_to_models(store: Store) -> int:
    """How often a model was asked, ever."""
    with store.reading() as session:
        return int(session.execute(sa.text("SELECT count(*) FROM model_usage")).scalar_one())


@pytest.mark.requirement("DC-6")
def test_each_event_of_an_answer_keeps_hashes_versions_and_verdicts(modelled: InlineWorker) -> None:
    question_id = answered(modelled)
    found = events(modelled.store, question_id)
    assert list(found) == [
        "answer.sealed",
        "question.verified",
        "question.drafted",
        "question.retrieved",
        "question.submitted",
    ]
    key = get_question(modelled.store, question_id).hash_key
    assert found["question.submitted"]["text_hash"] == text_hash(TRIAL_QUESTION, key)
    for event, purpose in (("question.retrieved", "understand"), ("question.drafted", "draft")):
        (asked,) = found[event]["asked"]
        assert (asked["purpose"], asked["model"]) == (purpose, "claude-sonnet-5-5")
        assert asked["prompt_version"]
        assert len(asked["prompt_hash"]) == len(asked["output_hash"]) == 64
    judged = found["question.verified"]["judged"]
    assert len(judged["prompt_hashes"][0]) == len(judged["output_hashes"][0]) == 64
    verdicts = {one["claim_id"]: one["basis"] for one in found["question.verified"]["verdicts"]}
    assert verdicts == {"c1": "model", "c2": "model"}
    sealed = found["answer.sealed"]
    assert sealed["knowledge_version"] == knowledge_version()
    assert sealed["code_version"] == version("attest")
    (evidence,) = sealed["evidence"]
    assert evidence["version_id"] in found["question.retrieved"]["version_ids"]
    assert len(evidence["content_hash"]) == 64


def test_without_a_model_the_events_say_that_none_was_asked(ruled: InlineWorker) -> None:
    found = events(ruled.store, answered(ruled))
    assert found["question.retrieved"]["asked"] == found["question.drafted"]["asked"] == []


@pytest.mark.requirement("DC-6")
def test_the_trail_tells_the_story_of_an_answer_in_order(modelled: InlineWorker) -> None:
    question_id = answered(modelled)
    with modelled.store.reading() as session:
        found = trail.trail(session, question_id)
    assert found is not None
    assert [step.event for step in found.steps] == [
        "question.submitted",
        "question.retrieved",
        "question.drafted",
        "question.verified",
        "answer.sealed",
    ]
    assert [step.seq for step in found.steps] == sorted(step.seq for step in found.steps)
    assert found.steps[0].seconds == 0.0
    words = [step.words for step in found.steps]
    assert words[1].startswith("1 version became evidence")
    assert words[2].startswith("2 claims drafted (anthropic")
    assert words[3].startswith("2 claims checked: 2 supported; 2 may be shown.")
    assert words[4].startswith("The answer was sealed: 2 claims, 2 citations")
    assert [(one.version, one.cited, one.status) for one in found.sources] == [(1, True, "current")]
    assert found.answer is not None
    assert found.answer.provenance["knowledge_version"] == knowledge_version()
    assert found.answer.hash == found.steps[-1].payload["answer_hash"]


def test_the_trail_has_no_words_of_question_document_or_claim(modelled: InlineWorker) -> None:
    question_id = answered(modelled, patient_context="62-year-old zebrafishoma patient")
    with modelled.store.reading() as session:
        told = str(trail.trail(session, question_id))
    for words in ("zebrafishoma", "primary endpoint", "recurrence-free", TRIAL["title"]):
        assert words.lower() not in told.lower()


def test_the_trail_of_an_abstention_names_its_reason_and_the_refreshes_that_could_cure_it(
    inline: InlineWorker,
) -> None:
    question_id = answered(inline)
    with inline.store.reading() as session:
        found = trail.trail(session, question_id)
    assert found is not None
    sealed = next(step for step in found.steps if step.event == "answer.sealed")
    assert sealed.words == "The abstention was sealed: no_evidence."
    verified = next(step for step in found.steps if step.event == "question.verified")
    asked_for = [step.subject for step in found.steps if step.event == "refresh.requested"]
    assert set(asked_for) <= set(verified.payload["cure_refreshes"])


def test_there_is_no_trail_of_a_question_that_is_not_there(store: Store) -> None:
    with store.reading() as session:
        assert trail.trail(session, uuid4()) is None


@pytest.mark.requirement("DC-6")
@pytest.mark.parametrize("world", ["modelled", "ruled", "inline"])
def test_replaying_an_answer_reproduces_the_same_bytes_without_a_model(
    world: str, request: pytest.FixtureRequest
) -> None:
    worker: InlineWorker = request.getfixturevalue(world)
    question_id = answered(worker)
    before = requests_to_models(worker.store)
    found = replay(worker.store, question_id)
    assert (found.same, found.faults) == (True, [])
    assert found.replayed_hash == found.sealed_hash
    assert requests_to_models(worker.store) == before


def test_an_answer_replays_the_same_after_its_evidence_was_replaced(ruled: InlineWorker) -> None:
    question_id = answered(ruled)
    ingest(ruled.store, {**TRIAL, "text": f"{TRIAL['text']}\n\nAmended since.\n"})
    ruled.run()
    with ruled.store.reading() as session:
        found = trail.trail(session, question_id)
    assert found is not None
    assert [one.status for one in found.sources] == ["superseded"]
    assert replay(ruled.store, question_id).same


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            "UPDATE question SET text = text || ' ' WHERE id = :id",
            "the question is not what question.submitted attests",
        ),
        (
            'UPDATE retrieval SET body = body || \'{"query_type": "drug"}\' '
            "WHERE question_id = :id",
            "the retrieval is not what question.retrieved attests",
        ),
        (
            'UPDATE draft SET body = body || \'{"generator": "other"}\' WHERE question_id = :id',
            "the draft is not what question.drafted attests",
        ),
        (
            "UPDATE answer_inputs SET body = jsonb_set(body, '{checked,0,verdict}', "
            "'\"unsupported\"') WHERE question_id = :id",
            "what it was composed from is not what question.verified attests",
        ),
        (
            'UPDATE answer SET body = body || \'{"cure": "x"}\' WHERE question_id = :id',
            "the answer is not what answer.sealed attests",
        ),
    ],
)
def test_a_changed_row_is_named_by_the_replay(
    ruled: InlineWorker, statement: str, fault: str
) -> None:
    question_id = answered(ruled)
    change(ruled.store, statement, id=question_id)
    found = replay(ruled.store, question_id)
    assert not found.same
    assert found.faults[0] == fault


def test_a_changed_version_composes_other_bytes(ruled: InlineWorker) -> None:
    question_id = answered(ruled)
    change(ruled.store, "UPDATE document_version SET text = reverse(text)")
    found = replay(ruled.store, question_id)
    assert (found.same, found.replayed_hash == found.sealed_hash) == (False, False)


def test_an_answer_of_other_policies_says_which_release_replays_it(ruled: InlineWorker) -> None:
    question_id = answered(ruled)
    change(
        ruled.store,
        "UPDATE answer SET hash = 'x', body = jsonb_set(body, '{provenance,knowledge_version}', "
        "'\"0123456789ab\"') WHERE question_id = :id",
        id=question_id,
    )
    assert "made under the policies 0123456789ab" in replay(ruled.store, question_id).faults[-1]


def test_what_was_not_recorded_cannot_be_replayed_and_says_so(ruled: InlineWorker) -> None:
    with pytest.raises(CannotReplay, match="no sealed answer"):
        replay(ruled.store, ask(ruled.store, TRIAL_QUESTION))
    question_id = answered(ruled)
    change(ruled.store, "DELETE FROM answer_inputs")
    with pytest.raises(CannotReplay, match="is not kept"):
        replay(ruled.store, question_id)


@pytest.mark.requirement("OP-6.2")
@pytest.mark.parametrize("world", ["modelled", "ruled"])
def test_op_6_2_what_stays_of_an_erased_answer_fits_no_guess_of_its_question(
    world: str, request: pytest.FixtureRequest
) -> None:
    """Whoever guesses the words, and runs them through the same release, holds the hashes of all
    that came of them against what is kept, and learns nothing."""
    worker: InlineWorker = request.getfixturevalue(world)
    text = f"{TRIAL_QUESTION} It is for {PATIENT}."
    theirs, guess = answered(worker, text), answered(worker, text)
    found = guesses.guessable(worker.store, "question", theirs, guess)
    with worker.store.reading() as session:
        drafts = [session.get_one(Draft, one).body for one in (theirs, guess)]
    if world == "ruled":  # what a model costs differs by what it has cached
        assert json_hash(drafts[0]) == json_hash(drafts[1])  # a guess does give the same
    else:
        assert {drafts[0]["prompt_hash"], drafts[0]["output_hash"], text_hash(WRONG)} <= found
        verified = events(worker.store, theirs)["question.verified"]
        rewritten = [one["rewritten_from"] is not None for one in verified["verdicts"]]
        assert rewritten == [False, False, True]
        judged = set(map(text_hash, REPLIES))  # stand in no row
        key = get_question(worker.store, theirs).hash_key
        told = verified["judged"]["output_hashes"]
        assert told
        assert {*told} <= {keyed(one, key) for one in judged}
        found |= judged
    with worker.store.unit_of_work("test") as work:
        for one in (theirs, guess):
            erasure.erase(work, "question", one, "requested")
    kept = guesses.held(worker.store)
    assert {kept[one] for one in found & kept.keys()} == set()


def plainly(worker: InlineWorker, until: Stage) -> UUID:
    """A question whose stages up to `until` hash as they did before, without the key."""
    question_id = ask(worker.store, TRIAL_QUESTION)
    key = get_question(worker.store, question_id).hash_key
    set_key = "UPDATE question SET hash_key = :key WHERE id = :id"
    change(worker.store, set_key, key=None, id=question_id)

    def after(stage: Stage) -> None:
        if stage is until:
            change(worker.store, set_key, key=key, id=question_id)

    worker.run(after)
    assert get_question(worker.store, question_id).hash_key == key
    return question_id


@pytest.mark.parametrize("last", [Stage.RETRIEVE, Stage.GENERATE, Stage.VERIFY, Stage.AUDIT])
def test_a_question_that_was_under_way_when_its_hashes_became_keyed_is_answered_and_replays(
    ruled: InlineWorker, last: Stage
) -> None:
    question_id = plainly(ruled, last)
    assert get_question(ruled.store, question_id).status == "answered"
    with ruled.store.reading() as session:
        rows = audit_replay.read(session, question_id)
    retrieved, sealed = (rows.attested[one] for one in ("question.retrieved", "answer.sealed"))
    assert retrieved["retrieval_hash"] == json_hash(rows.retrieval.body)
    plain = last in (Stage.VERIFY, Stage.AUDIT)
    assert (sealed["answer_hash"] == json_hash(rows.answer.body)) is plain
    found = audit_replay.replay(rows)
    assert (found.same, found.faults) == (True, [])
    change(ruled.store, """UPDATE draft SET body = body || '{"generator": "other"}'""")
    assert replay(ruled.store, question_id).faults == [
        "the draft is not what question.drafted attests",
        f"other bytes: it was made by release {version('attest')}, this one is {version('attest')}",
    ]


@pytest.mark.parametrize("has_key", [True, False])
def test_an_answer_that_was_changed_before_it_was_sealed_is_never_shown(
    ruled: InlineWorker, has_key: bool
) -> None:
    question_id = ask(ruled.store, TRIAL_QUESTION)
    if not has_key:
        change(ruled.store, "UPDATE question SET hash_key = NULL")

    def tamper(stage: Stage) -> None:
        if stage is Stage.VERIFY:
            change(ruled.store, """UPDATE answer SET body = body || '{"cure": "x"}'""")

    ruled.run(tamper)
    question = get_question(ruled.store, question_id)
    assert (question.status, question.error) == (
        "failed",
        f"the answer of question {question_id} was changed",
    )
