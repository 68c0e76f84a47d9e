"""A pasted text through the check stage, against documents sent along and against what is held."""

from typing import Any

import pytest
import sqlalchemy as sa

from messages import Stage
from store.texts import verifications
from store.texts.verifications import VERIFICATIONS
from tests.servers import TRIAL, ingest
from workers.inline import InlineWorker

HELD = " ".join(TRIAL["text"].split("\n\n")[-1].split())


def check(worker: InlineWorker, text: str, *documents: dict[str, Any]) -> dict[str, Any]:
    """The result for a text."""
    with worker.store.unit_of_work("test") as work:
        verification = verifications.submit(work, text, documents)
    worker.run()
    with worker.store.reading() as session:
        found = VERIFICATIONS.get(session, verification.id)
        assert found is not None
        assert found.status == "done", found.error
        assert found.result is not None
        return found.result


def test_a_sentence_that_is_held_is_verified_with_its_version_and_exact_place(
    inline: InlineWorker,
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    (line, *_) = check(inline, HELD)["statements"]
    assert line["verification_status"] == "verified"
    place = line["citations"][0]
    with inline.store.reading() as session:
        stored = session.execute(
            sa.text(
                "SELECT substr(text, :start + 1, :end - :start) FROM document_version "
                "WHERE document_id = CAST(:document_id AS uuid) AND n = :version"
            ),
            {key: place[key] for key in ("start", "end", "document_id", "version")},
        ).scalar_one()
    assert stored == place["quote"]


def test_an_identifier_that_is_not_held_is_said_to_be_unknown(inline: InlineWorker) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    result = check(inline, "It was shown in adults with cancer (PMID 1234567).")
    assert [one["state"] for one in result["identifiers"]] == ["not_held"]
    assert result["statements"][0]["verification_status"] != "verified"


def test_documents_that_come_along_are_compared_with_and_not_kept(inline: InlineWorker) -> None:
    along = {"title": "A report", "text": "Cough was seen in 12% of patients. Nobody died."}
    result = check(inline, "Cough was seen in 12% of patients. Cough killed 3%.", along)
    states = [one["verification_status"] for one in result["statements"]]
    assert states == ["verified", "unverified"]
    with inline.store.reading() as session:
        assert session.execute(sa.text("SELECT count(*) FROM document")).scalar_one() == 0


def test_a_text_of_too_many_sentences_fails_with_its_reason_and_no_dead_letter(
    inline: InlineWorker,
) -> None:
    with inline.store.unit_of_work("test") as work:
        verification = verifications.submit(work, "It works in adults. " * 500)
    inline.run()
    with inline.store.reading() as session:
        found = VERIFICATIONS.get(session, verification.id)
        assert found is not None
        assert found.status == "failed"
        assert "at most 400" in str(found.error)
        letters = session.execute(sa.text("SELECT count(*) FROM dead_letter")).scalar_one()
    assert letters == 0


@pytest.mark.parametrize("stage", [Stage.CHECK])
def test_checking_twice_changes_nothing(inline: InlineWorker, stage: Stage) -> None:
    along = {"title": "A report", "text": "Cough was seen in 12% of patients."}
    check(inline, "Cough was seen in 12% of patients.", along)
    with inline.store.unit_of_work("test") as work:
        work.session.execute(
            sa.text(
                "UPDATE outbox SET status = 'pending', done_at = NULL, not_before = now() "
                "WHERE stage = :stage"
            ),
            {"stage": stage.value},
        )
    inline.run()
    with inline.store.reading() as session:
        events = session.execute(
            sa.text("SELECT count(*) FROM audit_event WHERE event = 'verification.done'")
        ).scalar_one()
    assert events == 1
