"""What a draft is made of: the retrieval, with all that was found out when it was made."""

import json

import sqlalchemy as sa

from messages import GenerateV1
from store.models import Retrieval
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest
from workers.generate.stage import work
from workers.inline import InlineWorker


def retrieved(inline: InlineWorker) -> tuple[Retrieval, GenerateV1]:
    """What was found for a question, and the message that asks for a draft of it."""
    ingest(inline.store, TRIAL)
    inline.run()
    question_id = ask(inline.store, TRIAL_QUESTION)
    inline.run()
    with inline.store.reading() as session:
        found = session.get_one(Retrieval, question_id)
    message = GenerateV1(request_id=question_id, question_id=question_id, retrieval_hash=found.hash)
    return found, message


def test_a_draft_rests_on_how_much_each_term_told_when_it_was_searched_for(
    inline: InlineWorker,
) -> None:
    """A retrieval of an older release does not say so: it is drafted from what is held now."""
    found, message = retrieved(inline)
    drafted = work(inline.context, message)
    assert len(found.body["weights"]) == len(found.body["sub_queries"])
    assert drafted.body.claims

    with inline.store.unit_of_work("test") as unit:
        unit.session.execute(
            sa.text("UPDATE retrieval SET body = body - 'weights' WHERE question_id = :id"),
            {"id": message.question_id},
        )
    assert work(inline.context, message) == drafted


def test_a_draft_of_terms_that_this_release_makes_otherwise_weighs_its_own(
    inline: InlineWorker,
) -> None:
    """A dead letter of the generate stage may be replayed after an upgrade: it must not die again
    of the terms that the release before made of the question."""
    found, message = retrieved(inline)
    drafted = work(inline.context, message)

    others = [{str(int(term) ^ 1): one for term, one in found.body["weights"][0].items()}]
    with inline.store.unit_of_work("test") as unit:
        unit.session.execute(
            sa.text("UPDATE retrieval SET body = body || :body WHERE question_id = :id"),
            {"id": message.question_id, "body": json.dumps({"weights": others})},
        )
    assert work(inline.context, message) == drafted
