"""When two sentences report the same finding."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.generate import findings
from workers.generate.findings import Told, finding, same

FINDING = "With the test 15% received chemotherapy against 28% without it (risk ratio 1.82)."


@pytest.mark.parametrize(
    "other",
    [
        FINDING,
        "With the test, 15% received chemotherapy against 28% without it (risk ratio 1.82).",
        "Chemotherapy was received by 15% with the test and by 28% without (ratio 1.82).",
    ],
)
def test_the_same_figures_on_the_same_things_are_one_finding(other: str) -> None:
    assert same(finding(FINDING), finding(other))
    assert same(finding(other), finding(FINDING))


@pytest.mark.parametrize(
    "other",
    [
        FINDING.replace("28%", "38%").replace("15%", "16%"),
        FINDING.replace("received", "did not receive"),
        "Relapse was seen in 15% of the north and 28% of the south at 1.82 years.",
        "Survival did not differ.",
    ],
)
def test_another_figure_a_negation_or_another_subject_is_another_finding(other: str) -> None:
    assert not same(finding(FINDING), finding(other))
    assert not same(finding(other), finding(FINDING))


def test_what_two_arms_are_given_is_told_of_each() -> None:
    given = "200 mg of drug X intravenously on Day 1, then 100 mg once daily for up to 10 days."
    drug, placebo = finding(f'- Arm "Drug X": {given}'), finding(f'- Arm "Placebo": {given}')
    assert not same(drug, placebo)
    assert same(drug, finding(f'- Arm "Drug X": {given}'))


_PIECES = ["15%", "28 %", "1.82", "1·82", "2019", "7", "12", "1,200", "no", "received", "survival",
           "with the test", "chemotherapy", "Arm A:", "RESULTS:", "−3", ","]  # fmt: skip
_SENTENCES = st.lists(st.sampled_from(_PIECES), max_size=9).map(" ".join)


@given(st.lists(_SENTENCES, max_size=5), _SENTENCES)
def test_what_the_numbers_told_so_far_cannot_hold_is_the_same_as_none(
    sentences: list[str], other: str
) -> None:
    told = Told()
    for one in sentences:
        told.add(finding(one))
    if any(same(finding(other), finding(one)) for one in sentences):
        assert told.may_hold(finding(other))


@given(st.text(alphabet="1 2,.-−·%a\n30٣"))
def test_a_number_begins_where_no_word_or_number_goes_on(text: str) -> None:
    plainly = re.compile(r"(?<![\w.,])[-−]?\d+(?:,\d{3})*(?:[.·]\d+)?\s?%?")
    expected = [one.span() for one in plainly.finditer(text)]
    assert [one.span() for one in findings._NUMBER.finditer(text)] == expected
