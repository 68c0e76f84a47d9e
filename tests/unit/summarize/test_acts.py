"""What a statement of a note does is read by its form, whatever the drug or the test is called."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.summarize.test_sections import NOTES
from workers.summarize.acts import ACTS, Statement, read_acts, weights
from workers.summarize.summary import read, summarize

_NEW = ("zorvatinib", "Plenaxil", "quorimab")
"""Drugs that no table has."""
ORDERS = [
    *(form.format(name) for form, name in product(
        ("Start {} 20 mg once daily.", "Please stop his {}.", "I have prescribed {} 5 mg.",
         "We will increase the {} to 40 mg.", "{} to be restarted tomorrow."), _NEW)),
    "She should return at once if she faints.",
    "Repeat the florbin level in two weeks.",
    "He will be referred to the plinth clinic.",
]  # fmt: skip
TOLD = [
    *(form.format(name) for form, name in product(
        ("She has been taking {} since May.", "He had a rash after {}."), _NEW)),
    "He slept badly and had two falls at home.",
    "The chest was clear and the abdomen soft.",
    "Her father died of a stroke.",
    "MRI in May showed two small cysts.",
]  # fmt: skip


def steps(text: str) -> list[str]:
    return [one["recommendation"] for one in summarize(text)["plan"]["recommendations"]]


def test_an_order_of_a_narrative_is_in_the_plan_by_its_form() -> None:
    text = "Mrs Plugh is a 60 year old woman who feels well. Her heart sounds are normal. {}\n"
    lost = [one for one in ORDERS if one not in steps(text.format(one))]
    assert len(lost) <= len(ORDERS) // 10, lost


def test_what_is_told_in_a_narrative_is_in_no_plan() -> None:
    text = "Mrs Plugh is a 60 year old woman who feels well. {} Her heart sounds are normal.\n"
    ordered = [one for one in TOLD if one in steps(text.format(one))]
    assert not ordered


@pytest.mark.parametrize("heading", ["Way forward", "To be done", "Agreed with family", "P/"])
def test_orders_below_a_heading_that_no_list_has_are_in_the_plan(heading: str) -> None:
    text = f"Findings\nBP 120/80\n\n{heading}\n- Bloods next week\n- Stop naproxen\n"
    assert set(steps(text)) >= {"Bloods next week", "Stop naproxen"}


@given(st.lists(st.text(max_size=40), max_size=12))
def test_each_statement_has_one_act_with_its_share(words: list[str]) -> None:
    acts = read_acts([Statement(one) for one in words])
    assert len(acts) == len(words)
    assert all(one.name in ACTS and 0 <= one.order <= one.step <= 1.0001 for one in acts)


@pytest.mark.parametrize("words", ["Start aspirin 75 mg.", "Chest clear.", "Known to have gout."])
def test_capitals_change_nothing(words: str) -> None:
    assert read_acts([Statement(words.upper())]) == read_acts([Statement(words)])


def test_the_weights_are_small() -> None:
    assert weights().table.size < 200_000


@given(NOTES)
def test_what_is_uncovered_stands_in_the_note_and_in_no_plan(text: str) -> None:
    result = summarize(text)
    planned = {one["source"] for one in result["plan"]["recommendations"]}
    for one in result["uncovered"]:
        assert one["text"] in text
        assert one["source"] not in planned


def uncovered(text: str) -> list[dict[str, Any]]:
    return list(summarize(text)["uncovered"])


def test_an_order_among_medicines_that_no_plan_has_is_shown() -> None:
    text = "Medications:\nPlease stop the warfarin today and check the INR.\nAspirin 75 mg\n"
    found = uncovered(text)
    assert [one["act"] for one in found] == ["order"] or steps(text)
    assert not uncovered("Plan:\n- Stop warfarin\n")


def test_a_note_is_read_once() -> None:
    acts = [one.act.name for one in read("Plan:\n- Start aspirin 75 mg.\n").outline.units]
    assert acts == ["order"]
