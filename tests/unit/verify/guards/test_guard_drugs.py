"""A drug of a claim, with its dose, route and frequency, is the passage's."""

from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.verify.guards.drugs import guard
from workers.verify.guards.grounds import Grounds

PASSAGE = (
    "Patients were assigned to apixaban 5 mg twice daily or dabigatran 150 mg twice daily or "
    "220 mg once daily, or intravenous heparin at 10 mg/kg every 3 weeks; once-daily rivaroxaban "
    "20 mg was oral."
)


@grid(
    "claim",
    [
        "Apixaban was given at 5 mg twice daily.",
        "Eliquis was given at 5 mg bid.",
        "Dabigatran 150 mg q12h was given.",
        "Dabigatran 220 mg daily was given.",
        "Heparin 10 mg/kg was given i.v. every three weeks.",
        "Oral rivaroxaban 20 mg was given once a day.",
        "A DOAC was given.",
        "An anticoagulant such as apixaban was given.",
    ],
)
def test_what_the_passage_gives_passes(claim: str) -> None:
    assert guard(claim, Grounds(PASSAGE)) == []


@grid(
    ("claim", "code"),
    [
        ("Edoxaban was given.", "drug"),
        ("Coumadin was given.", "drug"),
        ("Inventomab was given.", "drug"),
        ("Statins were given.", "drug_class"),
        ("DOACs in general were given.", "drug_class"),
        ("Apixaban 2.5 mg was given.", "dose"),
        ("Apixaban 5 g was given.", "dose"),
        ("Heparin 10 mg/m2 was given.", "dose"),
        ("Heparin 10 mg was given.", "dose"),
        ("Apixaban 150 mg was given.", "dose_drug"),
        ("Dabigatran 5 mg twice daily was given.", "dose_drug"),
        ("Apixaban 5 mg once daily was given.", "frequency_drug"),
        ("Apixaban 5 mg was given three times daily.", "frequency"),
        ("Heparin was given every 2 weeks.", "frequency"),
        ("Heparin was given q12h.", "frequency_drug"),
        ("Dabigatran 150 mg once daily was given.", "regimen"),
        ("Heparin was given orally.", "route_drug"),
        ("Heparin was given subcutaneously.", "route"),
    ],
)
def test_another_drug_dose_route_or_frequency_is_vetoed(claim: str, code: str) -> None:
    assert code in {finding.code for finding in guard(claim, Grounds(PASSAGE))}


def test_a_passage_without_a_drug_may_be_told_of_the_drug_of_its_title() -> None:
    grounds = Grounds("The drug lowered mortality.", title="Apixaban in heart failure")
    assert guard("Apixaban lowered mortality.", grounds) == []
    assert guard("Warfarin lowered mortality.", grounds) != []


def test_a_drug_of_the_title_is_not_put_for_one_of_the_passage() -> None:
    grounds = Grounds("Warfarin therapy lowered mortality.", title="Apixaban and warfarin")
    assert guard("Apixaban lowered mortality.", grounds) != []


def test_a_list_gives_each_drug_its_dose() -> None:
    grounds = Grounds("Losartan and valsartan were given at 50 mg and 80 mg, respectively.")
    assert guard("Valsartan 80 mg was given.", grounds) == []
    assert guard("Valsartan 50 mg was given.", grounds) != []


@given(st.sampled_from([2, 5, 10, 20]), st.sampled_from([2, 5, 10, 20]))
def test_two_doses_do_not_change_places(first: int, second: int) -> None:
    grounds = Grounds(f"Apixaban {first} mg and edoxaban {second} mg were given.")
    swapped = f"Apixaban {second} mg and edoxaban {first} mg were given."
    assert (guard(swapped, grounds) == []) == (first == second)
