"""PubMed's XML becomes records; what cannot is a problem, what is left out is counted."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.structure import segment
from knowledge.works.publication_types import most_telling, of_article_type
from store.documents.records import Notice, SourceRecord
from tests.examples import examples
from tests.fakes.pubmed_records import Citation, article, article_set
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.pubmed.fields import count_unmapped
from workers.ingest.parsers.pubmed.reader import read_article
from workers.ingest.parsers.pubmed.records import LEFT_OUT, parse
from workers.ingest.parsers.xml import parse_xml

SHARED = Path(__file__).resolve().parents[4].parent / "shared"

FULL = Citation(
    101,
    title="Made-up sleep in <i>nobody</i> at 10<sup>9</sup>/L.",
    abstract=(
        ("BACKGROUND", "", "Nobody slept at CO<sub>2</sub> of 5&#160;%."),
        ("RESULTS", "RESULTS", "Twelve of 20 slept."),
        ("RESULTS", "RESULTS", "Eight did not."),
        ("", "", "(Paid for by nobody.)"),
    ),
    types=("Journal Article", "Randomized Controlled Trial", "Multicenter Study"),
    mesh=("Sleep", "Humans"),
    keywords=("made-up", "sleep"),
    doi="10.5555/made.up.101",
    pmcid="PMC101",
    registries=(("ClinicalTrials.gov", "NCT00000101"), ("PDB", "1ABC")),
)


def _record(citation: Citation) -> SourceRecord:
    parsed = parse(article_set([citation]))
    assert not parsed.problems
    assert not parsed.unmapped
    (record,) = parsed.records
    return record


def _mended(citation: Citation, *changes: tuple[str, str]) -> Citation:
    """The citation with its XML changed."""
    xml = article(citation)
    for old, new in changes:
        assert old in xml, old
        xml = xml.replace(old, new)
    return Citation(citation.pmid, xml=xml)


def test_an_article_becomes_a_record() -> None:
    record = _record(FULL)
    assert record.key == "pmid:101"
    assert record.source_type == "pubmed"
    assert record.title == "Made-up sleep in nobody at 10⁹/L."
    assert record.url == "https://pubmed.ncbi.nlm.nih.gov/101/"
    assert record.identifiers.model_dump(exclude_none=True) == {
        "pmid": "101",
        "pmcid": "PMC101",
        "doi": "10.5555/made.up.101",
    }
    assert (record.published_at, record.published_precision) == (
        datetime(2025, 11, 3, tzinfo=UTC),
        "day",
    )
    assert record.authors == ("Invent A", "Made-Up Study Group")
    assert record.publisher == "Journal of made-up medicine"
    assert record.publication_type == "Randomized Controlled Trial"
    assert record.evidence_level == "randomized controlled trial"
    assert record.subjects == ("Sleep", "Humans")
    assert record.version_label is None
    assert record.notices == ()
    assert record.fetched_at is None
    assert record.facts == {
        "has_abstract": True,
        "publication_types": list(FULL.types),
        "keywords": ["made-up", "sleep"],
        "languages": ["eng"],
        "journal": {
            "abbreviation": "J Made Up Med",
            "issn": "0000-0000",
            "nlm_id": "0000001",
            "volume": "7",
            "issue": "2",
            "pages": "11-19",
        },
        "registry_ids": {"ClinicalTrials.gov": ["NCT00000101"]},
        "accessions": {"PDB": ["1ABC"]},
        "published_as": "2025 Nov 03",
    }


def test_labels_become_sections_that_the_section_finder_sees() -> None:
    record = _record(FULL)
    assert record.text == (
        "## BACKGROUND\n\nNobody slept at CO2 of 5\u00a0%.\n\n"
        "## RESULTS\n\nTwelve of 20 slept.\n\nEight did not.\n\n"
        "## Abstract\n\n(Paid for by nobody.)"
    )
    titles = [section.title for section in segment(record.text).sections]
    assert titles == ["BACKGROUND", "RESULTS", "Abstract"]


def test_a_part_without_label_stands_under_its_category_or_abstract() -> None:
    parts = (("", "METHODS", "Counted."), ("", "UNASSIGNED", "Odd."), ("UNLABELLED", "", "More."))
    assert _record(Citation(1, abstract=parts)).text == (
        "## METHODS\n\nCounted.\n\n## Abstract\n\nOdd.\n\nMore."
    )
    assert _record(Citation(1)).text == "## Abstract\n\nNothing of this ever happened."


def test_a_record_without_abstract_has_its_title_as_text() -> None:
    record = _record(Citation(1, abstract=()))
    assert record.text == record.title == "A made-up article."
    assert record.facts["has_abstract"] is False


def test_a_translated_title_keeps_its_brackets_and_the_other_is_a_fact() -> None:
    citation = Citation(1, title="[A made-up title].")
    vernacular = (
        "</PublicationTypeList>",
        "</PublicationTypeList><VernacularTitle>Erfunden.</VernacularTitle>",
    )
    record = _record(_mended(citation, vernacular))
    assert record.title == "[A made-up title]."
    assert record.facts["vernacular_title"] == "Erfunden."


def test_a_title_too_long_for_a_line_is_kept_whole_in_the_facts() -> None:
    title = "A made-up title that does not end " * 60
    record = _record(Citation(1, title=title))
    assert len(record.title) <= 1000
    assert record.title.endswith("…")
    assert record.facts["full_title"] == title.strip()


@pytest.mark.parametrize(
    ("pub_date", "electronic", "published", "precision"),
    [
        ("<Year>2025</Year>", "2024-12-30", "2025-01-01", "year"),
        ("<MedlineDate>2024 Nov-Dec</MedlineDate>", "2024-12-30", "2024-11-01", "month"),
        ("<MedlineDate>soon</MedlineDate>", "2024-12-30", "2024-12-30", "day"),
    ],
)
def test_the_journals_date_counts_and_the_electronic_one_is_a_fact(
    pub_date: str, electronic: str, published: str, precision: str
) -> None:
    year, month, day = electronic.split("-")
    record = _record(
        _mended(
            Citation(1, pub_date=pub_date),
            (
                "</PublicationTypeList>",
                f'</PublicationTypeList><ArticleDate DateType="Electronic"><Year>{year}</Year>'
                f"<Month>{month}</Month><Day>{day}</Day></ArticleDate>",
            ),
        )
    )
    assert record.published_at is not None
    assert record.published_at.date().isoformat() == published
    assert record.published_precision == precision
    assert record.facts["electronic_date"] == electronic


def test_identifiers_of_references_are_never_the_articles_own() -> None:
    record = _record(Citation(1, reference_dois=("10.5555/another", "10.5555/other")))
    assert record.identifiers.doi is None
    assert "another" not in record.model_dump_json()


def test_an_invalid_electronic_location_is_passed_over_for_the_list_of_ids() -> None:
    citation = Citation(1, doi="10.5555/good")
    location = 'ValidYN="Y">10.5555/good</ELocationID>'
    record = _record(_mended(citation, (location, 'ValidYN="N">10.5555/bad</ELocationID>')))
    assert record.identifiers.doi == "10.5555/good"


def test_malformed_identifiers_are_left_out_and_doubted() -> None:
    citation = Citation(
        7,
        doi="doi:10.5555/x",
        pmcid="PMC12 (in May)",
        registries=(
            ("ClinicalTrials.gov", "NCT123"),
            ("ISRCTN", "ISRCTN12345678"),
            ("ISRCTN", "see text"),
        ),
    )
    parsed = parse(article_set([citation]))
    (record,) = parsed.records
    assert record.identifiers.model_dump(exclude_none=True) == {"pmid": "7"}
    assert record.facts["registry_ids"] == {"ISRCTN": ["ISRCTN12345678"]}
    assert {(doubt.source_id, doubt.kind, doubt.value) for doubt in parsed.doubts} == {
        ("pmid:7", "pmcid", "PMC12 (in May)"),
        ("pmid:7", "doi", "doi:10.5555/x"),
        ("pmid:7", "nct_id", "NCT123"),
        ("pmid:7", "registry_id", "see text"),
    }


@grid(
    ("links", "types", "kinds"),
    [
        ((("RetractionIn", 2),), ("Retracted Publication",), [("retraction", "pmid:2")]),
        ((("RetractionIn", 2),), (), [("retraction", "pmid:2")]),
        ((), ("Retracted Publication",), [("retraction", None)]),
        ((("RetractionIn", None),), (), [("retraction", "doi:10.5555/made.up.notice")]),
        (
            (("RetractedandRepublishedIn", 3),),
            (),
            [("retraction", "pmid:3"), ("republication", "pmid:3")],
        ),
        ((("ExpressionOfConcernIn", 4),), (), [("expression_of_concern", "pmid:4")]),
        ((("ErratumIn", 5), ("CommentIn", 6)), (), [("correction", "pmid:5")]),
        ((("CorrectedandRepublishedIn", 5),), (), [("republication", "pmid:5")]),
        ((("RetractionOf", 2),), ("Retraction of Publication",), []),
        ((("ExpressionOfConcernFor", 2),), ("Expression of Concern",), []),
        ((("ErratumFor", 2),), ("Published Erratum",), []),
        ((("CommentOn", 2), ("UpdateOf", 3), ("Cites", 4)), ("Comment",), []),
    ],
)
def test_only_links_to_a_notice_say_something_about_an_article(
    links: Any, types: tuple[str, ...], kinds: list[tuple[str, str | None]]
) -> None:
    record = _record(Citation(1, links=links, types=("Journal Article", *types)))
    assert [(notice.kind, notice.notice_id) for notice in record.notices] == kinds


def test_a_retraction_says_when_and_makes_no_new_version() -> None:
    before = _record(FULL)
    after = _record(
        Citation(
            **{
                **{name: getattr(FULL, name) for name in FULL.__dataclass_fields__},
                "types": (*FULL.types, "Retracted Publication"),
                "links": (("RetractionIn", 102),),
                "retracted_on": date(2026, 2, 1),
                "mdat": date(2026, 2, 2),
            }
        )
    )
    assert after.notices == (
        Notice(kind="retraction", notice_id="pmid:102", stated_on=date(2026, 2, 1)),
    )
    assert after.publication_type == before.publication_type
    assert after.content_hash() == before.content_hash()


def test_a_notice_is_known_as_such_and_tells_what_it_is_about() -> None:
    types = ("Journal Article", "Retraction of Publication")
    record = _record(Citation(2, abstract=(), types=types, links=(("RetractionOf", 1),)))
    assert (record.publication_type, record.evidence_level) == (types[1], "notice")
    assert record.facts["retraction_of"] == ["pmid:1"]


@pytest.mark.parametrize(
    "change",
    [
        ('Status="MEDLINE"', 'Status="In-Process" IndexingMethod="Automated"'),
        ("<DateRevised>", "<DateRevised><Note/>"),
        ("<PublicationStatus>ppublish", "<PublicationStatus>epublish"),
        ('PubStatus="pubmed"', 'PubStatus="medline"'),
        ("<ReferenceList>", "<ReferenceList><Reference><Citation>New.</Citation></Reference>"),
        ("</MedlineCitation>", "<NumberOfReferences>9</NumberOfReferences></MedlineCitation>"),
    ],
)
def test_what_moves_without_meaning_makes_no_new_version(change: tuple[str, str]) -> None:
    assert _record(_mended(FULL, change)).content_hash() == _record(FULL).content_hash()


def test_what_has_a_meaning_makes_a_new_version() -> None:
    changed = _mended(FULL, ("<DescriptorName UI", "<DescriptorName Type='Geographic' UI"))
    assert _record(changed).content_hash() == _record(FULL).content_hash()
    changed = _mended(FULL, (">Sleep<", ">Dreams<"))
    assert _record(changed).content_hash() != _record(FULL).content_hash()


def test_a_preprint_keeps_its_pmid_and_is_no_reviewed_article() -> None:
    record = _record(Citation(9, types=("Journal Article", "Preprint")))
    assert (record.source_type, record.publication_type, record.key) == (
        "preprint",
        "Preprint",
        "pmid:9",
    )


BOOK = """<PubmedBookArticle><BookDocument><PMID Version="1">900</PMID>
<ArticleIdList><ArticleId IdType="bookaccession">NBK900</ArticleId></ArticleIdList>
<Book><Publisher><PublisherName>Made-Up Press</PublisherName>
<PublisherLocation>Nowhere</PublisherLocation></Publisher>
<BookTitle book="made-up">The made-up book of sleep</BookTitle><PubDate><Year>2026</Year>
<Month>Jan</Month></PubDate><AuthorList Type="editors" CompleteYN="Y"><Author ValidYN="Y">
<LastName>Editor</LastName><Initials>E</Initials></Author></AuthorList><Isbn>0000000000</Isbn>
<Medium>Internet</Medium></Book>
<LocationLabel Type="chapter">3</LocationLabel>
<ArticleTitle book="made-up" part="ch3">Made-up sleep</ArticleTitle><Language>eng</Language>
<AuthorList Type="authors" CompleteYN="Y"><Author ValidYN="Y"><LastName>Chapter</LastName>
<Initials>C</Initials></Author></AuthorList>
<PublicationType UI="D016454">Review</PublicationType>
<Abstract><AbstractText>Sleep is made up.</AbstractText></Abstract>
<Sections><Section><SectionTitle book="made-up" part="ch3" sec="s1">Dose</SectionTitle>
<Section><SectionTitle>Night</SectionTitle></Section></Section></Sections>
<ContributionDate><Year>2026</Year><Month>1</Month><Day>9</Day></ContributionDate>
<DateRevised><Year>2026</Year><Month>2</Month><Day>1</Day></DateRevised></BookDocument>
<PubmedBookData><History><PubMedPubDate PubStatus="pubmed"><Year>2026</Year><Month>1</Month>
<Day>9</Day></PubMedPubDate></History><PublicationStatus>ppublish</PublicationStatus>
<ArticleIdList><ArticleId IdType="pubmed">900</ArticleId>
<ArticleId IdType="doi">10.5555/book</ArticleId></ArticleIdList></PubmedBookData>
</PubmedBookArticle>"""


def test_a_chapter_of_a_book_is_a_record_too() -> None:
    record = _record(Citation(900, xml=BOOK))
    assert (record.key, record.title, record.text) == (
        "pmid:900",
        "Made-up sleep",
        "## Abstract\n\nSleep is made up.",
    )
    assert (record.authors, record.publisher) == (("Chapter C",), "Made-Up Press")
    assert (record.identifiers.doi, record.publication_type) == ("10.5555/book", "Review")
    assert (record.published_precision, record.facts["contribution_date"]) == (
        "month",
        "2026-01-09",
    )
    assert record.facts["book"] == {
        "title": "The made-up book of sleep",
        "accession": "NBK900",
        "place": "Nowhere",
        "isbns": ["0000000000"],
        "editors": ["Editor E"],
        "sections": ["Dose", "Night"],
    }


def test_a_whole_book_is_titled_by_the_book() -> None:
    chapter = re.compile(r"<ArticleTitle.*?</ArticleTitle>", re.DOTALL)
    record = _record(Citation(900, xml=chapter.sub("", BOOK)))
    assert record.title == "The made-up book of sleep"


def test_other_abstracts_are_text_for_readers_and_facts_otherwise() -> None:
    other = (
        "<OtherAbstract Type='plain-language-summary' Language='eng'><AbstractText>Nobody slept."
        "</AbstractText></OtherAbstract><OtherAbstract Type='Publisher' Language='fre'>"
        "<AbstractText>Personne.</AbstractText></OtherAbstract>"
    )
    record = _record(_mended(Citation(1), ("</MedlineCitation>", f"{other}</MedlineCitation>")))
    assert record.text.endswith("## Plain language summary\n\nNobody slept.")
    assert record.facts["other_abstracts"] == [
        {"kind": "Publisher", "language": "fre", "text": "Personne."}
    ]


def test_deleted_citations_are_gone() -> None:
    parsed = parse(article_set([FULL], deleted=[5, 6]))
    assert parsed.gone == ["pmid:5", "pmid:6"]
    assert [record.key for record in parsed.records] == ["pmid:101"]


def test_an_empty_set_holds_nothing() -> None:
    assert parse(article_set([])) == Parsed()


@pytest.mark.parametrize(
    ("change", "source_id", "reason"),
    [
        (('<PMID Version="1">101</PMID>', ""), None, "PMID"),
        (('<PMID Version="1">101</PMID>', "<PMID>0101</PMID>"), None, "PMID"),
    ],
)
def test_a_bad_record_is_a_problem_and_its_neighbours_survive(
    change: tuple[str, str], source_id: str | None, reason: str
) -> None:
    parsed = parse(article_set([Citation(1), _mended(FULL, change), Citation(2)]))
    assert [record.key for record in parsed.records] == ["pmid:1", "pmid:2"]
    (problem,) = parsed.problems
    assert problem.source_id == source_id
    assert problem.reason.startswith(reason)
    assert "sleep" not in problem.reason


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b'{"error":"API rate limit exceeded"}',
        b"<eFetchResult><ERROR>Empty id list</ERROR></eFetchResult>",
        b"<PubmedArticleSet><ERROR>cannot</ERROR></PubmedArticleSet>",
        b"<html><body>Service unavailable</body></html>",
        article_set([FULL])[:-30],
        article_set([FULL])[:2000],
    ],
)
def test_what_is_no_set_of_records_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse(payload)


def test_unknown_fields_are_counted_by_their_path() -> None:
    odd = _mended(
        FULL,
        ("<Language>eng</Language>", "<Language>eng</Language><Mood>calm</Mood>"),
        ('<DescriptorName UI="D000001"', '<DescriptorName UI="D000001" New="1"'),
        ("</PubmedArticle>", "<Extra><Deep/></Extra></PubmedArticle>"),
    )
    parsed = parse(article_set([odd]))
    assert parsed.unmapped == {
        "MedlineCitation/Article/Mood": 1,
        "MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName/@New": 2,
        "Extra": 1,
    }
    assert parse(b"<PubmedArticleSet><Odd/></PubmedArticleSet>").unmapped == {"Odd": 1}


def test_every_field_left_out_has_a_reason_and_is_not_counted() -> None:
    assert all(reason for reason in LEFT_OUT.values())
    left_out = (
        "<PubmedArticle><MedlineCitation Owner='NLM'><GeneralNote Owner='NLM'>x</GeneralNote>"
        "<InvestigatorList><Investigator><LastName>X</LastName></Investigator></InvestigatorList>"
        "</MedlineCitation></PubmedArticle>"
    )
    counts: Any = parse(article_set([])).unmapped
    count_unmapped(parse_xml(left_out.encode()), counts)
    assert not counts


def test_publication_types_have_an_order() -> None:
    assert most_telling([]) is None
    assert most_telling(["Journal Article", "Review", "Meta-Analysis"]) == (
        "Meta-Analysis",
        "meta-analysis",
    )
    assert most_telling(["journal article", "PRACTICE GUIDELINE"]) == (
        "Practice Guideline",
        "guideline",
    )
    assert most_telling(["Randomized Controlled Trial", "Clinical Trial Protocol"]) == (
        "Clinical Trial Protocol",
        "trial protocol",
    )
    assert most_telling(["Made-Up Type", "Other"]) == ("Made-Up Type", None)
    assert of_article_type("Correction") == ("Published Erratum", "notice")
    assert of_article_type("made-up") is None


def test_order_of_the_product_brief_holds() -> None:
    ranks = [
        "Guideline",
        "Meta-Analysis",
        "Systematic Review",
        "Randomized Controlled Trial",
        "Clinical Trial, Phase III",
        "Clinical Trial, Phase I",
        "Observational Study",
        "Review",
        "Case Reports",
        "Journal Article",
    ]
    for better, worse in pairwise(ranks):
        found = most_telling([worse, better])
        assert found is not None
        assert found.name == better


XML = article_set([FULL, Citation(900, xml=BOOK), Citation(3, links=(("RetractionIn", 4),))], [5])


def _cut(data: bytes, at: int, size: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + size :]


@examples(200)
@given(
    st.lists(
        st.tuples(st.integers(0, len(XML)), st.integers(0, 40), st.binary(max_size=12)), max_size=4
    )
)
def test_mutated_bytes_give_records_or_malformed(changes: list[tuple[int, int, bytes]]) -> None:
    data = XML
    for at, size, new in changes:
        data = _cut(data, at, size, new)
    _survives(data)


TAGS = re.findall(rb"</?[A-Za-z]+[^>]*>", XML)


def _elements(data: bytes, change: Callable[[bytes], bytes], which: int) -> bytes:
    """`data` with one element renamed, dropped or doubled."""
    tag = TAGS[which % len(TAGS)].strip(b"</>").split()[0]
    found = re.search(rb"<%s\b[^>]*>.*?</%s>" % (tag, tag), data, re.DOTALL)
    return data if found is None else data.replace(found[0], change(found[0]), 1)


CHANGES: list[Callable[[bytes], bytes]] = [
    lambda element: b"",
    lambda element: element * 2,
    lambda element: b"<Odd>" + element + b"</Odd>",
    lambda element: re.sub(rb">[^<]*<", b"><", element),
    lambda element: re.sub(rb">[^<]+<", b">" + b"9" * 3000 + b"<", element),
    lambda element: re.sub(rb"\s\w+=\"[^\"]*\"", b"", element),
]


@examples(200)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, len(CHANGES) - 1)), max_size=6))
def test_mutated_elements_give_records_or_malformed(changes: list[tuple[int, int]]) -> None:
    data = XML
    for which, change in changes:
        data = _elements(data, CHANGES[change], which)
    _survives(data)


def _survives(data: bytes) -> None:
    try:
        parsed = parse(data)
    except Malformed:
        return
    for record in parsed.records:
        assert re.fullmatch(r"pmid:[1-9][0-9]*", record.key)
        segment(record.text)


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared data beside the repository")
def test_the_constructed_retraction_sample_is_retracted() -> None:
    payload = (SHARED / "data/wire_samples/pubmed_efetch_retracted_constructed.xml").read_bytes()
    (record,) = parse(payload).records
    assert record.notices == (Notice(kind="retraction", notice_id="pmid:90000002"),)
    assert record.identifiers.doi == "10.5555/invented.1"
    assert record.authors == ("Invented Study Group",)
    assert (record.published_precision, record.facts["pmid_version"]) == ("month", "2")


def test_an_article_is_read_field_by_field() -> None:
    found = read_article(parse_xml(article(FULL).encode()))
    assert [part.label for part in found.abstract] == ["BACKGROUND", "RESULTS", "RESULTS", ""]
    assert (found.grant_agencies, found.retracted) == ((), None)
    retracted = Citation(102, retracted_on=date(2026, 1, 5))
    found = read_article(parse_xml(article(retracted).encode()))
    assert str(found.retracted) == "2026-01-05"
