"""The learned selector: which of two sentences answers better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.generate.selector import NAMES, selector

PAIRS = [
    (
        "Which antibody is used for the treatment of asthma?",
        "Omalizumab, a monoclonal antibody against IgE, is used to treat severe asthma.",
        "Asthma is a common disease of the airways in children.",
    ),
    (
        "Does drug X lower the relapse rate in asthma?",
        "Relapse in asthma was less frequent with drug X than with placebo (12 % against 30 %).",
        "OBJECTIVE: To determine whether drug X lowers the relapse rate in asthma.",
    ),
    (
        "What is the maximum dose of metformin?",
        "Do not exceed a total daily dose of 2,550 mg of metformin.",
        "Metformin is indicated as an adjunct to diet and exercise in type 2 diabetes.",
    ),
    (
        "Is apixaban contraindicated in active bleeding?",
        "Apixaban is contraindicated in patients with active pathological bleeding.",
        "Store apixaban tablets at room temperature.",
    ),
]


def scored(question: str, *lines: str) -> list[float]:
    return [float(one) for one in selector().scores(question, [(line, "", "") for line in lines])]


def test_what_answers_scores_above_what_only_has_the_words() -> None:
    wrong = [
        question
        for question, answer, beside in PAIRS
        if scored(question, answer)[0] <= scored(question, beside)[0]
    ]
    assert wrong == []


@given(st.lists(st.text(max_size=200), max_size=4), st.text(max_size=200))
def test_a_score_is_a_share_and_depends_on_no_other_sentence(lines: list[str], asked: str) -> None:
    rows = [(line, line[:10], line) for line in lines]
    together = selector().scores(asked, rows)
    assert together.shape == (len(lines),)
    assert np.all((together >= 0) & (together <= 1))
    assert [float(selector().scores(asked, [row])[0]) for row in rows] == pytest.approx(
        together.tolist(), rel=1e-3
    )


def test_the_words_of_a_sentence_of_its_title_and_of_its_text_are_told_apart() -> None:
    asked, line = "Does metformin lower mortality?", "Aspirin caused bleeding in 12 patients."
    rows = [(line, "", ""), (line, asked, ""), (line, "", asked), (asked, "", "")]
    features, _ = selector().reader.features(asked, rows)
    alone, titled, of_text, said = (dict(zip(NAMES, row, strict=False)) for row in features)
    groups = {"own", "both", "near", "held", "held_both", "held_near", "least", "least_both"}
    of_title = {"both", "near", "held_both", "held_near", "least_both"}
    assert {name for name in groups if titled[name] > alone[name]} == of_title
    assert {name for name in groups if of_text[name] > alone[name]} == {"near", "held_near"}
    assert {name for name in groups if said[name] > 0.99} == groups
    assert max(alone[name] for name in ("held", "held_both", "held_near")) < 0.5


def test_the_weights_are_small_enough_to_ship() -> None:
    assert sum(one.nbytes for one in selector().weights.values()) < 15_000_000
