"""What became of works, and which edition is in force, in the store: by every door, and for what an
older release stored."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from cli.evaluate.scratch import take_in as take_in_lines
from clinical_text.structure import segment
from store.core.unit_of_work import Store
from store.documents.documents import put_versions
from store.documents.editions import decide, questions
from store.documents.records import SourceRecord
from store.index.filters import Filter
from store.models import now
from workers.ingest.rereading import Change, reread
from workers.inline import InlineWorker


def guideline(year: int, title: str = "Gout in adults", **fields: Any) -> dict[str, Any]:
    return {
        "source_type": "guideline",
        "title": f"{title} ({year})",
        "text": f"## Recommendations\n\nWhat was right in {year}.",
        "source_key": f"test:{title}:{year}",
        "publisher": "NICE",
        "published_at": f"{year}-06-01T00:00:00Z",
        **fields,
    }


def statuses(store: Store) -> dict[str, str]:
    """Title → status of its newest version."""
    with store.reading() as session:
        rows = session.execute(sa.text("SELECT title, status FROM document_version ORDER BY n"))
        return {row.title: row.status for row in rows}


def take_in(worker: InlineWorker, *records: dict[str, Any]) -> None:
    take_in_lines(worker, "\n".join(map(json.dumps, records)).encode())


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("order", [(2012, 2022, 2017), (2022, 2017, 2012)])
def test_the_newest_edition_is_in_force_in_whatever_order_they_come(
    inline: InlineWorker, order: tuple[int, ...], together: bool
) -> None:
    records = [guideline(year) for year in order]
    for some in [records] if together else [[one] for one in records]:
        take_in(inline, *some)
    expected = {2012: "superseded", 2017: "superseded", 2022: "current"}
    assert statuses(inline.store) == {f"Gout in adults ({y})": s for y, s in expected.items()}
    take_in(inline, guideline(2012, text="## Recommendations\n\nThe same, mended."))
    assert statuses(inline.store)["Gout in adults (2012)"] == "superseded", "it stays replaced"


def test_an_older_edition_answers_as_of_its_day(inline: InlineWorker) -> None:
    take_in(inline, guideline(2012))
    before = now()
    take_in(inline, guideline(2022))
    with inline.store.reading() as session:
        only = Filter(as_of=before)
        then = session.connection().connection.cursor()
        then.execute(f"SELECT title FROM {only.tables} WHERE {only.conditions}", only.parameters)
        assert then.fetchall() == [("Gout in adults (2012)",)]


def test_an_operator_answers_what_cannot_be_told(inline: InlineWorker) -> None:
    take_in(inline, guideline(2012, publisher=None), guideline(2022, publisher=None))
    assert set(statuses(inline.store).values()) == {"current"}
    with inline.store.reading() as session:
        (found,) = session.execute(
            sa.text("SELECT kind, resolved_at FROM finding WHERE kind = 'edition'")
        )
    assert found.resolved_at is None


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"title": "RETRACTED: A made-up trial"}, "retracted"),
        ({"text": "This article has been withdrawn by its authors."}, "retracted"),
        ({"text": "This guideline has been replaced by another."}, "superseded"),
        ({"publication_type": "Retracted Publication"}, "retracted"),
        ({"title": "Expression of concern: A made-up trial"}, "current"),
        ({"title": "Retraction pockets in children"}, "current"),
    ],
)
def test_a_callers_record_says_what_became_of_it(
    inline: InlineWorker, fields: dict[str, Any], status: str
) -> None:
    take_in(inline, {"title": "A made-up trial", "text": "Words.", **fields})
    assert list(statuses(inline.store).values()) == [status]


def test_what_an_older_release_stored_is_listed_and_then_mended(store: Store) -> None:
    def put(source: str | None, **fields: Any) -> UUID:
        record = SourceRecord.model_validate({"text": "Words.", **fields})
        with store.unit_of_work("test") as work:
            return put_versions(work, [(record, segment(record.text))], source=source)[
                0
            ].document_id

    ended = put(None, title="RETRACTED: A made-up trial")
    older, newer = put(None, **guideline(2012)), put(None, **guideline(2022))
    french = "Les patients ont reçu le traitement pendant douze semaines sans effet grave."
    foreign = put(None, title="B", text=french)
    mixed = put("pubmed", title="A", identifiers={"pmid": "7"}, source_type="pubmed")
    with store.unit_of_work("test") as work:
        work.session.execute(sa.text("ALTER TABLE document_version DISABLE TRIGGER USER"))
        work.session.execute(
            sa.text("UPDATE document_version SET source = NULL WHERE document_id = :id"),
            {"id": mixed},
        )
        work.session.execute(sa.text("ALTER TABLE document_version ENABLE TRIGGER USER"))

    def run(*, dry_run: bool) -> dict[UUID, Change]:
        found = reread(store, datetime.now(UTC), dry_run=dry_run)
        return {change.document_id: change for _, changes in found for change in changes}

    before = statuses(store)
    listed = run(dry_run=True)
    assert {key: one.what for key, one in listed.items()} == {
        ended: "ended",
        older: "replaced",
        mixed: "mixed",
        foreign: "language",
    }
    assert statuses(store) == before
    assert run(dry_run=False) == listed
    assert statuses(store) == {
        "RETRACTED: A made-up trial": "retracted",
        "Gout in adults (2012)": "superseded",
        "Gout in adults (2022)": "current",
        **{"A": "current", "B": "current"},
    }
    assert run(dry_run=False).keys() == {mixed, foreign}, "the rest is mended"
    assert newer not in listed


@pytest.mark.parametrize("answer", ["--replaced", "--apart"])
def test_the_operators_answer_holds(inline: InlineWorker, answer: str) -> None:
    records = [guideline(year, publisher=None) for year in (2012, 2022)]
    take_in(inline, *records)
    with inline.store.reading() as session:
        (older,) = [one["older"] for one in questions(session)]
    with inline.store.unit_of_work("test") as work:
        decide(work, older, replaced=answer == "--replaced", at=now())
    changed = [{**one, "text": f"{one['text']} Mended."} for one in records]
    take_in(inline, *changed)
    with inline.store.reading() as session:
        assert questions(session) == []
    expected = "superseded" if answer == "--replaced" else "current"
    assert statuses(inline.store)["Gout in adults (2012)"] == expected
