"""How a question is understood, by the words of `knowledge/`."""

import pytest

from knowledge.tags import tags
from workers.retrieve.understanding.read import query_type, understand


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What clinical trials are studying MRD-guided treatment de-escalation?",
            "clinical_trials",
        ),
        ("Tell me about the CIRCULATE and DYNAMIC trials", "clinical_trials"),
        ("Are there any Phase 3 trials for ctDNA in lung cancer?", "clinical_trials"),
        ("What does NCCN say about ctDNA in colorectal cancer?", "guidelines"),
        ("How do NCCN and ESMO guidelines differ on ctDNA?", "guidelines"),
        ("Is ctDNA testing covered by Medicare?", "coverage_policy"),
        ("How does Signatera compare to Guardant Reveal?", "comparison"),
        ("What is the sensitivity of MRD assays?", "general"),
    ],
)
def test_a_question_has_the_type_that_its_words_ask_for(question: str, expected: str) -> None:
    assert query_type(question) == expected


def test_tags_are_whole_words_in_order_of_mention() -> None:
    assert tags("diseases", "bladder cancer after colon cancer") == (
        "bladder_cancer",
        "colorectal_cancer",
    )
    assert tags("diseases", "a capital question") == ()  # no pneumonia (CAP) in "capital"


def test_a_named_disease_comes_before_cancer_in_general() -> None:
    found = understand("Does ctDNA in solid tumors such as breast cancer predict relapse?")
    assert found.diseases == ("breast_cancer",)
    assert found.classification == "breast_cancer/mrd_testing"


def test_pico_names_what_the_question_states_and_nothing_else() -> None:
    found = understand(
        "In patients with stage II colon cancer, does ctDNA-guided therapy versus standard "
        "management improve recurrence-free survival?"
    ).pico
    assert found.patient == "patients with stage II colon cancer"
    assert found.comparison == "standard management"
    assert found.outcome == "recurrence-free survival"
    assert found.condition == "Colorectal Neoplasms"


def test_the_patient_context_adds_tags_but_does_not_decide_the_type() -> None:
    found = understand("Should ctDNA be tested?", "Enrolled in a trial; breast cancer in 2024.")
    assert found.query_type == "general"
    assert found.diseases == ("breast_cancer",)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which trials are currently recruiting?", True),
        ("What is the latest NCCN position?", True),
        ("What was the primary endpoint of DYNAMIC?", False),
    ],
)
def test_sp_6_3_a_question_for_the_present_state_is_recognized(question: str, asks: bool) -> None:
    assert understand(question).asks_for_today is asks


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Tell me about the CIRCULATE and DYNAMIC trials", ("CIRCULATE", "DYNAMIC")),
        ("Did c-TRAK TN or IMvigor011 meet its endpoint?", ("c-TRAK", "TN", "IMvigor011")),
        ("What does NCCN say about ctDNA in NSCLC?", ("NCCN",)),
        ("Is MRD-guided therapy in stage III CRC useful?", ()),
        ("Status of NCT04068103?", ("NCT04068103",)),
    ],
)
def test_names_of_trials_and_societies_are_told_from_the_vocabulary(
    question: str, expected: tuple[str, ...]
) -> None:
    assert understand(question).names == expected
