"""One reader for all numbers: what could be thousands or a decimal is neither."""

import pytest

from tests.grid import grid
from workers.extract.fields import Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.reading import read_words
from workers.extract.rules.texts.numbers import bare_nodes, sure_number
from workers.extract.values import Amount, LabValue, Nodes

OPERATION = (
    "OPERATIVE NOTE\nProcedure: total abdominal hysterectomy\n"
    "Postoperative diagnosis: fibroid uterus\nAnesthesia: general\nComplications: none\n"
)


def amount(field: str, text: str) -> tuple[float, str | None] | None:
    items = extract_field(field, Parts(text), wide=True).items
    if not items:
        return None
    assert isinstance(items[0].value, Amount)
    return items[0].value.number, items[0].value.unit


@grid(
    ("words", "value"),
    [
        ("7", 7.0),
        ("7.25", 7.25),
        ("7,25", 7.25),
        ("0.125", 0.125),
        ("0,125", 0.125),
        ("1,200", 1200.0),
        ("1,200.5", 1200.5),
        ("1,200,000", 1200000.0),
        ("1234.567", 1234.567),
        ("1.200", None),
        ("45.000", None),
    ],
)
def test_a_point_before_three_digits_may_be_either(words: str, value: float | None) -> None:
    assert sure_number(words) == value


def test_of_two_readings_the_one_that_is_possible_counts() -> None:
    assert sure_number("1.125", most=30) == 1.125
    assert sure_number("1,125", most=30) == 1.125
    assert sure_number("1,125", most=3000) == 1125
    assert sure_number("1.125", most=3000) is None


@grid(
    ("field", "text", "expected"),
    [
        ("blood_loss", "EBL: 1,200 mL", (1200.0, "mL")),
        ("blood_loss", "EBL: 1200 mL", (1200.0, "mL")),
        ("blood_loss", "EBL: 150 cc.", (150.0, "cc")),
        ("blood_loss", "Blood loss: 150", (150.0, None)),
        ("psa", "PSA: 1,250 ng/mL", (1250.0, "ng/mL")),
        ("psa", "PSA: 4,5 ng/mL", (4.5, "ng/mL")),
        ("psa", "PSA 4.5 in March", (4.5, None)),
        ("psa_density", "PSA density: 0.125", (0.125, None)),
        ("assessment_category", "BI-RADS 4 lesion", (4.0, None)),
    ],
)
def test_amounts_are_read_whole(field: str, text: str, expected: tuple[float, str | None]) -> None:
    assert amount(field, text) == expected


@grid(
    ("field", "text"),
    [
        ("blood_loss", "EBL: 1.200 mL"),
        ("blood_loss", "EBL 10 mL/kg"),
        ("blood_loss", "Blood loss 2 units"),
        ("blood_loss", "EBL: 12,345,67 mL"),
        ("psa", "PSA: 4.5 µmol/L"),
        ("psa", "PSA: 1.250 ng/mL"),
        ("prostate_volume", "Prostate volume: 45 g"),
    ],
)
def test_an_amount_that_is_not_sure_or_in_another_unit_is_none(field: str, text: str) -> None:
    assert amount(field, text) is None
    assert read_words(field, text.split(":")[-1]) is None


def test_an_amount_that_is_not_read_costs() -> None:
    sure = extract_text(f"{OPERATION}EBL: 1,200 mL\n")
    assert sure.fields["blood_loss"].value == Amount(number=1200.0, unit="mL")
    unsure = extract_text(f"{OPERATION}EBL: 2 units\n")
    assert unsure.fields["blood_loss"].status is Status.NOT_PRESENT
    assert unsure.score < sure.score


@pytest.mark.parametrize(
    "text", ["Metformin 1.000 mg daily", "Heparin 5.000 units daily", "Warfarin 2.500 mg daily"]
)
def test_a_dose_that_may_be_thousands_is_none(text: str) -> None:
    assert extract_field("medications", Parts(text), wide=True).items == ()


def test_a_dose_that_can_only_be_a_decimal_is_one() -> None:
    (item,) = extract_field("medications", Parts("Ceftriaxone 1.000 g daily")).items
    assert item.value.key == ("medication", "ceftriaxone", 1.0, "g")


@pytest.mark.parametrize(
    "text",
    ["Platelets 45.000 /uL", "TSH 1.250 mIU/L", "Platelets 45.000 /uL (150.000 - 400.000)"],
)
def test_a_laboratory_value_that_may_be_thousands_is_none(text: str) -> None:
    assert extract_field("lab_values", Parts(text), wide=True).items == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Creatinine 1.125 mg/dL", 1.125),
        ("TSH 1.250 mIU/L (0.400 - 4.200)", 1.25),
        ("TSH 1.250 mIU/L (0.4 - 4.2)", 1.25),
        ("Platelets 45,000 /uL", 45000.0),
    ],
)
def test_limits_and_range_tell_thousands_from_decimals(text: str, number: float) -> None:
    (item,) = extract_field("lab_values", Parts(text)).items
    assert isinstance(item.value, LabValue)
    assert item.value.number == number


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("A nodule of 1.125 cm.", ("measurement", 11.25)),
        ("A nodule of 1,5 cm.", ("measurement", 15.0)),
        ("A bowel of 1,200 mm.", ("measurement", 1200.0)),
        ("A nodule of 1.125 mm.", None),
    ],
)
def test_sizes_are_read_by_the_same_rule(text: str, key: tuple[object, ...] | None) -> None:
    keys = [one.value.key for one in extract_field("measurements", Parts(text)).items]
    assert keys == ([key] if key else [])


@grid(
    "text",
    [
        "Transfuse if hemoglobin < 7 g/dL",
        "Keep potassium 4.5 mmol/L",
        "Call for glucose > 300 mg/dL",
        "Pleural fluid LDH 450 U/L",
        "CSF glucose 45 mg/dL",
        "Urine sodium 20 mmol/L",
        "Glucose (CSF) 45 mg/dL",
        "Glucose, urine: 100 mg/dL",
        "CSF: opening pressure normal, glucose 45 mg/dL",
        "CSF ANALYSIS\nProtein 45 mg/dL\nGlucose 60 mg/dL",
    ],
)
def test_a_limit_or_a_value_of_another_fluid_is_none_of_the_blood(text: str) -> None:
    assert extract_field("lab_values", Parts(text), wide=True).items == ()


@pytest.mark.parametrize(
    "text",
    [
        "Urine output good; sodium 140 mmol/L",
        "Pleural fluid LDH 450 U/L, serum sodium 140 mmol/L",
        "CSF ANALYSIS\nGlucose 60 mg/dL\n\nCHEMISTRY\nSodium 140 mmol/L",
        "Urine clear. Sodium 140 mmol/L",
        "Started on saline for sodium 140 mmol/L",
    ],
)
def test_a_value_of_the_blood_stands_beside_them(text: str) -> None:
    (item,) = extract_field("lab_values", Parts(text), wide=True).items
    assert item.value.key == ("lab", "sodium", None, 140.0, None)


@grid(
    ("text", "nodes"),
    [
        ("2/14", [(2, 14)]),
        ("0 of 3", [(0, 3)]),
        ("3 out of 3", [(3, 3)]),
        ("14/2", []),
        ("2/14/2020", []),
    ],
)
def test_of_two_numbers_alone_no_more_nodes_have_tumor_than_were_examined(
    text: str, nodes: list[tuple[int, int]]
) -> None:
    found = [one.value for one in bare_nodes(text)]
    assert [(one.positive, one.examined) for one in found if isinstance(one, Nodes)] == nodes
