"""Versions of sources' documents: whatever order packets come in, the newest word counts."""

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.core.spans import Structure
from store.core.unit_of_work import Store
from store.documents.citation_query import known
from store.documents.documents import Stored, put_versions
from store.documents.records import Notice, SourceRecord
from store.sources import watches

EMPTY = Structure(sections=(), paragraphs=(), sentences=())
START = datetime(2026, 3, 2, tzinfo=UTC)
SAME_DATABASE = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
RETRACTION = (Notice(kind="retraction", notice_id="pmid:9"),)


def at(hour: float) -> datetime:
    """So many hours after the start."""
    return START + timedelta(hours=hour)


def put(
    store: Store,
    source: str | None,
    text: str,
    hour: float,
    *,
    key: str = "123",
    notices: Sequence[Notice] = (),
    **fields: Any,
) -> Stored:
    """One record of the work `key`, fetched at that hour."""
    given = {
        "source_type": "europepmc" if source == "europepmc" else "pubmed",
        "title": "A made-up work",
        "text": text,
        "identifiers": {"pmid": key},
        "fetched_at": at(hour),
        "notices": tuple(notices),
        **fields,
    }
    record = SourceRecord.model_validate(given)
    with store.unit_of_work("test") as work:
        return put_versions(work, [(record, EMPTY)], source=source)[0]


def versions(store: Store, document_id: UUID) -> list[tuple[str, str | None, str]]:
    """Text, source and status of each version, oldest first."""
    with store.reading() as session:
        rows = session.execute(
            sa.text(
                "SELECT text, source, status FROM document_version "
                "WHERE document_id = :id ORDER BY n"
            ),
            {"id": document_id},
        )
        return [(row.text, row.source, row.status) for row in rows]


def clock(store: Store, document_id: UUID) -> datetime:
    with store.reading() as session:
        return known(session, [document_id])[document_id].checked_at


class Fetch(NamedTuple):
    """What a source said at an hour."""

    hour: int
    source: str
    text: str
    retracted: bool = False

    def deliver(self, store: Store, key: str) -> Stored:
        notices = RETRACTION if self.retracted else ()
        return put(store, self.source, self.text, self.hour, key=key, notices=notices)


def histories(sources: Sequence[str], *, retractions: bool) -> st.SearchStrategy[list[Fetch]]:
    """What sources said at ten different hours or fewer."""
    said = st.tuples(
        st.sampled_from(sources),
        st.sampled_from(["One.", "Two.", "Three."]),
        st.booleans() if retractions else st.just(value=False),
    )
    return st.lists(said, min_size=1, max_size=10).map(
        lambda all_of_it: [Fetch(hour, *one) for hour, one in enumerate(all_of_it)]
    )


@st.composite
def deliveries(
    draw: st.DrawFn, sources: Sequence[str], *, retractions: bool = False
) -> tuple[list[Fetch], list[Fetch]]:
    """A history, and its packets in any order, some of them more than once."""
    history = draw(histories(sources, retractions=retractions))
    again = draw(st.lists(st.sampled_from(history), max_size=4))
    return history, draw(st.permutations(history + again))


def leading(fetches: Sequence[Fetch]) -> Fetch:
    """The newest word: Europe PMC's only where PubMed has said none (sources.yaml, defers_to)."""
    first = [one for one in fetches if one.source == "pubmed"] or list(fetches)
    return max(first, key=lambda one: one.hour)


@SAME_DATABASE
@given(case=deliveries(["pubmed", "europepmc"]))
def test_packets_in_any_order_and_number_end_in_the_newest_word(
    store: Store, case: tuple[list[Fetch], list[Fetch]]
) -> None:
    history, delivered = case
    key, seen, newest_ever = str(uuid4().int)[:8].replace("0", "1"), [], []
    for packet in delivered:
        document_id = packet.deliver(store, key).document_id
        seen.append(packet)
        newest = leading(seen)
        said = (newest.text, newest.source)
        if packet is newest and newest_ever[-1:] != [said]:
            newest_ever.append(said)
    held = versions(store, document_id)
    assert held[-1] == (leading(history).text, leading(history).source, "current")
    assert clock(store, document_id) == at(leading(history).hour)
    # Every version that was ever the newest is kept, and none was applied twice.
    assert [(text, source) for text, source, _ in held] == newest_ever
    assert {status for _, _, status in held[:-1]} <= {"superseded"}
    for packet in delivered:
        assert packet.deliver(store, key).outcome in ("unchanged", "outdated", "deferred")
    assert versions(store, document_id) == held


@SAME_DATABASE
@given(case=deliveries(["pubmed"], retractions=True))
def test_a_retraction_counts_as_its_newest_word_does_in_any_order(
    store: Store, case: tuple[list[Fetch], list[Fetch]]
) -> None:
    history, delivered = case
    key = str(uuid4().int)[:8].replace("0", "1")
    for packet in delivered:
        document_id = packet.deliver(store, key).document_id
    held = versions(store, document_id)
    newest = history[-1]
    assert held[-1] == (newest.text, "pubmed", "retracted" if newest.retracted else "current")
    assert [status for _, _, status in held[:-1]].count("current") == 0
    for packet in delivered:
        packet.deliver(store, key)
    assert versions(store, document_id) == held


@SAME_DATABASE
@given(case=deliveries(["pubmed", "europepmc"], retractions=True))
def test_either_source_retracts_in_any_order_and_then_nothing_is_current(
    store: Store, case: tuple[list[Fetch], list[Fetch]]
) -> None:
    history, delivered = case
    key = str(uuid4().int)[:8].replace("0", "1")
    for packet in delivered:
        document_id = packet.deliver(store, key).document_id
    last_words = {one.source: one for one in history}
    retracted = any(one.retracted for one in last_words.values())
    # Where the last notice went by itself, the next sighting is current again.
    Fetch(99, leading(history).source, leading(history).text, leading(history).retracted).deliver(
        store, key
    )
    statuses = [status for _, _, status in versions(store, document_id)]
    assert statuses.count("current") == (0 if retracted else 1)
    assert statuses[-1] == ("retracted" if retracted else "current")


def test_packets_stored_at_the_same_time_end_in_the_newest_word(store: Store) -> None:
    history = [Fetch(hour, "pubmed", f"Words of hour {hour}.") for hour in range(12)]
    errors: list[BaseException] = []

    def deliver(packets: Sequence[Fetch]) -> None:
        try:
            for packet in packets:
                packet.deliver(store, "77")
        except BaseException as error:  # noqa: BLE001  reported by the assertion
            errors.append(error)

    parts = [history[0::3], history[1::3][::-1], history[2::3], history[::-4]]
    threads = [threading.Thread(target=deliver, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    held = versions(store, history[0].deliver(store, "77").document_id)
    assert held[-1] == ("Words of hour 11.", "pubmed", "current")
    assert len({text for text, _, _ in held}) == len(held)


@pytest.mark.parametrize(
    ("gives_way", "wins"), [("europepmc", "pubmed"), ("openfda-label", "dailymed")]
)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("winner_is_newer", [True, False])
def test_a_source_that_defers_never_replaces_the_other_one_s_record(
    store: Store, gives_way: str, wins: str, order: int, winner_is_newer: bool
) -> None:
    packets = [(gives_way, "Theirs.", 5.0), (wins, "Its own.", 9.0 if winner_is_newer else 1.0)]
    for source, text, hour in packets[::order]:
        stored = put(store, source, text, hour)
    assert versions(store, stored.document_id)[-1] == ("Its own.", wins, "current")
    assert clock(store, stored.document_id) == at(packets[1][2])
    again = put(store, gives_way, "Theirs, changed.", 20)
    assert (again.outcome, again.fresh) == ("deferred", False)


def test_what_a_source_says_twice_in_one_packet_does_not_flutter(store: Store) -> None:
    def packet(hour: float) -> list[Stored]:
        records = [
            SourceRecord(
                source_type="label",
                title="A made-up label",
                text=text,
                source_key="set:1",
                fetched_at=at(hour),
            )
            for text in ("Version 1.", "Version 2.")
        ]
        with store.unit_of_work("test") as work:
            return put_versions(work, [(one, EMPTY) for one in records], source="openfda-label")

    first = packet(0)
    assert [one.outcome for one in first] == ["outdated", "new"]
    assert [one.outcome for one in packet(24)] == ["outdated", "unchanged"]
    assert versions(store, first[0].document_id) == [("Version 2.", "openfda-label", "current")]


def test_each_document_of_a_packet_has_the_clock_of_its_own_record(store: Store) -> None:
    def packet(hours: dict[str, float]) -> dict[str, datetime]:
        records = [
            SourceRecord(
                source_type="pubmed",
                title="A made-up work",
                text="Words.",
                source_key=key,
                fetched_at=at(hour),
            )
            for key, hour in hours.items()
        ]
        with store.unit_of_work("test") as work:
            stored = put_versions(work, [(one, EMPTY) for one in records], source="pubmed")
        return {key: clock(store, one.document_id) for key, one in zip(hours, stored, strict=True)}

    assert packet({"a": 2, "b": 1}) == {"a": at(2), "b": at(1)}
    # one that is new beside one that is held, and one whose record is older than what is held
    assert packet({"c": 0, "b": 3, "a": 1}) == {"a": at(2), "b": at(3), "c": at(0)}


def test_what_a_user_brings_under_the_number_changes_nothing_of_what_a_watch_vouches_for(
    store: Store,
) -> None:
    stored = put(store, "pubmed", "Of PubMed.", 0)
    with store.unit_of_work("test") as work:
        watch = watches.follow(work, "pubmed", "made-up", "user", at(0))
        watches.vouch(work.session, watch.id, "pubmed", [stored.document_id], at(0))
        watch.cursor_at = at(48)
        work.session.add(watch)
    assert clock(store, stored.document_id) == at(48)
    own = put(store, None, "Of a user.", 12)
    assert clock(store, stored.document_id) == at(48)
    assert clock(store, own.document_id) == at(12)
    assert versions(store, stored.document_id) == [("Of PubMed.", "pubmed", "current")]


def test_what_is_left_out_changes_no_clock_and_no_standing(store: Store) -> None:
    stored = put(store, "pubmed", "New.", 10)
    late = put(store, "pubmed", "Old.", 5, notices=RETRACTION)
    assert (late.outcome, late.version_id) == ("outdated", stored.version_id)
    with store.reading() as session:
        # PubMed has said since that there is no notice.
        document_id = stored.document_id
        assert known(session, [document_id])[document_id].standing.state == "none"
    assert clock(store, stored.document_id) == at(10)
