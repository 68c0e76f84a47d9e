"""Dates, values of the laboratory, genes, tumors, places: what is the patient's and of today."""

import pytest

from tests.unit.extract.made import stated_words
from workers.extract.documents import classify
from workers.extract.fields import FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import (
    Day,
    Grade,
    LabValue,
    Marker,
    Measurement,
    Mutation,
    Nodes,
    Presence,
    Stage,
    Tnm,
    Words,
)


def read(field: str, text: str) -> FieldResult:
    return extract_field(field, Parts(text))


def values(field: str, text: str) -> list[object]:
    return [one.value for one in read(field, text).items]


def day(text: str) -> str | None:
    return next((one.iso for one in values("date", text) if isinstance(one, Day)), None)


def labs(text: str) -> dict[str, float | None]:
    return {one.name: one.number for one in values("lab_values", text) if isinstance(one, LabValue)}


def words(field: str, text: str) -> str | None:
    return next((one.text for one in values(field, text) if isinstance(one, Words)), None)


def kind(text: str) -> str:
    return classify(text).parts[0].document_type


# dates


def test_a_date_with_a_label_comes_before_one_without() -> None:
    text = "Greenhollow Hospital\nCT head 03/02/24   Reported 17/02/24\nNo bleed.\n"
    assert day(text) == "2024-02-17"


@pytest.mark.parametrize(
    "told",
    ["This report supersedes the one of 2 May 2022", "Replaces report dated 2 May 2022",
     "AMENDED REPORT (original 2 May 2022)"],
)  # fmt: skip
def test_the_date_of_a_report_that_was_replaced_is_not_that_of_this_one(told: str) -> None:
    assert day(f"Histology report\n{told}\nSigned 11 May 2022 by Dr Q Vane\n") == "2022-05-11"


def test_a_date_decades_before_the_others_is_a_birthday() -> None:
    text = "FERNDALE MEDICAL PRACTICE\nMR A SALTER  22 Oct 1957\nPrinted 04 Mar 2023\nREPEATS\n"
    assert day(text) == "2023-03-04"


def test_spaces_around_the_strokes_of_a_date_are_read_over() -> None:
    assert day("Report date :  11 / 23 / 2021\n") == "2021-11-23"


# laboratory


def test_indian_units_are_read() -> None:
    text = (
        "Test            Result   Unit        Range\n"
        "Haemoglobin     10.4  L  gm/dL       13.0 - 17.0\n"
        "RBC Count       3.91     mill/cumm   4.50 - 5.50\n"
        "Total Protein   7.1      gms/dl      6.0 - 8.0\n"
    )
    assert labs(text) == {"hemoglobin": 10.4, "RBC": 3.91, "total protein": 7.1}


def test_leaders_of_dots_and_units_with_spaces_are_read() -> None:
    text = (
        "Sodium . . . . . . .  141  mmol / L   Normal   136 - 145\n"
        "Glucose ..........  133  mg / dL   High   70 - 99\n"
        "TSH . . .   3.2  mIU / L   0.4 - 4.0\n"
    )
    assert labs(text) == {"sodium": 141.0, "glucose": 133.0, "TSH": 3.2}


@pytest.mark.parametrize(
    "limit",
    ["Inclusion criteria: hemoglobin >= 9 g/dL, platelets >= 100 x10^9/L.",
     "The protocol requires AST <= 90 U/L and platelets >= 100 x10^9/L.",
     "Eligible patients must have hemoglobin > 9 g/dL and creatinine < 1.5 mg/dL."],
)  # fmt: skip
def test_what_a_trial_requires_is_no_value(limit: str) -> None:
    assert labs(f"{limit}\n\nLabs today: hemoglobin 11.2 g/dL\n") == {"hemoglobin": 11.2}


def test_values_of_a_donor_and_of_controls_are_not_the_patients() -> None:
    text = (
        "Recipient\nSodium      139 mmol/L   (135-145)\n\n"
        "Donor (brother)\nPotassium   4.0 mmol/L   (3.5-5.1)\nUrea   5.0 mmol/L   (2.5-7.8)\n\n"
        "Quality control level 1\nChloride    101 mmol/L   (98-107)\n"
    )
    assert labs(text) == {"sodium": 139.0}


def test_a_donor_without_values_hides_nothing() -> None:
    text = "Donor search in progress.\nSodium      139 mmol/L   (135-145)\n"
    assert labs(text) == {"sodium": 139.0}


# genes


def test_variants_of_controls_and_of_patients_in_general_are_not_the_patients() -> None:
    text = (
        "BRAF p.V600E VAF 22%\n"
        "The positive control carried NRAS p.Q61R at 9.8% as expected.\n"
        "PIK3CA H1047R tumors may respond to alpelisib. KRAS G12C patients are treated elsewhere.\n"
    )
    genes = [one.gene for one in values("mutations", text) if isinstance(one, Mutation)]
    assert genes == ["BRAF"]


# tumors


def test_the_distance_to_the_nearest_margin_is_no_size() -> None:
    text = (
        "DIAGNOSIS: INVASIVE ADENOCARCINOMA, 5.1 CM.\n"
        "ALL MARGINS FREE OF TUMOR; NEAREST (DISTAL) 2.2 CM.\n"
    )
    sizes = [one for one in values("tumor_size", text) if isinstance(one, Measurement)]
    assert [one.dimensions for one in sizes] == [(5.1,)]


def test_margins_that_are_seen_before_a_size_are_no_distance() -> None:
    text = "Oval mass with indistinct margins measuring 17 x 12 mm at 3 o'clock.\n"
    sizes = [one for one in values("measurements", text) if isinstance(one, Measurement)]
    assert [one.dimensions for one in sizes] == [(17.0, 12.0)]


@pytest.mark.parametrize("sum_", ["(T2, N3, M2 = 7)", "(T3 N3 M1=7)", "Nottingham T2 N2 M1"])
def test_the_parts_of_a_nottingham_score_are_no_stage(sum_: str) -> None:
    text = f"Ductal carcinoma, grade 2 {sum_}. pT1c pN0.\n"
    found = [one for one in values("tnm", text) if isinstance(one, Tnm)]
    assert [(one.t, one.n) for one in found] == [("1c", "0")]


@pytest.mark.parametrize(
    ("told", "level"),
    [("Gleason 4 plus 3 equals 7", "4+3=7"), ("Gleason score is 3 plus 5", "3+5=8")],
)
def test_a_gleason_score_that_was_dictated_is_read(told: str, level: str) -> None:
    found = values("gleason", f"Acinar adenocarcinoma, {told}.\n")
    assert [one.level for one in found if isinstance(one, Grade)] == [level]


def test_the_gleason_score_of_an_earlier_biopsy_is_not_the_present_one() -> None:
    text = (
        "Prostatectomy: adenocarcinoma Gleason 4+5=9.\n"
        "Prior core biopsies taken at Elmhurst in 2019 had shown Gleason 3+4=7.\n"
    )
    result = read("gleason", text)
    assert result.status is Status.FOUND
    assert [one.level for one in values("gleason", text) if isinstance(one, Grade)] == ["4+5=9"]


@pytest.mark.parametrize(
    "told", ["is widespread", "is extensive", "is easily found", "is prominent", "confirmed"]
)
def test_perineural_invasion_that_is_told_of_at_length_is_present(told: str) -> None:
    found = values("perineural_invasion", f"Perineural invasion {told}.\n")
    assert [one.state for one in found if isinstance(one, Presence)] == ["present"]


def test_nodes_of_two_stations_are_not_those_of_one() -> None:
    text = "Left pelvic nodes none of seven and right pelvic nodes two of nine contain tumour.\n"
    result = read("lymph_nodes", text)
    told = {(one.positive, one.examined) for one in values("lymph_nodes", text)
            if isinstance(one, Nodes)}  # fmt: skip
    assert told == {(0, 7), (2, 9)}
    assert result.status is Status.AMBIGUOUS


@pytest.mark.parametrize(
    ("told", "group"),
    [("FIGO 2018 IIIC1", "IIIC1"), ("FIGO (2023) stage IB", "IB"), ("FIGO stage (2009): II", "II"),
     ("Stage (AJCC 8th edition): IIA", "IIA")],
)  # fmt: skip
def test_the_year_of_an_edition_stands_before_the_stage(told: str, group: str) -> None:
    found = values("stage", f"Carcinoma of the cervix. {told}.\n")
    assert [one.group for one in found if isinstance(one, Stage)] == [group]


@pytest.mark.parametrize(
    "told",
    ["Undifferentiated carcinoma of the pancreas", "Undifferentiated pleomorphic sarcoma",
     "Carcinoma, undifferentiated", "Anaplastic carcinoma of the thyroid",
     "Poorly differentiated to undifferentiated carcinoma"],
)  # fmt: skip
def test_an_undifferentiated_tumor_has_the_highest_grade(told: str) -> None:
    text = f"DIAGNOSIS: {told}. No well differentiated component is seen.\n"
    found = [one.level for one in values("grade", text) if isinstance(one, Grade)]
    assert found == ["4"]


def test_what_is_denied_or_of_no_carcinoma_is_no_grade() -> None:
    assert values("grade", "No undifferentiated carcinoma is seen.\n") == []
    assert values("grade", "Undifferentiated spondyloarthritis.\n") == []
    assert values("grade", "Anaplastic large cell lymphoma, ALK positive.\n") == []
    assert values("grade", "There is no poorly differentiated component.\n") == []


def test_a_modifier_in_brackets_is_part_of_the_type() -> None:
    text = "DIAGNOSIS: Infiltrating (mucinous) ductal carcinoma.\n"
    assert words("histology", text) == "Infiltrating (mucinous) ductal carcinoma"


@pytest.mark.parametrize(
    "stain", ["thyroglobulin", "calretinin", "desmin", "E-cadherin", "SALL4", "calcitonin", "DOG1"]
)
def test_common_stains_are_known(stain: str) -> None:
    found = values("ihc_markers", f"Immunohistochemistry: {stain} positive, CK7 negative.\n")
    assert [one.result for one in found if isinstance(one, Marker)] == ["positive", "negative"]


# places, labels, types


@pytest.mark.parametrize(
    "name",
    ["BLUEWATER RADIOLOGY GROUP", "Heart Imaging Center of Wexley",
     "Pathology Consultants of North Mallow", "Stonecroft Diagnostic Imaging"],
)  # fmt: skip
def test_private_groups_are_institutions(name: str) -> None:
    assert stated_words("institution", f"{name}\nPatient: Doe, J\nExam: CT\n") == name


def test_a_doctors_prescription_with_doses_a_day_is_one() -> None:
    text = (
        "Dr. R. Iyer MBBS\nLotus Clinic\nMs. P. Rao 34/F\nBP 110/70\nDx: UTI\n\nRx\n"
        "1) Tab. Nitrofurantoin 100 mg 1-0-1 x 5 days\n2) Syp. Alkasol 10 ml 1-1-1\n"
    )
    assert kind(text) == "prescription"


def test_a_visit_of_a_study_is_a_clinical_note() -> None:
    text = (
        "SCREENING VISIT NOTE\nProtocol: OAK-12\nSubject 004-011   Visit date: 02-FEB-2023\n"
        "Eligibility: platelets >= 100 x10^9/L, hemoglobin >= 9 g/dL, creatinine <= 1.5 mg/dL.\n"
        "Local labs: hemoglobin 12.1 g/dL, platelets 210 x10^9/L, creatinine 0.8 mg/dL\n"
        "Concomitant medications: aspirin 81 mg daily\nDiagnosis: Follicular lymphoma\n"
    )
    assert kind(text) == "clinical-notes"


def test_a_laboratory_report_with_spaces_around_strokes_is_no_prescription() -> None:
    text = (
        "Name : Poe , A\nSodium . . . 141 mmol / L   136 - 145\nGlucose . . . 133 mg / dL High\n"
        "Creatinine . . . 1.1 mg / dL   0.6 - 1.2\nCholesterol . . . 201 mg / dL\n"
    )
    assert kind(text) == "lab-report"
