"""An effect goes the way the passage says, for the same outcome and the same sides."""

import pytest

from tests.grid import grid
from workers.verify.guards.direction import guard
from workers.verify.guards.grounds import Grounds

THREE_EFFECTS = (
    "Aspirin significantly reduced mortality compared with placebo, increased bleeding, and did not"
    " affect stroke."
)


def codes(claim: str, passage: str) -> set[str]:
    return {finding.code for finding in guard(claim, Grounds(passage))}


@grid(
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


@grid(
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


NONINFERIOR = (
    "Recurrence-free survival was 93.5% with guidance and 92.4% with standard management, an"
    " absolute difference of 1.1 percentage points (95% CI -4.1 to 6.2), which met noninferiority."
)


def test_what_is_noninferior_may_differ_where_the_passage_says_both() -> None:
    claim = "Recurrence-free survival was 93.5% vs 92.4%, meeting noninferiority."
    assert codes(claim, NONINFERIOR) == set()
    differs = "Recurrence-free survival differed between guidance and standard management."
    assert codes("Guidance was noninferior in recurrence-free survival.", differs) == {"direction"}


def test_what_was_cut_was_reduced_unless_it_is_a_place_or_a_limit() -> None:
    cut = "De-escalation cut oxaliplatin use to 34.8% from 88.6%, so noninferiority was not shown."
    assert codes("De-escalation reduced oxaliplatin use to 34.8%.", cut) == set()
    assert codes("De-escalation increased oxaliplatin use to 34.8%.", cut) == {"direction"}
    assert codes("The cut surface was grey.", "The cut surface was grey.") == set()


def test_alike_is_similar() -> None:
    passage = "Five-year overall survival was also alike: 93.8% against 93.3%."
    assert codes("Overall survival at five years was similar (93.8% and 93.3%).", passage) == set()


NOT_SHOWN = (
    "De-escalation cut oxaliplatin use, but recurrence-free survival was 85.3% against 88.1%, so"
    " noninferiority was not shown."
)
SHOWN = "Guidance halved the use of chemotherapy, and recurrence-free survival was noninferior."


@grid(
    ("claim", "passage", "vetoed"),
    [
        ("De-escalation did not compromise recurrence-free survival.", NOT_SHOWN, True),
        ("De-escalation spared oxaliplatin without compromising survival.", NOT_SHOWN, True),
        ("De-escalation did not worsen recurrence-free survival.", NOT_SHOWN, True),
        ("De-escalation did not jeopardize recurrence-free survival.", NOT_SHOWN, True),
        ("Guidance did not compromise recurrence-free survival.", SHOWN, False),
        ("Guidance did not worsen recurrence-free survival.", SHOWN, False),
        ("Guidance compromised recurrence-free survival.", SHOWN, True),
        ("Vaccination was given to immunocompromised hosts.", SHOWN, False),
    ],
)
def test_what_is_not_compromised_is_noninferior(claim: str, passage: str, vetoed: bool) -> None:
    assert ("direction" in codes(claim, passage)) is vetoed
