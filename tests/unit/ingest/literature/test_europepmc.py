"""A Europe PMC record becomes one document, and its standing is told apart from that of others."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clinical_text.structure import segment
from store.documents.records import SourceRecord
from tests.fakes.europepmc import EuropePmc, abstract
from tests.fakes.web import Clock
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.europepmc.search import open_full_texts, parse

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="no shared data beside the repository"
)


def _result(name: str = "90000001", source: str = "MED", **fields: Any) -> dict[str, Any]:
    """A made-up core record; None takes a field away."""
    record = EuropePmc(Clock(datetime(2026, 3, 1, tzinfo=UTC))).put(name, source) | fields
    return {field: value for field, value in record.items() if value is not None}


def _parsed(*results: Any) -> Parsed:
    answer = {"version": "6.9", "hitCount": len(results), "resultList": {"result": list(results)}}
    return parse(json.dumps(answer).encode())


def _one(name: str = "90000001", source: str = "MED", **fields: Any) -> SourceRecord:
    parsed = _parsed(_result(name, source, **fields))
    assert not parsed.problems
    (record,) = parsed.records
    return record


def _links(*links: tuple[str, str, str]) -> dict[str, Any]:
    rows = [{"type": kind, "source": source, "id": name} for kind, source, name in links]
    return {"commentCorrection": rows}


def test_an_article_of_medline_is_the_same_document_as_pubmeds() -> None:
    record = _one(pmcid="PMC9000001", doi="10.5555/made.up")
    assert record.key == "pmid:90000001"
    assert record.source_type == "europepmc"
    assert record.identifiers.model_dump(exclude_none=True) == {
        "pmid": "90000001",
        "pmcid": "PMC9000001",
        "doi": "10.5555/made.up",
    }
    assert record.url == "https://europepmc.org/article/MED/90000001"
    assert record.authors == ("Placeholder A", "Invented Example Group")
    assert record.publisher == "Journal of Made-up Results"


def test_a_record_of_medline_without_a_pmid_field_has_its_id_as_pmid() -> None:
    assert _one(pmid=None).key == "pmid:90000001"


@pytest.mark.parametrize(
    ("source", "name", "key", "source_type"),
    [
        ("PMC", "PMC9000001", "pmcid:pmc9000001", "europepmc"),
        ("AGR", "IND90000001", "europepmc:agr:IND90000001", "europepmc"),
        ("PPR", "PPR900001", "preprint:ppr:PPR900001", "preprint"),
    ],
)
def test_what_pubmed_does_not_have_is_named_by_europe_pmc(
    source: str, name: str, key: str, source_type: str
) -> None:
    record = _one(name, source, doi="10.5555/made.up")
    assert (record.key, record.source_type) == (key, source_type)
    assert record.url == f"https://europepmc.org/article/{source}/{name}"


def test_a_preprint_says_so_and_names_its_server() -> None:
    record = _one("PPR900001", "PPR", commentCorrectionList=_links(("Preprint of", "MED", "123")))
    assert record.publication_type == "Preprint"
    assert record.publisher == "inventRxiv"
    assert record.facts["preprint_of"] == ["pmid:123"]
    assert record.notices == ()


def test_labels_of_an_abstract_become_its_sections() -> None:
    record = _one(abstractText=abstract(Background="One thing.", Methods="Two things."))
    assert record.text == "## Background\n\nOne thing.\n\n## Methods\n\nTwo things."
    assert [section.title for section in segment(record.text).sections] == ["Background", "Methods"]


def test_an_abstract_without_labels_is_a_section_as_well() -> None:
    assert _one(abstractText="Words.").text == "## Abstract\n\nWords."


def test_a_record_without_an_abstract_has_its_title_as_text() -> None:
    record = _one("PMC9000001", "PMC", abstractText=None)
    assert record.text == record.title


def test_lite_records_are_read_with_the_fields_they_have() -> None:
    record = _one(
        authorList=None,
        abstractText=None,
        journalInfo=None,
        journalTitle="J Made Up",
        pubTypeList=None,
        pubType="research support; review-article; journal article",
        authorString="Placeholder A, Example B.",
        firstPublicationDate="2026-04-01",
    )
    assert record.authors == ("Placeholder A", "Example B")
    assert (record.publisher, record.publication_type) == ("J Made Up", "Review")
    assert record.published_precision == "month"


def test_the_most_telling_publication_type_names_the_record() -> None:
    types = ["research-article", "Randomized Controlled Trial", "Journal Article"]
    record = _one(pubTypeList={"pubType": types})
    assert record.publication_type == "Randomized Controlled Trial"
    assert record.evidence_level == "randomized controlled trial"
    assert record.facts["publication_types"] == types


@grid(
    ("first", "electronic", "stated", "expected"),
    [
        ("2026-03-17", "2026-03-17", "2026 Apr", "day"),
        ("2026-04-01", None, "2026 Apr", "month"),
        ("2026-04-01", "2026-04-01", "2026 Apr", "day"),
        ("2026-04-01", None, "2026 Apr 1", "day"),
        ("2026-01-01", None, "2026", "year"),
        ("2026-11-01", None, "2026 Nov-Dec", "month"),
        ("2026-04-01", None, "2026 Spring", "year"),
        ("2026-01-01", None, "2027 Feb", "year"),
        ("2026-02-01", None, "", "month"),
    ],
)
def test_a_date_is_as_precise_as_the_journal_states_it(
    first: str, electronic: str | None, stated: str, expected: str
) -> None:
    record = _one(
        firstPublicationDate=first,
        electronicPublicationDate=electronic,
        journalInfo={"dateOfPublication": stated},
    )
    assert record.published_at is not None
    assert record.published_at.date().isoformat() == first
    assert record.published_precision == expected


def test_a_year_is_used_where_there_is_no_date() -> None:
    record = _one(firstPublicationDate=None, pubYear="2025")
    assert record.published_at == datetime(2025, 1, 1, tzinfo=UTC)
    assert record.published_precision == "year"
    assert _one(firstPublicationDate="soon", pubYear=None).published_at is None


def test_headings_and_facts_are_taken_and_counters_are_not() -> None:
    record = _one(
        license="cc by",
        isOpenAccess="Y",
        meshHeadingList={
            "meshHeading": [
                {"majorTopic_YN": "N", "descriptorName": "Humans"},
                {
                    "majorTopic_YN": "N",
                    "descriptorName": "Neoplasms",
                    "meshQualifierList": {
                        "meshQualifier": [{"majorTopic_YN": "Y", "qualifierName": "mortality"}]
                    },
                },
            ]
        },
        tmAccessionTypeList={"accessionType": ["nct", "refsnp"]},
        keywordList={"keyword": ["<i>in vitro</i>"]},
    )
    assert record.subjects == ("Humans", "Neoplasms")
    assert record.facts["mesh_major"] == ["Neoplasms"]
    assert record.facts["mesh_qualifiers"] == {"Neoplasms": ["mortality"]}
    assert record.facts["source"] == "MED"
    assert (record.facts["license"], record.facts["is_open_access"]) == ("cc by", True)
    assert record.facts["mentions_registries"] == ["nct"]
    assert record.facts["keywords"] == ["in vitro"]
    assert _one(citedByCount=4) == _one(citedByCount=5, dateOfRevision="2026-02-02")


@pytest.mark.parametrize(
    ("link", "kind"),
    [
        ("Retraction in", "retraction"),
        ("Expression of concern in", "expression_of_concern"),
        ("Erratum in", "correction"),
        ("Partial retraction in", "correction"),
        ("Corrected and republished in", "republication"),
    ],
)
def test_a_notice_about_the_record_is_taken_with_its_id(link: str, kind: str) -> None:
    (notice,) = _one(commentCorrectionList=_links((link, "MED", "80000001"))).notices
    assert (notice.kind, notice.notice_id) == (kind, "pmid:80000001")


def test_a_work_that_was_retracted_and_published_again_has_both_notices() -> None:
    links = _links(("Retracted and republished in", "MED", "80000001"))
    notices = _one(commentCorrectionList=links).notices
    assert [notice.kind for notice in notices] == ["retraction", "republication"]


def test_a_retraction_makes_no_new_version_of_the_facts() -> None:
    types = ["Randomized Controlled Trial", "Journal Article"]
    before = _one(pubTypeList={"pubType": types})
    after = _one(
        pubTypeList={"pubType": ["Retracted Publication", *types]},
        commentCorrectionList=_links(("Retraction in", "MED", "80000001")),
    )
    assert after.notices
    assert after.content_hash() == before.content_hash()


def test_a_retraction_told_twice_is_one_notice() -> None:
    (notice,) = _one(
        title="RETRACTED: A made-up article.",
        pubTypeList={"pubType": ["Journal Article", "Retracted Publication"]},
        commentCorrectionList=_links(("Retraction in", "MED", "80000001")),
    ).notices
    assert (notice.kind, notice.notice_id) == ("retraction", "pmid:80000001")


def test_the_publication_type_alone_suffices() -> None:
    (notice,) = _one(pubTypeList={"pubType": ["Retracted Publication"]}).notices
    assert (notice.kind, notice.notice_id) == ("retraction", None)


def test_a_comment_is_no_notice() -> None:
    record = _one(commentCorrectionList=_links(("Comment in", "MED", "80000001")))
    assert record.notices == ()
    assert record == _one()


@pytest.mark.parametrize(
    ("types", "link", "fact"),
    [
        (["Retraction of Publication", "retraction"], "Retraction of", "retraction_of"),
        (["Published Erratum", "correction"], "Erratum for", "erratum_for"),
        (
            ["Expression of Concern"],
            "Expression of concern for",
            "expression_of_concern_for",
        ),
    ],
)
def test_the_notice_itself_is_not_what_it_says_of_another(
    types: list[str], link: str, fact: str
) -> None:
    record = _one(
        title="RETRACTED: Another made-up article.",
        pubTypeList={"pubType": types},
        commentCorrectionList=_links((link, "MED", "80000001")),
    )
    assert record.notices == ()
    assert record.evidence_level == "notice"
    assert record.facts[fact] == ["pmid:80000001"]


def test_identifiers_that_cannot_be_ones_are_doubts() -> None:
    parsed = _parsed(_result(doi="not a doi", pmcid="9000001"))
    (record,) = parsed.records
    assert record.identifiers.model_dump(exclude_none=True) == {"pmid": "90000001"}
    assert [(doubt.source_id, doubt.kind) for doubt in parsed.doubts] == [
        ("pmid:90000001", "pmcid"),
        ("pmid:90000001", "doi"),
    ]


def test_one_bad_record_does_not_take_its_neighbours_along() -> None:
    good = _result()
    parsed = _parsed(
        {"source": "MED", "id": "90000002", "pmid": "90000002"},
        None,
        _result("90000003", abstractText="half of a pair: \ud800"),
        {"title": "no name"},
        good,
    )
    assert [record.key for record in parsed.records] == ["pmid:90000001"]
    assert [problem.source_id for problem in parsed.problems] == [
        "pmid:90000002",
        None,
        "pmid:90000003",
        None,
    ]
    assert "half of a pair" not in str(parsed.problems)


def test_fields_that_nobody_mapped_are_counted() -> None:
    parsed = _parsed(_result(newField={"inner": [1, 2]}), _result("2", newField={"inner": [3]}))
    assert parsed.unmapped == {"newField.inner[]": 3}
    odd = _parsed(_result(commentCorrectionList=_links(("Something new in", "MED", "1"))))
    assert odd.unmapped == {"commentCorrectionList.commentCorrection[].type": 1}


@grid(
    "payload",
    [
        b"",
        b"This API is temporarily unavailable due to maintenance.",
        b'{"errCode": 404, "errMsg": "Invalid page size provided."}',
        b'{"version": "6.9", "request": {"queryString": "x"}}',
        b'{"version": "6.9", "hitCount": 1, "resultList": {"result": [{"id"',
        b'{"resultList": {"result": {}}}',
        b"[]",
        b"<errorBean><errCode>0</errCode></errorBean>",
        b"<responseWrapper><version>6.9</version><resultList/></responseWrapper>",
    ],
)
def test_what_is_no_page_of_results_and_no_article_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse(payload)


def test_a_payload_that_begins_with_a_tag_is_a_full_text() -> None:
    fake = EuropePmc(Clock(datetime(2026, 3, 1, tzinfo=UTC)))
    fake.put_full_text("PMC9000001", "Invented words of a result.")
    (record,) = parse(fake.full_texts["PMC9000001"]).records
    assert record.key == "europepmc:fulltext:PMC9000001"
    assert "Invented words of a result." in record.text


def test_only_open_articles_have_a_full_text_to_fetch() -> None:
    def article(number: int, **fields: str) -> dict[str, Any]:
        return {"pmcid": f"PMC{number}", "inEPMC": "Y", "isOpenAccess": "Y"} | fields

    rows = [
        article(1),
        article(2, inEPMC="N"),
        article(3, isOpenAccess="N"),
        article(4, pmcid="PMC 4"),
        {"inEPMC": "Y", "isOpenAccess": "Y"},
    ]
    assert open_full_texts({"resultList": {"result": rows}}) == ["PMC1"]


@needs_shared
def test_every_recorded_answer_is_read_or_refused() -> None:
    files = sorted((SHARED / "data" / "europepmc").glob("*/*.json"))
    assert len(files) > 10
    for file in files:
        parsed = parse(file.read_bytes())
        listed = json.loads(file.read_text())["resultList"]["result"]
        assert len(parsed.records) + len(parsed.problems) == len(listed)
        assert not parsed.doubts
        assert not parsed.unmapped, file.name
        assert bool(parsed.problems) == ("idlist" in file.name and bool(listed))
    for file in (SHARED / "data" / "europepmc").glob("*/*.xml"):
        with pytest.raises(Malformed):
            parse(file.read_bytes())


@needs_shared
def test_a_recorded_core_record_keeps_its_sections() -> None:
    payload = (SHARED / "data" / "wire_samples" / "epmc_search_core.json").read_bytes()
    (record,) = parse(payload).records
    assert record.key == "pmid:26378978"
    assert record.publication_type == "Randomized Controlled Trial"
    assert record.notices == ()
    assert record.published_at == datetime(2015, 9, 17, tzinfo=UTC)
    titles = [section.title for section in segment(record.text).sections]
    assert titles == ["Background", "Methods", "Results", "Conclusions"]
