"""A claim is no surer, no wider and no less conditional than its passage."""

import pytest

from workers.verify.guards.grounds import Grounds
from workers.verify.guards.modality import guard


def vetoed(claim: str, passage: str) -> bool:
    return bool(guard(claim, Grounds(passage)))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Metformin reduces relapse.", "Metformin may reduce relapse."),
        ("Metformin reduces relapse.", "These results suggest that metformin reduces relapse."),
        ("Metformin reduces relapse.", "Metformin appears to reduce relapse."),
        ("Metformin reduces relapse.", "We hypothesized that metformin reduces relapse."),
        ("Metformin is a target.", "Metformin is a potential target."),
        (
            "Metformin reduces relapse.",
            "Metformin is safe and might reduce relapse.",
        ),
    ],
)
def test_a_lost_hedge_is_vetoed(claim: str, passage: str) -> None:
    assert vetoed(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Metformin might reduce relapse.", "Metformin may reduce relapse."),
        ("Relapse may be reduced by metformin.", "Metformin may reduce relapse."),
        ("Results indicate that metformin helps.", "Results suggest that metformin helps."),
        ("Metformin may reduce relapse.", "Metformin reduces relapse."),
        ("Metformin is safe.", "Metformin is safe and might reduce relapse."),
        ("Metformin is not sold.", "Metformin is not sold, although it may reduce relapse."),
    ],
)
def test_a_claim_as_careful_or_more_careful_stands(claim: str, passage: str) -> None:
    assert not vetoed(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Metformin reduces relapse.",
            "The aim of this trial was to determine whether metformin reduces relapse.",
        ),
        ("Metformin reduces relapse.", "Does metformin reduce relapse?"),
        ("Metformin reduces relapse.", "To evaluate whether metformin reduces relapse."),
        ("Relapse was measured by imaging.", "Relapse will be measured by imaging."),
        ("Patients received metformin.", "Patients will receive metformin."),
    ],
)
def test_an_aim_a_question_or_a_plan_is_no_result(claim: str, passage: str) -> None:
    assert vetoed(claim, passage)


def test_an_aim_may_be_told_as_an_aim_and_as_the_result_it_became() -> None:
    aim = "The aim was to determine whether metformin reduces relapse."
    assert not vetoed("The trial evaluated whether metformin reduces relapse.", aim)
    assert not vetoed("Metformin reduces relapse.", f"{aim} Metformin reduces relapse.")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Surgery can be omitted.", "Surgery can be omitted if the scan shows remission."),
        ("Surgery was curative.", "Surgery was curative unless nodes were involved."),
        ("The drug was effective.", "The drug was effective only in women with early disease."),
        ("The drug shrank tumors.", "The drug shrank tumors in mice."),
        ("The drug killed lymphoma.", "The drug killed lymphoma in vitro."),
        (
            "Survival was longer with the drug.",
            "Survival was longer with the drug in an exploratory subgroup.",
        ),
    ],
)
def test_a_lost_condition_is_vetoed(claim: str, passage: str) -> None:
    assert vetoed(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "In remission on the scan, surgery can be omitted.",
            "Surgery can be omitted if the scan shows remission.",
        ),
        ("The drug shrank tumors in animals.", "The drug shrank tumors in mice."),
        ("The drug lowered urate.", "The drug lowered urate, and mice were bred elsewhere."),
    ],
)
def test_a_condition_kept_in_other_words_stands(claim: str, passage: str) -> None:
    assert not vetoed(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Surgery is recommended.", "Surgery may be considered."),
        ("Surgery should be offered.", "Surgery may be offered."),
        ("Surgery must be done.", "Surgery should be done."),
        ("Surgery is recommended.", "Surgery was done in ten centers."),
    ],
)
def test_a_stronger_recommendation_is_vetoed(claim: str, passage: str) -> None:
    assert vetoed(claim, passage)
    assert not guard(passage, Grounds(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("All patients relapsed.", "Patients relapsed."),
        ("Patients always relapsed.", "Patients relapsed."),
        ("Only patients with nodes relapsed.", "Patients with nodes relapsed."),
        ("Most patients relapsed.", "Some patients relapsed."),
        ("Patients relapsed.", "Few patients relapsed."),
        ("Coffee causes cancer.", "Coffee is associated with cancer."),
    ],
)
def test_a_wider_or_a_stronger_statement_is_vetoed(claim: str, passage: str) -> None:
    assert vetoed(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Every patient relapsed.", "All patients relapsed."),
        ("A majority of patients relapsed.", "Most patients relapsed."),
        ("Doses were given every 3 weeks.", "Doses were given three weeks apart."),
        ("Coffee is linked to cancer.", "Coffee is associated with cancer."),
    ],
)
def test_as_wide_a_statement_stands(claim: str, passage: str) -> None:
    assert not vetoed(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Give warfarin five days before surgery.",
         "Warfarin should be stopped five days before surgery."),
        ("Metformin was given before surgery.", "Metformin was stopped before surgery."),
        ("Clopidogrel was administered before surgery.",
         "Clopidogrel was interrupted before surgery."),
        ("Prednisone was given over four weeks.", "Prednisone was tapered over four weeks."),
    ],
)  # fmt: skip
def test_what_was_stopped_was_not_given(claim: str, passage: str) -> None:
    assert [one.code for one in guard(claim, Grounds(passage))] == ["modality"]
    assert guard(passage, Grounds(passage)) == []
