"""Drugs and tests: who asks about one is not told of another."""

import pytest

from knowledge.subjects.products import (
    are_on_others,
    asked_for,
    chosen_among,
    has_products,
    products,
    speak_to,
)
from tests.grid import grid


def test_a_decision_is_among_the_drugs_and_the_proper_names_of_its_words() -> None:
    assert {"Signatera", "Guardant Reveal"} == set(chosen_among()["mrd_testing"])
    assert {"warfarin", "apixaban"} < set(chosen_among()["anticoagulation"])
    assert {"denosumab", "alendronate"} < set(chosen_among()["bone_therapy"])
    assert "P2Y12" not in chosen_among()["antiplatelet_therapy"]
    assert not has_products("duration")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("What is the maximum daily dose of Lipitor?", {"atorvastatin"}),
        ("Eliquis or Xarelto?", {"apixaban", "rivaroxaban"}),
        ("TECENTRIQ (atezolizumab)", {"atezolizumab"}),
        ("Patients of class III were included.", set()),
        ("Humira", {"adalimumab"}),
        ("AZD1234 was given with MK-3475 to NCT01234567.", {"AZD1234", "pembrolizumab"}),
        ("The ColoSight test and Velontra 20 mg.", {"ColoSight", "Velontra"}),
        ("ColoSight is a trial, as is the Velontra study.", {"ColoSight"}),
        ("The ColoSight trial", set()),
        ("SIGNATERA, and ctDNA testing by a panel", {"Signatera"}),
    ],
)
def test_products_are_what_the_tables_know_and_what_is_written_or_stands_as_one(
    words: str, named: set[str]
) -> None:
    assert products(words) == named


@pytest.mark.parametrize(
    ("question", "required", "asked"),
    [
        ("Does velontra work?", ("velontra",), ("velontra",)),
        ("Does Eliquis help in AF?", ("Eliquis",), ("apixaban",)),
        ("Does ferroptosis matter in gout?", ("gout",), ()),
        ("Does MRD matter?", ("MRD",), ()),
        ("Trastuzumab deruxtecan?", ("Trastuzumab deruxtecan",), None),
    ],
)
def test_a_question_is_on_the_drugs_and_unknown_names_that_its_answer_must_have(
    question: str, required: tuple[str, ...], asked: tuple[str, ...] | None
) -> None:
    found = asked_for(question, required)
    assert found == asked if asked is not None else "Trastuzumab deruxtecan" in found


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


def test_what_stands_beside_a_product_in_a_title_is_another_one_whatever_it_is() -> None:
    title = "Velontra versus Zyquira in gout"
    assert are_on_others(
        "Zyquira 20 mg lowered pain.", {"Velontra"}, "Velontra versus Zyquira 20 mg"
    )
    assert not are_on_others("Lithium rose in 3 %.", {"Velontra"}, title)
    assert not are_on_others("Zyquira and Velontra lowered pain.", {"Velontra"}, title)
