"""When the search outside is allowed, what it is asked, and what its links name (EB-4.4 to 4.6)."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.answering.policy import retrieval_policy
from knowledge.feeds.queries import plain_query
from knowledge.loader import load
from knowledge.questions.cures import cure_policy, record_query, search_phrases
from knowledge.scenarios import Scenario
from tests.grid import grid
from tests.unit.retrieve.test_sufficiency import PACK, entry, found, ranked
from workers.retrieve.outside import (
    Choice,
    may_search_outside,
    outside_question,
    recent_publications,
)
from workers.retrieve.outside_leads import Lead, lead_of, leads_of
from workers.retrieve.sufficiency import Sufficiency
from workers.retrieve.understanding.read import search_terms

TODAY = date(2026, 11, 22)
EMPTY = PACK.model_copy(update={"entries": (entry("guideline", 1, confirmed=False),)})


def pack_of(year: int) -> Scenario:
    """A pack whose newest work is of that year."""
    older = entry("guideline", 2, year=1999)
    return PACK.model_copy(update={"entries": (older, entry("pivotal_trial", 1, year=year))})


def choose(
    score: int = 30, scenario: Scenario | None = None, recent: int = 0, *, key_set: bool = True
) -> Choice:
    sufficiency = Sufficiency(score, "limited", "made up")
    return may_search_outside(sufficiency, scenario, recent, TODAY, key_set=key_set)


# --- whether --------------------------------------------------------------------------------------


@pytest.mark.requirement("EB-4.4")
@pytest.mark.requirement("EB-4.6")
@grid("key_set", [True, False])
@grid("scenario", [None, EMPTY])
@grid("score", [50, 78, 100])
def test_eb_4_6_enough_evidence_is_skipped_with_the_logged_score(
    score: int, scenario: Scenario | None, key_set: bool
) -> None:
    assert choose(score, scenario, key_set=key_set) == Choice(
        False, f"Skipping Perplexity - internal evidence sufficient (score: {score}/100)"
    )


@pytest.mark.requirement("EB-4.4")
def test_eb_4_4_below_fifty_it_may_be_asked_if_there_is_a_key() -> None:
    assert choose(49).allowed
    assert choose(49, recent=5).allowed, "EB-4.5 is about scenarios"
    assert not choose(49, key_set=False).allowed
    assert choose(49, key_set=False).line == "Skipping Perplexity - no key is set"


@pytest.mark.parametrize(
    ("score", "why"), [(30, "confined to a day"), (78, "sufficient (score: 78/100)")]
)
def test_a_question_about_the_past_is_not_helped_by_what_is_found_today(
    score: int, why: str
) -> None:
    sufficiency = Sufficiency(score, "limited", "made up")
    choice = may_search_outside(sufficiency, None, 0, TODAY, key_set=True, confined=True)
    assert not choice.allowed
    assert why in choice.line


@pytest.mark.requirement("EB-4.5")
@pytest.mark.parametrize(
    ("scenario", "recent", "allowed"),
    [
        (PACK, 0, False),
        (pack_of(2016), 0, False),
        (pack_of(2015), 0, True),
        (pack_of(2015), 1, False),
        (EMPTY, 0, True),
        (EMPTY, 1, False),
    ],
    ids=["a pack", "ten years", "older", "older, with news", "empty", "empty, with news"],
)
def test_eb_4_5_a_pack_keeps_the_search_inside_unless_it_is_empty_or_old_without_news(
    scenario: Scenario, recent: int, allowed: bool
) -> None:
    assert choose(0, scenario, recent).allowed is allowed


@given(score=st.integers(0, 100), recent=st.integers(0, 3), key_set=st.booleans())
def test_the_line_tells_numbers_and_nothing_of_the_question(
    score: int, recent: int, key_set: bool
) -> None:
    for scenario in (None, EMPTY, PACK):
        choice = choose(score, scenario, recent, key_set=key_set)
        assert choice.line.startswith("Asking" if choice.allowed else "Skipping")
        assert PACK.label not in choice.line
        assert PACK.name not in choice.line
        assert not set(re.findall(r"\d+", choice.line)) - {str(score), str(recent), "100", "2020"}


@pytest.mark.requirement("EB-4.5")
@pytest.mark.parametrize(
    ("source_type", "year", "kept", "counts"),
    [
        ("pubmed", 2026, True, 1),
        ("europepmc", 2021, True, 1),
        ("pubmed", 2020, True, 0),
        ("pubmed", None, True, 0),
        ("pubmed", 2026, False, 0),
        ("clinicaltrials", 2026, True, 0),
        ("news", 2026, True, 0),
    ],
)
def test_eb_4_5_recent_items_are_those_of_pubmed_and_pmc_among_the_evidence(
    source_type: str, year: int | None, kept: bool, counts: int
) -> None:
    one = found(1, source_type=source_type, kept=kept)
    dated = one._replace(candidate=one.candidate._replace(year=year))
    assert recent_publications(ranked(dated), TODAY) == counts


# --- with which words -----------------------------------------------------------------------------

PHRASES = {
    names[0]
    for kind in ("diseases", "decisions")
    for tag in load("subjects/vocabulary")[kind]
    for names in search_phrases({kind: [tag]})
}


def terms_in(asked: str) -> list[str]:
    before, _, after = retrieval_policy().outside.ask.partition("{terms}")
    assert asked.startswith(before)
    assert asked.endswith(after)
    return asked.removeprefix(before).removesuffix(after).split(", ")


TAGS = {kind: sorted(load("subjects/vocabulary")[kind]) for kind in ("diseases", "decisions")}


@given(
    recognized=st.fixed_dictionaries(
        {
            kind: st.lists(st.one_of(st.sampled_from(tags), st.text(max_size=20)), max_size=6)
            for kind, tags in TAGS.items()
        }
    )
)
def test_invariant_11_what_is_asked_outside_is_made_of_the_vocabulary_alone(
    recognized: dict[str, list[str]],
) -> None:
    asked = outside_question(recognized)
    if asked is not None:
        assert set(terms_in(asked)) <= PHRASES
        assert len(terms_in(asked)) <= cure_policy().most_terms


@given(question=st.text(max_size=300))
def test_invariant_11_no_question_is_ever_part_of_it(question: str) -> None:
    asked = outside_question(search_terms(f"{question} sepsis and anticoagulation {question}"))
    # What a question denies ("NO sepsis") is not asked.
    assert asked is None or set(terms_in(asked)) <= PHRASES


@pytest.mark.parametrize("words", ["", "Mrs Smith:", "What of"])
def test_what_a_question_names_is_asked(words: str) -> None:
    assert outside_question(search_terms(f"{words} sepsis and anticoagulation")) is not None
    assert outside_question(search_terms(f"{words} no sepsis and anticoagulation")) is None


def test_too_few_terms_ask_nothing() -> None:
    assert outside_question({"diseases": ["sepsis"], "decisions": ["duration"]}) is None
    assert outside_question({}) is None


# --- what a link names ----------------------------------------------------------------------------


@grid(
    ("address", "kind", "value"),
    [
        ("https://pubmed.ncbi.nlm.nih.gov/38490803/", "pmid", "38490803"),
        ("https://pubmed.ncbi.nlm.nih.gov/38490803?utm=x#abstract", "pmid", "38490803"),
        ("http://www.ncbi.nlm.nih.gov/pubmed/38490803", "pmid", "38490803"),
        ("https://europepmc.org/article/MED/38490803", "pmid", "38490803"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC9875840/", "pmcid", "PMC9875840"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC9875840/pdf/x.pdf", "pmcid", "PMC9875840"),
        ("https://europepmc.org/article/PMC/PMC9875840", "pmcid", "PMC9875840"),
        ("https://doi.org/10.1056/NEJMoa1107039", "doi", "10.1056/nejmoa1107039"),
        ("https://dx.doi.org/10.1016%2Fj.kint.2023.10.018", "doi", "10.1016/j.kint.2023.10.018"),
        ("https://clinicaltrials.gov/study/nct02933697?rank=1", "nct_id", "NCT02933697"),
        ("https://clinicaltrials.gov/ct2/show/NCT02933697", "nct_id", "NCT02933697"),
    ],
)
def test_the_page_of_a_record_names_it(address: str, kind: str, value: str) -> None:
    lead = lead_of(address)
    assert lead is not None
    assert (lead.kind, lead.value) == (kind, value)
    assert lead.where is not None
    assert lead_of(lead.where) == lead


@grid(
    "address",
    [
        "",
        "pubmed.ncbi.nlm.nih.gov/123",
        "https://pubmed.ncbi.nlm.nih.gov/?term=38490803",
        "https://pubmed.ncbi.nlm.nih.gov/0123",
        "https://pubmed.ncbi.nlm.nih.gov/1234567890",
        "https://pubmed.ncbi.nlm.nih.gov/١٢٣",
        "https://pubmed.ncbi.nlm.nih.gov.example.org/38490803",
        "https://example.org/pubmed.ncbi.nlm.nih.gov/38490803",
        "https://doi.org/10.1056",
        'https://doi.org/10.1056/x"OR"y',
        "https://clinicaltrials.gov/search?term=NCT02933697",
        "https://clinicaltrials.gov/study/NCT0293369",
        "https://www.google.com/search?q=38490803",
        "ftp://pubmed.ncbi.nlm.nih.gov/38490803",
        "javascript:alert(1)",
        "https://[broken",
    ],
)
def test_every_other_page_names_nothing(address: str) -> None:
    assert lead_of(address) is None


@given(addresses=st.lists(st.text(max_size=40)), most=st.integers(1, 3))
def test_links_of_any_kind_are_leads_or_dropped_and_none_is_lost(
    addresses: list[str], most: int
) -> None:
    pages = [f"https://pubmed.ncbi.nlm.nih.gov/{n}/" for n in (1, 2, 2, 3, 4)]
    known = "https://pubmed.ncbi.nlm.nih.gov/1?the-same-record"
    leads, dropped = leads_of([*addresses, *pages, known], most)
    assert leads == [Lead("pmid", str(n)) for n in range(1, most + 1)]
    assert dropped == len(set(addresses)) + 4 - most


# --- how its source is asked for it ---------------------------------------------------------------


@pytest.mark.requirement("EB-4.5")
@pytest.mark.parametrize(
    ("source", "query"),
    [
        ("pubmed", "101[uid] OR 102[uid]"),
        ("clinicaltrials", "NCT90000001"),
        (
            "europepmc",
            "(EXT_ID:101 AND SRC:MED) OR (EXT_ID:102 AND SRC:MED) OR PMCID:PMC7 "
            'OR DOI:"10.5555/a(b)c"',
        ),
    ],
)
def test_a_primary_source_is_asked_for_the_records_by_identifier(source: str, query: str) -> None:
    wanted = {
        "pmid": ["101", "102", "101"],
        "pmcid": ["PMC7"],
        "doi": ["10.5555/a(b)c"],
        "nct_id": ["NCT90000001"],
    }
    assert record_query(source, wanted) == query
    assert plain_query(source, query) == query


@pytest.mark.parametrize("source", sorted(cure_policy().sources))
@given(text=st.text(max_size=30))
def test_what_is_no_identifier_is_never_part_of_a_query(source: str, text: str) -> None:
    odd = [f"{text} OR sepsis", f'{text}"', f" {text}"]
    wanted = dict.fromkeys(("pmid", "pmcid", "doi", "nct_id", text), odd)
    assert record_query(source, wanted) is None
