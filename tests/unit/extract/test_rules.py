"""What the rules read in the words of reports."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.made_documents.reports import reports
from tests.grid import grid
from workers.extract.fields import FieldResult, Status
from workers.extract.intake.readability import Unreadable
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies, rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.reading import read_words
from workers.extract.values import Day, LabValue, Medication, Value


def first(field: str, text: str) -> Value:
    found = extract_field(field, Parts(text))
    assert found.status is Status.FOUND, text
    return found.items[0].value


@grid(
    ("words", "level"),
    [
        ("Nottingham grade 2", "2"),
        ("Histologic grade: III", "3"),
        ("WHO grade 4", "4"),
        ("Grade 2/3", "2"),
        ("well differentiated adenocarcinoma", "1"),
        ("moderately differentiated adenocarcinoma", "2"),
        ("poorly differentiated adenocarcinoma", "3"),
        ("well to moderately differentiated", "2"),
        ("Differentiation: poor", "3"),
        ("G3", "3"),
        ("Fuhrman grade II", "2"),
        ("Gleason score 3 + 4 = 7", "3+4=7"),
    ],
)
def test_grades(words: str, level: str) -> None:
    assert first("grade", f"Diagnosis: {words}.").key == ("grade", level)


@pytest.mark.parametrize("words", ["grade 3 neutropenia", "Grade 1 anterolisthesis of L4",
                                   "low-grade dysplasia"])  # fmt: skip
def test_grades_of_something_else(words: str) -> None:
    assert extract_field("grade", Parts(f"There is {words}.")).status is Status.NOT_PRESENT


@grid(
    ("words", "key"),
    [
        ("ER: Positive (95%)", ("ER", "positive", None, 95.0, None, None)),
        ("estrogen receptor 60% positive", ("ER", "positive", None, 60.0, None, None)),
        ("PR negative, <1%", ("PR", "negative", "<", 1.0, None, None)),
        ("HER2: 2+ (equivocal)", ("HER2", "equivocal", None, None, None, "2+")),
        ("Ki-67 index 15-20%", ("Ki-67", None, None, 15.0, 20.0, None)),
        ("TTF-1+", ("TTF-1", "positive", None, None, None, None)),
        ("negative for CK20", ("CK20", "negative", None, None, None, None)),
        ("loss of MLH1 expression", ("MLH1", "lost", None, None, None, None)),
        ("PD-L1 TPS 60%", ("PD-L1", None, None, 60.0, None, None)),
    ],
)
def test_markers(words: str, key: tuple[object, ...]) -> None:
    assert first("ihc_markers", f"Immunohistochemistry: {words}.").key == ("marker", *key)


def test_markers_in_lists_share_their_result() -> None:
    text = (
        "Tumor cells are positive for CK7 and TTF-1, and negative for p40. "
        "MSH2 and MSH6 are retained."
    )
    found = {one.value.key[1]: one.value.key[2] for one in
             extract_field("ihc_markers", Parts(text)).items}  # fmt: skip
    assert found == {"CK7": "positive", "TTF-1": "positive", "p40": "negative",
                     "MSH2": "intact", "MSH6": "intact"}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "status", "distance"),
    [
        ("Margins negative; closest margin (deep) 3 mm", "negative", 3.0),
        ("Surgical margins: free of tumor, 0.2 cm from the medial margin", "negative", 2.0),
        ("The deep margin is involved by carcinoma", "positive", None),
        ("Carcinoma, incompletely excised", "positive", None),
        ("pT3 N1, R0", "negative", None),
        ("Margins: close (0.5 mm)", "close", 0.5),
    ],
)
def test_margins(words: str, status: str, distance: float | None) -> None:
    assert first("margins", f"Diagnosis: {words}.").key == ("margin", status, distance)


def test_the_worst_of_several_margins_counts() -> None:
    text = "Peripheral margins are free.\nDeep margin positive.\n"
    assert first("margins", text).key == ("margin", "positive", None)


def test_margins_that_cannot_be_assessed_are_not_present() -> None:
    found = extract_field("margins", Parts("The stalk margin cannot be assessed."))
    assert found.status is Status.NOT_PRESENT


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("pT2 pN1a M0", ("2", "1a", "0")),
        ("ypT1cN0(sn)", ("1c", "0", None)),
        ("pTis", ("is", None, None)),
        ("pT3\npN1b", ("3", "1b", None)),
    ],
)
def test_tnm(words: str, key: tuple[object, ...]) -> None:
    assert first("tnm", f"Stage: {words}").key == ("tnm", *key)


def test_mri_weighting_is_no_stage() -> None:
    text = "T2-weighted images and T1 signal of the lesion were reviewed."
    assert extract_field("tnm", Parts(text)).status is Status.NOT_PRESENT


@pytest.mark.parametrize(
    ("words", "millimeters"),
    [("3.2 x 2.1 cm", (32.0, 21.0)), ("7-millimeter", (7.0,)), ("13 × 9 × 7 mm", (13.0, 9.0, 7.0))],
)
def test_measurements(words: str, millimeters: tuple[float, ...]) -> None:
    assert first("measurements", f"A {words} nodule.").key == ("measurement", *millimeters)


def test_slices_and_earlier_sizes_are_no_measurements() -> None:
    text = "Technique: 5 mm slices.\nFindings: mass of 12 mm (previously 9 mm)."
    found = extract_field("measurements", Parts(text))
    assert [one.value.key for one in found.items] == [("measurement", 12.0)]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("EGFR p.Leu858Arg (c.2573T>G), VAF 34.5%", ("EGFR", "L858R")),
        ("KRAS G12C mutation detected", ("KRAS", "G12C")),
        ("MET exon 14 skipping", ("MET", "exon 14 skipping")),
        ("ERBB2 amplification", ("ERBB2", "amplification")),
        ("EML4-ALK fusion detected", ("EML4-ALK", "fusion")),
    ],
)
def test_mutations(words: str, key: tuple[str, str]) -> None:
    assert first("mutations", f"Results: {words}.").key == ("mutation", *key)


@pytest.mark.parametrize(
    "words",
    [
        "KRAS: wild type",
        "No mutation was detected in BRAF",
        "BRAF V600E: not detected",
        "MET amplification not detected",
    ],
)
def test_mutations_that_were_not_found_are_none(words: str) -> None:
    assert extract_field("mutations", Parts(words + ".")).items == ()


def test_a_report_without_variants_says_so_with_its_words() -> None:
    text = "No clinically significant mutations were detected in the panel."
    found = extract_field("mutations", Parts(text))
    assert found.status is Status.FOUND
    assert found.value == []
    assert found.span == (0, len(text) - 1)


@pytest.mark.parametrize(
    ("words", "status"),
    [("MSI-High", "MSI-H"), ("MSI status: Stable", "MSS"), ("microsatellite stable", "MSS"),
     ("Microsatellite instability: not detected", "MSS"), ("MSI-L", "MSI-L")],
)  # fmt: skip
def test_microsatellites(words: str, status: str) -> None:
    assert first("msi_status", words).key == ("msi", status)


def test_a_laboratory_value_has_unit_range_and_flag() -> None:
    value = first("lab_values", "Hemoglobin   9.8   g/dL   12.0-16.0   L")
    assert value.model_dump(exclude_none=True) == {
        "kind": "lab", "name": "hemoglobin", "number": 9.8, "unit": "g/dL", "low": 12.0,
        "high": 16.0, "flag": "low",
    }  # fmt: skip


@pytest.mark.parametrize("words", ["2024-05-17", "17/05/2024", "May 17, 2024", "17 May 2024",
                                   "17.05.2024"])  # fmt: skip
def test_dates(words: str) -> None:
    assert first("date", f"Date of report: {words}").key == ("day", "2024-05-17")


def test_a_date_that_could_be_read_both_ways_keeps_both() -> None:
    value = read_words("date", "04/05/2024")
    assert value == Day(iso="2024-05-04", other="2024-04-05")


def test_statements_that_contradict_each_other_are_ambiguous() -> None:
    text = "Diagnosis: ductal carcinoma, grade 1.\nComment: the tumor is grade 3.\n"
    found = extract_field("grade", Parts(text))
    assert found.status is Status.AMBIGUOUS
    assert {one.value.key[1] for one in found.items} == {"1", "3"}


def test_what_stands_in_the_history_does_not_contradict_the_diagnosis() -> None:
    text = "Clinical information: previous tumor, grade 1.\nDiagnosis: ductal carcinoma, grade 3.\n"
    assert first("grade", text).key == ("grade", "3")


def holds(text: str, field: str, result: FieldResult) -> bool:
    """Whether each value can be read again from the words at its span."""
    from workers.extract.evaluation.accuracy import unsupported

    return all(unsupported(field, Parts(text), one) is None for one in result.items)


@grid("report", reports()[::2])
def test_every_value_is_supported_by_its_span(report: object) -> None:
    text = report.text  # type: ignore[attr-defined]
    if report.type == "unreadable":  # type: ignore[attr-defined]
        with pytest.raises(Unreadable):
            extract_text(text)
        return
    found = extract_text(text)
    assert [name for name, one in found.fields.items() if not holds(text, name, one)] == []
    for one in found.parts:
        assert set(one.outcome.best.attempt.fields) == set(rubric(one.part.document_type).fields)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["ER: 90%", "grade 2", "pT2 N0", "12 x 9 mm", "margins", "positive", "EGFR L858R",
             "Hb 9 g/dL", "MSI", "\n", ". ", "no ", "carcinoma", "01/02/2024", "(", "%", "é", "—",
             "Impression:", "Date:"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_spans_lie_inside_any_text(pieces: list[str]) -> None:
    text = " ".join(pieces)
    parts = Parts(text)
    for field in field_policies():
        for item in extract_field(field, parts, wide=True).items:
            assert 0 <= item.start < item.end <= len(text)


@grid(
    ("text", "name", "number"),
    [
        ("Creatinine 1,2 mg/dL", "creatinine", 1.2),
        ("Potassium 5,8 mmol/L", "potassium", 5.8),
        ("Potassium: 5,8 mmol/L (3,5-5,1) H", "potassium", 5.8),
        ("The potassium is 5,8 mmol/L today.", "potassium", 5.8),
        ("TSH 0,345 mIU/L", "tsh", 0.345),
        ("Platelets 250,000 /uL", "platelets", 250000.0),
        ("Glucose,95.0,70,100,mg/dL", "glucose", 95.0),
        ("Sodium,140,mmol/L,135-145", "sodium", 140.0),
        ("Potassium,5.8,mmol/L,3.5-5.1", "potassium", 5.8),
        ("Sodium 140, potassium 5,8 mmol/L", "potassium", 5.8),
    ],
)
def test_a_comma_is_a_decimal_point_or_parts_thousands(text: str, name: str, number: float) -> None:
    values = [
        one.value
        for one in extract_field("lab_values", Parts(text), wide=True).items
        if isinstance(one.value, LabValue) and one.value.name.lower() == name
    ]
    assert [one.number for one in values] == [number]


@pytest.mark.parametrize("text", ["Potassium 5,8123 mmol/L", "Platelets 1.234,5 /uL"])
def test_a_number_that_no_rule_reads_whole_is_not_read_in_part(text: str) -> None:
    assert extract_field("lab_values", Parts(text), wide=True).items == ()


def test_the_bounds_of_a_reference_range_have_decimal_commas_too() -> None:
    (item,) = extract_field("lab_values", Parts("Potassium 5,8 mmol/L 3,5-5,1")).items
    assert isinstance(item.value, LabValue)
    assert (item.value.low, item.value.high) == (3.5, 5.1)


@pytest.mark.parametrize(
    ("text", "dose"),
    [
        ("Digoxin 0,25 mg daily", 0.25),
        ("Digoxin 0,125 mg daily", 0.125),
        ("Digoxin 0,0625 mg daily", 0.0625),
        ("Warfarin 2,5 mg daily", 2.5),
        ("Metformin 1,000 mg daily", 1000.0),
        ("Metformin 1,000.5 mg daily", 1000.5),
        ("Heparin 12,500 units daily", 12500.0),
    ],
)
def test_a_dose_may_have_a_decimal_comma(text: str, dose: float) -> None:
    (item,) = extract_field("medications", Parts(text)).items
    assert isinstance(item.value, Medication)
    assert item.value.dose == dose


@pytest.mark.parametrize(
    ("field", "text", "percent"),
    [
        ("ihc_markers", "Ki-67: 12,5 %", 12.5),
        ("ihc_markers", "Ki-67: 12.5%", 12.5),
        ("mutations", "KRAS G12C 12,5 %", 12.5),
        ("mutations", "KRAS G12C, VAF 12,5 %", 12.5),
    ],
)
def test_a_share_may_have_a_decimal_comma(field: str, text: str, percent: float) -> None:
    (item,) = extract_field(field, Parts(text)).items
    value = item.value.model_dump()
    assert value.get("percent", value.get("vaf")) == percent
