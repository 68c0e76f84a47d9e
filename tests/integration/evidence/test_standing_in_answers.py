"""Answers and what became of the works: ended ones are no evidence, doubtful ones are marked."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from clinical_text.structure import segment
from messages import Stage
from store.core.unit_of_work import Store, UnitOfWork
from store.documents import findings, publication_status
from store.documents.documents import put_versions
from store.documents.findings import NewFinding
from store.documents.records import Notice, NoticeKind, SourceRecord
from store.models import Answer, now
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker
from workers.verify import stage as verify

OTHER = {
    **TRIAL,
    "source_key": "other-trial",
    "title": "Another example record of a ctDNA-guided trial in colon cancer",
    "text": (
        "## Endpoints\n\nThe primary endpoint of this second made-up ctDNA-guided trial in stage "
        "II colon cancer was overall survival at 5 years.\n"
    ),
}


def document_id(store: Store, key: str = "submission:clinicaltrials:test-trial") -> UUID:
    with store.reading() as session:
        found = session.execute(
            sa.text("SELECT id FROM document WHERE source_key = :key"), {"key": key}
        ).scalar_one()
        return UUID(str(found))


def say(store: Store, kind: NoticeKind, source: str = "crossref") -> None:
    """`source` reports a notice on the trial."""
    with store.unit_of_work("test") as work:
        one = document_id(store)
        notices = {one: [Notice(kind=kind, notice_id="doi:10.5555/notice")]}
        publication_status.put_notices(work, source, notices, now())
        publication_status.asked(work.session, source, {one: True}, now())
        publication_status.settle(work, [one])


def answer(
    worker: InlineWorker,
    after: Stage | None = None,
    act: Callable[[], None] | None = None,
    **o: Any,
) -> Any:
    """Ask about the trial; `act` happens once, right after that stage."""
    question_id = ask(worker.store, TRIAL_QUESTION, **o)
    acted: list[Stage] = []

    def progress(stage: Stage) -> None:
        if stage is after and act is not None and not acted:
            acted.append(stage)
            act()

    worker.run(progress)
    assert get_question(worker.store, question_id).status == "answered"
    with worker.store.reading() as session:
        return session.get_one(Answer, question_id).body


def found(store: Store) -> list[Any]:
    """What the retrieve stage found for the newest question."""
    with store.reading() as session:
        return list(
            session.execute(
                sa.text("SELECT body -> 'evidence' FROM retrieval ORDER BY created_at DESC LIMIT 1")
            ).scalar_one()
        )


@pytest.fixture
def trial(inline: InlineWorker) -> InlineWorker:
    """The trial is held."""
    ingest(inline.store, TRIAL)
    inline.run()
    return inline


@pytest.mark.parametrize("kind", ["retraction", "withdrawal", "removal"])
def test_a_work_that_ended_is_never_evidence(trial: InlineWorker, kind: NoticeKind) -> None:
    assert not answer(trial)["abstained"]
    say(trial.store, kind)
    body = answer(trial)
    assert (body["abstain_reason"], body["evidence"]) == ("no_evidence", [])
    assert found(trial.store) == []


def test_a_work_that_ended_is_no_evidence_for_the_past_either(trial: InlineWorker) -> None:
    then = datetime.now(UTC).isoformat()
    ingest(trial.store, {**TRIAL, "text": f"{TRIAL['text']}\nIt was closed."})
    trial.run()
    assert not answer(trial, as_of=then)["abstained"]
    say(trial.store, "retraction")  # of what is current; what was current then is superseded
    body = answer(trial, as_of=then)
    assert (body["abstain_reason"], body["claims"]) == ("no_evidence", [])
    assert found(trial.store) == []


def test_only_the_current_version_is_evidence(trial: InlineWorker) -> None:
    ingest(trial.store, {**TRIAL, "text": f"{TRIAL['text']}\nIt was closed."})
    trial.run()
    assert not answer(trial)["abstained"]
    assert [entry["version"] for entry in found(trial.store)] == [2]


@pytest.mark.requirement("MC-3.1d")
@pytest.mark.parametrize("after", [Stage.RETRIEVE, Stage.GENERATE])
def test_invariant_6_a_retraction_between_the_stages_withholds_its_claims(
    trial: InlineWorker, after: Stage
) -> None:
    body = answer(trial, after, lambda: say(trial.store, "retraction"))
    assert (body["abstain_reason"], body["claims"], body["references"]) == ("no_evidence", [], [])
    assert body["verification_summary"]["unverified_count"] > 0
    with trial.store.reading() as session:
        verdicts = session.execute(
            sa.text(
                "SELECT payload -> 'verdicts' FROM audit_event WHERE event = 'question.verified'"
            )
        ).scalar_one()
    assert verdicts
    assert all(one["findings"] == ["not_current"] for one in verdicts)


def test_invariant_6_a_retraction_while_the_answer_is_checked_is_seen_before_it_is_stored(
    trial: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[int] = []

    def work(context: Any, message: Any) -> Any:
        result = verify.work(context, message)
        checks.append(len(result.body.claims))
        if len(checks) == 1:
            say(trial.store, "retraction")
        return result

    monkeypatch.setattr(verify, "SPEC", replace(verify.SPEC, work=work))
    body = answer(trial)
    assert (len(checks), checks[0] > 0, checks[1]) == (2, True, 0)
    assert body["claims"] == []


def test_only_the_retracted_work_s_claims_are_withheld(trial: InlineWorker) -> None:
    ingest(trial.store, OTHER)
    trial.run()
    body = answer(trial, Stage.GENERATE, lambda: say(trial.store, "retraction"))
    assert {record["title"] for record in body["evidence"]} == {OTHER["title"]}
    assert not body["abstained"]


def test_a_version_that_was_replaced_meanwhile_is_not_cited_unless_the_past_is_asked_for(
    trial: InlineWorker,
) -> None:
    def replace_it() -> None:
        changed = SourceRecord.model_validate(
            {**TRIAL, "text": f"{TRIAL['text']}\nClosed {now()}."}
        )
        with trial.store.unit_of_work("test") as work:
            assert put_versions(work, [(changed, segment(changed.text))])[0].fresh

    then = datetime.now(UTC).isoformat()
    body = answer(trial, Stage.GENERATE, replace_it, as_of=then)
    assert {record["version"] for record in body["evidence"]} == {1}
    ingest(trial.store, TRIAL)
    trial.run()
    body = answer(trial, Stage.GENERATE, replace_it)
    assert (body["abstain_reason"], body["claims"]) == ("unsupported", [])


@pytest.mark.parametrize(
    ("kind", "state", "badge"),
    [
        ("correction", "corrected", "Corrected"),
        ("expression_of_concern", "expression_of_concern", "Expression of Concern"),
    ],
)
def test_eb_8_4_a_correction_or_a_concern_is_shown_with_who_was_asked(
    trial: InlineWorker, kind: NoticeKind, state: str, badge: str
) -> None:
    say(trial.store, kind)
    body = answer(trial)
    for record in body["evidence"]:
        assert record["standing"]["state"] == state
        assert record["standing"]["notices"][0]["notice_id"] == "doi:10.5555/notice"
        assert [one["source"] for one in record["standing"]["asked"]] == ["crossref"]
    assert badge in body["references"][0]["badges"]


def _doubt(work: UnitOfWork, one: UUID, subject: str) -> None:
    findings.put(work, "crossref", [NewFinding("mismatch", subject, one)], now())


@pytest.mark.requirement("EB-7.5")
def test_eb_7_5_a_reference_never_shows_an_identifier_in_doubt(inline: InlineWorker) -> None:
    given = {**TRIAL, "identifiers": {"pmid": "1", "doi": "10.5555/Made-Up"}}
    ingest(inline.store, {**given, "url": "https://doi.org/10.5555/made-up"})
    inline.run()
    assert answer(inline)["references"][0]["doi"] == "10.5555/Made-Up"
    one = document_id(inline.store)
    with inline.store.unit_of_work("test") as work:
        _doubt(work, one, "doi:10.5555/Made-Up")
    listed = answer(inline)["references"]
    assert listed[0]["url"] == "https://pubmed.ncbi.nlm.nih.gov/1/"
    assert "doi" not in listed[0]
    with inline.store.unit_of_work("test") as work:
        _doubt(work, one, "pmid:1")
    body = answer(inline)
    assert (body["references"], bool(body["claims"])) == ([], True)
    assert body["evidence"][0]["source"]["url"] is None
