"""What became of a work: every source's word counts, and it is known who was asked."""

import threading
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from store.audit import audit
from store.core.unit_of_work import Store
from store.documents import publication_status
from store.documents.citation_query import known
from store.documents.publication_status import DueWork, Standing
from store.documents.records import Notice, NoticeKind
from tests.integration.evidence.test_versions import at, put, versions
from workers.ingest import enrich
from workers.ingest.enrichment import EnricherName, Statement

DOI = "10.5555/made-up"
RETRACTION = Notice(kind="retraction", notice_id="pmid:9")


def put_work(
    store: Store, source: str | None, hour: float, *notices: Notice, text: str = "One."
) -> Any:
    """The one work of these tests, as `source` sends it at that hour."""
    identifiers = {"identifiers": {"pmid": "123", "doi": DOI}}
    return put(store, source, text, hour, notices=notices, key="123", **identifiers)


def ask(
    store: Store,
    source: EnricherName,
    document_id: UUID,
    hour: float,
    *notices: Notice,
    **said: Any,
) -> None:
    """What Crossref or OpenAlex answers about the work at that hour."""
    statement = Statement("pmid:123", source, **{"known": True, "notices": notices, **said})
    with store.unit_of_work("test") as work:
        due = DueWork(document_id, "pmid:123", DOI)
        enrich.take(work, source, [(due, statement)], at(hour))


def of(store: Store, document_id: UUID) -> Standing:
    with store.reading() as session:
        return known(session, [document_id])[document_id].standing


def statuses(store: Store, document_id: UUID) -> list[str]:
    return [status for _, _, status in versions(store, document_id)]


def say(store: Store, source: str, document_id: UUID, hour: float, *notices: Notice) -> None:
    """A source says that these notices are in force."""
    match source:
        case "crossref" | "openalex":
            ask(store, source, document_id, hour, *notices)
        case _:
            put_work(store, source, hour, *notices)


@pytest.mark.parametrize("source", ["pubmed", "europepmc", "crossref", "openalex"])
@pytest.mark.parametrize(
    ("kind", "state", "status"),
    [
        ("retraction", "retracted", "retracted"),
        ("withdrawal", "retracted", "retracted"),
        ("removal", "retracted", "retracted"),
        ("correction", "corrected", "current"),
        ("republication", "corrected", "current"),
        ("expression_of_concern", "expression_of_concern", "current"),
    ],
)
def test_a_notice_from_any_source_counts_and_says_who_reports_it(
    store: Store, source: str, kind: NoticeKind, state: str, status: str
) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    say(store, source, document_id, 1, Notice(kind=kind, notice_id="doi:10.5555/notice"))
    found = of(store, document_id)
    assert (found.state, statuses(store, document_id)) == (state, [status])
    assert [(one.source, one.notice_id) for one in found.notices] == [
        (source, "doi:10.5555/notice")
    ]
    assert sorted({"pubmed", source}) == [one.source for one in found.asked]


def test_what_may_be_cited_depends_on_notices_and_on_the_versions_status(store: Store) -> None:
    first = put_work(store, "pubmed", 0)
    put_work(store, "pubmed", 1, text="Two.")
    work = first.document_id

    def citable(*allowed: str) -> bool:
        with store.reading() as session:
            versions = [first.version_id]
            return publication_status.still_citable(session, [work], versions, allowed)

    assert citable("current", "superseded")
    assert not citable("current")
    ask(store, "crossref", work, 2, Notice(kind="correction", notice_id="doi:10.5555/correction"))
    assert citable("current", "superseded")
    ask(store, "crossref", work, 3, RETRACTION)
    assert not citable("current", "superseded"), "the work has ended, whatever the version's status"
    ask(store, "crossref", work, 4)
    assert citable("current", "superseded")


def test_the_gravest_notice_is_the_state(store: Store) -> None:
    concern, correction = Notice(kind="expression_of_concern"), Notice(kind="correction")
    document_id = put_work(store, "pubmed", 0, correction, concern).document_id
    assert of(store, document_id).state == "expression_of_concern"
    ask(store, "crossref", document_id, 1, RETRACTION)
    assert of(store, document_id).state == "retracted"


def test_the_sources_asked_are_listed_with_time_and_whether_they_know_the_work(
    store: Store,
) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    ask(store, "crossref", document_id, 2)
    ask(store, "openalex", document_id, 3, known=False)
    asked = of(store, document_id).asked
    assert [(one.source, one.asked_at, one.known) for one in asked] == [
        ("crossref", at(2), True),
        ("openalex", at(3), False),
        ("pubmed", at(0), True),
    ]


def test_a_source_that_reports_no_standing_is_not_listed_as_asked(store: Store) -> None:
    stored = put(store, "clinicaltrials", "A trial.", 0)
    assert of(store, stored.document_id).asked == []


def test_invariant_10_a_retraction_is_one_transaction_with_its_audit_events(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    put_work(store, "pubmed", 1, RETRACTION)
    with store.reading() as session:
        events = session.execute(
            sa.text(
                "SELECT event FROM audit_event WHERE subject = :id AND event <> 'version.new' "
                "ORDER BY seq"
            ),
            {"id": str(document_id)},
        ).scalars()
        assert list(events) == ["document.notice", "version.retracted"]
        assert audit.verify(session).whole


def test_new_words_of_a_retracted_work_are_kept_and_never_current(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0, RETRACTION).document_id
    changed = put_work(store, "pubmed", 1, RETRACTION, text="Two.")
    assert (changed.outcome, changed.closed, changed.fresh) == ("changed", True, False)
    assert statuses(store, document_id) == ["retracted", "retracted"]


def test_the_same_words_of_a_retracted_work_make_no_new_version_at_each_refresh(
    store: Store,
) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    for hour in range(1, 5):
        assert put_work(store, "pubmed", hour, RETRACTION).outcome == "unchanged"
    assert statuses(store, document_id) == ["retracted"]


def test_a_retraction_stands_until_every_source_has_taken_it_back(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0, RETRACTION).document_id
    ask(store, "crossref", document_id, 1, RETRACTION)
    assert put_work(store, "pubmed", 2).outcome == "unchanged"
    assert of(store, document_id).state == "retracted"
    ask(store, "crossref", document_id, 3)
    assert of(store, document_id).state == "none"
    assert statuses(store, document_id) == ["retracted"]
    # The next sighting is evidence again, as a version of its own (invariant 7).
    again = put_work(store, "pubmed", 4)
    assert (again.outcome, again.n, again.fresh) == ("changed", 2, True)
    assert statuses(store, document_id) == ["retracted", "current"]
    assert put_work(store, "pubmed", 5).outcome == "unchanged"


def test_a_notice_that_comes_back_is_in_force_again(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0, RETRACTION).document_id
    put_work(store, "pubmed", 1)
    put_work(store, "pubmed", 2, RETRACTION)
    assert of(store, document_id).state == "retracted"
    assert statuses(store, document_id) == ["retracted", "retracted"]


def test_a_source_that_does_not_know_the_work_takes_nothing_back(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    ask(store, "crossref", document_id, 1, RETRACTION)
    ask(store, "crossref", document_id, 2, known=False)
    assert of(store, document_id).state == "retracted"


@pytest.mark.parametrize("retracts", [True, False])
def test_words_of_a_source_that_are_stored_late_do_not_overrule_its_newer_ones(
    store: Store, retracts: bool
) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    newer, older = ((RETRACTION,), ()) if retracts else ((), (RETRACTION,))
    ask(store, "crossref", document_id, 9, *newer)
    ask(store, "crossref", document_id, 5, *older)
    assert of(store, document_id).state == ("retracted" if retracts else "none")
    assert next(one for one in of(store, document_id).asked).asked_at == at(9)


def test_words_of_a_deferring_source_count_for_standing(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    deferred = put_work(store, "europepmc", 1, RETRACTION, text="In other words.")
    assert (deferred.outcome, deferred.closed) == ("deferred", True)
    assert statuses(store, document_id) == ["retracted"]


def test_a_work_that_its_source_removed_is_no_evidence_until_it_is_seen_again(
    store: Store,
) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    with store.unit_of_work("test") as work:
        publication_status.remove(work, "pubmed", [document_id], at(10))
    assert (of(store, document_id).state, statuses(store, document_id)) == (
        "retracted",
        ["retracted"],
    )
    put_work(store, "pubmed", 5)  # fetched before it was removed
    assert statuses(store, document_id) == ["retracted"]
    put_work(store, "pubmed", 12)
    assert statuses(store, document_id) == ["retracted", "current"]


def test_a_removal_that_is_stored_late_does_not_remove_what_was_seen_since(store: Store) -> None:
    document_id = put_work(store, "pubmed", 10).document_id
    with store.unit_of_work("test") as work:
        publication_status.remove(work, "pubmed", [document_id], at(5))
    assert statuses(store, document_id) == ["current"]


def test_what_a_user_says_of_a_work_counts_and_silence_does_not_take_it_back(
    store: Store,
) -> None:
    document_id = put(store, None, "One.", 0, notices=[RETRACTION]).document_id
    put(store, None, "Two.", 1)
    assert of(store, document_id).state == "retracted"
    assert "current" not in statuses(store, document_id)


def _due(store: Store, hour: float) -> Sequence[DueWork]:
    with store.reading() as session:
        return publication_status.due(session, "crossref", at(hour), 10)


def test_works_not_asked_about_for_long_are_due_retracted_ones_too(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    assert [one.doi for one in _due(store, 0)] == [DOI]
    ask(store, "crossref", document_id, 1, RETRACTION)
    assert _due(store, 1) == []
    # A retraction that is taken back is heard of only by asking again.
    assert [one.document_id for one in _due(store, 2)] == [document_id]
    put_work(store, "pubmed", 3, text="Two.")
    assert len(_due(store, 4)) == 1


def test_works_that_a_user_submitted_are_not_asked_about(store: Store) -> None:
    put_work(store, None, 0)
    assert _due(store, 1) == []


def test_invariant_6_a_retraction_and_new_words_at_the_same_time_leave_nothing_current(
    store: Store,
) -> None:
    document_id = put_work(store, "pubmed", 0).document_id
    ask(store, "crossref", document_id, 0.1, RETRACTION)  # the row of the notice is there
    ask(store, "crossref", document_id, 0.2)
    put_work(store, "pubmed", 0.3)
    barrier = threading.Barrier(2)
    errors: list[BaseException] = []

    def run(act: Any, *arguments: Any) -> None:
        try:
            barrier.wait()
            act(*arguments)
        except BaseException as error:  # noqa: BLE001  reported by the assertion
            errors.append(error)

    def write(hour: int) -> None:
        put_work(store, "pubmed", hour, text=f"Words of hour {hour}.")

    for hour in range(1, 9):
        retract = (ask, store, "crossref", document_id, hour, RETRACTION)
        threads = [
            threading.Thread(target=run, args=(write, hour)),
            threading.Thread(target=run, args=retract),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert "current" not in statuses(store, document_id)
        ask(store, "crossref", document_id, hour + 0.1)
        put_work(store, "pubmed", hour + 0.2, text=f"Words of hour {hour}.")
        assert statuses(store, document_id)[-1] == "current"


def test_the_first_sighting_of_a_notice_is_kept(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0, RETRACTION).document_id
    for hour in (1, 2):
        put_work(store, "pubmed", hour, RETRACTION)
    first: datetime = of(store, document_id).notices[0].first_seen_at
    assert first == at(0)
