"""A remark that quotes a study is held to the same: its words stand there, and its end is told."""

import copy
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

import contracts
from store.models import Answer
from tests.servers import ask, get_question, ingest
from workers.audit.stage import check_spans
from workers.inline import InlineWorker
from workers.runtime.errors import Permanent

_MET = "The trial met its primary endpoint, disease-free survival."
_RECORD = {
    "source_type": "pubmed",
    "source_key": "made-up:imvigor011",
    "title": "IMvigor011: adjuvant atezolizumab guided by ctDNA in bladder cancer",
    "text": "IMvigor011 tested adjuvant atezolizumab in ctDNA-positive bladder cancer after "
    f"cystectomy. {_MET} Atezolizumab was given for up to one year in ctDNA-positive patients.",
    "published_at": "2026-10-01T00:00:00Z",
}
_QUESTION = "Since IMvigor011 was negative, how long is adjuvant atezolizumab given?"


def _sealed(worker: InlineWorker) -> tuple[UUID, dict[str, Any]]:
    ingest(worker.store, _RECORD)
    worker.run()
    question_id = ask(worker.store, _QUESTION)
    worker.run()
    assert get_question(worker.store, question_id).status == "answered"
    with worker.store.reading() as session:
        return question_id, dict(session.get_one(Answer, question_id).body)


def test_what_a_question_takes_for_granted_is_answered_with_the_place_that_denies_it(
    inline: InlineWorker,
) -> None:
    question_id, body = _sealed(inline)
    (told,) = [one for one in body["remarks"] if one["code"] == "contradicted"]
    assert told["quote"] == _MET
    with inline.store.engine.connect() as connection:
        rows = connection.execute(
            sa.text(
                'SELECT substr(v.text, c.start + 1, c."end" - c.start) FROM citation c '
                "JOIN document_version v ON v.id = c.version_id "
                "WHERE c.question_id = :id AND c.claim_id = 'remark'"
            ),
            {"id": question_id},
        )
        assert rows.scalars().all() == [_MET]  # so a retraction of the study recalls the answer


def test_a_remark_whose_words_are_not_at_their_place_is_never_sealed(inline: InlineWorker) -> None:
    _, body = _sealed(inline)
    with inline.store.reading() as session:
        check_spans(session, contracts.Answer.read(body))
        lying = copy.deepcopy(body)
        for one in lying["remarks"]:
            one["quote"] = one.get("quote", "").replace("met", "missed")
        with pytest.raises(Permanent, match="a remark: the quotation is not its span"):
            check_spans(session, contracts.Answer.read(lying))
