"""References: which works are listed, what each shows, where it leads (EB-7, EB-8, EB-9)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from knowledge.scenarios import Entry, scenarios
from knowledge.works import anchors
from knowledge.works.anchors import anchor_of, known_identifiers
from knowledge.works.links import is_direct, is_search_page
from knowledge.works.trust import badge_policy
from store.documents.publication_status import HeldNotice, Standing
from store.models import DocumentVersion
from tests.grid import grid
from workers.verify.answers.bibliography import Reference, authors, badges, references
from workers.verify.answers.evidence import Cited, clocks

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def version(**fields: Any) -> DocumentVersion:
    given: dict[str, Any] = {
        "n": 1,
        "content_hash": "0" * 64,
        "title": "A title",
        "text": "Words.",
        "source_type": "pubmed",
        "source": "pubmed",
        "publisher": None,
        "publication_type": None,
        "evidence_level": None,
        "url": None,
        "identifiers": {},
        "authors": [],
        "labels": [],
        "fetched_at": NOW,
        "published_at": None,
        **fields,
    }
    return DocumentVersion(**given)


def cited(
    *,
    doubts: Any = (),
    standing: Standing | None = None,
    cited_by: int | None = None,
    **fields: Any,
) -> Cited:
    return Cited("E1", version(**fields), standing or Standing(), frozenset(doubts), cited_by)


def listed(*works: Cited) -> list[dict[str, Any]]:
    return references((work, clocks(work.version, NOW, NOW)) for work in works)


def shown(reference: dict[str, Any]) -> dict[str, str]:
    """The identifiers of a reference."""
    return {kind: reference[kind] for kind in ("pmid", "doi", "nct_id") if kind in reference}


# --- what a reference shows -----------------------------------------------------------------------


@pytest.mark.requirement("EB-8.1")
def test_eb_8_1_a_reference_has_title_authors_source_year_badges_and_link() -> None:
    work = cited(
        identifiers={"pmid": "999999991", "doi": "10.5555/x"},
        authors=["Ng A", "Li B", "Oz C", "Ek D"],
        publisher="N Engl J Med",
        published_at=datetime(2010, 6, 16, tzinfo=UTC),
        publication_type="Meta-Analysis",
    )
    assert listed(work) == [
        {
            "n": 1,
            "evidence_id": "E1",
            "title": "A title",
            "authors": "Ng A et al.",
            "source": "N Engl J Med",
            "year": 2010,
            "badges": ["PubMed", "Meta-Analysis"],
            "url": "https://pubmed.ncbi.nlm.nih.gov/999999991/",
            "pmid": "999999991",
            "doi": "10.5555/x",
        }
    ]


@pytest.mark.requirement("EB-8.1")
def test_eb_8_1_more_than_three_authors_become_et_al() -> None:
    assert authors(["A", "B", "C"]) == "A, B, C"
    assert authors(["A", "B", "C", "D"]) == "A et al."
    assert authors(["A", "et al."]) == "A et al."
    assert authors([]) == ""


def test_what_is_not_known_is_not_made_up() -> None:
    (only,) = listed(cited(url="https://a.example/b", source_type="nccn"))
    assert (only["authors"], only["year"], only["source"]) == ("", None, "NCCN Guidelines")
    assert shown(only) == {}


@pytest.mark.requirement("EB-8.6")
@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"identifiers": {"pmid": "999999991"}}, "https://pubmed.ncbi.nlm.nih.gov/999999991/"),
        ({"identifiers": {"pmcid": "PMC1"}}, "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/"),
        ({"identifiers": {"doi": "10.5555/x"}}, "https://doi.org/10.5555/x"),
        (
            {"identifiers": {"nct_id": "NCT99999999"}, "source_type": "clinicaltrials"},
            "https://clinicaltrials.gov/study/NCT99999999",
        ),
        (
            {"url": "https://a.example/guideline.pdf", "source_type": "guideline"},
            "https://a.example/guideline.pdf",
        ),
    ],
)
def test_eb_8_6_a_click_opens_the_work_itself(fields: dict[str, Any], url: str) -> None:
    assert [reference["url"] for reference in listed(cited(**fields))] == [url]


# --- which works are listed -----------------------------------------------------------------------


@pytest.mark.requirement("EB-8.5")
def test_eb_8_5_what_has_no_direct_link_is_not_listed_and_numbers_follow_each_other() -> None:
    found = listed(
        Cited("E1", version(identifiers={"pmid": "999999991"})),
        Cited("E2", version()),
        Cited("E3", version(url="https://a.example/b")),
    )
    assert [(entry["n"], entry["evidence_id"]) for entry in found] == [(1, "E1"), (2, "E3")]


@pytest.mark.requirement("EB-9.2")
def test_eb_9_2_a_search_page_gives_way_to_the_work_itself_or_the_work_is_not_listed() -> None:
    search = "https://www.google.com/search?q=ctdna"
    found = listed(cited(url=search, identifiers={"doi": "10.5555/x"}), cited(url=search))
    assert [entry["url"] for entry in found] == ["https://doi.org/10.5555/x"]


@pytest.mark.requirement("EB-7.5")
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"identifiers": {"set_id": "x"}},
        {"identifiers": {"pmid": "not a PMID"}},
        {"url": "https://clinicaltrials.gov/search?cond=x"},
    ],
)
def test_eb_7_5_without_a_real_identifier_or_a_verified_address_there_is_no_reference(
    fields: dict[str, Any],
) -> None:
    assert listed(cited(**fields)) == []


@pytest.mark.requirement("EB-7.5")
@pytest.mark.parametrize(
    ("fields", "doubts", "url", "identifiers"),
    [
        (
            {"identifiers": {"pmid": "999999991", "doi": "10.5555/X"}},
            ["doi:10.5555/x"],
            "https://pubmed.ncbi.nlm.nih.gov/999999991/",
            {"pmid": "999999991"},
        ),
        (
            {"identifiers": {"pmid": "999999991", "doi": "10.5555/X"}},
            ["pmid:999999991"],
            "https://doi.org/10.5555/X",
            {"doi": "10.5555/X"},
        ),
        # An address that is made of the identifier leads where the identifier leads.
        (
            {"identifiers": {"set_id": "12"}, "url": "https://a.example/pubmed/12"},
            ["pmid:12"],
            None,
            {},
        ),
        (
            {"identifiers": {"set_id": "12"}, "url": "https://a.example/pubmed/123"},
            ["pmid:12"],
            "https://a.example/pubmed/123",
            {},
        ),
        ({"url": "https://a.example/10.5555%2FX"}, ["doi:10.5555/x"], None, {}),
    ],
)
def test_eb_7_5_an_identifier_in_doubt_is_not_shown_nor_an_address_made_of_it(
    fields: dict[str, Any], doubts: list[str], url: str | None, identifiers: dict[str, str]
) -> None:
    found = listed(cited(doubts=doubts, **fields))
    assert [entry["url"] for entry in found] == ([url] if url else [])
    assert [shown(entry) for entry in found] == ([identifiers] if url else [])


@pytest.mark.requirement("EB-7.4")
@pytest.mark.parametrize(
    "fields",
    [
        {"url": None},
        {"url": "https://doi.org/10.5555/X"},
        {"url": "https://a.example/article/7"},
        # Nor does a publication stand on the page of the trial that it names.
        {"identifiers": {"doi": "10.5555/X", "nct_id": "NCT99999999"}},
    ],
)
def test_eb_7_4_a_publication_whose_every_identifier_failed_is_left_out_and_not_guessed(
    fields: dict[str, Any],
) -> None:
    given = {"identifiers": {"doi": "10.5555/X"}, **fields}
    assert listed(cited(doubts=["doi:10.5555/x"], **given)) == []
    assert len(listed(cited(**given))) == 1


# --- anchors --------------------------------------------------------------------------------------


def entry(**fields: Any) -> Entry:
    given = {
        "kind": "guideline",
        "title": "A guideline",
        "year": 2024,
        "confirmed": True,
        "basis": "made for a test",
    }
    return Entry.model_validate(given | fields)


@pytest.fixture
def pack(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """The entries of the only pack; a test puts them there."""
    entries: list[Entry] = []
    monkeypatch.setattr(
        anchors,
        "_entries",
        lambda: {key: one for one in entries for key in anchors.keys_of(one)},
    )
    return entries


@pytest.mark.requirement("EB-7.1")
def test_eb_7_1_an_anchor_is_known_by_its_identifiers_and_never_by_its_title(
    pack: list[Entry],
) -> None:
    pack.append(entry(pmid="999999991", doi="10.5555/Guide"))
    (by_doi,) = listed(cited(identifiers={"doi": "10.5555/gUIDE", "pmcid": "PMC1"}))
    assert shown(by_doi) == {"pmid": "999999991", "doi": "10.5555/Guide"}
    (by_title,) = listed(cited(title="A guideline", url="https://a.example/b"))
    assert shown(by_title) == {}


@pytest.mark.requirement("EB-7.2")
@pytest.mark.requirement("EB-9.4")
@pytest.mark.parametrize("own", ["https://www.google.com/search?q=x", "https://a.example/other"])
def test_eb_7_2_an_anchor_stands_on_the_page_that_its_pack_stored(
    pack: list[Entry], own: str
) -> None:
    pack.append(entry(doi="10.5555/guide", url="https://society.example/guideline"))
    (found,) = listed(cited(identifiers={"pmid": "999999992", "doi": "10.5555/guide"}, url=own))
    assert found["url"] == "https://society.example/guideline"
    assert shown(found) == {"pmid": "999999992", "doi": "10.5555/guide"}


@pytest.mark.requirement("EB-9.4")
def test_eb_9_4_without_a_stored_address_the_pack_s_own_identifiers_make_the_page(
    pack: list[Entry],
) -> None:
    pack.append(entry(doi="10.5555/guide"))
    (found,) = listed(cited(identifiers={"pmid": "999999992", "doi": "10.5555/guide"}))
    assert found["url"] == "https://doi.org/10.5555/guide"


def test_a_guideline_without_any_identifier_is_known_by_its_verified_address(
    pack: list[Entry],
) -> None:
    pack.append(entry(url="https://society.example/guideline/"))
    work = cited(url="http://Society.example/guideline", source_type="guideline")
    assert work.anchor == pack[0]
    assert work.page == "https://society.example/guideline/"
    assert cited(url="https://society.example/guideline/2").anchor is None
    numbered = {"doi": "10.5555/other"}
    assert cited(url="https://society.example/guideline", identifiers=numbered).anchor is None


def test_what_a_pack_stored_is_not_shown_either_while_it_is_in_doubt(pack: list[Entry]) -> None:
    pack.append(entry(pmid="999999991", doi="10.5555/guide", url="https://doi.org/10.5555/guide"))
    ids = {"pmid": "999999991", "doi": "10.5555/guide"}
    (found,) = listed(cited(identifiers=ids, doubts=["doi:10.5555/guide"]))
    assert found["url"] == "https://pubmed.ncbi.nlm.nih.gov/999999991/"
    assert shown(found) == {"pmid": "999999991"}


def test_a_trial_s_article_and_its_registry_record_are_two_works(pack: list[Entry]) -> None:
    pack += [
        entry(kind="pivotal_trial", doi="10.5555/article", nct_id="NCT99999998"),
        entry(kind="pivotal_trial", nct_id="NCT99999999"),
    ]
    assert anchor_of({"nct_id": "NCT99999998"}) is None
    assert anchor_of({"nct_id": "NCT99999999"}) == pack[1]
    assert anchor_of({"nct_id": "NCT99999999", "pmid": "999999991"}) is None
    assert anchor_of({"doi": "10.5555/article"}) == pack[0]


def test_every_confirmed_entry_of_every_pack_is_found_and_leads_to_a_direct_page() -> None:
    found = [one for scenario in scenarios() for one in scenario.usable()]
    assert len(found) > 30
    for one in found:
        work = cited(identifiers=known_identifiers(one), url=one.url)
        assert work.anchor is not None
        assert work.anchor.title == one.title
        assert work.page is not None
        assert is_direct(work.page)


# --- badges ---------------------------------------------------------------------------------------


DAYS = badge_policy().recent.days
CITATIONS = badge_policy().highly_cited.citations
AN_ANCHOR = {"pmid": "35657320"}
"""DYNAMIC, in the pack of ctDNA in colorectal cancer."""


@pytest.mark.requirement("EB-8.4")
@grid(
    ("fields", "badge"),
    [
        ({"source_type": "pubmed"}, "PubMed"),
        ({"publisher": "Cochrane Database Syst Rev"}, "Cochrane"),
        ({"identifiers": {"doi": "10.1002/14651858.CD000000.pub2"}}, "Cochrane"),
        ({"source_type": "clinicaltrials"}, "Clinical Trial"),
        ({"publication_type": "Clinical Trial, Phase II"}, "Clinical Trial"),
        ({"publication_type": "Randomized Controlled Trial"}, "Clinical Trial"),
        ({"source_type": "esmo"}, "Guideline"),
        ({"publication_type": "Practice Guideline"}, "Guideline"),
        ({"publication_type": "Meta-Analysis"}, "Meta-Analysis"),
        ({"publication_type": "made up", "evidence_level": "meta-analysis"}, "Meta-Analysis"),
        ({"publication_type": "Systematic Review"}, "Systematic Review"),
        ({"evidence_level": "guideline"}, "Gold Standard"),
        ({"identifiers": AN_ANCHOR}, "Gold Standard"),
        ({"published_at": NOW - timedelta(days=DAYS)}, "Recent"),
        ({"cited_by": CITATIONS}, "Highly Cited"),
        ({"evidence_level": "consensus statement"}, "Practical Guidance"),
        ({"source_type": "label"}, "Practical Guidance"),
        ({"labels": ["sample-paraphrase"]}, "Sample paraphrase"),
    ],
)
def test_eb_8_4_each_badge_is_earned_by_its_rule(fields: dict[str, Any], badge: str) -> None:
    (found,) = listed(cited(url="https://a.example/b", **fields))
    assert badge in found["badges"]
    assert len(set(found["badges"])) == len(found["badges"])


@pytest.mark.requirement("EB-8.4")
@grid(
    ("fields", "badge"),
    [
        ({"published_at": NOW - timedelta(days=DAYS + 1)}, "Recent"),
        ({"published_at": None}, "Recent"),
        ({"cited_by": CITATIONS - 1}, "Highly Cited"),
        ({"cited_by": None}, "Highly Cited"),
        ({"evidence_level": "randomized controlled trial"}, "Gold Standard"),
        # What is held is not the guideline itself.
        ({"evidence_level": "guideline", "labels": ["sample-paraphrase"]}, "Gold Standard"),
        ({"source_type": "nccn", "labels": ["sample-paraphrase"]}, "Practical Guidance"),
        ({"identifiers": {"doi": "10.1002/cncr.1"}}, "Cochrane"),
        ({"identifiers": AN_ANCHOR, "doubts": ["pmid:35657320"]}, "Gold Standard"),
    ],
)
def test_eb_8_4_no_badge_is_given_without_what_earns_it(fields: dict[str, Any], badge: str) -> None:
    work = cited(url="https://a.example/b", **fields)
    assert badge not in badges(work, clocks(work.version, NOW, NOW).published_age_days)


@pytest.mark.parametrize(
    ("kind", "badge"),
    [("correction", "Corrected"), ("expression_of_concern", "Expression of Concern")],
)
def test_eb_8_4_a_correction_or_a_concern_is_a_badge_and_a_concern_takes_praise_back(
    kind: str, badge: str
) -> None:
    standing = Standing([HeldNotice("crossref", kind, "doi:10.5555/n", None, NOW)], [])
    found = badges(cited(standing=standing, identifiers=AN_ANCHOR, cited_by=10**6), None)
    praise = {"Gold Standard", "Highly Cited"}
    assert badge in found
    assert praise & set(found) == (praise if kind == "correction" else set())


# --- the final list -------------------------------------------------------------------------------

URLS = st.one_of(
    st.none(),
    st.text(max_size=40),
    st.builds(
        "https://{}/{}?{}".format,
        st.sampled_from(["www.google.com", "a.example", "pubmed.ncbi.nlm.nih.gov", "bing.com"]),
        st.sampled_from(["", "search", "Search", "%73earch", "article/1", "doSearch"]),
        st.sampled_from(["", "q=x", "term=x", "id=1", "u=https%3A//google.com/search"]),
    ),
)
WORKS = st.builds(
    lambda identifiers, url, title, names, doubted: cited(
        identifiers=identifiers,
        url=url,
        title=title,
        authors=names,
        doubts=[f"{kind}:{identifiers[kind]}".lower() for kind in doubted & set(identifiers)],
    ),
    st.dictionaries(
        st.sampled_from(["pmid", "pmcid", "doi", "nct_id", "set_id"]),
        st.one_of(
            st.text(max_size=20),
            st.sampled_from(["12", "PMC12", "10.5555/x", "10.5555/google.com/search?q=x"]),
        ),
    ),
    URLS,
    st.text(max_size=20),
    st.lists(st.text(max_size=5), max_size=5),
    st.sets(st.sampled_from(["pmid", "doi"])),
)


@pytest.mark.requirement("EB-9.3")
@given(st.lists(WORKS, max_size=8))
def test_eb_9_3_no_list_of_references_holds_a_search_page_whatever_the_records_say(
    works: list[Cited],
) -> None:
    found = listed(*works)
    assert [entry["n"] for entry in found] == list(range(1, len(found) + 1))
    for reference in found:
        assert not is_search_page(reference["url"])
        assert "google.com/search" not in reference["url"].lower()
        assert Reference.model_validate(reference).as_body() == reference


@pytest.mark.requirement("EB-9.3")
def test_eb_9_3_a_reference_with_a_search_page_cannot_be_made() -> None:
    (reference,) = listed(cited(identifiers={"pmid": "999999991"}))
    with pytest.raises(ValidationError):
        Reference.model_validate({**reference, "url": "https://www.google.com/search?q=x"})


# --- what a caller brought ------------------------------------------------------------------------

ENTRY = next(entry for pack in scenarios() for entry in pack.usable() if entry.pmid == "35657320")
LENT = {"Gold Standard", "Cochrane"}


def brought(**fields: Any) -> Cited:
    given = {"source": None, "title": ENTRY.title, "identifiers": AN_ANCHOR, **fields}
    return cited(**given)


def test_what_a_caller_brought_says_so_and_has_no_praise_by_its_number() -> None:
    of_source = set(badges(cited(title=ENTRY.title, identifiers=AN_ANCHOR), None))
    of_caller = set(badges(brought(), None))
    assert of_source - of_caller == {"Gold Standard"}
    assert of_caller - of_source == {"User-supplied"}
    review: dict[str, Any] = {
        "identifiers": {"doi": "10.1002/14651858.CD1"},
        "publisher": "Cochrane Database Syst Rev",
    }
    assert "Cochrane" in badges(cited(**review), None)
    assert not LENT & set(badges(brought(**review), None))


def test_a_caller_s_record_is_a_pack_s_entry_under_its_title_only() -> None:
    assert brought().anchor == ENTRY
    assert listed(brought())[0]["url"] == listed(cited(identifiers=AN_ANCHOR))[0]["url"]
    assert brought(title="Bananas as a cure for everything").anchor is None
    assert cited(title="Whatever PubMed calls it", identifiers=AN_ANCHOR).anchor == ENTRY


@pytest.mark.parametrize(
    ("identifiers", "doubts"),
    [
        ({"pmid": "35657320"}, ["pmid:35657320"]),
        ({"lcd_id": "L38779"}, ["lcd_id:l38779"]),
        ({}, ["regulator:drugsfda:bla1"]),
    ],
)
def test_what_claims_to_be_a_source_s_work_leads_to_no_page_and_is_no_reference(
    identifiers: dict[str, str], doubts: list[str]
) -> None:
    work = brought(identifiers=identifiers, doubts=doubts, url="https://a.example/b")
    assert (work.page, work.anchor, listed(work)) == (None, None, [])
