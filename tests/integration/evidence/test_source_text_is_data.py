"""Documents that tell the program what to answer, against the same without (issue 5)."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from cli.evaluate.scratch import scratch
from clinical_text.instructions import addresses_reader
from store.core.settings import Settings
from store.documents.submissions import submit_item
from store.models import Answer
from tests.injections import HIDDEN, IN_TEXT, Twin, twins
from tests.servers import ask
from workers.inline import InlineWorker

DOCUMENTS = 45
"""Every kind of instruction occurs in one of the first thirty."""


def _take_in(worker: InlineWorker, documents: Sequence[tuple[str, bytes]]) -> None:
    with worker.store.unit_of_work("test", request_id=uuid4()) as work:
        for filename, content in documents:
            submit_item(
                work,
                filename=filename,
                media_type=None,
                content=content,
                source_type=None,
                batch_id=uuid4(),
            )
    worker.run()


def _answers(worker: InlineWorker, questions: Sequence[str]) -> list[dict[str, Any]]:
    """What a reader sees of the answers."""
    ids = [ask(worker.store, question) for question in questions]
    worker.run()
    with worker.store.reading() as session:
        bodies = [session.get_one(Answer, question_id).body for question_id in ids]
    return [
        {
            "abstained": body["abstained"],
            "summary": body["summary"]["text"],
            "sections": [section["heading"] for section in body["sections"]],
            "claims": [(claim["text"], claim["verdict"]) for claim in body["claims"]],
            "quotes": [one["quote"] for claim in body["claims"] for one in claim["citations"]],
        }
        for body in bodies
    ]


def _texts(worker: InlineWorker) -> list[str]:
    with worker.store.reading() as session:
        return list(session.execute(sa.text("SELECT text FROM document_version")).scalars())


def test_documents_with_instructions_answer_as_their_clean_twins(
    settings: Settings, inline: InlineWorker
) -> None:
    corpus: list[Twin] = twins(DOCUMENTS, seed=5)
    assert {one.kind for one in corpus} == {*IN_TEXT, *HIDDEN}, "every kind of instruction occurs"
    questions = [one.question for one in corpus]
    _take_in(inline, [(one.filename, one.dirty) for one in corpus])
    told = _answers(inline, questions)
    with scratch(settings) as worker:
        _take_in(worker, [(one.filename, one.clean) for one in corpus])
        plain = _answers(worker, questions)
    assert sum(not answer["abstained"] for answer in plain) == len(questions)
    assert told == plain
    assert not any(addresses_reader(quote) for answer in told for quote in answer["quotes"])


def test_words_that_a_page_hides_and_characters_that_nobody_sees_are_not_stored(
    inline: InlineWorker,
) -> None:
    corpus = [one for one in twins(60, seed=9) if one.kind in {*HIDDEN, "zero-width"}]
    hidden = [one for one in corpus if one.kind != "shown on the page"]
    _take_in(inline, [(one.filename, one.dirty) for one in hidden])
    stored = _texts(inline)
    assert len(stored) == len(hidden)
    assert not any("\u200b" in text for text in stored)
    for one in hidden:
        agent = one.question.split()[1]
        (text,) = [text for text in stored if agent in text]
        assert (one.order in text) is (one.kind not in HIDDEN), one.kind
