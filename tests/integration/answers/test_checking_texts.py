"""A pasted text through the check stage, against documents sent along and against what is held."""

from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from knowledge.loader import load
from messages import Stage
from store.texts import verifications
from store.texts.verifications import VERIFICATIONS
from tests.servers import TRIAL, ingest
from workers.encoder import Encoder
from workers.inline import InlineWorker
from workers.verify.pasted import sources

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


class Counting:
    """The encoder of a worker, and how many characters it was given to read."""

    def __init__(self, inner: Encoder) -> None:
        self.inner, self.characters = inner, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def encode(self, texts: Sequence[str]) -> Any:
        self.characters += sum(map(len, texts))
        return self.inner.encode(texts)


@pytest.mark.parametrize(
    "before", ["Cough was seen in many of the patients there. " * 380, "x, " * 6000]
)
def test_the_encoder_reads_so_much_of_a_text_and_what_it_leaves_is_found_by_its_words(
    inline: InlineWorker, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    policy = {**load("answering/verifying"), "meaning_characters": 40, "meaning_in_all": 400}
    ingest(inline.store, TRIAL)
    inline.run()
    encoder = Counting(inline.context.encoder)
    monkeypatch.setitem(vars(inline.context), "encoder", encoder)
    monkeypatch.setattr(sources, "load", lambda name: policy)
    result = check(inline, f"{before}\n\n{HELD}")
    assert encoder.characters <= 400
    assert result["statements"][-1]["verification_status"] == "verified"


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
