"""Clinical documents through the extract stage, with a model behind a fake API."""

import json

import pytest
import sqlalchemy as sa

from messages import Stage
from store.dead_letters import dead_letters
from store.extractions import prompt_memory
from store.extractions.figures import figures
from store.models import now
from store.operations import erasure
from tests.fakes.messages_api import MessagesApi, error
from tests.fakes.web import Reply
from tests.integration.clinical import guesses
from tests.integration.clinical.conftest import Start
from tests.integration.clinical.extracting import (
    DEBRIS,
    IMPRESSION,
    LETTER,
    learner,
    result_of,
    stored,
    submit,
    timeless,
)
from tests.integration.runtime.harness import count, rows
from workers.inline import InlineWorker
from workers.registry import spec_of
from workers.runtime.stage import handle


@pytest.mark.requirement("MV-6.2")
def test_mv_6_2_a_model_that_improves_when_told_reaches_the_threshold_in_three(
    start: Start,
) -> None:
    model = learner()
    worker = start(model.write)
    extraction_id = submit(worker, LETTER)
    worker.run()
    row, result = stored(worker.store, extraction_id), result_of(worker.store, extraction_id)
    loop = result["parts"][0]["reliability_loop"]
    first, *others = [one["score"]["overall"] for one in loop["iteration_history"]]
    assert first < 0.95
    assert max(others) >= 0.95
    assert loop["iterations"] <= 3
    assert loop["stopped_reason"] == "Quality threshold met"
    assert result["met_threshold"]
    impression = result["fields"]["impression"]
    assert LETTER[impression["start"] : impression["end"]] == IMPRESSION
    assert impression["origin"] == "model"
    assert len(model.prompts) == loop["iterations"]
    assert "PREVIOUS ATTEMPT" in model.prompts[1]
    assert "[impression]" in model.prompts[1]
    assert result["provenance"]["generator"] == "model"
    assert row.cost_usd is not None
    assert row.cost_usd > 0
    history = rows(worker.store, "SELECT cost_usd, prompt_hash FROM extraction_iteration")
    assert sum(one.cost_usd for one in history) == row.cost_usd
    assert all(one.prompt_hash for one in history)


@pytest.mark.requirement("MV-8.2")
def test_invariant_11_words_of_a_document_stand_in_its_own_rows_only(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = start(learner().write)
    submit(worker, LETTER, title="Xyzzy")
    worker.run()
    for table in ("audit_event", "outbox", "stage_run", "model_usage", "prompt_memory"):
        assert count(worker.store, f"{table} t", "t::text ~ 'Xyzzy|in a pot|Lakeside'") == 0
    events = [
        one.event
        for one in rows(worker.store, "SELECT event FROM audit_event WHERE event ~ 'extraction'")
    ]
    assert events[:2] == ["extraction.submitted", "extraction.read"]
    assert events[-1] == "extraction.finished"
    written = capsys.readouterr()
    assert "Xyzzy" not in written.out + written.err
    assert "metastasis" not in written.out + written.err
    assert "marc_iteration" in written.out + written.err


@pytest.mark.requirement("OP-6.2")
def test_op_6_2_what_stays_of_an_erased_document_fits_no_guess_of_it(start: Start) -> None:
    worker = start(learner().write)
    extraction_id = submit(worker, LETTER)
    worker.run()
    (reply, *_) = rows(worker.store, "SELECT reply FROM extraction_reply")
    guessed = guesses.guessable(worker.store, "extraction", extraction_id)
    assert {reply.reply["prompt_hash"], reply.reply["output_hash"]} <= guessed
    with worker.store.unit_of_work("test") as work:
        erasure.erase(work, "extraction", extraction_id, "requested")
    kept = guesses.held(worker.store)
    remembered = {"prompt_memory"}  # of names of fields, which are ours
    assert {kept[one] for one in guessed & kept.keys()} <= remembered


@pytest.mark.requirement("MV-9.1")
def test_mv_9_1_what_did_well_is_remembered_for_the_type_and_tried_first(start: Start) -> None:
    model = learner()
    worker = start(model.write)
    submit(worker, LETTER)
    worker.run()
    with worker.store.reading() as session:
        kept = prompt_memory.best(session, "radiology", 0.95)
    assert kept is not None
    assert "impression" in kept.fields
    paid = len(model.prompts)
    again = submit(worker, LETTER.replace("Xyzzy", "Plugh"))
    worker.run()
    result = result_of(worker.store, again)
    assert result["iterations"] == 1
    assert len(model.prompts) == paid + 1
    assert "impression" in result["provenance"]["remembered"][0]
    (memory,) = rows(worker.store, "SELECT uses, score FROM prompt_memory")
    assert memory.uses == 2
    assert memory.score >= 0.95


@pytest.mark.requirement("MV-9.1")
def test_mv_9_1_no_words_of_a_document_enter_the_memory(start: Start) -> None:
    worker = start(learner().write)
    extraction_id = submit(worker, LETTER)
    worker.run()
    fields = result_of(worker.store, extraction_id)["fields"]
    spans = [
        LETTER[item["start"] : item["end"]]
        for one in fields.values()
        for item in one.get("items", [one])
        if item["start"] is not None
    ]
    assert IMPRESSION in spans
    (memory,) = rows(worker.store, "SELECT t::text AS written, fields FROM prompt_memory t")
    assert not [one for one in spans if one in memory.written]
    assert set(memory.fields) <= set(fields)


def test_a_remembered_prompt_that_does_badly_is_not_tried_again(start: Start) -> None:
    model = learner()
    worker = start(model.write)
    with worker.store.unit_of_work("test") as work:
        prompt_memory.remember(work.session, "radiology", ["findings"], 0.96)
    submit(worker, LETTER)
    worker.run()
    with worker.store.reading() as session:
        kept = prompt_memory.best(session, "radiology", 0.95)
    assert kept is not None
    assert set(kept.fields) != {"findings"}


# --- paid once ------------------------------------------------------------------------------------


def due_now(worker: InlineWorker) -> None:
    """Let what waits for its next attempt run, until nothing is left to try."""
    for _ in range(20):
        with worker.store.unit_of_work("test") as work:
            work.session.execute(
                sa.text("UPDATE outbox SET not_before = now() WHERE status = 'pending'")
            )
        if not worker.run():
            return
    pytest.fail("it never ends")


def one_step(worker: InlineWorker) -> None:
    """Handle the message that is due next and leave what it promises."""
    (due,) = rows(
        worker.store,
        "SELECT id, stage, payload FROM outbox WHERE status IN ('pending', 'published') "
        "ORDER BY created_at, id LIMIT 1",
    )
    handle(worker.context, spec_of(Stage(due.stage)), due.payload, due.id)


@pytest.mark.requirement("MV-3.3")
@pytest.mark.parametrize("table", ["extraction_iteration", "extraction_reply"])
def test_mv_3_3_a_reply_whose_commit_was_lost_is_not_paid_for_again(
    start: Start, table: str
) -> None:
    """The commit of the first iteration fails once: its reply was kept before, and is used."""
    whole = start(learner().write)
    same = submit(whole, LETTER)
    whole.run()
    expected = timeless(result_of(whole.store, same))
    with whole.store.unit_of_work("test") as work:
        work.session.execute(sa.text("DELETE FROM prompt_memory"))
    model = learner()
    worker = start(model.write)
    extraction_id = submit(worker, LETTER)
    when = "NEW.n = 1" if table == "extraction_iteration" else "NEW.status = 'answered'"
    with worker.store.engine.begin() as connection:
        connection.execute(
            sa.text(
                "CREATE SEQUENCE IF NOT EXISTS once; CREATE FUNCTION fails_once() RETURNS trigger "
                "LANGUAGE plpgsql AS $$ BEGIN IF nextval('once') = 1 THEN RAISE EXCEPTION 'gone'; "
                "END IF; RETURN NEW; END $$; CREATE TRIGGER fails_once BEFORE INSERT OR UPDATE ON "
                f"{table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION fails_once()"
            )
        )
    due_now(worker)
    result = timeless(result_of(worker.store, extraction_id))
    assert len(model.prompts) == len(set(model.prompts))
    if table == "extraction_iteration":
        assert result["fields"] == expected["fields"]
        assert len(model.prompts) == result["iterations"]
    else:  # nobody knows what came of the request: it is not sent again, the rules go on
        first = result["provenance"]["consulted"][0]
        assert first["fallback"] == "lost"
        assert result["fields"]["impression"] == expected["fields"]["impression"]


@pytest.mark.requirement("MV-7.4")
def test_mv_7_4_an_overloaded_model_is_asked_again_later_and_costs_no_attempt(
    start: Start, api: MessagesApi
) -> None:
    model = learner()
    worker = start(model.write)
    api.next.extend(error(529, "overloaded_error", "busy") for _ in range(3))
    extraction_id = submit(worker, LETTER)
    one_step(worker)
    one_step(worker)
    assert stored(worker.store, extraction_id).status == "running"
    (waiting,) = rows(worker.store, "SELECT attempts, status FROM stage_run WHERE status <> 'done'")
    assert (waiting.attempts, waiting.status) == (0, "waiting")
    with worker.store.unit_of_work("test") as work:
        work.session.execute(sa.text("UPDATE outbox SET not_before = now()"))
    worker.run()
    assert result_of(worker.store, extraction_id)["met_threshold"]


def test_a_model_without_budget_leaves_the_document_to_the_rules_and_the_result_says_so(
    start: Start,
) -> None:
    model = learner()
    worker = start(model.write, question_budget_usd=0)
    extraction_id = submit(worker, LETTER)
    worker.run()
    result = result_of(worker.store, extraction_id)
    assert model.prompts == []
    assert {one["fallback"] for one in result["provenance"]["consulted"]} == {"budget_spent"}
    assert result["provenance"]["consulted"][0]["note"]


# --- an evaluator that fails ----------------------------------------------------------------------


@pytest.mark.requirement("MV-3.1")
@pytest.mark.parametrize(
    "broken",
    [
        '{"fields": [{"field": "impression", "accuracy": "high"}]}',
        "Certainly! Here is my opinion:",
        '{"fields": []}',
        '{"fields": [{"field": "date", "accuracy": 7}]}',
        error(504, "timeout_error", "too slow"),
    ],
    ids=["wrong type", "no JSON", "no field", "no share", "time-out"],
)
def test_mv_3_1_an_evaluator_that_fails_is_tried_again_then_a_dead_letter_and_never_a_score(
    start: Start, broken: str | Reply
) -> None:
    model = learner()
    model.opinion = broken
    worker = start(model.write, extraction_opinions=1)
    extraction_id = submit(worker, LETTER)
    due_now(worker)
    row = stored(worker.store, extraction_id)
    assert (row.status, row.score, row.result) == ("failed", None, None)
    assert count(worker.store, "extraction_iteration", "true") == 0
    assert len(model.prompts) == 1, "the proposal was kept and is not paid for again"
    (letter,) = rows(worker.store, "SELECT id, cause, attempts FROM dead_letter")
    assert "evaluation failed" in letter.cause
    assert model.opinions >= letter.attempts > 1
    model.opinion = json.dumps({"fields": [{"field": "date", "accuracy": 1.0}]})
    with worker.store.unit_of_work("test") as work:
        dead_letters.replay(work, letter.id)
    due_now(worker)
    assert result_of(worker.store, extraction_id)["met_threshold"]


@pytest.mark.requirement("MV-9.2")
def test_mv_9_2_several_opinions_count_with_their_median(start: Start) -> None:
    model = learner()
    model.opinion = json.dumps({"fields": [{"field": "date", "accuracy": 0.0}]})
    worker = start(model.write, extraction_opinions=2)
    extraction_id = submit(worker, LETTER)
    due_now(worker)
    loop = result_of(worker.store, extraction_id)["parts"][0]["reliability_loop"]
    scores = [
        one["score"]
        for one in loop["iteration_history"][0]["score"]["breakdown"]
        if (one["field"], one["dimension"]) == ("date", "accuracy")
    ]
    assert scores == [0.0]
    assert model.opinions == 2 * loop["iterations"]


# --- figures --------------------------------------------------------------------------------------


@pytest.mark.requirement("MV-8.1")
def test_mv_8_1_figures_of_what_ended_by_the_names_of_the_seed(
    inline: InlineWorker, start: Start
) -> None:
    began = now()
    submit(inline)
    submit(inline, DEBRIS)
    inline.run()
    worker = start(learner().write)
    submit(worker, LETTER)
    worker.run()
    with inline.store.reading() as session:
        found = figures(session, began)
        later = figures(session, now())
    assert (found.documents, found.unreadable, found.failed, found.unfinished) == (2, 1, 0, 0)
    assert found.iterations_mean is not None
    assert 1 < found.iterations_mean < 3
    assert found.threshold_met_rate == 1.0
    assert found.improvement_mean is not None
    assert found.improvement_mean > 0
    assert found.cost_usd > 0
    assert found.score_lowest is not None
    assert 0.9 < found.score_lowest < 1.0  # how likely fields are right is never certain
    assert found.processing_ms_p95 is not None
    assert found.processing_ms_p50 is not None
    assert found.processing_ms_p95 >= found.processing_ms_p50 > 0
    assert (later.documents, later.score_mean) == (0, None)
