"""Documents in styles of their own: other dashes, scores, tables and labels than usual."""

import pytest

from tests.grid import grid
from tests.unit.extract.made import stated_words
from workers.extract.fields import FieldResult, Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Grade, LabValue, Marker, Measurement, Medication, Nodes, Words


def read(field: str, text: str) -> FieldResult:
    return extract_field(field, Parts(text))


def results(text: str) -> dict[str, str | None]:
    found = read("ihc_markers", text)
    return {
        one.value.marker: one.value.result for one in found.items if isinstance(one.value, Marker)
    }


def labs(text: str) -> dict[str, tuple[float | None, str | None]]:
    values = [one.value for one in read("lab_values", text).items]
    return {one.name: (one.number, one.unit) for one in values if isinstance(one, LabValue)}


def drugs(text: str) -> dict[str, float | None]:
    values = [one.value for one in read("medications", text).items]
    return {one.name.lower(): one.dose for one in values if isinstance(one, Medication)}


def words(field: str, text: str) -> str | None:
    found = read(field, text)
    value = found.items[0].value if found.items else None
    return value.text if isinstance(value, Words) else None


@pytest.mark.parametrize("dash", ["-", "–", "−"])
def test_a_dash_before_words_is_no_negative_sign(dash: str) -> None:
    text = f"Oestrogen receptor {dash} Allred score 7/8\nProgesterone receptor {dash} 80%\n"
    assert "negative" not in results(text).values()


def test_a_dash_that_ends_an_entry_still_is_a_negative_sign() -> None:
    assert results("ER+, PR-, HER2-\n") == {"ER": "positive", "PR": "negative", "HER2": "negative"}
    assert results("CD20 +, CD10 -, CD3 (-)\n")["CD10"] == "negative"


@pytest.mark.parametrize(
    ("told", "result"),
    [
        ("ER: Allred 8/8", "positive"),
        ("ER - Allred score 7/8", "positive"),
        ("ER 7/8", "positive"),
        ("ER: quick score 3/8", "positive"),
        ("ER 0/8", "negative"),
        ("ER Allred 2/8", "negative"),
        ("ER Allred 0", "negative"),
    ],
)
def test_an_allred_score_says_whether_a_receptor_is_positive(told: str, result: str) -> None:
    assert results(f"Invasive carcinoma.\n{told}\n") == {"ER": result}


@pytest.mark.parametrize(
    ("told", "positive", "examined"),
    [
        ("Metastatic carcinoma in five of eighteen lymph nodes", 5, 18),
        ("Metastasis in two of twenty-three lymph nodes", 2, 23),
        ("METASTATIC CARCINOMA IN FIVE OF EIGHTEEN NODES", 5, 18),
        ("Lymph nodes retrieved: 16; involved: 1", 1, 16),
        ("Lymph nodes: number present 23, number involved 2", 2, 23),
        ("Nineteen lymph nodes, all negative for tumor (0/19)", 0, 19),
    ],
)
def test_nodes_are_counted_in_words_to_their_end(told: str, positive: int, examined: int) -> None:
    (one,) = read("lymph_nodes", told + ".\n").items
    assert isinstance(one.value, Nodes)
    assert (one.value.positive, one.value.examined) == (positive, examined)


def test_a_time_of_the_stay_and_units_of_blood_are_no_drug() -> None:
    text = "Course: Hb 82 on admission, 2 units RCC given, Hb 97 on discharge.\n"
    assert drugs(text) == {}


@pytest.mark.parametrize(
    "earlier",
    [
        "Previous note (04/15/2024): levothyroxine 75 mcg daily, TSH 9.8 mIU/L.",
        "[copied from 03/18/2024] levothyroxine 75 mcg daily, TSH 9.8 mIU/L.",
        "Copied forward from last visit: levothyroxine 75 mcg daily, TSH 9.8 mIU/L.",
        "Last visit: levothyroxine 75 mcg daily, TSH 9.8 mIU/L.",
    ],
)
def test_what_is_copied_from_an_earlier_note_is_not_of_today(earlier: str) -> None:
    text = f"Medications:\n- levothyroxine 100 mcg daily\n{earlier}\nLabs: TSH 2.4 mIU/L\n"
    assert drugs(text) == {"levothyroxine": 100.0}
    assert labs(text) == {"TSH": (2.4, "mIU/L")}


@pytest.mark.parametrize(
    ("told", "grade"),
    [
        ("Right WLE. IDC Gr 3, 27 mm, with high-grade DCIS.", "3"),
        ("Invasive ductal carcinoma, gr.2. DCIS, high grade.", "2"),
        ("Invasive ductal carcinoma, grade 2. High grade DCIS present.", "2"),
    ],
)
def test_the_grade_is_that_of_the_invasive_tumor(told: str, grade: str) -> None:
    found = read("grade", told)
    values = [one.value for one in found.items]
    assert found.status is Status.FOUND
    assert [one.level for one in values if isinstance(one, Grade)] == [grade]


def test_a_word_that_is_cut_at_the_line_is_one_word() -> None:
    text = "Right colon: invasive mucinous adeno-\ncarcinoma, low grade, 6.5 cm.\n"
    found = read("histology", text)
    (one,) = found.items
    assert isinstance(one.value, Words)
    assert "mucinous" in one.value.text
    assert text[one.start : one.end].endswith("adeno-\ncarcinoma")


def test_short_names_of_types_are_types() -> None:
    assert words("histology", "Rt WLE: IDC Gr 3, 27 mm.\n") == "IDC"
    assert words("histology", "Tumour: pure seminoma, 32 mm\n") == "seminoma"


@pytest.mark.parametrize(
    "rows",
    [
        "Test|Result|Flag|Range|Units\nCreatinine|1.6|H|0.6-1.2|mg/dL\nSodium|138||136-145|mmol/L\n",
        "Test        Result   Range      Units\n"
        "Creatinine  1.6 *    0.6-1.2    mg/dL\nSodium      138      136-145    mmol/L\n",
    ],
)
def test_a_unit_that_stands_behind_the_range_is_the_values(rows: str) -> None:
    assert labs(rows) == {"creatinine": (1.6, "mg/dL"), "sodium": (138.0, "mmol/L")}


def test_of_a_cumulative_table_the_unit_stands_behind_the_columns() -> None:
    text = "Date        30/07/24   02/07/24\nCreatinine  154        131      umol/L\n"
    assert labs(text) == {"creatinine": (154.0, "umol/L")}


def test_several_known_values_in_a_line_need_no_units() -> None:
    assert labs("Bloods: Hb 141, CRP 3, Trop 4\n") == {
        "hemoglobin": (141.0, None), "CRP": (3.0, None), "troponin": (4.0, None)}  # fmt: skip


def test_one_value_without_unit_in_a_sentence_is_still_unsure() -> None:
    assert labs("She took 3 tablets of K 5 days ago.\n") == {}


@pytest.mark.parametrize(
    "earlier", ["was 21 mm", "(was 21 mm)", "previously 21 mm", "formerly 21 mm"]
)
def test_a_size_that_was_is_none_of_today(earlier: str) -> None:
    found = read("measurements", f"FINDINGS: RUL mass 33 mm, {earlier}. Node measures 18 mm.\n")
    sizes = [one.value.dimensions for one in found.items if isinstance(one.value, Measurement)]
    assert sizes == [(33.0,), (18.0,)]


@grid(
    ("field", "label", "value"),
    [
        ("chief_complaint", "PC", "chest pain"),
        ("chief_complaint", "Presenting complaint", "chest pain"),
        ("diagnosis", "Imp", "musculoskeletal chest pain"),
        ("diagnosis", "Main diagnosis", "community acquired pneumonia"),
        ("diagnosis", "Dx", "left hip osteoarthritis"),
        ("procedure", "Op", "open inguinal hernia repair"),
        ("anesthesia", "Anaes", "GA + local"),
        ("complications", "Comps", "none seen"),
        ("follow_up", "F/U", "clinic in two weeks"),
        ("plan", "MDT outcome", "surgery"),
    ],
)
def test_the_labels_of_the_ward_are_read(field: str, label: str, value: str) -> None:
    assert words(field, f"Notes\n{label}: {value}\n") == value


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("WEXCOMBE DISTRICT HOSPITAL NHS TRUST\nLetter", "WEXCOMBE DISTRICT HOSPITAL NHS TRUST"),
        ("Dunmore Rheumatology Centre\nLetter", "Dunmore Rheumatology Centre"),
        ("Palmer Creek Family Medicine\nLetter", "Palmer Creek Family Medicine"),
        ("TOLBRIDGE PATHOLOGY SERVICES\nLetter", "TOLBRIDGE PATHOLOGY SERVICES"),
        ("Larkfield Radiology\nChest X-ray", "Larkfield Radiology"),
    ],
)
def test_who_writes_is_the_whole_name_in_the_head(text: str, place: str) -> None:
    assert stated_words("institution", text + "\n") == place


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Electronic discharge letter\nDate adm: 15/01/2023  Date disch: 19/01/2023\n"
         "Main diagnosis: pneumonia\nMeds on d/c: amoxicillin 500 mg TDS\n", "discharge-summary"),
        ("TOLBRIDGE PATHOLOGY SERVICES\nTest   Result   Range    Units\n"
         "Haemoglobin   92   130-170   g/L\nPlatelets   512   150-410   x10^9/L\n", "lab-report"),
        ("LUNG MDT SUMMARY\nDate of meeting: 13/09/2023\nDiagnosis: Adenocarcinoma of the lung\n"
         "Stage: cT2a N0 M0\nMDT outcome: surgery\n", "clinical-notes"),
        ("Date: 29.10.21\nOp: Open right inguinal hernia repair\nAnaes: GA\nFindings: sac\n"
         "Blood loss: 5 ml\nComps: None\n", "surgical-notes"),
    ],
)  # fmt: skip
def test_a_document_without_a_usual_title_is_known_by_its_labels(text: str, kind: str) -> None:
    assert extract_text(text).classification.document_type == kind


def test_of_a_cumulative_table_an_old_first_column_is_not_given_for_the_latest() -> None:
    text = "Date        02/06/24   30/07/24\nCreatinine  98         154      umol/L\n"
    assert labs(text) == {"creatinine": (154.0, "umol/L")}


def test_a_value_of_before_is_none_of_today() -> None:
    assert labs("Creatinine 412 µmol/L.\nPrevious creatinine 98 µmol/L in May.\n") == {
        "creatinine": (412.0, "µmol/L")}  # fmt: skip


def test_a_bar_at_both_ends_of_each_row_loses_no_row() -> None:
    text = "| Sodium | 128 | mmol/L | 135-145 |\n| ALT | 86 | U/L | 7-55 |\n"
    assert labs(text) == {"sodium": (128.0, "mmol/L"), "ALT": (86.0, "U/L")}


def test_an_analyte_that_has_no_unit_needs_none() -> None:
    assert labs("INR          2.6\nAPTT         38 sec     (25-35)\n")["INR"] == (2.6, None)


def test_a_saturation_is_no_drug() -> None:
    assert drugs("Obs: sats 86% on air, RR 26. Oxygen 28 % given.\n") == {}


@pytest.mark.parametrize(
    "text",
    [
        "Gastroenterology outpatient letter\nClinic date 16/06/2022\nDear Dr Invented\nDiagnosis: "
        "Ulcerative colitis\nInvestigations: Hb 139 g/L, CRP <1 mg/L\nPlan: continue mesalazine.\n",
        "Date of visit: 08/15/2024\nHEMATOLOGY FOLLOW-UP\nDiagnosis: Multiple myeloma\n"
        "Current meds: "
        "lenalidomide 15 mg, aspirin 81 mg daily\nLabs: Hgb 10.4, WBC 3.9\nPlan: cycle 7.\n",
    ],
)
def test_a_letter_with_results_and_drugs_is_a_letter(text: str) -> None:
    assert extract_text(text).classification.document_type == "clinical-notes"


def test_a_table_of_units_and_flags_is_no_bad_scan() -> None:
    text = (
        "LIVER FUNCTION TESTS; reported 28/09/2023\nALT; 212; U/L; ref 0-41; H\n"
        "AST; 180; U/L; ref 0-40; H\nALP; 90; U/L; ref 30-130\n"
    )
    found = extract_text(text)
    assert found.classification.document_type == "lab-report"
    assert labs(text) == {"ALT": (212.0, "U/L"), "AST": (180.0, "U/L"), "ALP": (90.0, "U/L")}
