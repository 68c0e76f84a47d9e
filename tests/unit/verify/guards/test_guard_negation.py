"""What the passage negates the claim negates, and the other way round."""

import pytest

from tests.grid import grid
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.negation import guard


def vetoed(claim: str, passage: str) -> bool:
    return bool(guard(claim, Grounds(passage)))


@grid(
    ("claim", "passage"),
    [
        ("The drug is not recommended in pregnancy.", "The drug is recommended in pregnancy."),
        ("The drug is recommended in pregnancy.", "The drug is not recommended in pregnancy."),
        ("The test detected relapse.", "The test failed to detect relapse."),
        ("The test failed to detect relapse.", "The test detected relapse."),
        ("Patients with metastases were enrolled.", "Patients without metastases were enrolled."),
        ("Toxicity was seen.", "No toxicity was seen."),
        ("Toxicity was not seen.", "Toxicity was seen."),
        ("Screening is effective.", "Screening is ineffective."),
        ("ctDNA was detectable.", "ctDNA was undetectable."),
        ("The regimen is indicated.", "The regimen is contraindicated."),
        ("The drug was never approved.", "The drug was approved."),
        ("There was fever or cough.", "There was no fever or cough."),
        ("There was evidence of recurrence.", "There was no evidence of recurrence."),
        ("The test wasn't accurate.", "The test was accurate."),
        ("No change was not observed.", "No change was observed."),
        (
            "Non-invasive ventilation did not improve gas exchange.",
            "Non-invasive ventilation improved gas exchange.",
        ),
    ],
)
def test_a_negation_added_or_lost_is_vetoed(claim: str, passage: str) -> None:
    assert vetoed(claim, passage)


@grid(
    ("claim", "passage"),
    [
        ("The drug isn't recommended in pregnancy.", "The drug is not recommended in pregnancy."),
        ("The test did not detect relapse.", "The test failed to detect relapse."),
        ("No toxicity was seen.", "Toxicity was not seen."),
        ("Toxicity was not observed.", "No toxicity was seen."),
        ("Screening is not effective.", "Screening is ineffective."),
        ("The regimen is not indicated.", "The regimen is contraindicated."),
        ("There was no cough.", "There was no fever or cough."),
        ("It was not ineffective.", "It was effective."),
    ],
)
def test_other_words_for_the_same_negation_stand(claim: str, passage: str) -> None:
    assert not vetoed(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The drug lowered pressure.",
            "The drug not only lowered pressure but also slowed the pulse.",
        ),
        (
            "The drug lowered pressure in adults.",
            "The drug lowered pressure in adults, but it was not tested in children.",
        ),
        ("Patients were treated with surgery.", "Patients were treated with or without surgery."),
        ("The vaccine protects against measles.", "The vaccine protects against measles."),
        ("Two trials failed.", "Two trials failed."),
    ],
)
def test_words_that_only_look_like_a_negation_of_it_veto_nothing(claim: str, passage: str) -> None:
    assert not vetoed(claim, passage)


def test_a_negation_counts_for_the_word_it_stands_with() -> None:
    passage = "Relapse was associated with stage but was not associated with age."
    assert not vetoed("Relapse was associated with stage.", passage)
    assert not vetoed("Relapse was not associated with age.", passage)
    assert vetoed("Relapse was associated with age.", passage)
    assert vetoed("Relapse was not associated with stage.", passage)


def test_a_negation_reaches_a_noun_that_may_also_end_it() -> None:
    passage = "Ovarian cancer is the leading cause of death among these women."
    assert guard(passage.replace("is the", "is not the"), Grounds(passage))


def test_what_is_denied_is_not_reported() -> None:
    passage = "She denied chest pain."
    assert {one.code for one in guard("She reported chest pain.", Grounds(passage))} == {"negation"}
    assert guard("She had no chest pain.", Grounds(passage)) == []


def test_a_letter_of_a_name_is_not_what_is_negated() -> None:
    passage = "No patient of c-TRAK TN had clearance."
    assert guard("No c-TRAK TN patient had clearance.", Grounds(passage)) == []


def test_what_is_free_of_something_negates_it_but_not_in_the_name_of_an_endpoint() -> None:
    assert vetoed("The assay required tissue.", "It is a tissue-free assay.")
    assert not vetoed(
        "Recurrence was rare.", "Recurrence-free survival was long and recurrence rare."
    )


def test_a_denial_behind_its_subject_denies_it() -> None:
    assert not vetoed("Chest pain was denied.", "She denied chest pain.")


def test_two_kinds_of_survival_share_a_word_and_deny_nothing() -> None:
    passage = "Guided therapy led to longer disease-free survival and overall survival."
    claim = "Guided therapy led to longer disease-free and overall survival."
    assert guard(claim, Grounds(passage)) == []
    assert guard("The test is tissue-free and fast.", Grounds("The test is fast, with tissue."))


def test_the_name_of_an_absence_says_what_its_claim_denies() -> None:
    passage = "Two-year relapse-free survival was 51% with escalation."
    assert not vetoed("With escalation 51% were free of relapse at two years.", passage)
    assert vetoed("With escalation 51% were free of relapse.", "Relapse was 51% with escalation.")
