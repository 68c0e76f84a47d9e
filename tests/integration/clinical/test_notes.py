"""Clinical notes through the summarize stage: by rules, and with a model behind a fake API."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from store.models import Note
from store.operations import erasure
from store.texts import notes
from store.texts.notes import NOTES
from tests.fakes.messages_api import refusal
from tests.integration.clinical import guesses
from tests.integration.clinical.conftest import Start
from workers.inline import InlineWorker
from workers.summarize.summary import summarize

NOTE = """HPI
A 60-year-old woman, Mrs. Xyzzy, with a cough. She denies fever.

Meds
Aspirin 75 mg daily.

PLAN
Continue aspirin. Chest X-ray today.
"""


def submit(worker: InlineWorker, text: str = NOTE) -> UUID:
    with worker.store.unit_of_work("test") as work:
        note_id = notes.submit(work, text, "Xyzzy").id
    worker.run()
    return note_id


def stored(worker: InlineWorker, note_id: UUID) -> Note:
    with worker.store.reading() as session:
        found = NOTES.get(session, note_id)
        assert found is not None
        return found


def result_of(worker: InlineWorker, note_id: UUID) -> dict[str, Any]:
    note = stored(worker, note_id)
    assert note.status == "done", note.error
    assert note.result is not None
    return note.result


def test_without_a_model_the_stage_stores_what_the_rules_make(inline: InlineWorker) -> None:
    assert result_of(inline, submit(inline)) == summarize(NOTE)


def test_invariant_11_words_of_a_note_stand_in_its_row_only(
    inline: InlineWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    note_id = submit(inline)
    with inline.store.reading() as session:
        for table in ("audit_event", "outbox", "stage_run", "model_usage"):
            found = session.execute(
                sa.text(f"SELECT count(*) FROM {table} t WHERE t::text ~ 'Xyzzy|spirin'")
            ).scalar_one()
            assert found == 0, table
        events = session.execute(
            sa.text("SELECT event FROM audit_event WHERE subject = :id ORDER BY seq"),
            {"id": str(note_id)},
        ).scalars()
        assert list(events) == ["note.submitted", "note.summarized"]
    written = capsys.readouterr()
    assert "Xyzzy" not in written.out + written.err


def test_summarizing_twice_changes_nothing(inline: InlineWorker) -> None:
    note_id = submit(inline)
    before = stored(inline, note_id)
    with inline.store.unit_of_work("test") as work:
        work.session.execute(
            sa.text(
                "UPDATE outbox SET status = 'pending', done_at = NULL, not_before = now() "
                "WHERE stage = 'summarize'"
            )
        )
    inline.run()
    assert stored(inline, note_id).finished_at == before.finished_at


def test_a_note_whose_text_was_changed_dies_and_says_why(inline: InlineWorker) -> None:
    with inline.store.unit_of_work("test") as work:
        note_id = notes.submit(work, NOTE).id
        work.session.execute(sa.text("UPDATE note SET text_hash = 'x'"))
    inline.run()
    note = stored(inline, note_id)
    assert (note.status, note.result) == ("failed", None)
    assert "no text" in str(note.error)


def asked_for(body: Mapping[str, Any]) -> str:
    (name,) = body["output_config"]["format"]["schema"]["properties"]
    return str(name)


def test_a_model_s_choice_is_kept_where_its_words_stand_and_its_inventions_are_not(
    start: Start,
) -> None:
    def write(body: Mapping[str, Any]) -> str:
        if asked_for(body) == "recommendations":
            step = {"item": "A2", "confidence": 0.9, "doubt": None}
            return json.dumps({"recommendations": [step, step | {"item": "A9"}]})
        items = [
            {"list": "pertinent_history", "chunk_id": "chunk_0", "quote": "denies fever"},
            {"list": "key_problems", "chunk_id": "chunk_0", "quote": "pneumonia"},
            {"list": "assessment", "chunk_id": "chunk_2", "quote": "Continue aspirin."},
        ]
        return json.dumps({"items": items})

    worker = start(write)
    result = result_of(worker, submit(worker))
    assert "pneumonia" not in json.dumps(result)
    assert [one["text"] for one in result["summary"]["pertinent_history"]] == ["She denies fever."]
    assert [one["text"] for one in result["summary"]["medicines_allergies"]] == [
        "Aspirin 75 mg daily."
    ]
    first, second = result["plan"]["recommendations"]
    assert first["recommendation"] == "Chest X-ray today."
    assert second["recommendation"] == "Continue aspirin."
    counts, made = result["validation"], result["provenance"]
    assert (counts["unsupported"], counts["invalid_citations"], counts["orphans"]) == (0, 0, 0)
    assert made["generator"] == "anthropic"
    assert made["refused"] == {"not_in_chunk": 1, "unknown_item": 1}
    assert float(made["cost_usd"]) > 0
    assert [one["prompt_version"] for one in made["consulted"]] == [
        "text-summary-1",
        "plan-generation-1",
    ]


@pytest.mark.parametrize("masked", [True, False])
def test_a_model_sees_no_name_in_any_request_unless_the_operator_says_so(
    start: Start, *, masked: bool
) -> None:
    note = NOTE.replace("Continue", "Xyzzy agrees to continue")
    seen: list[str] = []

    def write(body: Mapping[str, Any]) -> str:
        user = body["messages"][0]["content"]
        seen.append(user)
        if asked_for(body) == "recommendations":
            return json.dumps({"recommendations": []})
        start = user.index(" agrees to continue")
        quote = user[user.rindex("\n", 0, start) + 1 : start] + " agrees to continue aspirin."
        item = {"list": "assessment", "chunk_id": "chunk_2", "quote": quote}
        return json.dumps({"items": [item]})

    worker = start(write, mask_identifiers=masked)
    result = result_of(worker, submit(worker, note))
    assert len(seen) == 2
    assert [("Xyzzy" in user, "[NAME-1]" in user) for user in seen] == [(not masked, masked)] * 2
    assert result["provenance"]["refused"] == {}
    assert "Xyzzy agrees to continue aspirin." in json.dumps(result["summary"]["assessment"])


def test_a_model_that_declines_leaves_the_note_to_the_rules_and_the_result_says_so(
    start: Start,
) -> None:
    worker = start(lambda body: refusal("bio"))
    result = result_of(worker, submit(worker))
    assert result["summary"] == summarize(NOTE)["summary"]
    assert result["plan"] == summarize(NOTE)["plan"]
    fallback = result["provenance"]["fallback"]
    assert {name: one["reason"] for name, one in fallback.items()} == {
        "summarize": "refused",
        "plan": "refused",
    }
    assert result["provenance"]["generator"] == "extractive"


@pytest.mark.requirement("OP-6.2")
def test_op_6_2_what_stays_of_an_erased_note_fits_no_guess_of_it(start: Start) -> None:
    worker = start(lambda body: json.dumps({asked_for(body): []}))
    note_id = submit(worker)
    consulted = result_of(worker, note_id)["provenance"]["consulted"]
    guessed = guesses.guessable(worker.store, "note", note_id)
    assert consulted
    assert {one["prompt_hash"] for one in consulted} <= guessed
    with worker.store.unit_of_work("test") as work:
        erasure.erase(work, "note", note_id, "requested")
    kept = guesses.held(worker.store)
    assert {kept[one] for one in guessed & kept.keys()} == set()
