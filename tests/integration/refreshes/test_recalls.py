"""Answers stay true: what cites a source that changed is found, checked again, corrected."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from clinical_text.structure import segment
from knowledge.operation.recalls import recall_policy
from messages import Stage
from store.audit import audit
from store.core.unit_of_work import Store
from store.documents import publication_status
from store.documents.documents import put_versions
from store.documents.records import Notice, NoticeKind, SourceRecord
from store.models import Answer, AnswerRecall, Question, now
from store.recalls import log, recalls
from tests.servers import (
    TRIAL,
    TRIAL_QUESTION,
    ask,
    get_question,
    ingest,
    until_somebody_waits,
)
from workers.inline import InlineWorker
from workers.recall import stage

GUIDELINE = {
    "source_type": "guideline",
    "source_key": "made-up-guideline",
    "title": "Made-up guideline on zorbinib in metastatic colorectal cancer",
    "text": (
        "## Recommendations\n\nZorbinib is recommended as first-line treatment in metastatic "
        "colorectal cancer with a made-up mutation.\n\n"
        "## Follow-up\n\nImaging is repeated every 3 months.\n"
    ),
    "published_at": "2026-01-10T00:00:00Z",
    "version_label": "1.2026",
}
FLIPPED = {
    **GUIDELINE,
    "text": GUIDELINE["text"].replace("recommended as", "contraindicated as"),
    "published_at": "2026-06-10T00:00:00Z",
    "version_label": "2.2026",
}
GUIDELINE_QUESTION = (
    "Is zorbinib recommended as first-line treatment in metastatic colorectal cancer?"
)
OTHER = {
    **TRIAL,
    "source_key": "other-trial",
    "title": "Another example record of a ctDNA-guided trial in colon cancer",
    "text": (
        "## Endpoints\n\nThe primary endpoint of this second made-up ctDNA-guided trial in stage "
        "II colon cancer was overall survival at 5 years.\n"
    ),
}


def changed(record: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    """`record` with some of its words changed."""
    assert old in record["text"]
    return {**record, "text": record["text"].replace(old, new)}


def with_more(record: Mapping[str, Any], words: str) -> dict[str, Any]:
    """`record` with a paragraph more."""
    return {**record, "text": f"{record['text']}\n{words}\n"}


def answered(worker: InlineWorker, question: str = TRIAL_QUESTION, **options: Any) -> UUID:
    """Ask; gives the id of the question, which has an answer with claims."""
    question_id = ask(worker.store, question, **options)
    worker.run()
    assert get_question(worker.store, question_id).status == "answered"
    assert body(worker.store, question_id)["claims"]
    return question_id


def body(store: Store, question_id: UUID) -> dict[str, Any]:
    with store.reading() as session:
        return dict(session.get_one(Answer, question_id).body)


def recall(store: Store, question_id: UUID) -> AnswerRecall | None:
    with store.reading() as session:
        return session.get(AnswerRecall, question_id)


def state(store: Store, question_id: UUID) -> str:
    row = recall(store, question_id)
    return row.state if row else "current"


def document_id(store: Store, key: str) -> UUID:
    with store.reading() as session:
        query = sa.text("SELECT id FROM document WHERE source_key LIKE :key")
        return UUID(str(session.execute(query, {"key": f"%{key}"}).scalar_one()))


def say(store: Store, kind: NoticeKind, key: str = "test-trial", source: str = "crossref") -> None:
    """`source` reports a notice on a document."""
    with store.unit_of_work("test") as work:
        one = document_id(store, key)
        publication_status.lock(work.session, [one])
        notices = {one: [Notice(kind=kind, notice_id="doi:10.5555/notice")]}
        publication_status.put_notices(work, source, notices, now())
        publication_status.asked(work.session, source, {one: True}, now())
        publication_status.settle(work, [one])


def replace_now(store: Store, record: Mapping[str, Any]) -> None:
    """Store a version and let no stage work."""
    parsed = SourceRecord.model_validate(record)
    with store.unit_of_work("test") as work:
        assert put_versions(work, [(parsed, segment(parsed.text))])[0].fresh


def events(store: Store, question_id: UUID) -> list[str]:
    with store.reading() as session:
        rows = session.execute(
            sa.text(
                "SELECT event FROM audit_event WHERE subject = :id AND event LIKE 'answer.%' "
                "AND event <> 'answer.sealed' ORDER BY seq"
            ),
            {"id": str(question_id)},
        )
        return [event.removeprefix("answer.") for event in rows.scalars()]


@pytest.fixture
def trial(inline: InlineWorker) -> InlineWorker:
    """The trial is held."""
    ingest(inline.store, TRIAL)
    inline.run()
    return inline


def test_a_guideline_that_flips_supersedes_the_answer_and_the_new_one_does_not_say_it(
    inline: InlineWorker,
) -> None:
    ingest(inline.store, GUIDELINE)
    inline.run()
    old = answered(inline, GUIDELINE_QUESTION)
    sealed = body(inline.store, old)
    assert "recommended as first-line" in str(sealed["claims"])
    ingest(inline.store, FLIPPED)
    inline.run()
    row = recall(inline.store, old)
    assert row is not None
    assert row.state == "superseded"
    assert {one["finding"] for one in row.findings} == {"not_in_section"}
    assert row.because[0]["change"] == "superseded"
    assert (row.because[0]["version"], row.because[0]["new_version"]) == (1, 2)
    assert row.superseded_by is not None
    new = get_question(inline.store, row.superseded_by)
    assert (new.status, new.text) == ("answered", GUIDELINE_QUESTION)
    answer = body(inline.store, new.id)
    quoted = [one["retrieval"]["snippet"] for one in answer["evidence"]]
    said = str([answer["summary"], answer["claims"], quoted])
    assert "recommended as first-line" not in said
    assert "contraindicated as first-line" in said
    assert body(inline.store, old) == sealed, "what was attested never changes"


@pytest.mark.parametrize("kind", ["retraction", "withdrawal", "removal"])
def test_an_answer_that_cites_a_work_that_ended_is_superseded_and_no_other_is_touched(
    trial: InlineWorker, kind: NoticeKind
) -> None:
    both = answered(trial)
    ingest(trial.store, OTHER)
    trial.run()
    question = "What is the primary endpoint of the second made-up trial: overall survival?"
    other = answered(trial, question, filters={"source_types": ["clinicaltrials"]})
    cited = {one["title"] for one in body(trial.store, other)["evidence"]}
    say(trial.store, kind)
    assert state(trial.store, both) == "affected", "in the transaction of the retraction"
    trial.run()
    row = recall(trial.store, both)
    assert row is not None
    assert row.state == "superseded"
    assert {one["finding"] for one in row.findings} == {"work_ended"}
    assert row.because[0]["notice"] == kind
    assert row.because[0]["notice_id"] == "doi:10.5555/notice"
    assert row.superseded_by is not None
    new = body(trial.store, row.superseded_by)
    assert TRIAL["title"] not in str(new["evidence"])
    expected = "superseded" if TRIAL["title"] in cited else "current"
    assert state(trial.store, other) == expected


def test_an_answer_that_cites_another_work_is_not_touched(trial: InlineWorker) -> None:
    ingest(trial.store, GUIDELINE)
    trial.run()
    other = answered(trial, GUIDELINE_QUESTION)
    assert {one["title"] for one in body(trial.store, other)["evidence"]} == {GUIDELINE["title"]}
    mine = answered(trial)
    say(trial.store, "retraction")
    trial.run()
    assert (state(trial.store, mine), state(trial.store, other)) == ("superseded", "current")
    assert events(trial.store, other) == []


def test_an_answer_whose_quotations_still_stand_is_reaffirmed_at_their_new_places(
    trial: InlineWorker,
) -> None:
    question_id = answered(trial)
    longer = {**TRIAL, "text": f"## Status\n\nRecruiting.\n\n{TRIAL['text']}"}
    ingest(trial.store, longer)
    trial.run()
    row = recall(trial.store, question_id)
    assert row is not None
    assert (row.state, row.superseded_by, row.findings) == ("reaffirmed", None, [])
    quoted = {
        (claim["claim_id"], place["quote"])
        for claim in body(trial.store, question_id)["claims"]
        for place in claim["citations"]
    }
    assert quoted == {
        (span["claim_id"], longer["text"][span["start"] : span["end"]]) for span in row.spans
    }
    assert {span["version"] for span in row.spans} == {2}
    assert events(trial.store, question_id) == ["affected", "reaffirmed"]


@pytest.mark.parametrize(
    ("new", "finding"),
    [
        (changed(TRIAL, "recurrence-free survival", "overall survival"), "not_in_section"),
        (changed(TRIAL, "## Endpoints", "## Endpoints of the protocol of 2019"), "not_in_section"),
        (
            changed(TRIAL, "in colon cancer.\n", "in colon cancer. This was withdrawn.\n"),
            "neighbours_changed",
        ),
        (
            with_more(TRIAL, "## Note\n\nThe primary endpoint of the trial was never reached."),
            "new_words_on_it",
        ),
    ],
    ids=["other words", "another section", "taken back beside it", "taken back elsewhere"],
)
def test_an_answer_is_not_reaffirmed_where_its_quotation_may_mean_something_else_now(
    trial: InlineWorker, new: dict[str, Any], finding: str
) -> None:
    question_id = answered(trial)
    ingest(trial.store, new)
    trial.run()
    row = recall(trial.store, question_id)
    assert row is not None
    assert row.state == "superseded"
    assert finding in {one["finding"] for one in row.findings}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("correction", "corrected"),
        ("republication", "corrected"),
        ("expression_of_concern", "expression_of_concern"),
    ],
)
def test_a_correction_or_a_concern_is_checked_and_stays_with_the_answer(
    trial: InlineWorker, kind: NoticeKind, change: str
) -> None:
    question_id = answered(trial)
    say(trial.store, kind)
    assert state(trial.store, question_id) == "affected"
    trial.run()
    row = recall(trial.store, question_id)
    assert row is not None
    assert row.state == "reaffirmed"
    assert [one["change"] for one in row.because] == [change]
    ingest(trial.store, with_more(TRIAL, "## Status\n\nRecruiting."))
    trial.run()
    row = recall(trial.store, question_id)
    assert row is not None
    assert row.state == "reaffirmed"
    assert [one["change"] for one in row.because] == ["superseded", change]
    ingest(trial.store, with_more(TRIAL, "## Status\n\nClosed."))
    trial.run()
    row = recall(trial.store, question_id)
    assert row is not None
    assert [one["change"] for one in row.because] == ["superseded", change]
    assert {span["version"] for span in row.spans} == {3}


def test_a_second_source_that_tells_the_same_is_no_news(trial: InlineWorker) -> None:
    question_id = answered(trial)
    say(trial.store, "correction")
    trial.run()
    say(trial.store, "correction", source="pubmed")
    trial.run()
    assert events(trial.store, question_id) == ["affected", "reaffirmed"]
    say(trial.store, "expression_of_concern", source="pubmed")
    trial.run()
    assert events(trial.store, question_id) == ["affected", "reaffirmed"] * 2


def test_a_record_that_says_nothing_new_affects_nothing(trial: InlineWorker) -> None:
    question_id = answered(trial)
    ingest(trial.store, TRIAL)
    trial.run()
    assert state(trial.store, question_id) == "current"


def test_an_answer_about_the_past_is_affected_by_a_retraction_only(trial: InlineWorker) -> None:
    then = datetime.now(UTC).isoformat()
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    past, future = answered(trial, as_of=then), answered(trial, as_of=tomorrow)
    ingest(trial.store, changed(TRIAL, "recurrence-free survival", "overall survival"))
    trial.run()
    assert (state(trial.store, past), state(trial.store, future)) == ("current", "superseded")
    say(trial.store, "expression_of_concern")
    trial.run()
    assert state(trial.store, past) == "current"
    say(trial.store, "retraction")
    trial.run()
    row = recall(trial.store, past)
    assert row is not None
    assert row.state == "superseded"
    assert row.superseded_by is not None
    new = get_question(trial.store, row.superseded_by)
    assert new.options == {"as_of": then}, "the same question, about the same day"
    assert body(trial.store, new.id)["claims"] == []


def test_a_change_while_an_answer_is_sealed_is_checked_once_it_is(trial: InlineWorker) -> None:
    question_id = ask(trial.store, TRIAL_QUESTION)
    acted: list[Stage] = []

    def replace_it(done: Stage) -> None:
        if done is Stage.VERIFY and not acted:
            acted.append(done)
            replace_now(trial.store, changed(TRIAL, "recurrence-free", "overall"))
            assert state(trial.store, question_id) == "affected"
            assert get_question(trial.store, question_id).status == "running"

    trial.run(replace_it)
    assert acted
    assert state(trial.store, question_id) == "superseded"


def test_a_change_that_the_sealing_waits_for_is_not_missed_by_it(trial: InlineWorker) -> None:
    question_id = ask(trial.store, TRIAL_QUESTION)
    marked = threading.Event()
    parsed = SourceRecord.model_validate(changed(TRIAL, "recurrence-free", "overall"))

    def replace_it() -> None:
        with trial.store.unit_of_work("test") as work:
            put_versions(work, [(parsed, segment(parsed.text))])
            marked.set()
            until_somebody_waits(trial.store)

    other = threading.Thread(target=replace_it)

    def begin(done: Stage) -> None:
        if done is Stage.VERIFY and not marked.is_set():
            other.start()
            assert marked.wait(60)

    trial.run(begin)
    other.join()
    trial.run()
    assert state(trial.store, question_id) == "superseded"


def test_what_changes_again_while_it_is_checked_is_left_to_the_later_check(
    trial: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    question_id = answered(trial)
    done: list[str] = []

    def work(context: Any, message: Any) -> Any:
        result = stage.work(context, message)
        if not done:
            done.append("once")
            replace_now(trial.store, changed(TRIAL, "recurrence-free", "overall"))
        return result

    monkeypatch.setattr(stage, "SPEC", replace(stage.SPEC, work=work))
    replace_now(trial.store, with_more(TRIAL, "## Status\n\nRecruiting."))
    trial.run()
    assert done
    assert events(trial.store, question_id) == ["affected", "affected", "superseded"]


def test_a_second_delivery_asks_nothing_anew(trial: InlineWorker) -> None:
    question_id = answered(trial)
    say(trial.store, "retraction")
    trial.run()
    with trial.store.unit_of_work("test") as work:
        work.session.execute(
            sa.text(
                "UPDATE outbox SET status = 'pending', not_before = clock_timestamp(), "
                "done_at = NULL WHERE stage = 'recall'"
            )
        )
        work.session.execute(sa.text("DELETE FROM stage_run WHERE stage = 'recall'"))
    trial.run()
    assert events(trial.store, question_id) == ["affected", "superseded"]
    with trial.store.reading() as session:
        assert session.execute(sa.select(sa.func.count()).select_from(Question)).scalar_one() == 2


def test_many_answers_are_checked_in_steps_and_none_is_left_or_asked_twice(
    trial: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = recall_policy().model_copy(update={"step_answers": 3, "asked_anew_at_once": 2})
    monkeypatch.setattr(stage, "recall_policy", lambda: policy)
    ids = [answered(trial) for _ in range(10)]
    say(trial.store, "retraction")
    assert {state(trial.store, one) for one in ids} == {"affected"}
    trial.run()
    rows = [recall(trial.store, one) for one in ids]
    assert {row.state for row in rows if row} == {"superseded"}
    assert len({row.superseded_by for row in rows if row}) == len(ids)
    for row in rows:
        assert row is not None
        assert row.superseded_by is not None
        assert get_question(trial.store, row.superseded_by).status == "answered"
    with trial.store.reading() as session:
        assert audit.verify(session).whole


def test_the_feed_tells_each_change_once_in_the_order_of_the_commits(trial: InlineWorker) -> None:
    first, second = answered(trial), answered(trial)
    with trial.store.reading() as session:
        assert log.feed(session) == log.Feed([], None, False)
    say(trial.store, "correction")
    trial.run()
    with trial.store.reading() as session:
        page = log.feed(session, limit=3)
        rest = log.feed(session, cursor=page.cursor, limit=3)
        end = log.feed(session, cursor=rest.cursor)
        later = log.feed(session, since=now())
    told = [(one.question_id, one.state) for one in [*page.changes, *rest.changes]]
    assert (page.more, rest.more) == (True, False)
    assert sorted(told[:2]) == sorted([(first, "affected"), (second, "affected")])
    assert sorted(told[2:]) == sorted([(first, "reaffirmed"), (second, "reaffirmed")])
    assert (end.changes, end.cursor, later.changes) == ([], rest.cursor, [])


def test_invariant_11_no_word_of_a_document_or_a_question_is_in_reasons_or_events(
    trial: InlineWorker,
) -> None:
    question_id = answered(trial)
    ingest(trial.store, changed(TRIAL, "recurrence-free survival", "zebrafish survival"))
    trial.run()
    row = recall(trial.store, question_id)
    assert row is not None
    with trial.store.reading() as session:
        payloads = session.execute(
            sa.text("SELECT payload::text FROM audit_event WHERE event LIKE 'answer.%'")
        ).scalars()
        written = " ".join([*payloads, str(row.because), str(row.findings), str(row.spans)])
    for word in ("zebrafish", "survival", "ctDNA", "colon"):
        assert word not in written


def test_answers_of_before_are_found_once_and_only_where_what_they_cite_changed(
    trial: InlineWorker,
) -> None:
    then = datetime.now(UTC).isoformat()
    old, past = answered(trial), answered(trial, as_of=then)
    ingest(trial.store, changed(TRIAL, "recurrence-free", "overall"))
    trial.run()
    new = answered(trial)
    with trial.store.unit_of_work("test") as work:
        work.session.execute(sa.text("DELETE FROM answer_recall"))
    for found in (1, 0):
        with trial.store.unit_of_work("test") as work:
            assert recalls.find_missed(work) == found
    trial.run()
    states = [state(trial.store, one) for one in (old, past, new)]
    assert states == ["superseded", "current", "current"]
    say(trial.store, "retraction")
    with trial.store.unit_of_work("test") as work:
        work.session.execute(sa.text("DELETE FROM answer_recall"))
    with trial.store.unit_of_work("test") as work:
        recalls.find_missed(work)
    assert {state(trial.store, one) for one in (old, past, new)} == {"affected"}


def test_a_question_whose_text_was_erased_is_not_asked_anew(trial: InlineWorker) -> None:
    question_id = answered(trial)
    with trial.store.unit_of_work("test") as work:
        work.session.execute(
            sa.text("UPDATE question SET text = '' WHERE id = :id"), {"id": question_id}
        )
    say(trial.store, "retraction")
    trial.run()
    row = recall(trial.store, question_id)
    assert row is not None
    assert (row.state, row.superseded_by) == ("superseded", None)
