"""The extractive generator: whole stored sentences, chosen and ordered."""

import pytest

from store.index.terms import terms
from store.spans import Span
from workers.generate.extractive import Candidate, choose, sentences_of, stands_alone

QUESTION = "What is the primary endpoint of the ctDNA trial in colon cancer?"
WEIGHTED = dict.fromkeys(terms(QUESTION), 1.0)


def candidate(text: str, source_type: str = "clinicaltrials", evidence: str = "E1") -> Candidate:
    return Candidate(evidence, source_type, text, "A ctDNA trial", 0.5, 2)


@pytest.mark.parametrize(
    ("sentence", "alone"),
    [
        ("The primary endpoint was recurrence-free survival at two years.", True),
        ("This was not seen in the ctDNA-negative cohort of the trial.", False),
        ("However, survival did not differ between the two groups.", False),
        ("## Primary endpoint of the trial and its results", False),
        ("The following endpoints were reported in the trial:", False),
        ("Not reported.", False),
    ],
)
def test_a_sentence_that_leans_on_another_is_not_shown_alone(sentence: str, alone: bool) -> None:
    assert stands_alone(sentence) is alone


def test_only_whole_sentences_inside_the_found_passages_are_candidates() -> None:
    text = "The primary endpoint was survival. The trial enrolled 455 patients in Australia."
    spans = [Span(0, 34), Span(35, len(text))]
    assert sentences_of(text, spans, [(10, len(text))]) == [spans[1]]


@pytest.mark.requirement("MC-2.1b")
def test_mc_2_1b_an_answer_on_trials_leads_with_trials_and_not_with_guidelines() -> None:
    claims = choose(
        [
            candidate("NCCN names the primary endpoint of the ctDNA colon trial.", "nccn", "E1"),
            candidate("The ctDNA trial in colon cancer has survival as endpoint.", evidence="E2"),
        ],
        "clinical_trials",
        WEIGHTED,
    )
    assert [claim.heading for claim in claims] == ["CLINICAL TRIALS", "GUIDELINE CONTEXT"]
    assert [claim.claim_id for claim in claims] == ["c1", "c2"]


def test_a_claim_is_its_sentence_to_the_letter_and_names_its_evidence() -> None:
    text = "The primary endpoint of the ctDNA trial was survival."
    (claim,) = choose([candidate(text)], "clinical_trials", WEIGHTED)
    assert (claim.text, claim.quote, claim.evidence_id) == (text, text, "E1")


def test_a_claim_is_read_on_one_line_while_its_quotation_stays_to_the_letter() -> None:
    text = "- The primary endpoint of the\nctDNA trial was survival."
    (claim,) = choose([candidate(text)], "clinical_trials", WEIGHTED)
    assert claim.text == "The primary endpoint of the ctDNA trial was survival."
    assert claim.quote == text


def test_what_says_the_same_is_said_once() -> None:
    same = "The primary endpoint of the ctDNA trial was recurrence-free survival."
    claims = choose(
        [candidate(same, evidence="E1"), candidate(same, evidence="E2")],
        "clinical_trials",
        WEIGHTED,
    )
    assert len(claims) == 1


def test_one_document_does_not_crowd_the_others_out() -> None:
    sentences = [
        f"The primary endpoint {word} of the ctDNA trial in colon cancer is {word}."
        for word in ("alpha", "bravo", "charlie", "delta")
    ]
    claims = choose([candidate(text) for text in sentences], "clinical_trials", WEIGHTED)
    assert len(claims) == 2


def test_a_sentence_that_holds_nothing_of_the_question_is_no_claim() -> None:
    unrelated = candidate("Samples were shipped overnight at room temperature to Utah.")
    assert choose([unrelated], "clinical_trials", dict.fromkeys(terms("metformin dose"), 1.0)) == []
