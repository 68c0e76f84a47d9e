"""Whether a passage speaks to the question."""

import pytest

from store.documents.content import Content, content
from store.index.terms import term_set, terms
from workers.retrieve.ranking.relevance import is_relevant


def test_coverage_is_the_share_of_the_questions_weight() -> None:
    assert Content({1: 3.0, 2: 1.0}, {}).coverage({1, 7}) == pytest.approx(0.75)
    assert Content({1: 0.25, 2: 0.25}, {}).coverage({1}) == pytest.approx(0.5)
    assert Content({}, {}).coverage({1}) == 0.0


def test_a_passage_is_relevant_by_words_alone_or_by_words_and_meaning_together() -> None:
    assert is_relevant(0.6, None)
    assert is_relevant(0.35, 0.6)
    assert not is_relevant(0.35, 0.2)
    assert not is_relevant(0.1, 0.9)


def covered(question: str, passage: str, source_type: str = "pubmed") -> float:
    asked = content(question, dict.fromkeys(terms(question), 1.0))
    return asked.covered(term_set(passage), passage, source_type)


def test_words_of_asking_need_not_stand_in_a_passage() -> None:
    question = "What do reports note on melanoma?"
    assert covered(question, "Reports on melanoma.") == 1.0
    assert covered("What does one say?", "Melanoma.") == 0.0


def test_another_name_of_the_disease_is_as_good() -> None:
    question = "pembrolizumab in non-small cell lung cancer"
    assert covered(question, "Pembrolizumab in NSCLC.") == 1.0
    assert covered(question, "Pembrolizumab in melanoma.") < 0.5


def test_what_falls_under_the_general_name_of_a_decision_is_as_good_but_not_another_drug() -> None:
    passage = "Rivaroxaban in melanoma."
    assert covered("anticoagulation in melanoma", passage) == 1.0
    assert covered("apixaban in melanoma", passage) == 0.5


def test_a_document_answers_what_its_kind_is_called_by_being_one() -> None:
    question = "Which trials test pembrolizumab?"
    passage = "Arms: pembrolizumab test."
    assert covered(question, passage, "clinicaltrials") == 1.0
    assert covered(question, passage, "pubmed") < 1.0
