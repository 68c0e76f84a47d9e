"""Boxes of forms, headings in two languages, dictated sentences, letters, notes and reports."""

import pytest

from tests.unit.extract.made import stated_words
from workers.extract.documents import classify
from workers.extract.fields import FieldResult
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import (
    Amount,
    Day,
    LabValue,
    Marker,
    Medication,
    Mutation,
    Nodes,
    Presence,
    Stage,
    Words,
)


def read(field: str, text: str, *, wide: bool = False) -> FieldResult:
    return extract_field(field, Parts(text), wide=wide)


def values(field: str, text: str, *, wide: bool = False) -> list[object]:
    return [one.value for one in read(field, text, wide=wide).items]


def words(field: str, text: str, *, wide: bool = False) -> str | None:
    found = values(field, text, wide=wide)
    return next((one.text for one in found if isinstance(one, Words)), None)


def labs(text: str, *, wide: bool = False) -> dict[str, float | None]:
    found = values("lab_values", text, wide=wide)
    return {one.name: one.number for one in found if isinstance(one, LabValue)}


def drugs(text: str) -> list[str]:
    found = values("medications", text)
    return [one.name.lower() for one in found if isinstance(one, Medication)]


def days(field: str, text: str) -> list[str]:
    return [one.iso for one in values(field, text) if isinstance(one, Day)]


def kind(text: str) -> str:
    return classify(text).parts[0].document_type


# boxes that are ticked, and those that are not

FORM = """BASELINE FORM   Study TAL-9   Subject 31-004
Histologic type:  [x] adenocarcinoma   [ ] squamous cell carcinoma   [ ] other
Stage at diagnosis:    [ ] IB   [ ] IIA   [X] IIIB
KRAS G12D        [x] Yes  [ ] No
BRAF V600E       [ ] Yes  [x] No
Drug allergies:  [x] None known   [ ] Yes, which ____
"""


def test_what_stands_at_an_empty_box_is_no_value_where_another_of_the_line_is_ticked() -> None:
    assert words("histology", FORM) == "adenocarcinoma"
    assert [one.group for one in values("stage", FORM) if isinstance(one, Stage)] == ["IIIB"]


def test_a_question_whose_no_is_ticked_states_nothing() -> None:
    genes = [one.gene for one in values("mutations", FORM) if isinstance(one, Mutation)]
    assert genes == ["KRAS"]


def test_the_ticked_answer_is_the_value_of_its_label() -> None:
    assert words("allergies", FORM) == "None known"


def test_other_marks_are_boxes_too() -> None:
    text = "PATHOLOGY\nHistologic type: ☐ squamous cell carcinoma  ☒ adenosquamous carcinoma\n"
    assert words("histology", text) == "adenosquamous carcinoma"


def test_a_list_of_things_to_do_keeps_its_empty_boxes() -> None:
    text = "Plan: [ ] CT abdomen  [ ] fasting bloods\n"
    assert "CT abdomen" in (words("plan", text) or "")


def test_the_span_of_a_ticked_answer_is_that_of_the_document() -> None:
    (item,) = read("allergies", FORM).items
    assert FORM[item.start : item.end] == "None known"


def test_the_whole_text_of_a_form_keeps_its_boxes() -> None:
    (item,) = extract_text(FORM).fields["raw_text"].items
    assert isinstance(item.value, Words)
    assert item.value.text == FORM.strip()


def test_a_known_question_is_answered_no() -> None:
    text = "PATHOLOGY\nPerineural invasion: [ ] Yes [x] No\n"
    assert [one.state for one in values("perineural_invasion", text)
            if isinstance(one, Presence)] == ["absent"]  # fmt: skip


@pytest.mark.parametrize(
    "line", ["f(x) = [ ] 3", "Yes [x]  No [ ]", "- [x] CT done", "a [ ] b [ ]"]
)
def test_brackets_that_are_no_choice_stay(line: str) -> None:
    assert Parts(line).text == line


# headings in two languages


BILINGUAL = """HÔPITAL SAINT-ARNOULD / ST. ARNOULD HOSPITAL
Motif de la visite / Reason for visit: Numb feet since spring
Allergènes connus / Allergies: codeine
Médication / Medications: gliclazide 30 mg die
Conclusion diagnostique / Diagnosis: Diabetic polyneuropathy
Conduite / Plan: Start duloxetine 30 mg, see in ten weeks
"""


@pytest.mark.parametrize(
    ("field", "expected"),
    [("chief_complaint", "Numb feet since spring"), ("allergies", "codeine"),
     ("diagnosis", "Diabetic polyneuropathy"),
     ("plan", "Start duloxetine 30 mg, see in ten weeks")],
)  # fmt: skip
def test_of_a_heading_in_two_languages_the_known_half_counts(field: str, expected: str) -> None:
    assert words(field, BILINGUAL) == expected


def test_a_heading_of_two_known_halves_is_that_of_both() -> None:
    text = "ASSESSMENT / PLAN: stable angina. Continue bisoprolol 5 mg.\n"
    assert [one.title for one in Parts(text).sections] == ["assessment and plan"]


def test_a_heading_in_which_a_fax_made_a_letter_a_digit_is_one() -> None:
    text = "CT HEAD\nF1NDINGS: No bleed.\nIMPRESSI0N: Normal study.\n"
    assert words("impression", text) == "Normal study."


def test_a_lettered_heading_is_one_where_it_is_known() -> None:
    text = "SCREENING\nA. Demographics   F\nC. Allergies: latex\n"
    assert words("allergies", text) == "latex"


# laboratory


def test_a_letter_for_serum_or_plasma_before_a_name_changes_nothing() -> None:
    text = ("CHEMISTRY\nTest        Result   Range       Units\n"
            "S-Calcium   2.31   2.15 - 2.50   mmol/L\nP-Glucose   9.4 H   3.9 - 5.8   mmol/L\n"
            "U-Sodium   44   mmol/L\n")  # fmt: skip
    found = labs(text)
    assert found["calcium"] == 2.31
    assert found["glucose"] == 9.4
    assert "sodium" not in found


def test_a_flag_in_a_cell_of_its_own_hides_no_unit() -> None:
    text = ("LIPIDS\nTest|Result|Flag|Unit|Range\nTriglycerides|4.2|H|mmol/L|0.5-1.7\n"
            "HDL|1.1||mmol/L|>1.0\n")  # fmt: skip
    found = {one.name: (one.number, one.unit) for one in values("lab_values", text)
             if isinstance(one, LabValue)}  # fmt: skip
    assert found == {"triglycerides": (4.2, "mmol/L"), "HDL": (1.1, "mmol/L")}


def test_a_decimal_before_the_stop_of_a_sentence_is_read() -> None:
    found = labs("Labs: Na 139, K 4.4, Hb 12.6, Cr 0.9. He feels well.\n")
    assert found["creatinine"] == 0.9


def test_a_number_in_three_parts_is_still_none() -> None:
    assert "creatinine" not in labs("Labs: Na 139, K 4.4, Cr 0.9.2 seen\n", wide=True)


def test_the_dose_of_a_vitamin_or_a_salt_is_no_laboratory_value() -> None:
    text = ("CLINIC NOTE\nMedications: vitamin D 2000 IU daily, potassium chloride 20 mEq bid, "
            "magnesium 400 mg nocte\n")  # fmt: skip
    assert labs(text, wide=True) == {}


def test_proteins_and_antibodies_are_known_by_name() -> None:
    text = ("Dear colleague\nThe paraprotein is 9.1 g/L and IgA 14.2 g/L (0.8 - 4.0). Free lambda "
            "light chains were 188 mg/L. Beta-2 microglobulin 2.4 mg/L. "
            "Rheumatoid factor 41 IU/mL.\n")  # fmt: skip
    assert labs(text) == {"paraprotein": 9.1, "IgA": 14.2, "free lambda": 188.0,
                          "beta-2 microglobulin": 2.4, "rheumatoid factor": 41.0}  # fmt: skip


# dictated operations

DICTATED = (
    "Operative dictation. Patient Voss Ingrid. Date of operation 9 May 2023. Preoperative "
    "diagnosis was right inguinal hernia. The postoperative diagnosis was indirect right inguinal "
    "hernia. Procedure performed was open mesh repair. Anesthesia was spinal with sedation. "
    "Estimated blood loss was twenty-five ml. There were no complications. "
    "Her sister had the same repair.\n"
)


@pytest.mark.parametrize(
    ("field", "expected"),
    [("preoperative_diagnosis", "right inguinal hernia"),
     ("postoperative_diagnosis", "indirect right inguinal hernia"),
     ("procedure", "open mesh repair"), ("anesthesia", "spinal with sedation")],
)  # fmt: skip
def test_a_dictated_sentence_that_begins_with_a_label_states_its_value(
    field: str, expected: str
) -> None:
    assert stated_words(field, DICTATED) == expected


def test_a_spoken_number_is_an_amount() -> None:
    (loss,) = values("blood_loss", DICTATED)
    assert isinstance(loss, Amount)
    assert loss.number == 25.0
    (more,) = values("blood_loss", "Blood loss was about one hundred and fifty cc.\n")
    assert isinstance(more, Amount)
    assert more.number == 150.0


@pytest.mark.parametrize("told", ["Surgery was uneventful.", "The procedure was well tolerated."])
def test_how_an_operation_went_is_not_what_was_done(told: str) -> None:
    assert words("procedure", f"Operative dictation.\n{told}\n") is None


def test_a_label_above_rules_over_a_dictated_sentence() -> None:
    text = "Anaesthesia: GA\nNarrative: Anaesthesia was topped up once.\n"
    assert words("anesthesia", text) == "GA"


# letters


# pathology


@pytest.mark.parametrize(
    ("told", "expected"),
    [("Eleven lymph nodes were found and two of these contain tumour.", (2, 11)),
     ("Twenty-two lymph nodes are identified, three of them with metastases.", (3, 22)),
     ("Lymph nodes:  Total 9   Number positive 4", (4, 9))],
)  # fmt: skip
def test_nodes_are_counted_in_words_and_in_forms(told: str, expected: tuple[int, int]) -> None:
    (found,) = values("lymph_nodes", f"HISTOLOGY\n{told}\n")
    assert isinstance(found, Nodes)
    assert (found.positive, found.examined) == expected


def test_a_report_is_of_the_day_it_was_signed_out_rather_than_dictated() -> None:
    text = "PATHOLOGY\nDictated 2022-04-03, typed by rs, signed out 2022-04-08 Dr A. Moxon\n"
    assert days("date", text)[:1] == ["2022-04-08"]


def test_a_heading_that_names_a_tumor_is_not_its_type() -> None:
    text = ("HISTOLOGY\nCalcification: Malignant\nINVASIVE CARCINOMA: Present\n"
            "  Type: Invasive lobular carcinoma\n")  # fmt: skip
    assert words("histology", text) == "Invasive lobular carcinoma"


def test_spread_along_nerves_has_other_names() -> None:
    text = "HISTOLOGY\nPerineural infiltration is present.\n"
    assert [one.state for one in values("perineural_invasion", text)
            if isinstance(one, Presence)] == ["present"]  # fmt: skip


# notes


def test_a_list_that_says_it_was_copied_forward_gives_no_value() -> None:
    text = ("CLINIC NOTE\nProblems (carried forward 2019, unverified)\n - DVT on warfarin 5 mg "
            "daily\n\nMedications today: ramipril 5 mg daily\n")  # fmt: skip
    assert drugs(text) == ["ramipril"]


def test_a_drug_given_once_by_the_vein_is_not_taken() -> None:
    text = "Meds: ramipril 5 mg od.\nPlan: Hydrocortisone 100 mg IV x1, morphine 5 mg IV stat.\n"
    assert drugs(text) == ["ramipril"]


def test_minutes_of_a_tumor_board_are_clinical_notes() -> None:
    text = ("Lung Tumour Board\nMinutes of the meeting on 4 May 2023\nCase 2 of 7\nBiopsy: "
            "adenocarcinoma, TTF-1 positive, moderately differentiated. Margins not applicable.\n"
            "CT: 3 cm nodule, no pleural effusion.\nConsensus: lobectomy.\n")  # fmt: skip
    assert kind(text) == "clinical-notes"


def test_the_form_of_a_visit_of_a_trial_is_a_clinical_note() -> None:
    text = ("SCREENING CASE REPORT FORM\nProtocol QX-11  Subject 004\nVisit date 4 May 2023\n"
            "A. Demographics: F, 1961\nHemoglobin 12.1 g/dL\nPlatelets 201 10^9/L\n"
            "Creatinine 0.9 mg/dL\nEligible: yes   Investigator: Dr Moss\n")  # fmt: skip
    assert kind(text) == "clinical-notes"


def test_minutes_of_any_other_meeting_are_of_no_type() -> None:
    assert kind("Minutes of the meeting of the bowls club. The green was mown.\n") == "unknown"


def test_a_month_by_name_may_have_a_year_of_two_digits() -> None:
    text = "Clinic prescription     Date: 03-Feb-23\n1) Ramipril 5 mg od\n"
    assert days("date", text) == ["2023-02-03"]


# radiology


def test_a_day_is_no_examination() -> None:
    text = "BREAST ULTRASOUND\nExam: 12 June 2023\nFindings: cyst of 4 mm.\n"
    assert words("modality", text) != "12 June 2023"


@pytest.mark.parametrize(
    "name", ["Tafelkop Pathology Services (Pty) Ltd", "Quarry Bay Pathologists Inc.",
             "Orchard Hill Surgical Centre", "Lowland Breast Imaging Network"],
)  # fmt: skip
def test_more_kinds_of_places_issue_documents(name: str) -> None:
    assert stated_words("institution", f"{name}\nPatient: Vale, Rosa\nSome text.\n") == name


# the loop


def test_a_second_round_makes_no_laboratory_values_of_doses() -> None:
    text = (
        "PROGRESS NOTE\nDate of visit: 2023-06-11\nChief complaint: cramps\n"
        "Medications: potassium chloride 40 mEq daily, vitamin D 1000 units daily\n"
        "Labs: Hb 131 g/L\nAssessment: hypokalaemia\nPlan: repeat bloods\n"
    )
    found = extract_text(text).fields["lab_values"]
    assert [one.value.name for one in found.items if isinstance(one.value, LabValue)] == [
        "hemoglobin"
    ]


# what looks alike and is not


@pytest.mark.parametrize(
    "told", ["Her husband had no complications after his hernia.",
             "She had no complications of diabetes."],
)  # fmt: skip
def test_complications_of_others_are_none_of_the_patient(told: str) -> None:
    assert words("complications", f"DISCHARGE\nShe went home. {told}\n") is None


@pytest.mark.parametrize(
    "told", ["Twelve lymph nodes, one is enlarged.",
             "Two lymph nodes were found, one of which measured 8 mm."],
)  # fmt: skip
def test_a_large_node_is_not_one_with_tumor(told: str) -> None:
    assert values("lymph_nodes", told) == []


def test_what_ought_to_be_is_no_correction() -> None:
    text = "PATHOLOGY\nER should be positive in this type of tumor. ER negative. PR positive.\n"
    found = {one.marker: one.result for one in values("ihc_markers", text)
             if isinstance(one, Marker)}  # fmt: skip
    assert found["PR"] == "positive"
    assert "negative" in [one.result for one in values("ihc_markers", text)
                          if isinstance(one, Marker) and one.marker == "ER"]  # fmt: skip


def test_a_year_of_two_digits_may_be_one_of_birth() -> None:
    assert days("date", "Seen 3-May-24. DOB 12-Jan-56\nSprained ankle.\n") == ["2024-05-03"]


def test_an_infusion_of_salt_is_no_laboratory_value() -> None:
    assert labs("Given sodium chloride 0.9% 1000 mL and K 4.1 mmol/L.\n", wide=True) == {
        "potassium": 4.1
    }


def test_a_type_does_not_begin_in_the_line_of_another_label() -> None:
    text = "HISTOLOGY\nDCIS: ductal\nInvasive lobular carcinoma, 12 mm\n"
    assert words("histology", text) == "Invasive lobular carcinoma"


def test_a_list_copied_from_a_letter_is_one_of_what_is_taken() -> None:
    text = "CLERKING\nMedications (copied from GP letter):\nlisinopril 10 mg daily\n"
    assert drugs(text) == ["lisinopril"]


# what a person gets to see


def reviewed(text: str) -> list[str]:
    (part,) = extract_text(text).parts
    return list(part.outcome.best.evaluation.feedback.review_fields)


def test_a_date_of_discharge_that_nobody_read_opens_a_review() -> None:
    text = ("DISCHARGE SUMMARY\nDate of admission: 2023-05-02\nDiagnosis: cellulitis of the leg\n"
            "Medications: flucloxacillin 500 mg four times daily\n"
            "Left hospital happily on 6 May 2023 by taxi.\n")  # fmt: skip
    assert "discharge_date" in reviewed(text)


def test_a_clearance_below_its_threshold_needs_no_flag() -> None:
    text = (
        "LABORATORY REPORT\nReported: 2023-05-14\nTest  Result  Flag  Range  Units\n"
        "Creatinine   171   H   60 - 110   umol/L\nSodium   139      135 - 145   mmol/L\n"
        "Potassium   4.4      3.5 - 5.1   mmol/L\neGFR   36      >60   mL/min/1.73m2\n"
    )
    assert "lab_values" not in reviewed(text)


@pytest.mark.parametrize(
    ("told", "often"),
    [("insulin detemir 18 units subcut at bedtime", "at bedtime"),
     ("dulaglutide 1.5 mg subcut weekly", "weekly"),
     ("beclometasone 100mcg MDI 2 puffs bd via spacer", "bd"),
     ("mebeverine 135 mg tabs i tds before food", "tds"),
     ("senna 7.5 mg tabs ii nocte", "nocte")],
)  # fmt: skip
def test_how_often_is_read_behind_more_routes_forms_and_numerals(told: str, often: str) -> None:
    (drug,) = values("medications", f"Medications:\n- {told}\n")
    assert isinstance(drug, Medication)
    assert drug.frequency == often


def test_urate_and_cotrimoxazole_are_known() -> None:
    assert list(labs("Urate 0.41 mmol/L (0.20 - 0.42)\n")) == ["uric acid"]
    text = "DISCHARGE SUMMARY\nDiagnosis: cystitis\nMedications: Cotrimoxazole 480 mg bd\n"
    assert "medications" not in reviewed(text)


# forms again


def test_the_next_heading_is_not_the_unit_of_a_number() -> None:
    text = "VISIT\nF. ECOG    1\nG. Eligible   yes\nMedications: ramipril 5 mg od\n"
    assert drugs(text) == ["ramipril"]


def test_rows_of_a_form_may_be_counted_without_a_mark() -> None:
    text = "Concomitant medication\n  1  bisoprolol   2.5 mg   QD\n  2  apixaban   5 mg   BID\n"
    assert drugs(text) == ["bisoprolol", "apixaban"]


def test_the_heads_of_a_table_are_no_institution() -> None:
    text = (
        "HISTOLOGY\n Site      Cores   Tumour   Gleason   Length\n L apex    1   1   3+4   4 mm\n"
    )
    assert words("institution", text) is None


def test_what_a_board_agrees_on_is_the_plan() -> None:
    text = "Lung tumor board\nBoard consensus: stereotactic radiotherapy. Case 5 deferred.\n"
    assert words("plan", text) == "stereotactic radiotherapy. Case 5 deferred."


def test_a_dictated_diagnosis_may_begin_like_a_denial() -> None:
    text = "LETTER\nHe came with chest pain. The final diagnosis was unstable angina.\n"
    assert stated_words("diagnosis", text) == "unstable angina"
