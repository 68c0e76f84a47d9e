"""What an abstention may ask sources for: phrases of the vocabulary, and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from knowledge.feeds.queries import plain_query
from knowledge.loader import load
from knowledge.questions.classification import classification_policy
from knowledge.questions.cures import CurePolicy, Phrase, cure_policy, cure_query
from tests.grid import grid
from workers.retrieve.understanding.read import search_terms

SOURCES = sorted(cure_policy().sources)
TAGS = {kind: sorted(load("subjects/vocabulary")[kind]) for kind in ("diseases", "decisions")}
PHRASES = {
    phrase
    for kind in TAGS
    for entry in load("subjects/vocabulary")[kind].values()
    for phrase in entry.get("search", ())
}


HEADINGS = {
    *(
        entry.get("mesh", entry["label"])
        for kind in TAGS
        for entry in load("subjects/vocabulary")[kind].values()
    ),
    *(name for rule in classification_policy().rules for name in rule.mesh or ()),
}


def asked(source: str, query: str) -> set[str]:
    """The phrases in a query, once all that the policy wrote is taken off."""
    policy = cure_policy().sources[source]
    if policy.only:
        assert query.endswith(f" AND {policy.only}")
        query = query.removesuffix(f" AND {policy.only}")
    before, _, after = policy.phrase.partition("{phrase}")
    found = re.findall(f'{re.escape(before)}([^"]*){re.escape(after)}', query)
    rest = query
    for phrase in found:
        rest = rest.replace(f"{before}{phrase}{after}", "", 1)
    for name in headings(query):
        rest = rest.replace(f'"{name}"[mh]', "")
    assert re.fullmatch(r"[() ]*(?:(?:AND|OR)[() ]*)*", rest), rest
    return set(found)


def headings(query: str) -> set[str]:
    """The MeSH headings in a query."""
    return set(re.findall(r'"([^"]*)"\[mh\]', query))


@pytest.mark.parametrize("source", SOURCES)
@given(
    recognized=st.fixed_dictionaries(
        {
            kind: st.lists(st.one_of(st.sampled_from(tags), st.text(max_size=20)), max_size=6)
            for kind, tags in TAGS.items()
        }
    )
)
def test_invariant_11_a_query_holds_phrases_of_the_vocabulary_and_nothing_else(
    source: str, recognized: dict[str, list[str]]
) -> None:
    query = cure_query(source, recognized)
    if query is not None:
        assert asked(source, query) <= PHRASES
        assert headings(query) <= HEADINGS
        assert plain_query(source, query) == query


@pytest.mark.parametrize("source", SOURCES)
@given(question=st.text(max_size=300))
def test_eb_2_no_question_is_ever_part_of_a_query(source: str, question: str) -> None:
    text = f"{question} MRD {question} in colon cancer with sepsis {question}"
    query = cure_query(source, search_terms(text))
    assert query is not None
    assert asked(source, query) <= PHRASES


ANTICOAGULATION = {
    "Atrial Fibrillation",
    "Anticoagulants",
    "Stroke",
    "Hemorrhage",
    "Kidney Failure, Chronic",
}


@pytest.mark.requirement("EB-3.2")
@pytest.mark.requirement("EB-3.3")
@pytest.mark.requirement("EB-3.4")
@given(
    others=st.lists(st.sampled_from(TAGS["decisions"]), max_size=3),
    kidney=st.booleans(),
    more=st.lists(st.sampled_from(["diabetes", "hypertension", "obesity"]), unique=True),
)
def test_eb_3_pubmed_is_asked_for_the_headings_of_the_class_and_no_others(
    others: list[str], kidney: bool, more: list[str]
) -> None:
    diseases = ["atrial_fibrillation", *["chronic_kidney_disease"][:kidney], *more]
    recognized = {"diseases": diseases, "decisions": ["anticoagulation", *others]}
    query = cure_query("pubmed", recognized) or ""
    allowed = ANTICOAGULATION | ({"Renal Insufficiency, Chronic"} if kidney else set())
    assert headings(query) <= allowed
    assert "Primary Prevention" not in query
    if not more:
        assert headings(query) == allowed


def test_eb_3_a_heading_stands_with_what_it_is_another_name_of() -> None:
    diseases = ["atrial_fibrillation", "chronic_kidney_disease"]
    query = cure_query("pubmed", {"diseases": diseases, "decisions": ["anticoagulation"]}) or ""
    assert query.split(" AND ")[:3] == [
        '("atrial fibrillation"[ti] OR "Atrial Fibrillation"[mh])',
        '("chronic kidney disease"[ti] OR "Kidney Failure, Chronic"[mh] OR "Renal Insufficiency, '
        'Chronic"[mh])',
        '("anticoagulation"[ti] OR "anticoagulants"[ti] OR "Anticoagulants"[mh] OR "Stroke"[mh] OR '
        '"Hemorrhage"[mh])',
    ]


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Does ctDNA guide adjuvant chemotherapy in colon cancer?", 3),
        ("When should heart failure be treated?", None),
        ("Is it covered by Medicare?", None),
        ("What of lung cancer and breast cancer?", 2),
        ("Lung cancer, breast cancer, sepsis, pneumonia and MRD?", 3),
    ],
)
def test_too_few_terms_are_no_query_and_too_many_are_cut(question: str, query: int | None) -> None:
    found = cure_query("clinicaltrials", search_terms(question))
    assert (found.count(" AND ") + 1 if found else None) == query


@grid(
    "phrase",
    ["lung AND brain", "lung OR brain", "NOT lung", 'a "b"', "lung*", "a:b", "(a)", "a ", ""],
)
def test_a_phrase_that_a_source_could_take_for_an_operator_is_refused(phrase: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Phrase).validate_python(phrase)


def test_the_policy_names_only_sources_that_can_be_searched() -> None:
    file = load("questions/cures")
    for name in ("crossref", "nowhere"):
        wrong = {**file, "sources": {name: file["sources"]["pubmed"]}}
        with pytest.raises(ValidationError, match="no source that can be searched"):
            CurePolicy.model_validate(wrong)
