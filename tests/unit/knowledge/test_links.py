"""The page of a work is made from its identifiers, and no search page can be one (EB-8, EB-9)."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from knowledge.works.links import DirectUrl, NotDirect, direct_url, is_direct, is_search_page
from tests.grid import grid

SEARCHES = [
    "https://www.google.com/search?q=ctdna",
    "https://google.com/search?q=ctdna",
    "https://www.google.co.uk/search?q=ctdna",
    "HTTPS://WWW.GOOGLE.COM./SEARCH?q=ctdna",
    "https://www.google.com/%73earch?q=ctdna",
    "https://www.google.com/#q=ctdna",
    "https://www.google.com/url?url=https://a.example/b",
    "https://scholar.google.com/scholar?q=ctdna",
    "https://proxy.example/login?url=https%3A%2F%2Fwww.google.com%2Fsearch%3Fq%3Dctdna",
    "https://www.bing.com/search?q=ctdna",
    "https://duckduckgo.com/?q=ctdna",
    "https://html.duckduckgo.com/html/ctdna",
    "https://search.yahoo.com/search?p=ctdna",
    "https://pubmed.ncbi.nlm.nih.gov/?term=ctdna",
    "https://pubmed.ncbi.nlm.nih.gov/",
    "https://www.ncbi.nlm.nih.gov/pubmed/?term=ctdna",
    "https://clinicaltrials.gov/search?cond=ctdna",
    "https://clinicaltrials.gov/ct2/results?cond=ctdna",
    "https://europepmc.org/search?query=ctdna",
    "https://www.cochranelibrary.com/search?searchBy=6",
    "https://onlinelibrary.wiley.com/action/doSearch?AllField=ctdna",
    "https://jamanetwork.com/searchresults?q=ctdna",
    "https://www.cms.gov/medicare-coverage-database/search-results.aspx?keyword=ctdna",
    "https://a.example/#/search?x=ctdna",
    "https://a.example/page#q=ctdna",
    "https://a.example/?s=ctdna",
    "https://a.example/anything?search_term=ctdna",
    "https://doi.org/?query=ctdna",
]
PAGES = [
    "https://www.fda.gov/regulatory-information/search-fda-guidance-documents/x",
    "https://www.clinicaltrialsregister.eu/ctr-search/trial/2019-000001-10/DE",
    "https://www.cms.gov/medicare-coverage-database/view/lcd.aspx?lcdid=38779",
    "https://www.accessdata.fda.gov/scripts/cder/daf/index.cfm?event=overview.process&ApplNo=1",
    "https://clinicaltrials.gov/study/NCT01150045?tab=results",
    "https://doi.org/10.1000/search",
    "https://a.example/research/article.html#results",
    "http://a.example:8080/b",
]


@pytest.mark.requirement("EB-9.1")
@grid("url", SEARCHES)
def test_eb_9_1_no_search_page_can_be_a_direct_address(url: str) -> None:
    assert is_search_page(url)
    with pytest.raises(NotDirect) as caught:
        DirectUrl(url)
    assert url not in str(caught.value)
    assert direct_url({}, url) is None


@pytest.mark.requirement("EB-8.3")
@grid("url", PAGES)
def test_eb_8_3_the_page_of_a_document_is_no_search_page_whatever_its_words(url: str) -> None:
    assert not is_search_page(url)
    assert direct_url({}, url) == DirectUrl(url) == url


@grid(
    "url",
    [
        "",
        "a.example/b",
        "ftp://a.example/b",
        "javascript:alert(1)",
        "https:///b",
        "https://localhost/b",
        "https://name:password@a.example/b",
        "https://a.example\\b",
        "https://a.example/b c",
        "https://a.example/\x07",
        "https://a.example:port/b",
        "https://doi.org/10.1000/../search",
        "https://a.example/b/%2e%2e/search",
        "https://[a.example/b",
    ],
)
def test_what_is_no_web_address_of_one_page_is_none(url: str) -> None:
    assert not is_direct(url)
    with pytest.raises(NotDirect):
        DirectUrl(url)


@pytest.mark.requirement("EB-8.2")
@grid(
    ("identifiers", "url"),
    [
        ({"pmid": "35657320"}, "https://pubmed.ncbi.nlm.nih.gov/35657320/"),
        ({"pmcid": "PMC9701133"}, "https://pmc.ncbi.nlm.nih.gov/articles/PMC9701133/"),
        ({"doi": "10.1056/NEJMoa2200075"}, "https://doi.org/10.1056/NEJMoa2200075"),
        ({"nct_id": "NCT04068103"}, "https://clinicaltrials.gov/study/NCT04068103"),
        ({"pmid": "1", "doi": "10.1000/x"}, "https://pubmed.ncbi.nlm.nih.gov/1/"),
        ({"pmid": "0", "doi": "10.1000/x"}, "https://doi.org/10.1000/x"),
        (
            {"doi": "10.1002/(SICI)1097(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"},
            "https://doi.org/10.1002/"
            "(SICI)1097(19980815/30)17:15/16%3C1661::AID-SIM968%3E3.0.CO;2-2",
        ),
        ({"doi": "10.1000/a?b#c"}, "https://doi.org/10.1000/a%3Fb%23c"),
        ({"pmid": "12 OR 1"}, None),
        ({"doi": "10.1000/../search?q=x"}, None),
        ({"doi": "google.com/search"}, None),
        ({"nct_id": "NCT1"}, None),
        ({"lcd_id": "L38779"}, None),
        ({}, None),
    ],
)
def test_eb_8_2_the_page_is_made_from_real_identifiers_in_this_order(
    identifiers: dict[str, str], url: str | None
) -> None:
    assert direct_url(identifiers) == url


def test_identifiers_go_before_the_address_that_a_source_gave() -> None:
    given = "https://a.example/b"
    assert direct_url({"doi": "10.1000/x"}, given) == "https://doi.org/10.1000/x"
    assert direct_url({"doi": "no doi"}, given) == given


class Page(BaseModel):
    """A model with a direct address."""

    url: DirectUrl


def test_a_model_with_a_direct_address_refuses_a_search_page_and_shows_a_uri() -> None:
    page = Page.model_validate({"url": "https://a.example/b"})
    assert page.model_dump_json() == '{"url":"https://a.example/b"}'
    with pytest.raises(ValidationError):
        Page.model_validate({"url": SEARCHES[0]})
    assert TypeAdapter(DirectUrl).json_schema() == {"type": "string", "format": "uri"}


HOSTS = st.sampled_from(["a.example", "www.google.com", "google.de", "pubmed.ncbi.nlm.nih.gov"])


@given(HOSTS, st.text(max_size=30), st.text(max_size=20), st.integers(0, 3))
def test_eb_9_3_no_way_of_writing_a_google_search_gets_through(
    host: str, before: str, asked: str, encoded: int
) -> None:
    address = f"google.com/search?q={quote(asked)}"
    for _ in range(encoded):
        address = quote(address, safe="")
    assert not is_direct(f"https://{host}/{before}/{address}")
    assert not is_direct(f"https://www.{address}") or encoded


@given(st.text(max_size=60))
def test_any_text_is_either_a_direct_address_or_refused_in_our_words(text: str) -> None:
    for address in (text, f"https://{text}", f"https://a.example/{text}"):
        if is_direct(address):
            assert DirectUrl(address) == address
        else:
            with pytest.raises(NotDirect, match="address of"):
                DirectUrl(address)
