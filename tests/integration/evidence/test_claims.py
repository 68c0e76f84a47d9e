"""A number is its source's: who else brings a record under it has a document of its own, which is
marked, and is never that work, whichever of the two came first."""

import json
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.documents.uploads import item_of
from api_gateway.http.uploads import Received
from cli.commands.evidence.ingest import claimed, submit
from clinical_text.structure import segment
from knowledge.feeds.sources import connector_policies, owners_of
from knowledge.scenarios import scenarios
from messages import IngestV1
from store.audit import audit
from store.core.unit_of_work import Store
from store.documents import claimed_works, identifiers, publication_status
from store.documents.documents import SUBMITTED
from store.documents.findings import Kind
from store.documents.publication_status import DueWork
from store.documents.records import Identifiers, Notice, SourceRecord, SourceType
from store.documents.submissions import Origin, submit_item
from store.models import Answer, now
from tests.integration.evidence.test_findings import TITLE, Stub, doubted, open_findings, page
from tests.integration.evidence.test_versions import SAME_DATABASE, at, versions
from tests.servers import ask
from workers.ingest import enrich, stage
from workers.ingest.connectors.guidelines import Guidelines
from workers.ingest.enrichment import Statement
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.envelope import wrap
from workers.inline import InlineWorker

ALIEN = "Bananas as a cure for everything"
SET_ID = "0d8ef0d0-1c1f-4c6b-9c3c-1f2f3a4b5c6d"
NUMBERS = {
    "pmid": ("pubmed", "pubmed", "123"),
    "pmcid": ("europepmc", "europepmc", "PMC77"),
    "doi": ("pubmed", "pubmed", "10.5555/Made-Up"),
    "nct_id": ("clinicaltrials", "clinicaltrials", "NCT01234567"),
    "set_id": ("dailymed", "label", SET_ID),
    "lcd_id": ("cms", "payer", "L38779"),
}
"""By kind: a connector that owns it, the source type of its records, a value."""


@pytest.fixture
def worker(inline: InlineWorker, monkeypatch: pytest.MonkeyPatch) -> InlineWorker:
    """All stages; pages of sources are read by a stub, guideline files as they are."""

    def connector(name: str, settings: Any) -> Any:
        return Guidelines(None) if name == "guidelines" else Stub()

    monkeypatch.setattr("workers.ingest.stage.connector", connector)
    return inline


def record(title: str = TITLE, text: str = "Words.", **fields: Any) -> dict[str, Any]:
    return {
        "source_type": "pubmed",
        "title": title,
        "text": text,
        "identifiers": {"pmid": "123"},
        "published_at": "2026-01-01T00:00:00Z",
        **fields,
    }


def of(kind: str, title: str = TITLE, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A connector that owns numbers of this kind, and a record under one."""
    source, source_type, value = NUMBERS[kind]
    return source, record(title, source_type=source_type, identifiers={kind: value}, **fields)


def became(store: Store) -> list[UUID]:
    """The documents that the newest item became."""
    with store.reading() as session:
        outcome = session.execute(
            sa.text("SELECT outcome FROM ingest_item ORDER BY created_at DESC LIMIT 1")
        ).scalar_one()
    return [UUID(one["document_id"]) for one in outcome["documents"]]


def bring(worker: InlineWorker, filename: str, content: bytes) -> UUID:
    """What a caller sends is read; gives the document."""
    with worker.store.unit_of_work("test", request_id=uuid4()) as work:
        submit_item(
            work,
            filename=filename,
            media_type=None,
            content=content,
            source_type=None,
            batch_id=uuid4(),
        )
    worker.run()
    (document_id,) = became(worker.store)
    return document_id


def by_http(worker: InlineWorker, given: Mapping[str, Any], _: Path) -> UUID:
    """POST /v1/documents, and the form of the page, which sends the same."""
    item = item_of(Received(json.dumps(given).encode()))
    return bring(worker, item.filename, item.content)


def by_file(worker: InlineWorker, given: Mapping[str, Any], _: Path) -> UUID:
    """A file of JSON Lines, uploaded."""
    return bring(worker, "mine.jsonl", json.dumps(given).encode())


def by_command(worker: InlineWorker, given: Mapping[str, Any], folder: Path) -> UUID:
    """attest ingest FOLDER"""
    (folder / "mine.json").write_text(json.dumps([given]))
    batch_id, _ = submit(worker.store, [folder], None)
    worker.run()
    (document_id,) = became(worker.store)
    told = claimed(worker.store, batch_id)
    assert {one["document_id"] for one in told} <= {str(document_id)}
    return document_id


def front_matter(given: Mapping[str, Any]) -> str:
    named = "\n".join(f"{kind}: {value}" for kind, value in given["identifiers"].items())
    return f"---\ntitle: {given['title']}\n{named}\n---\n\n{given['text']}\n"


def by_markdown(worker: InlineWorker, given: Mapping[str, Any], _: Path) -> UUID:
    """A text whose front matter gives the number."""
    return bring(worker, "mine.md", front_matter(given).encode())


def by_guideline_folder(worker: InlineWorker, given: Mapping[str, Any], _: Path) -> UUID:
    """A file of the guideline folder, whose own front matter gives the number."""
    sidecar = {
        "title": given["title"],
        "organisation": "A made-up society",
        "version": "1",
        "effective_date": "2026-01-01",
        "licence_note": "ours",
    }
    payload = wrap(front_matter(given).encode(), path="a.md", sidecar=sidecar, sha256="0" * 64)
    with worker.store.unit_of_work("test", request_id=uuid4()) as work:
        submit_item(
            work,
            filename="a.md",
            media_type=None,
            content=payload,
            source_type=None,
            batch_id=uuid4(),
            origin=Origin("guidelines", at(0)),
        )
    worker.run()
    (document_id,) = became(worker.store)
    return document_id


Door = Callable[[InlineWorker, Mapping[str, Any], Path], UUID]
CALLERS: list[Door] = [by_http, by_file, by_command, by_markdown]


def found(store: Store, kind: str, value: str) -> set[UUID]:
    """The documents that a search by this number leads to."""
    with store.reading() as session:
        ids = identifiers.held(session, {kind: [identifiers.normal(kind, value)]})
        rows = session.execute(
            sa.text("SELECT document_id FROM document_version WHERE id = ANY(:ids)"),
            {"ids": [one for some in ids.values() for one in some]},
        )
        return set(rows.scalars())


def told(store: Store, document_id: UUID) -> list[dict[str, Any]]:
    with store.reading() as session:
        return claimed_works.of_documents(session, [document_id]).get(document_id, [])


def current(store: Store, document_id: UUID) -> tuple[str, str | None]:
    """Text and source of the current version."""
    ((text, source, _),) = [one for one in versions(store, document_id) if one[2] == "current"]
    return text.strip(), source


# --- every door, every kind, both orders ----------------------------------------------------------


@pytest.mark.parametrize("door", CALLERS)
@pytest.mark.parametrize("title", [ALIEN, TITLE])
@pytest.mark.parametrize("caller_first", [True, False])
def test_a_caller_s_record_under_a_held_pmid_is_a_document_of_its_own(
    worker: InlineWorker, tmp_path: Path, door: Door, title: str, caller_first: bool
) -> None:
    mine = record(title, "A caller's words.")
    if caller_first:
        own = door(worker, mine, tmp_path)
        assert (told(worker.store, own), doubted(worker.store, own)) == ([], set())
        assert found(worker.store, "pmid", "123") == {own}
        (work,) = page(worker, "pubmed", 0, record(text="PubMed's words."))
    else:
        (work,) = page(worker, "pubmed", 0, record(text="PubMed's words."))
        own = door(worker, mine, tmp_path)
    assert own != work
    assert current(worker.store, work) == ("PubMed's words.", "pubmed")
    assert current(worker.store, own) == ("A caller's words.", None)
    assert doubted(worker.store, work) == set()
    assert doubted(worker.store, own) == {"pmid:123"}
    assert found(worker.store, "pmid", "123") == {work}
    (claim,) = told(worker.store, own)
    assert (claim["number"], claim["held"]) == ("pmid:123", [str(work)])
    assert (claim["title_agrees"], claim["held_ended"]) == (title == TITLE, False)
    assert open_findings(worker.store) == [("claimed", SUBMITTED, "pmid:123")]


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("caller_first", [True, False])
def test_every_kind_of_number_that_a_connector_owns_is_its_own(
    worker: InlineWorker, tmp_path: Path, kind: str, caller_first: bool
) -> None:
    source, theirs = of(kind, text="The source's words.")
    mine = {**theirs, "title": ALIEN, "text": "A caller's words.", "source_type": "document"}
    if caller_first:
        own = by_http(worker, mine, tmp_path)
        (work,) = page(worker, source, 0, theirs)
    else:
        (work,) = page(worker, source, 0, theirs)
        own = by_http(worker, mine, tmp_path)
    assert current(worker.store, work)[1] == source
    assert (own != work, doubted(worker.store, work)) == (True, set())
    value = NUMBERS[kind][2]
    assert doubted(worker.store, own) == {f"{kind}:{value}".lower()}
    assert found(worker.store, kind, value) == {work}


@pytest.mark.parametrize("door", [*CALLERS, by_guideline_folder])
def test_what_comes_by_any_door_is_cited_as_no_other_work_and_no_refresh_changes_it(
    worker: InlineWorker, tmp_path: Path, door: Door
) -> None:
    """Of every kind of number that the door takes; what it does not take, it does not keep."""
    given = {}
    for cured, kind in enumerate(NUMBERS, start=41):
        source, theirs = of(kind, text="The source's words.")
        (work,) = page(worker, source, 0, theirs)
        words = f"Bananas cured {cured} of 97 adults of everything by {kind}."
        mine = {**theirs, "title": f"{ALIEN}: {kind}", "text": words, "source_type": "document"}
        given[kind] = (door(worker, mine, tmp_path), work)
    question_id = ask(worker.store, "Did bananas cure adults of everything?")
    worker.run()
    with worker.store.reading() as session:
        body = session.get_one(Answer, question_id).body
    cited = {one["source"]["document_id"]: json.dumps(one).lower() for one in body["evidence"]}
    assert cited.keys() & {str(own) for own, _ in given.values()}
    before = {own: versions(worker.store, own) for own, _ in given.values()}
    for kind, (own, work) in given.items():
        source, theirs = of(kind, text="The source's new words.")
        page(worker, source, 1, theirs)
        number = f"{kind}:{NUMBERS[kind][2]}".lower()
        assert current(worker.store, work) == ("The source's new words.", source)
        assert (versions(worker.store, own), kind) == (before[own], kind)
        value = re.escape(number.partition(":")[2])
        assert not re.search(rf"(?<![\w-]){value}(?![\w-])", cited.get(str(own), "")), (
            "but in an id"
        )
        taken = kind in numbers_of(worker.store, own)
        assert doubted(worker.store, own) == ({number} if taken else set())
        assert found(worker.store, kind, NUMBERS[kind][2]) == {work}
    assert any(numbers_of(worker.store, own) for own, _ in given.values())


def numbers_of(store: Store, document_id: UUID) -> dict[str, str]:
    """The identifiers of the current version."""
    with store.reading() as session:
        statement = sa.text(
            "SELECT identifiers FROM document_version WHERE document_id = :id "
            "AND status = 'current'"
        )
        return dict(session.execute(statement, {"id": document_id}).scalar_one())


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("openfda-drugsfda", "drugsfda:BLA761034"),
        ("openfda-enforcement", "recall:D-0001-2026"),
        ("ema", "human/made-up"),
    ],
)
def test_an_application_number_is_its_source_s_too(
    worker: InlineWorker, tmp_path: Path, source: str, key: str
) -> None:
    given = {**record(), "source_type": "regulator", "source_key": key, "identifiers": {}}
    own = by_http(worker, {**given, "title": ALIEN}, tmp_path)
    (work,) = page(worker, source, 0, given)
    assert own != work
    assert [one["number"] for one in told(worker.store, own)] == [f"regulator:{key}"]
    assert doubted(worker.store, work) == set()


def test_a_second_number_of_the_work_is_its_own_as_well_under_whatever_key(
    worker: InlineWorker, tmp_path: Path
) -> None:
    both = {"pmid": "123", "doi": "10.5555/Made-Up"}
    (work,) = page(worker, "pubmed", 0, record(identifiers=both))
    mine = {**record(ALIEN), "source_key": "mine", "identifiers": {"doi": "10.5555/MADE-UP"}}
    own = by_http(worker, mine, tmp_path)
    assert doubted(worker.store, own) == {"doi:10.5555/made-up"}
    assert (doubted(worker.store, work), found(worker.store, "doi", both["doi"])) == (set(), {work})


def test_a_paper_that_names_a_trial_does_not_claim_to_be_it(
    worker: InlineWorker, tmp_path: Path
) -> None:
    source, trial = of("nct_id")
    page(worker, source, 0, trial)
    paper = {"pmid": "999", "nct_id": "NCT01234567"}
    own = by_http(worker, record(ALIEN, identifiers=paper), tmp_path)
    assert (told(worker.store, own), doubted(worker.store, own)) == ([], set())


# --- a user's guideline folder --------------------------------------------------------------------


@pytest.mark.parametrize("folder_first", [True, False])
def test_a_guideline_file_under_a_held_number_and_another_title_is_marked(
    worker: InlineWorker, tmp_path: Path, folder_first: bool
) -> None:
    mine = record(ALIEN, "A guideline's words.")
    if folder_first:
        own = by_guideline_folder(worker, mine, tmp_path)
        (work,) = page(worker, "pubmed", 0, record())
    else:
        (work,) = page(worker, "pubmed", 0, record())
        own = by_guideline_folder(worker, mine, tmp_path)
    assert (own != work, doubted(worker.store, work)) == (True, set())
    assert doubted(worker.store, own) == {"pmid:123"}
    assert found(worker.store, "pmid", "123") == {work}
    assert open_findings(worker.store) == [("claimed", "guidelines", "pmid:123")]


def test_a_guideline_file_of_the_same_title_is_the_work_in_another_form(
    worker: InlineWorker, tmp_path: Path
) -> None:
    (work,) = page(worker, "pubmed", 0, record())
    own = by_guideline_folder(worker, record(text="A guideline's words."), tmp_path)
    assert open_findings(worker.store) == []
    assert found(worker.store, "pmid", "123") == {work, own}


def test_a_caller_puts_no_guideline_file_s_number_in_doubt(
    worker: InlineWorker, tmp_path: Path
) -> None:
    own = by_guideline_folder(worker, record(), tmp_path)
    other = by_http(worker, record(ALIEN), tmp_path)
    assert doubted(worker.store, own) == set()
    assert doubted(worker.store, other) == {"pmid:123"}


# --- what ends, and what is called back -----------------------------------------------------------


def test_a_caller_s_notice_ends_nothing_but_its_own_document(
    worker: InlineWorker, tmp_path: Path
) -> None:
    (work,) = page(worker, "pubmed", 0, record())
    own = by_http(worker, record(notices=[{"kind": "retraction"}]), tmp_path)
    assert [one[2] for one in versions(worker.store, work)] == ["current"]
    assert [one[2] for one in versions(worker.store, own)] == ["retracted"]
    with worker.store.reading() as session:
        assert session.execute(sa.text("SELECT count(*) FROM answer_recall")).scalar_one() == 0


def test_new_words_of_a_caller_supersede_the_caller_s_only(
    worker: InlineWorker, tmp_path: Path
) -> None:
    (work,) = page(worker, "pubmed", 0, record())
    own = by_http(worker, record(ALIEN, "Old words."), tmp_path)
    assert by_http(worker, record(ALIEN, "New words."), tmp_path) == own
    assert [one[2] for one in versions(worker.store, work)] == ["current"]
    assert [one[2] for one in versions(worker.store, own)] == ["superseded", "current"]
    page(worker, "pubmed", 1, record(text="PubMed's new words."))
    assert len(versions(worker.store, own)) == 2
    assert doubted(worker.store, own) == {"pmid:123"}


def test_the_number_of_a_work_that_ended_does_not_fall_to_a_caller(
    worker: InlineWorker, tmp_path: Path
) -> None:
    both = {"pmid": "123", "doi": "10.5555/Made-Up"}
    (work,) = page(worker, "pubmed", 0, record(identifiers=both))
    with worker.store.unit_of_work("test") as unit:
        publication_status.remove(unit, "pubmed", [work], at(1))
    by_doi = {"source_key": "x", "identifiers": {"doi": both["doi"].upper()}}
    given: list[dict[str, Any]] = [{}, by_doi]
    for fields in given:
        own = by_http(worker, record(**fields), tmp_path)
        (claim,) = told(worker.store, own)
        assert (claim["held"], claim["held_ended"]) == ([str(work)], True)
        assert versions(worker.store, own)[-1][2] == "retracted"
    assert found(worker.store, "pmid", "123") == found(worker.store, "doi", both["doi"]) == set()


BOTH = {"pmid": "123", "doi": "10.5555/a"}


def by_its_own_record(worker: InlineWorker, work: UUID) -> None:
    notices = [{"kind": "retraction", "notice_id": "pmid:9"}]
    page(worker, "pubmed", 1, record(identifiers=BOTH, notices=notices))


def by_removal(worker: InlineWorker, work: UUID) -> None:
    with worker.store.unit_of_work("test", request_id=uuid4()) as unit:
        item = submit_item(
            unit,
            filename="gone.json",
            media_type=None,
            content=b'{"gone": ["pmid:123"]}',
            source_type=None,
            batch_id=uuid4(),
            origin=Origin("pubmed", at(1)),
        )
    message = IngestV1(request_id=uuid4(), item_id=item.id, content_hash=item.content_hash)
    with worker.store.unit_of_work("test") as unit:
        stage.commit(unit, message, stage.Read(now(), [], Parsed(gone=["pmid:123"])))


def by_crossref(worker: InlineWorker, work: UUID) -> None:
    said = Statement("pmid:123", "crossref", known=True, notices=(Notice(kind="retraction"),))
    with worker.store.unit_of_work("test") as unit:
        enrich.take(unit, "crossref", [(DueWork(work, "pmid:123", "10.5555/a"), said)], now())


@pytest.mark.parametrize("end", [by_its_own_record, by_removal, by_crossref])
@pytest.mark.parametrize("title", [TITLE, ALIEN])
def test_a_work_that_ends_does_not_go_on_in_what_a_caller_brought_under_its_number(
    worker: InlineWorker,
    tmp_path: Path,
    end: Callable[[InlineWorker, UUID], None],
    title: str,
) -> None:
    (work,) = page(worker, "pubmed", 0, record(identifiers=BOTH))
    own = by_http(worker, record(title, "A caller's words."), tmp_path)
    end(worker, work)
    assert [one[2] for one in versions(worker.store, work)] == ["retracted"]
    assert [one[2] for one in versions(worker.store, own)] == ["retracted"]
    (claim,) = told(worker.store, own)
    assert claim["held_ended"]
    assert by_http(worker, record(title, "Other words."), tmp_path) == own
    assert "current" not in {one[2] for one in versions(worker.store, own)}
    other = by_http(worker, record(title, identifiers={"pmid": "7"}), tmp_path)
    assert current(worker.store, other)[1] is None


def test_what_was_ended_by_mistake_is_evidence_again_once_it_is_sent_again(
    worker: InlineWorker, tmp_path: Path
) -> None:
    (work,) = page(worker, "pubmed", 0, record(identifiers=BOTH))
    own = by_http(worker, record(text="A caller's words."), tmp_path)
    by_its_own_record(worker, work)
    page(worker, "pubmed", 2, record(identifiers=BOTH))
    assert versions(worker.store, work)[-1][2] == "current"
    by_http(worker, record(text="A caller's words."), tmp_path)
    assert current(worker.store, own) == ("A caller's words.", None)
    assert not told(worker.store, own)[0]["held_ended"]


def test_a_claim_is_taken_back_with_the_number_on_either_side(
    worker: InlineWorker, tmp_path: Path
) -> None:
    keyed = {"source_key": "own"}
    (work,) = page(worker, "pubmed", 0, record(identifiers={"pmid": "123", "doi": "10.5555/a"}))
    own = by_http(worker, record(ALIEN, identifiers={"doi": "10.5555/a"}, **keyed), tmp_path)
    page(worker, "pubmed", 1, record(identifiers={"pmid": "123"}))
    assert (told(worker.store, own), doubted(worker.store, own)) == ([], set())
    page(worker, "pubmed", 2, record(identifiers={"pmid": "123", "doi": "10.5555/a"}))
    assert doubted(worker.store, own) == {"doi:10.5555/a"}
    by_http(worker, record(ALIEN, identifiers={"doi": "10.5555/its-own"}, **keyed), tmp_path)
    assert (told(worker.store, own), doubted(worker.store, own)) == ([], set())
    assert doubted(worker.store, work) == set()


# --- any order, again and again, at once ----------------------------------------------------------

EVENTS = st.lists(st.sampled_from(["pubmed", "newer", "europepmc", "mine", "alien"]), max_size=7)


def deliver(store: Store, source: str | None, given: Mapping[str, Any], hour: float) -> None:
    """What the ingest stage commits of an item with this one record."""
    parsed = SourceRecord.model_validate({**given, "fetched_at": at(hour)})
    with store.unit_of_work("test", request_id=uuid4()) as work:
        item = submit_item(
            work,
            filename="page.json",
            media_type=None,
            content=b"{}",
            source_type=None,
            batch_id=uuid4(),
            origin=Origin(source, at(hour)) if source else None,
        )
    message = IngestV1(request_id=uuid4(), item_id=item.id, content_hash=item.content_hash)
    with store.unit_of_work("test") as work:
        stage.commit(work, message, stage.Read(at(hour), [(parsed, segment(parsed.text))]))


@SAME_DATABASE
@given(EVENTS)
def test_whatever_comes_in_whatever_order_a_source_s_work_is_the_source_s(
    store: Store, events: list[str]
) -> None:
    pmid = str(uuid4().int % 10**8 + 1)
    named: dict[str, Any] = {"identifiers": {"pmid": pmid}}
    sent = {
        "pubmed": ("pubmed", record(**named)),
        "newer": ("pubmed", record(text="Newer words.", **named)),
        "europepmc": ("europepmc", record(text="Other words.", source_type="europepmc", **named)),
        "mine": (None, record(text="A caller's words.", **named)),
        "alien": (None, record(ALIEN, "An alien's words.", **named)),
    }
    for event in events:
        deliver(store, *sent[event], 5 if event == "newer" else 1)
    with store.reading() as session:
        rows = session.execute(
            sa.text(
                "SELECT v.document_id, v.source, v.text, v.status, d.source_key FROM "
                "document_version v JOIN document d ON d.id = v.document_id "
                "WHERE identifiers ->> 'pmid' = :pmid ORDER BY v.n"
            ),
            {"pmid": pmid},
        ).all()
        assert audit.verify(session).whole
    theirs = {row.document_id for row in rows if row.source is not None}
    mine = {row.document_id for row in rows if row.source is None}
    assert not theirs & mine
    assert (len(theirs) <= 1, len(mine) <= 1) == (True, True)
    sources = {"pubmed", "newer", "europepmc"} & set(events)
    assert bool(theirs) == bool(sources)
    assert found(store, "pmid", pmid) == (theirs or mine)
    for document_id in theirs:
        told_by_pubmed = {"pubmed", "newer"} & sources
        text = "Newer words." if "newer" in sources else "Words."
        assert current(store, document_id)[0] == (text if told_by_pubmed else "Other words.")
        assert doubted(store, document_id) == set()
    for document_id in mine:
        assert doubted(store, document_id) == ({f"pmid:{pmid}"} if theirs else set())


@pytest.mark.parametrize("caller_first", [True, False])
def test_two_that_arrive_at_once_are_told_apart_as_well(store: Store, caller_first: bool) -> None:
    sent = [(None, record(ALIEN)), ("pubmed", record())]
    first, second = sent if caller_first else sent[::-1]
    other = threading.Thread(target=deliver, args=(store, *second, 1))
    parsed = SourceRecord.model_validate({**first[1], "fetched_at": at(1)})
    with store.unit_of_work("test") as work:
        item = submit_item(
            work,
            filename="page.json",
            media_type=None,
            content=b"{}",
            source_type=None,
            batch_id=uuid4(),
            origin=Origin(first[0], at(1)) if first[0] else None,
        )
        work.session.flush()
        message = IngestV1(request_id=uuid4(), item_id=item.id, content_hash=item.content_hash)
        stage.commit(work, message, stage.Read(at(1), [(parsed, segment(parsed.text))]))
        work.session.flush()
        other.start()
        other.join(1.0)
        assert other.is_alive(), "it waits until this one is stored"
    other.join(30)
    assert [one[:2] for one in open_findings(store)] == [("claimed", SUBMITTED)]


# --- stores of releases before --------------------------------------------------------------------


def test_a_caller_s_words_in_a_source_s_document_give_way_to_the_source_s_next_record(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver(store, "pubmed", record(), 1)
    with monkeypatch.context() as before:
        before.setattr("store.documents.documents.key_of", lambda record, source: record.key)
        deliver(store, None, record(ALIEN, "An alien's words."), 9)
    (document_id,) = became(store)
    assert current(store, document_id)[1] is None
    deliver(store, "pubmed", record(text="PubMed's words."), 5)
    assert current(store, document_id) == ("PubMed's words.", "pubmed")


# --- what the rules stand on ----------------------------------------------------------------------


def test_no_key_of_a_source_can_be_one_of_a_caller_s() -> None:
    assert SUBMITTED not in {
        *get_args(SourceType),
        *Identifiers.model_fields,
        *connector_policies(),
    }


def test_every_number_that_a_source_names_its_works_by_is_an_identifier_that_is_compared() -> None:
    owned = {kind for one in connector_policies().values() for kind in one.numbers}
    assert owned <= set(Identifiers.model_fields) & set(identifiers.COMPARED)
    assert owned == set(NUMBERS) == set(claimed_works.OWNED)
    assert all(NUMBERS[kind][0] in owners_of(kind) for kind in owned)
    assert "claimed" in get_args(Kind)


def test_what_is_told_of_a_claim_holds_no_words_of_a_document(
    worker: InlineWorker, tmp_path: Path
) -> None:
    page(worker, "pubmed", 0, record("Verbum secretum"))
    own = by_http(worker, record("Alia verba", "Quaedam verba."), tmp_path)
    (claim,) = told(worker.store, own)
    assert "verb" not in json.dumps(claim).lower() + claimed_works.in_words(claim).lower()
    assert "pmid:123" in claimed_works.in_words(claim)


ENTRY = next(entry for pack in scenarios() for entry in pack.usable() if entry.doi)


@pytest.mark.parametrize("door", [*CALLERS, by_guideline_folder])
@pytest.mark.parametrize("title", [ALIEN, ENTRY.title])
def test_the_number_of_a_packs_work_is_in_doubt_under_another_title(
    worker: InlineWorker, tmp_path: Path, door: Door, title: str
) -> None:
    own = door(worker, record(title, identifiers={"doi": ENTRY.doi}), tmp_path)
    expected = {f"doi:{ENTRY.doi}".lower()} if title == ALIEN else set()
    assert doubted(worker.store, own) == expected


@pytest.mark.parametrize(
    ("mine", "theirs", "agree"),
    [
        (["Smith J"], ["Smith J", "Jones A"], True),
        (["John Smith"], ["Smith JA"], True),
        (["Müller A"], ["Mueller B", "Smith J"], False),
        (["Jones A"], ["Smith J"], False),
        ([], ["Smith J"], None),
    ],
)
def test_first_authors_are_compared_too(
    worker: InlineWorker, tmp_path: Path, mine: list[str], theirs: list[str], agree: bool | None
) -> None:
    page(worker, "pubmed", 0, record(authors=theirs))
    own = by_http(worker, record(authors=mine), tmp_path)
    (claim,) = told(worker.store, own)
    assert claim["authors_agree"] is agree
    assert ("authors are others" in claimed_works.in_words(claim)) is (agree is False)
