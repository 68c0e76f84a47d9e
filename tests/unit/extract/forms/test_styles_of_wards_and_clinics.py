"""Documents as wards, clinics and laboratories write them: their labels, stays, drugs and dates."""

import pytest

from tests.unit.extract.made import stated_words
from workers.extract.documents import classify
from workers.extract.fields import FieldResult
from workers.extract.gold import right
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Day, Measurement, Medication, Words


def read(field: str, text: str) -> FieldResult:
    return extract_field(field, Parts(text))


def words(field: str, text: str) -> str | None:
    found = read(field, text)
    value = found.items[0].value if found.items else None
    return value.text if isinstance(value, Words) else None


def day(field: str, text: str) -> str | None:
    found = read(field, text)
    value = found.items[0].value if found.items else None
    return value.iso if isinstance(value, Day) else None


def drugs(text: str) -> dict[str, float | None]:
    values = [one.value for one in read("medications", text).items]
    return {one.name.lower(): one.dose for one in values if isinstance(one, Medication)}


def kind(text: str) -> str:
    return classify(text).parts[0].document_type


NOTE = """CC: SOB x 3 days
HPI: 73F h/o HFpEF p/w worsening DOE.
All: contrast dye - hives
PE: bibasilar crackles
A: Acute decompensated heart failure
P: Lasix 40 mg IV, admit to tele
"""


def test_a_diagnosis_in_two_columns_ends_with_its_line() -> None:
    text = (
        "Primary diagnosis      Left pyelonephritis\n"
        "Other diagnoses        Type 1 diabetes\n"
        "Operations/procedures  Left ureteric stent insertion\n"
        "Allergies              Nitrofurantoin (nausea)\n"
    )
    assert words("diagnosis", text) == "Left pyelonephritis"
    assert words("procedure", text) == "Left ureteric stent insertion"


@pytest.mark.parametrize("label", ["Principal Dx", "Discharge Dx", "Problem"])
def test_a_diagnosis_has_further_labels(label: str) -> None:
    assert words("diagnosis", f"{label}: Community-acquired pneumonia\nAge: 69\n") == (
        "Community-acquired pneumonia"
    )


DICTATED = """Re: Mr Jago NOSUCH, 14 May 1960

Dear Doctor,

Mr Nosuch was an inpatient at Larch Hill Hospital between 11 January 2025 and 15 January 2025
with a first seizure. CT head was normal. Levetiracetam 500 mg twice a day was started.
Sodium was 139 mmol/L, potassium 4.1 mmol/L and glucose 5.2 mmol/L.

Discharge diagnosis: Focal epilepsy
"""


def test_a_dictated_letter_about_a_stay_is_a_discharge_summary() -> None:
    assert kind(DICTATED) == "discharge-summary"


def test_a_terse_discharge_note_is_no_prescription() -> None:
    text = (
        "Coldwater Surgical Center        DISCHARGE NOTE\nDOA: 08/02/24     DOD: 08/04/24\n"
        "DX: Acute uncomplicated appendicitis\nPROC: Laparoscopic appendectomy 8/2/24\n"
        "MEDS AT D/C:\n 1. acetaminophen 650 mg q6h prn\n 2. ibuprofen 600 mg tid with food\n"
        " 3. oxycodone 5 mg q6h prn #8\n HOLD: lisinopril 10 mg until PCP visit\n"
        " Resume: metformin 500 mg bid\nF/U: surgery clinic 2 wks\n"
    )
    assert kind(text) == "discharge-summary"
    assert drugs(text) == {
        "acetaminophen": 650.0, "ibuprofen": 600.0, "oxycodone": 5.0, "metformin": 500.0,
    }  # fmt: skip
    assert words("procedure", text) == "Laparoscopic appendectomy 8/2/24"


def test_what_was_given_during_the_stay_is_named_without_the_verb_before_it() -> None:
    text = "Hospital course: Treated with ceftriaxone 1 g daily.\n"
    assert "treated with ceftriaxone" not in drugs(text)


def test_a_drug_that_stands_below_one_that_is_discontinued_is_taken() -> None:
    text = "Rx\nCyclobenzaprine 5 mg qHS\nDiscontinue meloxicam\nCalcium carbonate 1,250 mg daily\n"
    assert drugs(text) == {"cyclobenzaprine": 5.0, "calcium carbonate": 1250.0}


def test_a_table_of_medicines_loses_no_row_for_the_one_that_was_stopped() -> None:
    text = (
        "Medicines on discharge\nMedicine          Dose      Route  Frequency   Supply    Status\n"
        "Ramipril          2.5mg     PO     OD          GP        Continued\n"
        "Naproxen          500mg     PO     BD                    Stopped\n"
        "Tamsulosin MR     400micrograms PO OD          28 days   New\n"
    )
    assert {one.split()[0]: dose for one, dose in drugs(text).items()} == {
        "ramipril": 2.5, "tamsulosin": 400.0,
    }  # fmt: skip


def test_a_dose_for_each_puff_is_a_dose() -> None:
    text = "Salbutamol 100micrograms/dose inhaler CFC free\nInhale two doses as needed\n"
    assert drugs(text) == {"salbutamol": 100.0}


def test_the_date_behind_the_name_of_a_general_practice_is_that_of_the_document() -> None:
    assert day("date", "FP10SS    Cedar Lane Surgery       29/07/2024\nMrs Nobody\n") == (
        "2024-07-29"
    )
    assert day("date", "He had surgery 29/07/2024.\n") is None


def test_a_clinic_date_comes_before_the_day_it_was_typed() -> None:
    text = "Clinic date: 21st February 2023   Dictated: 22nd February 2023\nDear Dr Prowse\n"
    assert day("date", text) == "2023-02-21"


def test_a_sentence_about_an_examination_is_no_modality() -> None:
    assert (
        words("modality", "CT showed no bleed and MRI confirmed an infarct.\nPlan: rest\n") is None
    )


def test_a_plain_film_is_radiology() -> None:
    text = "XR Wrist Lt   (AP & lateral)   examined 09 Aug 2024\nOpinion: Radius fracture.\n"
    assert kind(text) == "radiology"


@pytest.mark.parametrize(
    "text",
    [
        "L5/S1 extrusion 8 mm (5 mm in 2021) compressing the root.",
        "L5/S1 extrusion 8 mm (was 5 mm) compressing the root.",
        "L5/S1 extrusion 8 mm (5 mm on 02/01/2021) compressing the root.",
    ],
)
def test_a_size_in_brackets_with_an_earlier_day_is_none_of_today(text: str) -> None:
    values = [one.value for one in read("measurements", f"FINDINGS: {text}\n").items]
    assert [one.dimensions for one in values if isinstance(one, Measurement)] == [(8.0,)]


def test_a_blood_culture_is_a_laboratory_report() -> None:
    text = (
        "Microbiology report            Windlass Bay Hospital\n"
        "Specimen: Blood culture (peripheral)     Collected: 03/02/2024 22:10\n"
        "Gram stain: Gram negative bacilli\nOrganism 1: Klebsiella pneumoniae\n"
        "Ampicillin   >=32   R\nCeftriaxone  <=1    S\n"
    )
    assert kind(text) == "lab-report"
    assert words("specimen", text) == "Blood culture (peripheral)"


def test_a_place_may_be_called_labs() -> None:
    text = "Eastmark Reference Labs                      PATIENT RESULTS\nSodium 139 mmol/L\n"
    assert stated_words("institution", text) == "Eastmark Reference Labs"


@pytest.mark.parametrize(
    ("gold", "said"),
    [({"Na": "131"}, "Na 131 mmol/L"), ({"Total IgE": "1240 kU/L"}, "Total IgE 1,240 kU/L (<100)")],
)
def test_the_gold_of_an_analyte_is_read_though_its_name_is_short_or_unknown(
    gold: dict[str, str], said: str
) -> None:
    fields = {"lab_values": read("lab_values", said + "\n")}
    assert right("labValues", gold, fields, "lab-report") == 1.0
    other = dict.fromkeys(gold, "7")
    assert right("labValues", other, fields, "lab-report") == 0.0


def test_a_drug_whose_ending_is_told_in_the_next_line_is_not_taken() -> None:
    text = "His amlodipine 10 mg has been\nstopped because of swelling. He takes ramipril 5 mg.\n"
    assert drugs(text) == {"ramipril": 5.0}


def test_a_list_entry_below_says_nothing_of_the_drug_above() -> None:
    text = "amlodipine 10 mg\nstopped: ibuprofen 400 mg\n"
    assert drugs(text) == {"amlodipine": 10.0}


def test_an_allergy_that_is_named_in_the_next_line_is_read() -> None:
    assert "codeine" in (
        words("allergies", "He is intolerant of\ncodeine, which he hates.\n") or ""
    )


def test_a_story_below_a_diagnosis_is_none_of_it() -> None:
    text = "Dear Doctor\n\nDischarge diagnosis: Focal epilepsy\nHe will be seen in two weeks.\n"
    assert words("diagnosis", text) == "Focal epilepsy"


def test_a_dose_of_two_drugs_in_one_tablet_is_read_by_its_first() -> None:
    assert drugs("Co-codamol 8mg/500mg tablets\nOne or two up to four times a day\n") == {
        "co-codamol": 8.0
    }
