"""How laboratory systems lay out results: columns of several days, previous results, messages."""

import pytest

from tests.grid import grid
from workers.extract.evaluation.accuracy import stated_by_its_span
from workers.extract.fields import FieldResult
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Day, LabValue


def read(field: str, text: str) -> FieldResult:
    return extract_field(field, Parts(text))


def values(text: str) -> list[LabValue]:
    found = read("lab_values", text)
    assert all(stated_by_its_span("lab_values", text, one) for one in found.items)
    return [one.value for one in found.items if isinstance(one.value, LabValue)]


def labs(text: str) -> dict[str, tuple[str | None, float | None, str | None]]:
    return {one.name: (one.comparator, one.number, one.unit) for one in values(text)}


def flags(text: str) -> dict[str, str | None]:
    return {one.name: one.flag for one in values(text)}


def ranges(text: str) -> dict[str, tuple[float | None, float | None]]:
    return {one.name: (one.low, one.high) for one in values(text)}


def day(text: str) -> str | None:
    found = read("date", text).items
    value = found[0].value if found else None
    return value.iso if isinstance(value, Day) else None


PREVIOUS = """
Test          Current Result and Flag    Previous Result and Date    Units       Reference Interval
WBC               12.4   High            8.8    06/30/2024       x10E3/uL    3.4-10.8
Hemoglobin        11.1   Low             12.9   06/30/2024       g/dL        13.0-17.7
Platelets         388                    301    06/30/2024       x10E3/uL    150-450
Lipase            TNP                    44     06/30/2024       U/L         13-78
"""


def test_of_a_previous_and_a_current_column_the_current_is_taken_with_unit_range_and_flag() -> None:
    assert labs(PREVIOUS) == {
        "WBC": (None, 12.4, "x10E3/uL"),
        "hemoglobin": (None, 11.1, "g/dL"),
        "platelets": (None, 388.0, "x10E3/uL"),
    }
    assert ranges(PREVIOUS)["hemoglobin"] == (13.0, 17.7)
    assert flags(PREVIOUS) == {"WBC": "high", "hemoglobin": "low", "platelets": None}


def test_a_current_column_behind_the_previous_one_is_found_by_its_heading() -> None:
    text = (
        "Test | Previous (03 Nov 2023) | Result | Units | Range\n"
        "Sodium | 137 | 128 | mmol/L | 135-145\n"
        "Serum osmolality | - | 262 | mOsm/kg | 275-295\n"
    )
    assert labs(text) == {
        "sodium": (None, 128.0, "mmol/L"),
        "osmolality": (None, 262.0, "mOsm/kg"),
    }


CUMULATIVE = """
                  03/01/24   10/01/24   17/01/24    Units      Ref range
Hb                   74 *       88 *      101 *      g/L       115 - 165
Platelets            12 *       96 *     clump      10^9/L    150 - 450
MCV                  91         92         93        fL        80 - 100
CRP                 140         52         <1        mg/L      <5
"""


def test_of_columns_of_days_the_latest_is_taken_wherever_it_stands() -> None:
    assert labs(CUMULATIVE) == {
        "hemoglobin": (None, 101.0, "g/L"),
        "MCV": (None, 93.0, "fL"),
        "CRP": ("<", 1.0, "mg/L"),
    }
    assert ranges(CUMULATIVE)["MCV"] == (80.0, 100.0)


def test_the_date_of_columns_of_days_is_the_latest() -> None:
    assert day("Ward 4\nCumulative report\n" + CUMULATIVE) == "2024-01-17"


def test_units_may_stand_before_the_columns_of_days() -> None:
    text = (
        "Test          Units      12 Feb 2023   19 Feb 2023   Range\n"
        "Bilirubin     umol/L        18            64         <21\n"
        "Albumin       g/L           40            37         35-50\n"
    )
    assert labs(text) == {
        "total bilirubin": (None, 64.0, "umol/L"),
        "albumin": (None, 37.0, "g/L"),
    }
    assert ranges(text)["albumin"] == (35.0, 50.0)


def test_the_latest_first_is_still_the_first() -> None:
    text = (
        "               16/10/23    18/07/23    Units\n"
        "CEA              2.1         2.0       ug/L     (<5)\n"
    )
    assert labs(text) == {"CEA": (None, 2.1, "ug/L")}


MESSAGE = """MSH|^~\\&|LIS|COVESIDE PATHOLOGY|ICE|GP|20231206164100||ORU^R01|MSG0001|P|2.4
PID|||X1^^^HOSP||MYTH^ELOWEN||19550315|F
OBR|1||23C120055|U&E^Urea and Electrolytes|||20231205101500
OBX|1|NM|NA^Sodium||141|mmol/L|133-146||||F
OBX|2|NM|K^Potassium||5.9|mmol/L|3.5-5.3|H|||F
OBX|3|SN|33914-3^eGFR^LN||>^90|mL/min/1.73m2|>59|N|||F
OBX|4|NM|2345-7^Glucose^LN||101|mg/dL^milligrams per deciliter^UCUM|70-99|H|||F
OBX|5|ST|CRP^C-reactive protein||see note|||||||F
"""


def test_segments_of_a_message_are_results() -> None:
    assert labs(MESSAGE) == {
        "sodium": (None, 141.0, "mmol/L"),
        "potassium": (None, 5.9, "mmol/L"),
        "eGFR": (">", 90.0, "mL/min/1.73m2"),
        "glucose": (None, 101.0, "mg/dL"),
    }
    assert ranges(MESSAGE)["potassium"] == (3.5, 5.3)
    assert flags(MESSAGE)["potassium"] == "high"


def test_the_date_of_a_message_is_that_of_its_observation() -> None:
    assert day(MESSAGE) == "2023-12-05"


def test_a_result_under_its_range_is_read() -> None:
    text = (
        "Sodium\nNormal range: 136 - 145 mmol/L\n132 Low\n\n"
        "eGFR\nNormal range: >=60 mL/min/1.73m2\n48 Low\n\n"
        "Glucose\nNormal range: 70 - 99 mg/dL\n94\n"
    )
    assert labs(text) == {
        "sodium": (None, 132.0, "mmol/L"),
        "eGFR": (None, 48.0, "mL/min/1.73m2"),
        "glucose": (None, 94.0, "mg/dL"),
    }
    assert flags(text) == {"sodium": "low", "eGFR": "low", "glucose": None}


FLAG_FIRST = """
H   Glucose (random)     14.9   mmol/L    3.0 - 7.8
    Urea                 6.6    mmol/L    2.5 - 7.8
L   Sodium               130    mmol/L    133 - 146
    ALT                  33     U/L       0 - 41
H   Lipase               2210   U/L       13 - 60
"""


def test_a_flag_before_the_name_is_no_part_of_it_nor_of_the_row_above() -> None:
    assert labs(FLAG_FIRST) == {
        "glucose": (None, 14.9, "mmol/L"),
        "urea": (None, 6.6, "mmol/L"),
        "sodium": (None, 130.0, "mmol/L"),
        "ALT": (None, 33.0, "U/L"),
        "lipase": (None, 2210.0, "U/L"),
    }
    assert flags(FLAG_FIRST) == {
        "glucose": "high", "urea": None, "sodium": "low", "ALT": None, "lipase": "high",
    }  # fmt: skip


@grid(
    ("row", "name", "value", "unit"),
    [
        ("> WBC         22.9     *H    4.5-11.0 K/uL     SB", "WBC", 22.9, "K/uL"),
        ("> LACTIC ACID  4.9     *H    0.5-2.0 mmol/L    SB", "lactate", 4.9, "mmol/L"),
        ("pCO2      41      mmHg   38-50", "pCO2", 41.0, "mmHg"),
        ("   Na+       129     mmol/L  L   136-145", "sodium", 129.0, "mmol/L"),
        ("   pH        7.18    LL     7.32-7.43", "pH", 7.18, None),
        (" ↓ pH      7.29             [ 7.350 - 7.450 ]", "pH", 7.29, None),
        (" ↑   pCO2    8.7      kPa      [ 4.67 - 6.00 ]", "pCO2", 8.7, "kPa"),
        ("PT               14.8   secs    (10.0 - 13.5)   H", "PT", 14.8, "secs"),
        ("Prothrombin time    38.2    s    9.0-12.5   HH", "PT", 38.2, "s"),
        ("APTT ratio    1.6           0.8-1.2    H", "APTT ratio", 1.6, None),
        ("D-Dimer          6.42   ug/mL FEU  (<0.50)      H", "D-dimer", 6.42, "ug/mL"),
        ("Vitamin B12      168    ng/L       (180 - 900)   L", "vitamin B12", 168.0, "ng/L"),
        ("Free T4          <5.0   pmol/L     (9 - 22)      L", "free T4", 5.0, "pmol/L"),
        ("EGFR     88      > OR = 60 mL/min/1.73m2", "eGFR", 88.0, "mL/min/1.73m2"),
        ("LDL-CHOLESTEROL      188 H    mg/dL (calc)", "LDL", 188.0, "mg/dL"),
        ("PROTEIN, TOTAL       7.0      6.1-8.1 g/dL", "total protein", 7.0, "g/dL"),
        ("VITAMIN D, 25-OH, TOTAL    19 L     30-100 ng/mL", "vitamin D", 19.0, "ng/mL"),
        ("Adj. calcium   2.31   mmol/L  2.20-2.60", "calcium", 2.31, "mmol/L"),
        ("Calcium (adjusted)  2.68  mmol/L  (2.20 - 2.60)  H", "calcium", 2.68, "mmol/L"),
        ("Platelet Count   431   Thousand/uL   140 - 400", "platelets", 431.0, "Thousand/uL"),
    ],
)
def test_a_row_is_read_with_its_unit(row: str, name: str, value: float, unit: str | None) -> None:
    found = labs(f"Results\n{row}\n")
    assert {one: held[1:] for one, held in found.items()} == {name: (value, unit)}


def test_a_negative_base_excess_keeps_its_sign() -> None:
    assert labs("BE(B)     -12.4   mmol/L  L   -3-3\n")["base excess"] == (None, -12.4, "mmol/L")


@pytest.mark.parametrize("words", ["TNP", "see note", "hemolyzed", "QNS", "Will Follow"])
def test_a_test_that_gave_no_result_takes_none_from_elsewhere(words: str) -> None:
    text = (
        f"POTASSIUM      {words}       3.5-5.1 mmol/L    ML\nSODIUM   133   136-145 mmol/L   ML\n"
    )
    assert labs(text) == {"sodium": (None, 133.0, "mmol/L")}


@pytest.mark.parametrize(
    ("status", "taken"),
    [("F", True), ("C", True), ("P", True), ("", True), ("D", False), ("W", False), ("X", False)],
)
def test_a_result_that_its_message_calls_deleted_or_wrong_is_no_value(
    status: str, taken: bool
) -> None:
    text = f"MSH|^~\\&|\nOBX|1|NM|2951-2^Sodium||131|mmol/L|135-145|L|||{status}|20240105"
    assert bool(read("lab_values", text).items) is taken
