"""Of a user's uploads of one document the last that was accepted counts, whenever it is read."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import select

from messages import IngestV1
from store.core.clock import database_now
from store.core.unit_of_work import Store
from store.documents.submissions import submit_item
from store.models import DocumentVersion, IngestItem
from tests.integration.runtime.harness import rows
from workers.ingest import stage
from workers.inline import InlineWorker


def upload(store: Store, *records: dict[str, Any]) -> IngestItem:
    """Accept a file of these records; nothing reads it yet."""
    content = "\n".join(json.dumps({"title": "A plan", **record}) for record in records).encode()
    with store.unit_of_work("test", request_id=uuid4()) as work:
        return submit_item(
            work,
            filename="plan.jsonl",
            media_type=None,
            content=content,
            source_type=None,
            batch_id=uuid4(),
        )


def take_in(worker: InlineWorker, item: IngestItem) -> list[str]:
    """Read an upload; what became of each of its records."""
    message = IngestV1(request_id=uuid4(), item_id=item.id, content_hash=item.content_hash)
    read = stage.work(worker.context, message)
    with worker.store.unit_of_work("test", request_id=uuid4()) as work:
        stage.commit(work, message, read)
    return [one["outcome"] for one in kept(worker.store, item.id).outcome["documents"]]


def kept(store: Store, item_id: UUID) -> Any:
    """The upload as it stands."""
    return rows(store, "SELECT * FROM ingest_item WHERE id = :id", id=item_id)[0]


def current(store: Store) -> Sequence[str]:
    """What the current versions say."""
    found = rows(store, "SELECT text FROM document_version WHERE status = 'current'")
    return [row.text for row in found]


def test_an_older_upload_that_is_read_later_does_not_supersede_a_newer_one(
    inline: InlineWorker,
) -> None:
    slow, quick = upload(inline.store, {"text": "Old."}), upload(inline.store, {"text": "New."})
    assert take_in(inline, quick) == ["new"]
    assert take_in(inline, slow) == ["outdated"]
    assert current(inline.store) == ["New."]


def test_an_upload_is_as_old_as_the_moment_at_which_it_was_accepted(inline: InlineWorker) -> None:
    item = upload(inline.store, {"text": "Words."})
    take_in(inline, item)
    (version,) = rows(inline.store, "SELECT fetched_at FROM document_version")
    assert version.fetched_at == kept(inline.store, item.id).created_at


def test_uploads_one_after_another_each_supersede_the_one_before(inline: InlineWorker) -> None:
    outcomes = [
        take_in(inline, upload(inline.store, {"text": text})) for text in ("A.", "B.", "B.", "A.")
    ]
    assert outcomes == [["new"], ["changed"], ["unchanged"], ["changed"]]
    assert current(inline.store) == ["A."]


def test_of_several_records_of_one_document_in_a_file_the_last_is_current(
    inline: InlineWorker,
) -> None:
    item = upload(inline.store, {"text": "A."}, {"text": "B."}, {"text": "C."})
    assert take_in(inline, item) == ["new", "changed", "changed"]
    assert current(inline.store) == ["C."]


def test_a_record_that_says_when_it_was_fetched_keeps_its_moment(inline: InlineWorker) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    take_in(inline, upload(inline.store, {"text": "A.", "fetched_at": moment.isoformat()}))
    assert rows(inline.store, "SELECT fetched_at FROM document_version")[0].fetched_at == moment


def test_the_moment_of_acceptance_is_of_the_databases_clock(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts' clocks differ, and two of them may take the uploads of one document."""
    monkeypatch.setattr(
        "store.documents.submissions.now", lambda: datetime(2030, 1, 1, tzinfo=UTC), raising=False
    )
    with store.reading() as session:
        before = database_now(session)
    accepted = kept(store, upload(store, {"text": "A."}).id).created_at
    with store.reading() as session:
        assert before <= accepted <= database_now(session)


def ahead(store: Store, minutes: float) -> str:
    """A moment so far ahead of the database's clock."""
    with store.engine.connect() as connection:
        moment: datetime = connection.execute(sa.text("SELECT clock_timestamp()")).scalar_one()
    return (moment + timedelta(minutes=minutes)).isoformat()


def test_a_record_of_the_future_is_as_of_when_it_was_accepted(inline: InlineWorker) -> None:
    """It would be fresh for good, and no later version could supersede it."""
    item = upload(inline.store, {"text": "A.", "fetched_at": ahead(inline.store, 60 * 24 * 365)})
    inline.run()
    assert kept(inline.store, item.id).status == "done"
    with inline.store.reading() as session:
        (version,) = session.exec(select(DocumentVersion)).all()
    assert version.fetched_at == kept(inline.store, item.id).created_at
    upload(inline.store, {"text": "B."})
    inline.run()
    assert current(inline.store) == ["B."]
