"""What does not hold about identifiers: found, written down, resolved when it agrees again."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from store.audit import audit
from store.core.unit_of_work import Store
from store.documents import findings
from store.documents.citation_query import known
from store.documents.findings import NewFinding
from store.documents.publication_status import DueWork
from store.documents.records import SourceRecord
from store.documents.submissions import Origin, submit_item
from tests.integration.evidence.test_versions import at
from workers.ingest import enrich
from workers.ingest.enrichment import EnricherName, Statement
from workers.ingest.parsers.base import Doubt, Parsed, Problem
from workers.inline import InlineWorker

DOI = "10.5555/Made-Up"
TITLE = "A made-up trial of one thing against another"


class Stub:
    """A connector that reads what these tests write: JSON of records, doubts and problems."""

    def parse(self, payload: bytes) -> Parsed:
        said = json.loads(payload)
        return Parsed(
            records=[SourceRecord.model_validate(one) for one in said.get("records", [])],
            doubts=[Doubt(*one) for one in said.get("doubts", [])],
            problems=[Problem(*one) for one in said.get("problems", [])],
        )


@pytest.fixture
def worker(inline: InlineWorker, monkeypatch: pytest.MonkeyPatch) -> Iterator[InlineWorker]:
    """All stages; pages of sources are read by the stub."""
    monkeypatch.setattr("workers.ingest.stage.connector", lambda name, settings: Stub())
    return inline


def record(key: str, title: str = TITLE, text: str = "Words.", **identifiers: str) -> Any:
    return {
        "source_type": "pubmed",
        "source_key": key,
        "title": title,
        "text": text,
        "identifiers": identifiers,
    }


def page(
    worker: InlineWorker,
    source: str,
    hour: float,
    *records: Any,
    doubts: Any = (),
    problems: Any = (),
) -> list[UUID]:
    """A page of `source`, fetched at that hour, is read; gives the documents' ids."""
    said = {"records": records, "doubts": doubts, "problems": problems}
    with worker.store.unit_of_work("test", request_id=uuid4()) as work:
        item = submit_item(
            work,
            filename="page.json",
            media_type=None,
            content=json.dumps(said).encode(),
            source_type=None,
            batch_id=uuid4(),
            origin=Origin(source, at(hour)),
        )
    worker.run()
    with worker.store.reading() as session:
        outcome = session.execute(
            sa.text("SELECT outcome FROM ingest_item WHERE id = :id AND status = 'done'"),
            {"id": item.id},
        ).scalar_one()
    return [UUID(one["document_id"]) for one in outcome["documents"]]


def doubted(store: Store, document_id: UUID) -> set[str]:
    with store.reading() as session:
        return set(known(session, [document_id])[document_id].doubts)


def open_findings(store: Store) -> list[tuple[str, str, str]]:
    """Kind, source and subject of each open finding."""
    with store.reading() as session:
        rows = session.execute(
            sa.text("SELECT kind, source, subject FROM finding WHERE resolved_at IS NULL")
        )
        return sorted((row.kind, row.source, row.subject) for row in rows)


# --- one identifier on two works ------------------------------------------------------------------


def test_eb_7_5_a_doi_on_two_titles_is_in_doubt_on_both(worker: InlineWorker) -> None:
    (one,) = page(worker, "pubmed", 0, record("1", doi=DOI))
    (other,) = page(worker, "europepmc", 1, record("2", "Quite another work", doi=DOI.lower()))
    assert doubted(worker.store, one) == doubted(worker.store, other) == {f"doi:{DOI.lower()}"}
    assert open_findings(worker.store) == [
        ("conflict", "europepmc", f"doi:{DOI.lower()}"),
        ("conflict", "pubmed", f"doi:{DOI.lower()}"),
    ]


def test_a_conflict_is_resolved_on_both_when_one_of_them_is_corrected(
    worker: InlineWorker,
) -> None:
    (one,) = page(worker, "pubmed", 0, record("1", doi=DOI))
    (other,) = page(worker, "europepmc", 1, record("2", "Quite another work", doi=DOI))
    page(worker, "europepmc", 2, record("2", "Quite another work", doi="10.5555/its-own"))
    assert doubted(worker.store, one) == doubted(worker.store, other) == set()
    page(worker, "europepmc", 3, record("2", "Quite another work", doi=DOI))
    assert doubted(worker.store, one) == {f"doi:{DOI.lower()}"}
    with worker.store.reading() as session:
        events = session.execute(
            sa.text(
                "SELECT event FROM audit_event WHERE subject = :id AND event LIKE 'finding.%' "
                "ORDER BY seq"
            ),
            {"id": str(one)},
        ).scalars()
        assert list(events) == ["finding.new", "finding.resolved", "finding.reopened"]
        assert audit.verify(session).whole


def test_a_conflict_of_three_lasts_while_two_of_them_still_share_it(worker: InlineWorker) -> None:
    titles = ("One work of its own", "Another work of another", "A third, quite different")
    ids = [
        page(worker, "pubmed", hour, record(str(hour), title, pmcid="PMC12"))[0]
        for hour, title in enumerate(titles)
    ]
    assert all(doubted(worker.store, one) == {"pmcid:pmc12"} for one in ids)
    page(worker, "pubmed", 5, record("0", titles[0], pmcid="PMC34"))
    assert [bool(doubted(worker.store, one)) for one in ids] == [False, True, True]
    page(worker, "pubmed", 6, record("1", titles[1], pmcid="PMC56"))
    assert not any(doubted(worker.store, one) for one in ids)


def test_an_abstract_and_its_full_text_share_identifiers_rightly(worker: InlineWorker) -> None:
    page(worker, "pubmed", 0, record("1", TITLE, doi=DOI))
    page(worker, "europepmc", 1, record("2", f"{TITLE.upper()}.", text="All of it.", doi=DOI))
    assert open_findings(worker.store) == []


def test_a_publication_that_names_a_trial_is_in_no_conflict_with_it(worker: InlineWorker) -> None:
    trial = {**record("t", "The trial's record", nct_id="NCT01234567")}
    page(worker, "clinicaltrials", 0, {**trial, "source_type": "clinicaltrials"})
    page(worker, "pubmed", 1, record("1", "What the trial found", nct_id="NCT01234567"))
    page(worker, "pubmed", 2, record("2", "What it cost", nct_id="NCT01234567"))
    assert open_findings(worker.store) == []


def test_an_upload_under_a_work_s_identifier_is_marked_and_puts_nothing_in_doubt_there(
    worker: InlineWorker,
) -> None:
    (one,) = page(worker, "pubmed", 0, record("1", doi=DOI))
    content = json.dumps(record("mine", "Something else altogether", doi=DOI)).encode()
    with worker.store.unit_of_work("test", request_id=uuid4()) as work:
        submit_item(
            work,
            filename="mine.json",
            media_type=None,
            content=content,
            source_type=None,
            batch_id=uuid4(),
        )
    worker.run()
    assert doubted(worker.store, one) == set()
    assert open_findings(worker.store) == [("claimed", "submission", f"doi:{DOI.lower()}")]


# --- what other sources say of a DOI --------------------------------------------------------------


def say(store: Store, source: EnricherName, document_id: UUID, hour: float, **said: Any) -> None:
    """What Crossref or OpenAlex answers about the DOI at that hour."""
    statement = Statement("pmid:1", source, **{"known": True, **said})
    with store.unit_of_work("test") as work:
        enrich.take(work, source, [(DueWork(document_id, "pmid:1", DOI), statement)], at(hour))


@pytest.mark.parametrize(
    ("said", "also"),
    [
        ({"title": "An article on something else entirely"}, {"pmid:1"}),  # EB-7.3
        ({"title": TITLE, "pmid": "77"}, set()),
        ({"title": TITLE, "year": 1999}, set()),
    ],
)
def test_a_doi_that_crossref_gives_to_another_work_is_in_doubt_until_it_agrees(
    worker: InlineWorker, said: dict[str, Any], also: set[str]
) -> None:
    given = {**record("1", doi=DOI, pmid="1"), "published_at": "2026-01-01T00:00:00Z"}
    (one,) = page(worker, "pubmed", 0, given)
    say(worker.store, "crossref", one, 1, **said)
    assert doubted(worker.store, one) == {f"doi:{DOI.lower()}"} | also
    say(worker.store, "openalex", one, 2, title=TITLE, pmid="1")  # only its own word counts
    assert doubted(worker.store, one) == {f"doi:{DOI.lower()}"} | also
    say(worker.store, "crossref", one, 3, title=TITLE, pmid="1", year=2025)
    assert doubted(worker.store, one) == set()


def test_a_record_that_drops_a_wrong_doi_is_trusted_again(worker: InlineWorker) -> None:
    (one,) = page(worker, "pubmed", 0, record("1", doi=DOI, pmid="1"))
    say(worker.store, "crossref", one, 1, title="An article on something else entirely")
    page(worker, "pubmed", 2, record("1", pmid="1", text="Other words.", doi=DOI))
    assert doubted(worker.store, one) == {f"doi:{DOI.lower()}", "pmid:1"}
    page(worker, "pubmed", 3, record("1", pmid="1"))
    assert doubted(worker.store, one) == set()


def test_a_doi_does_not_exist_only_if_both_do_not_know_it(worker: InlineWorker) -> None:
    (one,) = page(worker, "pubmed", 0, record("1", doi=DOI))
    say(worker.store, "crossref", one, 1, known=False)
    assert doubted(worker.store, one) == set()
    say(worker.store, "openalex", one, 2, known=False)
    assert doubted(worker.store, one) == {f"doi:{DOI.lower()}"}
    assert [kind for kind, _, _ in open_findings(worker.store)] == ["nonexistent"]
    # Whoever knows it now, it exists.
    say(worker.store, "crossref", one, 3, title=TITLE)
    assert doubted(worker.store, one) == set()


def test_what_was_said_of_another_doi_does_not_count_for_this_one(worker: InlineWorker) -> None:
    (one,) = page(worker, "pubmed", 0, record("1", doi="10.5555/first"))
    with worker.store.unit_of_work("test") as work:
        due = DueWork(one, "pmid:1", "10.5555/first")
        enrich.take(work, "openalex", [(due, Statement("pmid:1", "openalex", known=False))], at(1))
    page(worker, "pubmed", 2, record("1", doi=DOI))
    say(worker.store, "crossref", one, 3, known=False)
    assert doubted(worker.store, one) == set()
    # Nor does a statement that was asked for before the work named another DOI.
    with worker.store.unit_of_work("test") as work:
        late = Statement("pmid:1", "crossref", known=True, title="Quite another title")
        enrich.take(work, "crossref", [(due, late)], at(4))
    assert doubted(worker.store, one) == set()


def test_an_alias_and_a_translated_title_are_no_contradiction(worker: InlineWorker) -> None:
    (one,) = page(worker, "pubmed", 0, record("1", "[A study of something made up].", doi=DOI))
    said = {"title": "Eine Studie über etwas Ausgedachtes", "doi": "10.5555/prime"}
    say(worker.store, "crossref", one, 1, **said)
    assert doubted(worker.store, one) == set()


# --- numbers that cannot be one -------------------------------------------------------------------


def test_a_malformed_registry_number_in_the_words_is_found_and_resolved_with_them(
    worker: InlineWorker,
) -> None:
    text = "Registered as NCT0123456, as NCT01234567 and as NCT 012345678."
    (one,) = page(worker, "pubmed", 0, record("1", text=text))
    assert doubted(worker.store, one) == {"nct_id:nct0123456", "nct_id:nct012345678"}
    page(worker, "pubmed", 1, record("1", text=text))
    assert len(doubted(worker.store, one)) == 2
    page(worker, "pubmed", 2, record("1", text="Registered as NCT01234567."))
    assert doubted(worker.store, one) == set()


def test_an_identifier_that_the_parser_left_out_is_found_on_its_document(
    worker: InlineWorker,
) -> None:
    doubts = [["pubmed:1", "doi", "10.5/x y"], ["pubmed:7", "pmcid", "PMC"]]
    (one,) = page(worker, "pubmed", 0, record("1"), doubts=doubts)
    assert doubted(worker.store, one) == {"doi:10.5/x y"}
    assert len(open_findings(worker.store)) == 2  # the other's record is not there
    page(worker, "pubmed", 1, record("1"))
    assert doubted(worker.store, one) == set()


def test_a_record_that_could_not_be_read_is_closed_once_it_can(worker: InlineWorker) -> None:
    problems = [["pubmed:1", "no title"], [None, "no id"]]
    page(worker, "pubmed", 0, problems=problems)
    kinds = [(kind, subject) for kind, _, subject in open_findings(worker.store)]
    assert kinds[1] == ("unreadable", "pubmed:1")
    page(worker, "pubmed", 1, record("1"))
    assert [subject for _, _, subject in open_findings(worker.store)] == [kinds[0][1]]


def test_what_was_seen_before_it_was_resolved_does_not_open_it_again(worker: InlineWorker) -> None:
    text = "Registered as NCT0123456."
    (one,) = page(worker, "pubmed", 1, record("1", text=text))
    page(worker, "pubmed", 5, record("1"))
    page(worker, "pubmed", 3, record("1", text=text))
    assert doubted(worker.store, one) == set()
    with worker.store.unit_of_work("test") as work:
        findings.put(work, "pubmed", [NewFinding("malformed", "nct_id:NCT0123456", one)], at(4))
    assert doubted(worker.store, one) == set()
    page(worker, "pubmed", 6, record("1", text=text))
    assert doubted(worker.store, one) == {"nct_id:nct0123456"}


def test_the_same_finding_twice_in_one_packet_is_one(store: Store) -> None:
    twice = [NewFinding("unmapped", "A/B"), NewFinding("unmapped", "A/B", detail={"seen": 2})]
    with store.unit_of_work("test") as work:
        assert findings.put(work, "pubmed", twice, at(0)) == 1
    with store.unit_of_work("test") as work:
        assert findings.put(work, "pubmed", twice, at(0)) == 0
    with Session(store.engine) as session:
        held = session.execute(sa.text("SELECT detail FROM finding")).scalars()
        assert list(held) == [{"seen": 2}]


def test_invariant_11_findings_hold_no_words_of_a_document(worker: InlineWorker) -> None:
    page(worker, "pubmed", 0, record("1", "Verbum secretum", "Alia NCT0123456 verba.", doi=DOI))
    page(worker, "pubmed", 1, record("2", "Quite another work", doi=DOI))
    with worker.store.reading() as session:
        told = session.execute(
            sa.text(
                "SELECT count(*) FROM (SELECT row_to_json(finding)::text AS t FROM finding "
                "UNION ALL SELECT payload::text FROM audit_event) AS told "
                "WHERE t ~* 'secretum|verba|another work'"
            )
        ).scalar_one()
    assert told == 0
