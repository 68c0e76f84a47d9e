"""Words of patients go when they must: every copy, and nothing that proves what happened."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.exc import DBAPIError

from cli.commands.audit import replay as audit_replay
from knowledge.operation.retention import keep_days
from messages import Message, Stage, parse
from scheduler import jobs
from store.audit import audit, trail
from store.core.unit_of_work import Store
from store.dead_letters.dead_letters import Death
from store.extractions import extractions
from store.extractions.extractions import EXTRACTIONS
from store.models import Answer, AnswerRecall, Question, now
from store.operations import erasure, retention
from store.operations.erasure import NotThere, UnderWay
from store.pipeline import circuits, ledger
from store.questions import questions
from store.recalls import recalls
from store.texts import notes, verifications
from store.texts.idempotency import KeyReused
from tests.integration.clinical import guesses
from tests.servers import (
    TRIAL,
    TRIAL_QUESTION,
    ask,
    get_question,
    ingest,
    until_somebody_waits,
)
from workers.extract.loop.paid_once import PaidOnce
from workers.inline import InlineWorker
from workers.language_model.port import Prompt
from workers.registry import spec_of
from workers.runtime.errors import Permanent
from workers.runtime.failures import bury
from workers.runtime.stage import Context, handle

PATIENT = "Quxelda Vorbengrim"
"""No such name, and no word of any source."""
TEXT = f"{TRIAL_QUESTION} It is for {PATIENT}."
Made = tuple[str, UUID]


def everywhere(store: Store, words: str) -> list[str]:
    """The tables that hold `words` in any column of any row."""
    found = []
    with store.engine.connect() as connection:
        names = connection.execute(
            sa.text(
                "SELECT table_name FROM information_schema.tables "
                "WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
            )
        ).scalars()
        for name in names.all():
            query = sa.text(f'SELECT count(*) FROM "{name}" AS t WHERE t::text ILIKE :words')
            if connection.execute(query, {"words": f"%{words}%"}).scalar_one():
                found.append(name)
    return sorted(found)


def asked(worker: InlineWorker) -> UUID:
    """A question with words of a patient, answered with claims."""
    ingest(worker.store, TRIAL)
    worker.run()
    question_id = ask(worker.store, TEXT, patient_context=f"{PATIENT}, 61, stage II")
    worker.run()
    with worker.store.reading() as session:
        assert session.get_one(Answer, question_id).body["claims"]
    return question_id


def noted(worker: InlineWorker) -> UUID:
    with worker.store.unit_of_work("test") as work:
        text = f"HPI\n{PATIENT} has a cough.\n\nPLAN\nChest X-ray for {PATIENT}.\n"
        note_id = notes.submit(work, text, f"Visit of {PATIENT}").id
    worker.run()
    return note_id


def checked(worker: InlineWorker) -> UUID:
    with worker.store.unit_of_work("test") as work:
        sent = [{"title": PATIENT, "text": f"{PATIENT} took part in the trial in 2020."}]
        found = verifications.submit(work, f"{PATIENT} took part in the trial.", sent)
    worker.run()
    return found.id


MAKERS: dict[str, Callable[[InlineWorker], UUID]] = {
    "question": asked,
    "note": noted,
    "verification": checked,
}


@pytest.fixture(params=list(MAKERS))
def made(request: pytest.FixtureRequest, inline: InlineWorker) -> Made:
    """A finished thing of each kind, whose words stand in the store."""
    subject = MAKERS[request.param](inline)
    assert everywhere(inline.store, PATIENT)
    return request.param, subject


def erase(store: Store, kind: Any, subject: UUID, **given: Any) -> list[UUID]:
    with store.unit_of_work("test") as work:
        return erasure.erase(work, kind, subject, "requested", **given)


def events(store: Store, subject: UUID) -> list[str]:
    with store.engine.connect() as connection:
        query = sa.text("SELECT event FROM audit_event WHERE subject = :id ORDER BY seq")
        return list(connection.execute(query, {"id": str(subject)}).scalars())


@pytest.mark.requirement("OP-6.1")
def test_op_6_1_no_table_holds_the_words_any_more_and_the_chain_verifies(
    inline: InlineWorker, made: Made
) -> None:
    kind, subject = made
    before = events(inline.store, subject)
    assert erase(inline.store, kind, subject) == [subject]
    assert everywhere(inline.store, PATIENT) == []
    assert events(inline.store, subject) == [*before, f"{kind}.erased"]
    with inline.store.reading() as session:
        assert audit.verify(session).whole


@pytest.mark.requirement("OP-6.1")
def test_op_6_1_id_times_and_hashes_stay_and_the_row_says_that_it_is_erased(
    inline: InlineWorker, made: Made
) -> None:
    kind, subject = made
    kept = sa.text(f"SELECT text_hash, request_id, created_at, finished_at FROM {kind}")
    with inline.store.engine.connect() as connection:
        before = connection.execute(kept).one()
    erase(inline.store, kind, subject)
    with inline.store.engine.connect() as connection:
        assert connection.execute(kept).one() == before
        row = connection.execute(sa.text(f"SELECT status, erased_at FROM {kind}")).one()
    assert row.status == "erased"
    assert row.erased_at is not None


@pytest.mark.requirement("OP-6.2")
def test_op_6_2_the_hash_in_the_chain_tells_nobody_that_a_guess_is_right(
    inline: InlineWorker, made: Made
) -> None:
    """What the audit keeps for ever is keyed, and the key is gone with the words."""
    kind, subject = made
    with inline.store.engine.connect() as connection:
        said = connection.execute(sa.text(f"SELECT text, text_hash, hash_key FROM {kind}")).one()
    assert said.text_hash != hashlib.sha256(said.text.encode()).hexdigest()
    assert len(said.hash_key) == 32
    assert everywhere(inline.store, hashlib.sha256(said.text.encode()).hexdigest()) in (
        [],
        [kind],  # inside a result, which goes with the words
    )
    erase(inline.store, kind, subject)
    assert everywhere(inline.store, said.hash_key.hex()) == []
    assert everywhere(inline.store, hashlib.sha256(said.text.encode()).hexdigest()) == []


@pytest.mark.requirement("OP-6.2")
def test_op_6_2_nothing_that_stays_is_a_plain_hash_of_the_words_or_of_what_they_became(
    inline: InlineWorker, made: Made
) -> None:
    kind, subject = made
    guessed = guesses.guessable(inline.store, kind, subject)
    assert guessed
    erase(inline.store, kind, subject)
    kept = guesses.held(inline.store)
    assert {kept[one] for one in guessed & kept.keys()} == set()


def test_the_same_words_twice_have_different_hashes(store: Store) -> None:
    one, two = ask(store, TEXT), ask(store, TEXT)
    assert get_question(store, one).text_hash != get_question(store, two).text_hash


def test_an_idempotency_key_still_knows_its_request(store: Store) -> None:
    def submit(text: str) -> UUID:
        with store.unit_of_work("test", request_id=uuid4()) as work:
            return questions.submit(work, text, {"max_references": 3}, "key-1").id

    first = submit(TEXT)
    assert submit(TEXT) == first
    with pytest.raises(KeyReused):
        submit(f"{TEXT} And another word.")


def submitted(store: Store, kind: str) -> UUID:
    """A thing of this kind with words of a patient, of which nothing is done yet."""
    with store.unit_of_work("test", request_id=uuid4()) as work:
        if kind == "question":
            return questions.submit(work, TEXT, {"max_references": 3}).id
        if kind == "note":
            return notes.submit(work, f"PLAN\nX-ray for {PATIENT}.\n", PATIENT).id
        if kind == "verification":
            return verifications.submit(work, f"{PATIENT} took part in the trial.", []).id
        return extractions.submit(work, f"Name: {PATIENT}\nFinal diagnosis: adenocarcinoma.\n").id


def promised(store: Store) -> tuple[UUID, Message]:
    """The one message that is promised."""
    with store.engine.connect() as connection:
        row = connection.execute(sa.text("SELECT id, stage, payload FROM outbox")).one()
    return row.id, parse(Stage(row.stage), row.payload)


def held(store: Store, lease_seconds: float) -> None:
    """A worker has claimed the one message that is promised."""
    outbox_id, message = promised(store)
    with store.at_once() as session:
        ledger.claim(
            session,
            stage=message.stage.value,
            subject=message.subject,
            input_hash=message.input_hash(),
            worker="w",
            outbox_id=outbox_id,
            lease_seconds=lease_seconds,
        )


UNENDED = ["question", "note", "verification", "extraction"]


@pytest.mark.parametrize("kind", UNENDED)
def test_what_a_worker_holds_a_lease_on_is_not_erased(store: Store, kind: str) -> None:
    subject = submitted(store, kind)
    held(store, 60.0)
    with pytest.raises(UnderWay):
        erase(store, kind, subject)
    assert everywhere(store, PATIENT) != []


@pytest.mark.parametrize("state", ["queued", "held for a paused stage", "left by its worker"])
@pytest.mark.parametrize("kind", UNENDED)
def test_what_waits_is_erased_and_a_message_that_comes_later_begins_nothing(
    inline: InlineWorker, kind: str, state: str
) -> None:
    store = inline.store
    subject = submitted(store, kind)
    outbox_id, message = promised(store)
    if state == "held for a paused stage":
        with store.unit_of_work("test") as work:
            circuits.pause(work, message.stage.value, "a test")
        inline.run()
    elif state == "left by its worker":
        held(store, 0.0)
    assert erase(store, kind, subject) == [subject]
    assert everywhere(store, PATIENT) == []
    if state == "held for a paused stage":
        with store.unit_of_work("test") as work:
            circuits.resume(work, message.stage.value)
    inline.run()
    handle(inline.context, spec_of(message.stage), message.payload(), outbox_id)
    with store.engine.connect() as connection:
        row = connection.execute(sa.text(f"SELECT status FROM {kind}")).one()
        left = connection.execute(
            sa.text("SELECT count(*) FROM outbox WHERE status NOT IN ('done', 'dead')")
        ).scalar_one()
        letters = connection.execute(sa.text("SELECT count(*) FROM dead_letter")).scalar_one()
    assert (row.status, left, letters) == ("erased", 0, 0)
    assert "stage" not in events(store, subject)[-1]


def test_who_was_frozen_while_his_work_was_erased_writes_nothing(inline: InlineWorker) -> None:
    store = inline.store
    subject = submitted(store, "note")
    outbox_id, message = promised(store)
    with store.at_once() as session:
        mine = ledger.claim(
            session,
            stage=message.stage.value,
            subject=message.subject,
            input_hash=message.input_hash(),
            worker="w",
            outbox_id=outbox_id,
            lease_seconds=0.0,
        )
    assert isinstance(mine, ledger.Claim)
    erase(store, "note", subject)
    with pytest.raises(ledger.LeaseLost), store.unit_of_work("test") as work:
        ledger.finish(work.session, mine, outbox_id)


def test_erasing_again_changes_nothing(inline: InlineWorker, made: Made) -> None:
    kind, subject = made
    erase(inline.store, kind, subject)
    before = events(inline.store, subject)
    assert erase(inline.store, kind, subject) == []
    assert events(inline.store, subject) == before


def test_another_owners_row_is_as_if_it_were_not_there(inline: InlineWorker, made: Made) -> None:
    kind, subject = made
    with pytest.raises(NotThere) as theirs:
        erase(inline.store, kind, subject, owner="somebody")
    with pytest.raises(NotThere) as nobodys:
        erase(inline.store, kind, missing := uuid4(), owner="somebody")
    assert str(theirs.value).replace(str(subject), "ID") == str(nobodys.value).replace(
        str(missing), "ID"
    )
    assert everywhere(inline.store, PATIENT)


@pytest.mark.requirement("OP-6.1")
def test_the_trail_of_an_erased_answer_still_tells_its_story(inline: InlineWorker) -> None:
    question_id = asked(inline)
    with inline.store.reading() as session:
        before = trail.trail(session, question_id)
    erase(inline.store, "question", question_id)
    with inline.store.reading() as session:
        after = trail.trail(session, question_id)
    assert before is not None
    assert after is not None
    assert after.status == "erased"
    assert after.answer == before.answer  # hash, counts and provenance; it never had words
    assert after.sources == before.sources
    assert after.steps[: len(before.steps)] == before.steps
    assert "erased (requested)" in after.steps[-1].words


def test_replaying_an_erased_answer_says_why_it_cannot_be(inline: InlineWorker) -> None:
    question_id = asked(inline)
    erase(inline.store, "question", question_id)
    with (
        inline.store.reading() as session,
        pytest.raises(audit_replay.CannotReplay, match="were erased"),
    ):
        audit_replay.read(session, question_id)


def test_a_sealed_answer_can_only_lose_its_words_and_only_with_its_question(
    inline: InlineWorker,
) -> None:
    question_id = asked(inline)
    refused = [
        "UPDATE answer SET body = '{}'",
        """UPDATE answer SET body = '{"provenance": {}}'""",
    ]
    for statement in refused:
        with inline.store.engine.begin() as connection, pytest.raises(DBAPIError, match="sealed"):
            connection.execute(sa.text(statement))
    erase(inline.store, "question", question_id)
    refused += [
        """UPDATE answer SET body = '{"claims": []}'""",
        """UPDATE answer SET body = '{"provenance": {"model": "another"}}'""",
        "UPDATE answer SET hash = 'x'",
        "DELETE FROM answer",
    ]
    for statement in refused[1:]:
        with inline.store.engine.begin() as connection, pytest.raises(DBAPIError, match="sealed"):
            connection.execute(sa.text(statement))


def test_recalls_pass_an_erased_answer_by(inline: InlineWorker) -> None:
    question_id = asked(inline)
    erase(inline.store, "question", question_id)
    ingest(inline.store, {**TRIAL, "text": TRIAL["text"].replace("recurrence-free", "overall")})
    inline.run()
    with inline.store.reading() as session:
        assert session.get(AnswerRecall, question_id) is None
    assert "answer.affected" not in events(inline.store, question_id)
    with inline.store.unit_of_work("test") as work:
        assert recalls.find_missed(work) == 0


@pytest.mark.requirement("OP-6.1")
def test_op_6_1_a_question_that_a_recall_asked_anew_is_erased_with_the_first(
    inline: InlineWorker,
) -> None:
    first = asked(inline)
    ingest(inline.store, {**TRIAL, "text": TRIAL["text"].replace("recurrence-free", "overall")})
    inline.run()
    with inline.store.reading() as session:
        recall = session.get_one(AnswerRecall, first)
        assert recall.superseded_by is not None
        anew = recall.superseded_by
        assert session.get_one(Question, anew).text == TEXT
    assert set(erase(inline.store, "question", anew)) == {first, anew}
    assert everywhere(inline.store, PATIENT) == []


def dead(store: Store, inline: InlineWorker) -> UUID:
    """A question that ended in a dead letter."""
    question_id = ask(store, TEXT)
    with store.engine.begin() as connection:  # what was promised is no message any more
        connection.execute(
            sa.text("""UPDATE outbox SET payload = payload || '{"x": 1}', status = 'pending'""")
        )
    inline.run()
    assert get_question(inline.store, question_id).status == "failed"
    return question_id


def test_dead_letters_of_what_was_erased_are_given_up(store: Store, inline: InlineWorker) -> None:
    erase(store, "question", dead(store, inline))
    with inline.store.engine.connect() as connection:
        letters = connection.execute(sa.text("SELECT status FROM dead_letter")).scalars().all()
    assert letters == ["discarded"]


def test_an_erasure_waits_for_a_replay_and_neither_locks_the_other_out(
    store: Store, inline: InlineWorker
) -> None:
    question_id = dead(store, inline)
    with ThreadPoolExecutor(1) as other:
        with inline.store.engine.begin() as replay:  # takes the letter, then what it is about
            replay.execute(sa.text("SELECT FROM dead_letter FOR UPDATE"))
            erasing = other.submit(erase, inline.store, "question", question_id)
            with pytest.raises(TimeoutError):
                erasing.result(timeout=1)
            replay.execute(sa.text("SELECT FROM question FOR UPDATE NOWAIT"))
        assert erasing.result(timeout=10) == [question_id]


@pytest.mark.requirement("OP-6.3")
def test_op_6_3_what_is_older_than_words_are_kept_goes_in_batches(
    inline: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three old notes in batches of two; a young one and one under way stay."""
    monkeypatch.setattr(retention, "retention_policy", lambda: policy)
    from knowledge.operation.retention import retention_policy

    policy = retention_policy().model_copy(update={"batch": 2})
    old = [noted(inline) for _ in range(3)]
    young = noted(inline)
    with inline.store.unit_of_work("test") as work:
        waiting = notes.submit(work, f"{PATIENT} waits.", None).id
    with inline.store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE note SET created_at = created_at - interval '31 days' WHERE id <> :id"),
            {"id": young},
        )
    assert retention.erase_old(inline.store, {"note": 30}, now()) == {"note": 3}
    with inline.store.engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT id, status FROM note"))
        status = {row.id: row.status for row in rows}
    assert status == {**dict.fromkeys(old, "erased"), young: "done", waiting: "queued"}
    assert retention.erase_old(inline.store, {"note": 30}, now()) == {}


def test_what_goes_by_age_holds_no_letter_while_it_waits_for_another(
    store: Store, inline: InlineWorker
) -> None:
    """Or a replay of both, which takes them in the order in which they died, meets it crosswise."""
    older, younger = dead(store, inline), dead(store, inline)
    with inline.store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE question SET created_at = now() - interval '31 days'"))
        connection.execute(
            sa.text("UPDATE question SET created_at = now() - interval '32 days' WHERE id = :id"),
            {"id": older},
        )
    lock = sa.text("SELECT FROM dead_letter WHERE subject = :id FOR UPDATE NOWAIT")
    with ThreadPoolExecutor(1) as other:
        with inline.store.engine.begin() as replay:
            replay.execute(lock, {"id": str(younger)})
            erasing = other.submit(retention.erase_old, inline.store, {"question": 30}, now())
            until_somebody_waits(inline.store)
            replay.execute(lock, {"id": str(older)})
        assert erasing.result(timeout=30) == {"question": 2}


@pytest.mark.requirement("OP-6.3")
def test_op_6_3_nothing_goes_by_itself_until_somebody_says_when(inline: InlineWorker) -> None:
    note_id = noted(inline)
    with inline.store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE note SET created_at = now() - interval '90 years'"))
    assert keep_days({}) == {}
    jobs.erase_old(inline.store, keep_days({}))
    assert everywhere(inline.store, PATIENT) == ["note"]
    jobs.erase_old(inline.store, keep_days({"note": 1}))
    assert everywhere(inline.store, PATIENT) == []
    assert events(inline.store, note_id)[-1] == "note.erased"


def test_an_unsealed_answer_of_a_failed_question_goes_too(store: Store) -> None:
    question_id = ask(store, TEXT)
    with store.unit_of_work("test") as work:
        body = {"summary": {"text": PATIENT}, "provenance": {"model": None}}
        work.session.add(Answer(question_id=question_id, body=body, hash="h"))
        question = work.session.get_one(Question, question_id)
        question.status, question.finished_at = "failed", now() - timedelta(days=1)
    erase(store, "question", question_id)
    assert everywhere(store, PATIENT) == []


@pytest.mark.requirement("OP-6.1")
def test_op_6_1_an_extraction_goes_with_its_attempts_replies_and_review(store: Store) -> None:
    extraction_id = uuid4()
    said = f'{{"name": "{PATIENT}"}}'
    with store.engine.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO extraction (id, title, filename, content_hash, text, text_hash, plan, "
                "profile, status, result, outcome, hash_key, request_id, created_at) VALUES (:id, "
                ":name, :name, 'h', :name, 'h', :said, 'batch', 'done', :said, 'extracted', 'k', "
                ":id, now())"
            ),
            {"id": extraction_id, "name": PATIENT, "said": said},
        )
        for statement in (
            "INSERT INTO extraction_iteration (extraction_id, part, n, proposal, evaluation, "
            "score, seconds, ended_at) VALUES (:id, 0, 1, :said, :said, 1, 1, now())",
            "INSERT INTO extraction_reply (extraction_id, part, n, purpose, prompt_hash, status, "
            "reply, asked_at) VALUES (:id, 0, 1, 'propose', 'h', 'answered', :said, now())",
            "INSERT INTO review (id, extraction_id, status, score, corrected, created_at, "
            "decided_at) VALUES (:id, :id, 'corrected', 1, :said, now(), now())",
        ):
            connection.execute(sa.text(statement), {"id": extraction_id, "said": said})
    assert erase(store, "extraction", extraction_id) == [extraction_id]
    assert everywhere(store, PATIENT) == []
    assert events(store, extraction_id) == ["extraction.erased"]


class _Said(BaseModel):
    name: str


class _Unasked:
    """A model that nobody may ask."""

    name = "unasked"

    def propose(self, prompt: Prompt[Any]) -> NoReturn:
        raise AssertionError(f"asked for {prompt.purpose}")


def test_a_stalled_worker_asks_no_model_and_keeps_nothing_once_the_words_are_erased(
    store: Store,
) -> None:
    with store.unit_of_work("test") as work:
        extraction_id = extractions.submit(work, f"{PATIENT} has a cough").id
    with store.unit_of_work("test") as work:
        EXTRACTIONS.failed(work, extraction_id, "another worker took it over, and failed")
    erase(store, "extraction", extraction_id)
    stalled = PaidOnce(_Unasked(), store, extraction_id, 0, 1)
    prompt = Prompt(purpose="propose", version="1", system="", user=PATIENT, shape=_Said)
    with pytest.raises(Permanent, match="were erased"):
        stalled.propose(prompt)
    assert everywhere(store, PATIENT) == []
    assert everywhere(store, str(extraction_id)) == [
        "audit_event",
        "extraction",
        "outbox",
        "stage_run",
    ]


def begun(kind: str, store: Store) -> UUID:
    """Something with words of a patient that no stage has worked on."""
    if kind == "question":
        return ask(store, TEXT)
    with store.unit_of_work("test") as work:
        if kind == "note":
            return notes.submit(work, f"PLAN\nChest X-ray for {PATIENT}.\n", None).id
        if kind == "verification":
            return verifications.submit(work, f"{PATIENT} took part in the trial.").id
        return extractions.submit(work, f"{PATIENT} has a cough").id


def promise(store: Store) -> Any:
    with store.reading() as session:
        return session.execute(sa.text("SELECT * FROM outbox")).one()


def status(store: Store, kind: Any, subject: UUID) -> str:
    with store.reading() as session:
        query = sa.text(f"SELECT status FROM {erasure.HOLDERS[kind].table} WHERE id = :id")
        return str(session.execute(query, {"id": subject}).scalar_one())


def given_up(store: Store, outbox_id: UUID) -> None:
    """The promise dies in other hands than those that hold it: their lease is over."""
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE stage_run SET lease_until = now() - interval '1 h'"))
    died = Death("any", {}, "Rejected", "no worker of this version knows it", outbox_id=outbox_id)
    bury(store, died)


@pytest.mark.requirement("OP-6.1")
@pytest.mark.parametrize("kind", ["question", "note", "verification", "extraction"])
def test_op_6_1_a_worker_that_was_frozen_brings_no_words_back_when_it_thaws(
    inline: InlineWorker, kind: Any
) -> None:
    store, subject = inline.store, begun(kind, inline.store)
    promised = promise(store)
    spec = spec_of(Stage(promised.stage))

    def frozen(context: Context, message: Any) -> Any:
        result = spec.work(context, message)
        given_up(store, promised.id)
        erase(store, kind, subject)
        return result

    handle(inline.context, replace(spec, work=frozen), promised.payload, promised.id)
    handle(inline.context, spec, promised.payload, promised.id)  # and a copy of it comes
    assert everywhere(store, PATIENT) == []
    assert events(store, subject)[-1] == f"{kind}.erased"
    assert status(store, kind, subject) == "erased"
    with store.reading() as session:
        letters = session.execute(sa.text("SELECT status FROM dead_letter")).scalars().all()
        runs = session.execute(sa.text("SELECT status FROM stage_run")).scalars().all()
    assert (letters, runs) == (["discarded"], ["dead"]), "nothing is left to do"


def test_a_file_that_was_never_read_goes_too(store: Store) -> None:
    extraction_id = uuid4()
    with store.engine.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO extraction (id, filename, content, content_hash, profile, status, "
                "error, request_id, created_at) "
                "VALUES (:id, :name, :content, 'h', 'batch', 'failed', 'unreadable', :id, now())"
            ),
            {"id": extraction_id, "name": PATIENT, "content": PATIENT.encode()},
        )
    erase(store, "extraction", extraction_id)
    assert everywhere(store, PATIENT) == []
    assert everywhere(store, PATIENT.encode().hex()) == []
