"""Long questions become three or four short searches in our own words (EB-2)."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from knowledge.loader import load
from knowledge.questions.decomposition import DecompositionPolicy, decomposition_policy
from knowledge.subjects.tags import label
from knowledge.works.publication_types import most_telling
from tests.unit.retrieve.understanding.notes import AF_NOTE, PRIVATE
from workers.retrieve.understanding.decomposition import decompose, is_long, log_fields
from workers.retrieve.understanding.model import SubQuery
from workers.retrieve.understanding.read import understand

ROLES = ("core_decision", "modifiers", "monitoring", "alternatives")
VOCABULARY = load("subjects/vocabulary")
DISEASES, DECISIONS = sorted(VOCABULARY["diseases"]), sorted(VOCABULARY["decisions"])
FILLER = "Zebrafinch 4711 "
"""Words of no vocabulary: they must never stand in a sub-query."""


def our_words() -> set[str]:
    """All that a sub-query may be made of, word by word."""
    policy = decomposition_policy()
    phrases = [policy.default_decision, *policy.alternatives]
    phrases += [phrase for part in policy.roles.values() for phrase in part.otherwise]
    for kind in ("diseases", "decisions"):
        for tag, entry in VOCABULARY[kind].items():
            ours = label(kind, tag).lower()
            phrases.append(entry.get("search", [ours])[0])
    return {word for phrase in phrases for word in phrase.split()}


def role_of(found: Sequence[SubQuery], role: str) -> str:
    (text,) = [one.text for one in found if one.role == role]
    return text


@pytest.mark.requirement("EB-2.1")
@pytest.mark.requirement("EB-2.2")
@pytest.mark.requirement("EB-2.3")
def test_eb_2_a_note_of_200_words_becomes_the_four_searches_of_its_decision() -> None:
    assert len(AF_NOTE.split()) > 200
    found = understand(AF_NOTE).sub_queries
    assert [(one.role, one.text) for one in found] == [
        ("core_decision", "atrial fibrillation anticoagulation drug choice chronic kidney disease"),
        (
            "modifiers",
            "atrial fibrillation anticoagulation complications chronic kidney disease "
            "gastrointestinal bleeding hypertension",
        ),
        (
            "monitoring",
            "atrial fibrillation anticoagulation monitoring chronic kidney disease duration of "
            "therapy",
        ),
        (
            "alternatives",
            "atrial fibrillation left atrial appendage occlusion chronic kidney disease",
        ),
    ]


def test_invariant_11_nothing_of_the_note_itself_stands_in_a_sub_query() -> None:
    for one in understand(AF_NOTE).sub_queries:
        assert set(one.text.split()) <= our_words()
        assert not [word for word in PRIVATE if word in one.text.split()]


@pytest.mark.requirement("EB-2.1")
@pytest.mark.requirement("EB-2.2")
@pytest.mark.requirement("EB-2.3")
@given(
    st.lists(st.sampled_from(DISEASES), unique=True, max_size=8),
    st.lists(st.sampled_from(DECISIONS), unique=True, max_size=8),
    st.sampled_from(sorted(decomposition_policy().targets_of)),
    st.booleans(),
)
def test_eb_2_any_long_question_has_three_or_four_of_at_most_20_words(
    diseases: list[str], decisions: list[str], query_type: str, surgery: bool
) -> None:
    asked = "Is surgery better?" if surgery else "What now?"
    question = f"{FILLER * 60}. {asked}"
    found = decompose(question, query_type, diseases, decisions)
    alternative = surgery or "left_atrial_appendage_occlusion" in decisions
    assert [one.role for one in found] == list(ROLES if alternative else ROLES[:3])
    texts = [one.text for one in found]
    assert len(set(texts[:3])) == 3
    for one in found:
        assert 0 < len(one.text.split()) <= 20
        assert set(one.text.split()) <= our_words()
        assert one.targets
    for one in found if diseases else ():
        entry = VOCABULARY["diseases"][diseases[0]]
        assert one.text.startswith(entry["search"][0])
    if len(diseases) > 1:
        others = [VOCABULARY["diseases"][tag]["search"][0] for tag in diseases[1:]]
        assert all(any(other in text for other in others) for text in texts)


@pytest.mark.requirement("EB-2.2")
def test_eb_2_2_an_alternative_of_the_history_alone_is_none_that_is_asked_for() -> None:
    told = f"{FILLER * 60}. He had surgery in 2019. What now?"
    asked = f"{FILLER * 60}. Is catheter ablation or lifestyle modification better?"
    assert len(decompose(told, "general", ["atrial_fibrillation"], [])) == 3
    found = decompose(asked, "general", ["atrial_fibrillation"], [])
    expected = "atrial fibrillation catheter ablation lifestyle modification"
    assert role_of(found, "alternatives") == expected


@pytest.mark.requirement("EB-2.1")
def test_eb_2_1_a_question_of_100_words_is_asked_as_it_stands_and_one_more_is_not() -> None:
    question = " ".join(["word"] * 100)
    (whole,) = decompose(question, "general", [], [])
    assert (whole.text, whole.role) == (question, "whole")
    assert is_long(f"{question} word")
    assert "whole" not in {one.role for one in decompose(f"{question} word", "general", [], [])}


@pytest.mark.requirement("EB-2.5")
def test_eb_2_5_the_log_names_role_targets_and_text_but_never_a_users_own_words() -> None:
    note = understand(AF_NOTE).sub_queries[0]
    assert log_fields(note) == {
        "role": "core_decision",
        "targets": ["guideline", "systematic review", "randomized controlled trial"],
        "words": 8,
        "text": note.text,
    }
    (whole,) = understand("Is ctDNA covered for Mr. Quillfeather?").sub_queries
    assert log_fields(whole) == {"role": "whole", "targets": ["coverage policy"], "words": 6}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which trials use ctDNA?", "clinical trial"),
        ("What does NCCN say?", "guideline"),
        ("Is it covered?", "coverage policy"),
        ("Is apixaban better than warfarin?", "randomized controlled trial"),
    ],
)
def test_a_short_question_aims_at_the_evidence_of_its_type(question: str, first: str) -> None:
    (whole,) = understand(question).sub_queries
    assert whole.targets[0] == first


def test_targets_are_levels_that_documents_have() -> None:
    levels = {entry["level"] for entry in load("works/publication_types")["order"]}
    policy = decomposition_policy()
    named = {target for part in policy.roles.values() for target in part.targets}
    named.update(target for targets in policy.targets_of.values() for target in targets)
    assert named - levels == {"coverage policy"}  # payers' documents have no publication type
    assert most_telling(["Guideline"])


def test_a_policy_with_an_unknown_decision_or_without_a_role_is_refused() -> None:
    file = load("questions/questions")["decomposition"]
    roles = dict(file["roles"])
    core = {**roles["core_decision"], "takes": ["nothing"]}
    short = {role: part for role, part in roles.items() if role != "modifiers"}
    for wrong in ({**roles, "core_decision": core}, short):
        with pytest.raises(ValidationError, match=r"questions\.yaml"):
            DecompositionPolicy.model_validate({**file, "roles": wrong})


def test_every_phrase_is_lower_or_a_proper_name_and_has_no_operator() -> None:
    for word in our_words():
        assert re.fullmatch(r"[A-Za-z0-9-]+", word), word
