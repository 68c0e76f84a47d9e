"""A yes or no is on all that is asked, and on nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from workers.verify.lead.proposition import sides

DRUGS = ("zelotride", "marovirumab", "quillanib", "lodaxifen", "aspirin", "imatinib")
OUTCOMES = ("stroke", "kidney stones", "delirium", "hip fracture", "gout flares", "hearing loss")
ASKED = "Does {drug} reduce {outcome}?"
SAID = {
    "yes": (
        "{Drug} reduced {outcome}.",
        "The risk of {outcome} was lower with {drug} than placebo.",
    ),
    "no": (
        "{Drug} did not reduce {outcome}.",
        "{Drug} had no effect on {outcome}.",
        "There was no difference in {outcome} between {drug} and placebo.",
    ),
    None: (
        "{Drug} did not reduce fatal {outcome}.",
        "{Drug} did not reduce recurrent {outcome}.",
        "In women, {drug} did not reduce {outcome}.",
        "In patients older than 70 years, {drug} did not reduce {outcome}.",
        "{Drug} did not reduce {outcome} in men with diabetes.",
        "{Drug} did not reduce {outcome} more than {other}.",
        "{Drug} did not reduce {outcome} after surgery.",
        "{Drug} did not reduce hospital admissions.",
        "{Other} did not reduce {outcome}.",
        "Adding {other} to {drug} did not reduce {outcome}.",
        "{Drug} at 20 mg did not reduce {outcome}.",
        "As {drug} could not be stopped, {outcome} was managed with supplements.",
        "No patient stopped {drug} because of {outcome}.",
        "The routine use of {drug} for {outcome} needs to be reevaluated.",
        "{Drug} combined with {other} reduced {outcome}.",
        "{Drug} reduced {outcome} in mice.",
        "{Other} reduced {outcome}.",
        "{Drug} reduced hospital admissions.",
    ),
}


@given(st.permutations(DRUGS), st.sampled_from(OUTCOMES))
def test_what_is_narrower_wider_or_beside_takes_no_side(
    drugs: tuple[str, ...], outcome: str
) -> None:
    words = {"drug": drugs[0], "other": drugs[1], "outcome": outcome}
    words |= {"Drug": drugs[0].capitalize(), "Other": drugs[1].capitalize()}
    asked = ASKED.format(**words)
    for side, claims in SAID.items():
        for claim in claims:
            said = claim.format(**words)
            assert sides(asked, said) == ((side,) if side else ()), said


def test_a_name_is_told_by_any_of_its_names_and_a_denial_in_the_question_is_none_of_the_claim() -> (
    None
):
    asked = "Is spirometry needed after uncomplicated pneumonia?"
    assert sides(asked, "Spirometry is needed after uncomplicated pneumonia.") == ("yes",)
    assert sides(asked, "Spirometry is not needed after uncomplicated pneumonia.") == ("no",)
    asked = "Does aspirin prevent atrial fibrillation?"
    assert sides(asked, "Acetylsalicylic acid did not prevent AF.") == ("no",)
