"""What a passage gives to one arm of a comparison stays with this arm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.verify.guards.arms import guard
from workers.verify.guards.grounds import Grounds

GUIDED = "Recurrence was 15% in the ctDNA-guided group vs 28% in the standard-management group."
THAN = "Recurrence was lower with apixaban than with warfarin (15% vs. 28%)."
SUPERIOR = "Apixaban was superior to warfarin in preventing stroke."
LIST = "For aspirin, clopidogrel and ticagrelor, rates were 1%, 2% and 3%, respectively."
STATUS = "It was 86.4% among ctDNA-positive patients and 92.5% among ctDNA-negative patients."
COUNTS = (
    "In the guided group, 12 patients (15%) relapsed, and in the control group, 20 patients (28%) "
    "did."
)
CHANGE = "Pain fell from 7.1 points to 3.2 points."
TIMES = "The relapse rate was 12% at 1 year and 21% at 5 years."


@grid(
    ("claim", "passage"),
    [
        ("28% recurred with standard management and 15% with ctDNA-guided management.", GUIDED),
        ("In the standard-management group 28% recurred.", GUIDED),
        ("Recurrence was lower in the ctDNA-guided than in the standard-management group.", GUIDED),
        ("Recurrence was 28% with warfarin and 15% with apixaban.", THAN),
        ("Recurrence was higher with warfarin than with apixaban.", THAN),
        ("Warfarin was inferior to apixaban.", SUPERIOR),
        ("Compared with warfarin, apixaban was superior.", SUPERIOR),
        ("The rate was 2% for clopidogrel.", LIST),
        ("92.5% in ctDNA-negative patients; 86.4% in ctDNA-positive ones.", STATUS),
        ("20 patients in the control group relapsed.", COUNTS),
        ("Pain fell to 3.2 points from 7.1 points.", CHANGE),
        ("At 5 years 21% had relapsed, and 12% at 1 year.", TIMES),
    ],
)
def test_what_keeps_its_arm_passes(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage)) == []


@grid(
    ("claim", "passage"),
    [
        ("Recurrence was 28% in the ctDNA-guided vs 15% in the standard-management group.", GUIDED),
        ("In the standard-management group 15% recurred.", GUIDED),
        ("Recurrence was 28% with apixaban and 15% with warfarin.", THAN),
        ("Recurrence was lower with apixaban than with warfarin (28% vs. 15%).", THAN),
        ("The rate was 2% for aspirin.", LIST),
        ("For aspirin, clopidogrel and ticagrelor: 1%, 3% and 2%, respectively.", LIST),
        ("92.5% among ctDNA-positive patients.", STATUS),
        ("28% of the guided group relapsed.", COUNTS),
        ("15% of the control group relapsed.", COUNTS),
        ("Pain fell from 3.2 points to 7.1 points.", CHANGE),
        ("The relapse rate was 21% at 1 year and 12% at 5 years.", TIMES),
    ],
)
def test_what_changes_its_arm_is_vetoed(claim: str, passage: str) -> None:
    assert {finding.code for finding in guard(claim, Grounds(passage))} == {"arm"}


def test_two_values_side_by_side_keep_their_order_where_no_arm_is_named() -> None:
    grounds = Grounds("The rate was lower (73.8% vs 60.0%), and costs were similar.")
    assert guard("The rate was lower (73.8% vs 60.0%).", grounds) == []
    assert guard("The rate was lower (60.0% vs 73.8%).", grounds) != []


@given(st.permutations(["aspirin", "clopidogrel", "ticagrelor"]))
def test_only_the_stated_order_of_a_list_passes(drugs: list[str]) -> None:
    claim = f"For {drugs[0]}, {drugs[1]} and {drugs[2]}, rates were 1%, 2% and 3%, respectively."
    passes = guard(claim, Grounds(LIST)) == []
    assert passes == (drugs == ["aspirin", "clopidogrel", "ticagrelor"])


@given(
    st.lists(
        st.sampled_from([GUIDED, THAN, SUPERIOR, LIST, STATUS, COUNTS, CHANGE, TIMES]), min_size=1
    ),
    st.text(alphabet="abAB15.%,;:()vs than respectively", max_size=60),
)
def test_no_text_is_vetoed_against_itself(sentences: list[str], tail: str) -> None:
    text = " ".join([*sentences, tail])
    assert guard(text, Grounds(text)) == []


OVERALL = "The overall incidence of fibrillation was 26%."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Of all patients in the study group 26% had fibrillation.", OVERALL),
        ("In the atezolizumab group 28% had events.", "Events occurred in 28% with atezolizumab."),
        ("In the ctDNA-guided group 15% were treated.", "15% of the guided arm were treated."),
        ("In the statin group 26% had it.", "It was seen in 26% of the intervention group."),
        ("In the TACE group 26% had it.",
         "Of those with transarterial chemoembolization (TACE) 26% had it."),
    ],
)  # fmt: skip
def test_an_arm_that_the_passage_names_or_may_mean_passes(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage, text=passage)) == []


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        # the number of a day is no value of an arm
        (
            "ctDNA-positive patients were 7 times more likely than ctDNA-negative patients to"
            " relapse at postoperative day 30.",
            "At postoperative day 30, ctDNA-positive patients were 7 times more likely to relapse"
            " than ctDNA-negative patients.",
        ),
        # what a count is part of, behind a share
        (
            "At baseline, ctDNA was detectable in 79 of 597 samples (13%).",
            "ctDNA was detectable in 79 (13%) of 597 baseline samples.",
        ),
        (
            "Among treated ctDNA-positive patients, clearance was seen in 35 of 40 (87.5%).",
            "For treated ctDNA-positive patients, clearance was seen at the end of treatment in 35"
            " out of 40 patients (87.5%).",
        ),
        # a dose is in no list of shares
        (
            "31.4% on A 50 mg vs 4.2% on placebo reached the score at week 24.",
            "31.4% of patients on 50 mg and 18.9% on 25 mg reached the score at week 24, against"
            " 4.2% on placebo.",
        ),
        # a range in brackets is no value of its own
        (
            "PFS was 98.4% in patients with undetectable MRD and 33.3% in those with detectable"
            " MRD.",
            "PFS was 98.4% [95.4-100] for patients with undetectable MRD vs. 33.3% [13.2-84] for"
            " patients with detectable MRD.",
        ),
        # a difference belongs to both
        (
            "RFS was 88% with guided and 87% with standard management (difference 1.1%).",
            "RFS was 88% and 87% with guided and standard management, respectively (difference"
            " 1.1%), and survival was alike (93.8% versus 93.3%).",
        ),
        # "overall" tells one survival from another
        (
            "In positive patients, A did better than observation for overall survival (hazard ratio"
            " 0.59).",
            "In positive patients A was better than observation for disease-free survival (hazard"
            " ratio 0.58) and overall survival (hazard ratio 0.59).",
        ),
    ],
)  # fmt: skip
def test_what_is_no_value_of_one_arm_is_not_compared(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage, text=passage)) == []
