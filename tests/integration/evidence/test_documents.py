"""Versions: new content is a new one, the old one is superseded, none is ever edited."""

import threading
from dataclasses import asdict
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from store.core.spans import Structure
from store.core.unit_of_work import Store
from store.documents.documents import Stored, get_texts, get_versions, put_versions
from store.documents.records import SourceRecord

EMPTY = Structure(sections=(), paragraphs=(), sentences=())


def record(text: str = "First words.", **fields: Any) -> SourceRecord:
    return SourceRecord(title="A title", text=text, source_key="one", **fields)


def put(store: Store, *records: SourceRecord) -> list[Stored]:
    with store.unit_of_work("test") as work:
        return put_versions(work, [(one, EMPTY) for one in records])


def versions(store: Store) -> list[tuple[int, str]]:
    with store.reading() as session:
        rows = session.execute(sa.text("SELECT n, status FROM document_version ORDER BY n"))
        return [(row.n, row.status) for row in rows]


def test_invariant_7_new_content_is_a_new_version_and_the_old_one_is_superseded(
    store: Store,
) -> None:
    (first,) = put(store, record())
    (second,) = put(store, record("Other words."))
    assert (first.outcome, second.outcome) == ("new", "changed")
    assert first.document_id == second.document_id
    assert versions(store) == [(1, "superseded"), (2, "current")]


def test_what_a_version_says_is_what_its_row_holds_in_the_order_that_is_asked_for(
    store: Store,
) -> None:
    ids = [put(store, record(one))[0].version_id for one in ("One.", "Two.")]
    with store.reading() as session:
        whole, said = get_versions(session, ids[::-1]), get_texts(session, ids[::-1])
        for row, one in zip(whole, said, strict=True):
            assert asdict(one).items() <= row.model_dump().items()
        assert [one.text for one in said] == ["Two.", "One."]
        with pytest.raises(LookupError, match="00000000-0000"):
            get_texts(session, [*ids, UUID(int=0)])


def test_the_same_content_again_only_moves_the_clock(store: Store) -> None:
    put(store, record(fetched_at="2026-01-01T00:00:00Z"))
    (again,) = put(store, record(fetched_at="2026-02-01T00:00:00Z"))
    assert again.outcome == "unchanged"
    assert versions(store) == [(1, "current")]
    with store.reading() as session:
        checked = session.execute(sa.text("SELECT checked_at FROM document")).scalar_one()
    assert checked.isoformat().startswith("2026-02-01")


def test_an_older_fetch_never_turns_the_clock_back(store: Store) -> None:
    put(store, record(fetched_at="2026-02-01T00:00:00Z"))
    put(store, record(fetched_at="2026-01-01T00:00:00Z"))
    with store.reading() as session:
        checked = session.execute(sa.text("SELECT checked_at FROM document")).scalar_one()
    assert checked.isoformat().startswith("2026-02-01")


def test_three_states_of_one_document_in_one_packet_are_three_versions(store: Store) -> None:
    put(store, record("One."), record("Two."), record("One."))
    assert versions(store) == [(1, "superseded"), (2, "superseded"), (3, "current")]


def test_packets_at_the_same_time_agree_on_one_current_version(store: Store) -> None:
    errors: list[BaseException] = []

    def write(number: int) -> None:
        try:
            put(store, record(f"Words of writer {number}."))
        except BaseException as error:  # noqa: BLE001  reported by the assertion
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    found = versions(store)
    assert [n for n, _ in found] == list(range(1, 9))
    assert [status for _, status in found].count("current") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE document_version SET text = 'changed'",
        "UPDATE document_version SET published_at = now()",
        "UPDATE document_version SET structure = '{}'",
        "DELETE FROM document_version",
    ],
)
def test_invariant_7_the_database_itself_refuses_to_edit_a_version(
    store: Store, statement: str
) -> None:
    put(store, record())
    with pytest.raises(DBAPIError, match=r"immutable|never deleted"), store.engine.begin() as db:
        db.execute(sa.text(statement))


def test_invariant_7_what_was_superseded_never_becomes_current_again(store: Store) -> None:
    put(store, record("One."), record("Two."))
    with pytest.raises(DBAPIError, match="never becomes current"), store.engine.begin() as db:
        db.execute(sa.text("UPDATE document_version SET status = 'current' WHERE n = 1"))


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"identifiers": {"pmid": "123", "doi": "10.1000/X"}}, "pmid:123"),
        ({"identifiers": {"doi": "10.1000/AbC"}}, "doi:10.1000/abc"),
        ({"source_key": "Own Key"}, "document:Own Key"),
        ({"title": " Some  Title "}, "document:title:some title"),
    ],
)
def test_a_document_is_known_again_by_its_strongest_identifier(
    fields: dict[str, Any], key: str
) -> None:
    assert SourceRecord.model_validate({"title": "t", "text": "x", **fields}).key == key


WITHOUT_A_MODEL = {
    *("import_file", "notice", "rate_limit", "source_state", "standing_check", "tick"),
    *("version_tags", "watch_document"),
}
"""Tables that only SQL reads and writes."""


def test_migrations_and_models_agree(engine: sa.Engine) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from sqlmodel import SQLModel

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "include_object": lambda _o, name, kind, *_: (
                    kind != "index" and not (kind == "table" and name in WITHOUT_A_MODEL)
                )
            },
        )
        differences = [
            difference
            for difference in compare_metadata(context, SQLModel.metadata)
            if difference[0] not in {"remove_constraint", "add_constraint", "remove_fk", "add_fk"}
        ]
    assert differences == []
