"""An effect goes the way the passage says, for the same outcome and the same sides."""

import pytest

from workers.verify.guards.direction import guard
from workers.verify.guards.grounds import Grounds

THREE_EFFECTS = (
    "Aspirin significantly reduced mortality compared with placebo, increased bleeding, and did not"
    " affect stroke."
)


def codes(claim: str, passage: str) -> set[str]:
    return {finding.code for finding in guard(claim, Grounds(passage))}


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Aspirin reduced mortality.", THREE_EFFECTS),
        ("Aspirin increased bleeding.", THREE_EFFECTS),
        ("Mortality was lower with aspirin.", THREE_EFFECTS),
        ("Aspirin decreased mortality versus placebo.", THREE_EFFECTS),
        ("Aspirin had no effect on stroke.", THREE_EFFECTS),
        ("Statins improved survival.", "Statins reduced mortality."),
        ("Statins lowered mortality.", "Statins improved survival."),
        ("Relapse was less frequent.", "Relapse was less frequent with the drug."),
        (
            "Response was higher in women than in men.",
            "Response was lower in men than in women.",
        ),
        ("The groups did not differ in survival.", "Survival was similar in the groups."),
        (
            "Survival was comparable in the groups.",
            "There was no significant difference in survival between the groups.",
        ),
        ("Drug A was noninferior to drug B.", "Drug A was non-inferior to drug B."),
        ("Drug A was not inferior to drug B.", "Drug A was noninferior to drug B."),
        ("Kinase B is inhibited by drug A.", "Drug A inhibits kinase B."),
    ],
)
def test_a_direction_that_the_passage_states_stands(claim: str, passage: str) -> None:
    assert codes(claim, passage) == set()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Aspirin increased mortality.", THREE_EFFECTS),
        ("Aspirin reduced bleeding.", THREE_EFFECTS),
        ("Aspirin reduced stroke.", THREE_EFFECTS),
        ("Statins worsened survival.", "Statins reduced mortality."),
        ("Statins reduced survival.", "Statins reduced mortality and improved survival."),
        ("Survival differed between the groups.", "Survival did not differ between the groups."),
        ("Survival was longer with drug A.", "Survival was similar with drug A."),
        ("Drug A was superior to drug B.", "Drug A was noninferior to drug B."),
        ("Drug A was inferior to drug B.", "Drug A was superior to drug B."),
        ("Drug A did not reduce relapse.", "Drug A reduced relapse."),
        ("Drug A did not reduce relapse.", "Drug A did not increase relapse."),
    ],
)
def test_the_opposite_of_what_the_passage_states_is_vetoed(claim: str, passage: str) -> None:
    assert codes(claim, passage) == {"direction"}


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Placebo reduced mortality compared with aspirin.",
            "Aspirin reduced mortality compared with placebo.",
        ),
        (
            "Response was higher in women than in men.",
            "Response was higher in men than in women.",
        ),
        (
            "Dengue was more frequent in urban than in rural areas.",
            "Dengue was more frequent in rural than in urban areas.",
        ),
        ("Kinase B inhibits drug A.", "Drug A inhibits kinase B."),
    ],
)
def test_swapped_sides_are_vetoed(claim: str, passage: str) -> None:
    assert codes(claim, passage) == {"direction"}


def test_a_direction_that_the_passage_does_not_state_at_all_is_vetoed() -> None:
    assert codes("Drug A improved survival.", "Drug A was given and survival was measured.")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("ctDNA-positive patients relapsed.", "ctDNA-negative patients relapsed."),
        ("The committee approved the drug.", "The committee rejected the drug."),
        ("Plasma was drawn before surgery.", "Plasma was drawn after surgery."),
        ("Early treatment was given.", "Late treatment was given."),
        ("The cells were resistant to cisplatin.", "The cells were sensitive to cisplatin."),
    ],
)
def test_opposites_in_one_place_are_vetoed(claim: str, passage: str) -> None:
    assert codes(claim, passage) == {"direction"}


def test_both_of_two_opposites_may_be_told_as_the_passage_tells_them() -> None:
    passage = "ctDNA-positive patients relapsed, ctDNA-negative patients stayed in remission."
    assert codes("ctDNA-positive patients relapsed.", passage) == set()
    assert codes("ctDNA-negative patients relapsed.", passage) == {"direction"}


def test_comparators_before_numbers_are_not_directions() -> None:
    assert (
        codes("Patients with more than 3 nodes were enrolled.", "Patients had >3 nodes.") == set()
    )


def test_a_bound_without_a_number_is_a_direction() -> None:
    passage = "The rate of stroke was equal or lower with apixaban."
    assert codes("The rate of stroke was equal or higher with apixaban.", passage) == {"direction"}
    assert (
        codes("Adults of 65 years or older were enrolled.", "Adults of 65 years or more.") == set()
    )
