"""A preprint gives way to its article, and a work to its update, whoever of the two says so and in
whatever order they come."""

import json
from itertools import permutations
from typing import Any

import pytest
import sqlalchemy as sa

from clinical_text.structure import segment
from store.core.unit_of_work import Store
from store.documents import publication_status
from store.documents.documents import put_versions
from store.documents.records import SourceRecord
from store.models import now
from tests.fakes.europepmc import EuropePmc
from tests.fakes.pubmed_records import Citation, article_set
from tests.fakes.web import Clock
from workers.ingest import enrich
from workers.ingest.connectors.europepmc import EUROPEPMC
from workers.ingest.connectors.pubmed import PUBMED
from workers.ingest.editions import restate_editions
from workers.ingest.enrichment import Statement

PREPRINT, ARTICLE = "A made-up preprint", "The made-up article"


def from_pubmed(*links: tuple[str, int, str, int]) -> list[SourceRecord]:
    """Two records of PubMed, 1 the preprint and 2 the article, with these links."""
    said: dict[int, list[tuple[str, int]]] = {1: [], 2: []}
    for ref_type, of, _, other in links:
        said[of].append((ref_type, other))
    records = [
        Citation(1, title=PREPRINT, types=("Preprint",), links=said[1], doi="10.5555/pre"),
        Citation(2, title=ARTICLE, links=said[2], doi="10.5555/art"),
    ]
    return list(PUBMED.parse(article_set(records)).records)


def from_europepmc(**links: dict[str, str]) -> list[SourceRecord]:
    """A preprint server's record and an article in Europe PMC; `preprint` and `article` may have a
    link."""
    fake = EuropePmc(Clock(now()))
    link = {
        who: {"commentCorrectionList": {"commentCorrection": [one]}} for who, one in links.items()
    }
    fake.put("PPR9", "PPR", title=PREPRINT, doi="10.5555/pre", **link.get("preprint", {}))
    fake.put("2", title=ARTICLE, doi="10.5555/art", **link.get("article", {}))
    answer = {
        "version": "6.9",
        "hitCount": 2,
        "resultList": {"result": list(fake.records.values())},
    }
    return list(EUROPEPMC.parse(json.dumps(answer).encode()).records)


def record(title: str, **fields: Any) -> SourceRecord:
    return SourceRecord.model_validate(
        {"source_type": "pubmed", "title": title, "text": "Words.", **fields}
    )


CASES = {
    "the preprint says so in PubMed": ("pubmed", from_pubmed(("UpdateIn", 1, "", 2))),
    "the article says so in PubMed": ("pubmed", from_pubmed(("UpdateOf", 2, "", 1))),
    "both say so in PubMed": (
        "pubmed",
        from_pubmed(("UpdateIn", 1, "", 2), ("UpdateOf", 2, "", 1)),
    ),
    "the preprint says so in Europe PMC": (
        "europepmc",
        from_europepmc(preprint={"source": "MED", "id": "2", "type": "Preprint of"}),
    ),
    "the article says so in Europe PMC": (
        "europepmc",
        from_europepmc(article={"source": "PPR", "id": "PPR9", "type": "Preprint in"}),
    ),
    "a DOI says so": (
        "pubmed",
        [
            record(PREPRINT, identifiers={"pmid": "1"}, facts={"update_in": ["doi:10.5555/art"]}),
            record(ARTICLE, identifiers={"pmid": "2", "doi": "10.5555/art"}),
        ],
    ),
}


def put(store: Store, source: str | None, *records: SourceRecord) -> None:
    """Store these records in one transaction, as the ingest stage does."""
    with store.unit_of_work("test") as work:
        pairs = [(one, segment(one.text)) for one in records]
        stored = put_versions(work, pairs, source=source)
        restate_editions(work, source or "submission", {one.document_id for one in stored}, now())


def statuses(store: Store) -> dict[str, str]:
    with store.reading() as session:
        rows = session.execute(sa.text("SELECT title, status FROM document_version ORDER BY n"))
        return {row.title.rstrip("."): row.status for row in rows}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("order", [*permutations((0, 1)), None])
def test_a_preprint_gives_way_to_its_article(
    store: Store, case: str, order: tuple[int, int] | None
) -> None:
    source, records = CASES[case]
    if order is None:
        put(store, source, *records)
    else:
        for one in order:
            put(store, source, records[one])
    assert statuses(store) == {PREPRINT: "superseded", ARTICLE: "current"}


@pytest.mark.parametrize("order", [*permutations((0, 1))])
def test_works_that_say_opposite_things_of_each_other_both_stay(
    store: Store, order: tuple[int, int]
) -> None:
    records = from_pubmed(("UpdateOf", 1, "", 2), ("UpdateOf", 2, "", 1))
    for one in order:
        put(store, "pubmed", records[one])
    assert set(statuses(store).values()) == {"current"}


def test_a_callers_record_takes_the_place_of_no_sources_work(store: Store) -> None:
    put(store, "pubmed", record(PREPRINT, identifiers={"pmid": "1"}))
    put(store, None, record("A caller's", facts={"update_of": ["pmid:1"]}))
    put(store, None, record("Another caller's", source_key="pmid:1"))
    assert set(statuses(store).values()) == {"current"}


@pytest.mark.parametrize("links", [(), (("CommentOn", 2, "", 1),), (("UpdateOf", 2, "", 7),)])
def test_works_without_such_a_link_both_stay(
    store: Store, links: tuple[tuple[str, int, str, int], ...]
) -> None:
    put(store, "pubmed", *from_pubmed(*links))
    assert set(statuses(store).values()) == {"current"}


def test_crossref_says_so_once_the_article_is_held(store: Store) -> None:
    def ask_crossref() -> None:
        with store.unit_of_work("test") as work:
            (due,) = [
                one
                for one in publication_status.due(work.session, "crossref", now(), 9, but_not=())
                if one.doi == "10.5555/pre"
            ]
            said = Statement(
                due.key, "crossref", known=True, facts={"preprint_of": ["10.5555/ART"]}
            )
            enrich.take(work, "crossref", [(due, said)], now())

    put(store, "pubmed", record(PREPRINT, identifiers={"pmid": "1", "doi": "10.5555/pre"}))
    ask_crossref()
    assert statuses(store) == {PREPRINT: "current"}
    put(store, "pubmed", record(ARTICLE, identifiers={"pmid": "2", "doi": "10.5555/art"}))
    ask_crossref()
    assert statuses(store) == {PREPRINT: "superseded", ARTICLE: "current"}
