"""Drugs and tests: who asks about one is not told of another."""

import pytest

from knowledge.loader import load
from knowledge.subjects.products import are_on_others, has_products, products, speak_to
from knowledge.subjects.tags import tags
from tests.grid import grid


def test_every_product_is_a_word_of_its_decision() -> None:
    for decision, some in load("subjects/vocabulary")["products"].items():
        for name in some:
            assert decision in tags("decisions", name), name
            assert products(f"about {name.upper()}.") == {name}
        assert has_products(decision)
    assert not has_products("duration")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("What is the maximum daily dose of Lipitor?", {"atorvastatin"}),
        ("Eliquis or Xarelto?", {"apixaban", "rivaroxaban"}),
        ("TECENTRIQ (atezolizumab)", {"atezolizumab"}),
        ("Patients of ASA class III were included.", set()),
        ("Humira", set()),
    ],
)
def test_a_brand_names_its_product(words: str, named: set[str]) -> None:
    assert products(words) == named


@grid(
    ("words", "asked", "speaks"),
    [
        ("Apixaban lowered stroke.", {"apixaban"}, True),
        ("Apixaban was compared with warfarin.", {"warfarin", "dabigatran"}, True),
        ("Direct oral anticoagulants are recommended.", {"apixaban"}, True),
        ("Rivaroxaban lowered stroke.", {"apixaban"}, False),
        ("Medicare covers residual disease testing.", {"apixaban"}, False),
        ("Medicare covers residual disease testing.", {"Signatera"}, True),
        ("Medicare covers Guardant Reveal.", {"Signatera"}, False),
        ("Anything at all.", set(), True),
    ],
)
def test_words_speak_to_a_product_by_its_name_or_by_the_decision_alone(
    words: str, asked: set[str], speaks: bool
) -> None:
    assert speak_to(words, asked) is speaks


def test_words_are_on_others_only_among_products_of_the_same_decision() -> None:
    assert are_on_others("Rivaroxaban lowered stroke.", {"apixaban"})
    assert not are_on_others("Aspirin raised bleeding.", {"apixaban"})
    assert not are_on_others("Rivaroxaban lowered stroke.", set())
