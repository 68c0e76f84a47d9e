"""Every rule reads a number in one way: whole or not at all, with every mark of decimals."""

import pytest

from tests.grid import grid
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.reading import read_words
from workers.extract.values import Amount, Margin, Marker, Medication, Mutation, Value


def values(field: str, text: str, *, wide: bool = True) -> list[Value]:
    return [one.value for one in extract_field(field, Parts(text), wide=wide).items]


def millimeters(field: str, text: str) -> list[object]:
    return [one.key[1:] for one in values(field, text)]


@grid(
    ("text", "number"),
    [
        ("TMB: 12.5 mut/Mb", 12.5),
        ("TMB: 12,5 mut/Mb", 12.5),
        ("TMB: 12·5 mut/Mb", 12.5),
        ("TMB: .5 mut/Mb", 0.5),
        ("TMB: 1,200 mut/Mb", 1200.0),
        ("TMB: 1.200 mut/Mb", None),
        ("TMB: 8-10 mut/Mb", None),
        ("TMB: 8 to 10 mut/Mb", None),
        ("TMB 10.0.1 mut/Mb", None),
    ],
)
def test_a_burden_is_read_whole(text: str, number: float | None) -> None:
    found = [one.number for one in values("tmb", text) if isinstance(one, Amount)]
    assert found == ([] if number is None else [number])


@grid(
    ("words", "vaf"),
    [
        ("VAF 12.5%", 12.5),
        ("VAF 12,5 %", 12.5),
        ("VAF 12·5%", 12.5),
        ("VAF .5%", 0.5),
        ("(VAF: 12.345%)", 12.345),
        ("VAF 5-10%", None),
        ("VAF 5 to 10%", None),
        ("coverage 1,200x, VAF 8%", 8.0),
    ],
)
def test_an_allele_fraction_is_read_whole(words: str, vaf: float | None) -> None:
    (found,) = values("mutations", f"KRAS G12D {words}")
    assert isinstance(found, Mutation)
    assert found.vaf == vaf


@grid(
    ("text", "share"),
    [
        ("Ki-67 12,5%", (12.5, None)),
        ("Ki-67 12·5%", (12.5, None)),
        ("Ki-67 15-20%", (15.0, 20.0)),
        ("Ki-67 between 10 and 15%", (10.0, 15.0)),
        ("Ki-67 from 10 to 15 %", (10.0, 15.0)),
        ("Ki-67 .5%", (0.5, None)),
        ("PD-L1 TPS 2.5", (2.5, None)),
        ("PD-L1 CPS 12,5", (12.5, None)),
        ("PD-L1 TPS 1-49", (1.0, 49.0)),
        ("PD-L1 TPS 1·5%", (1.5, None)),
    ],
)
def test_a_share_of_cells_is_read_whole(text: str, share: tuple[float, float | None]) -> None:
    (found,) = values("ihc_markers", text)
    assert isinstance(found, Marker)
    assert (found.percent, found.percent_to) == share


@pytest.mark.parametrize(
    ("text", "distance"),
    [
        ("Deep margin negative, 1·2 mm", 1.2),
        ("Deep margin negative, closest .5 mm", 0.5),
        ("Margin free at 0,3 cm", 3.0),
        ("Deep margin clear by 2-3 mm", 2.0),
        ("Deep margin clear by 2 to 3 mm", 2.0),
        ("Deep margin negative, closest 1.200 mm", 1.2),
    ],
)
def test_the_distance_of_a_margin_is_read_whole_and_of_a_range_the_least_counts(
    text: str, distance: float | None
) -> None:
    (found,) = values("margins", text)
    assert isinstance(found, Margin)
    assert found.distance_mm == distance


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Tumor size 1·2 cm", [(12.0,)]),
        ("Tumor size .8 cm", [(8.0,)]),
        ("Tumor of 1.2 x 1·1 x 0·9 cm", [(12.0, 11.0, 9.0)]),
        ("Tumor grown from 3 to 4 cm", [(40.0,)]),
        ("Tumor measures 3-4 cm", []),
        ("Tumor of 3 to 4 cm", []),
    ],
)
def test_a_size_is_read_whole_and_a_range_is_no_size(text: str, found: list[object]) -> None:
    assert millimeters("tumor_size", text) == found


@pytest.mark.parametrize(
    ("text", "dose", "dose_to"),
    [
        ("Digoxin .125 mg daily", 0.125, None),
        ("Digoxin 0·125 mg daily", 0.125, None),
        ("Ibuprofen 200-400 mg daily", 200.0, 400.0),
        ("Morphine 5 to 10 mg daily", 5.0, 10.0),
        ("Warfarin 2.5–5 mg daily", 2.5, 5.0),
        ("Furosemide increased from 20 to 40 mg daily", 40.0, None),
    ],
)
def test_a_dose_is_read_whole_and_a_range_with_both_ends(
    text: str, dose: float, dose_to: float | None
) -> None:
    (found,) = values("medications", text)
    assert isinstance(found, Medication)
    assert (found.dose, found.dose_to, found.frequency) == (dose, dose_to, "daily")


@pytest.mark.parametrize(
    ("field", "text", "key"),
    [
        ("psa", "PSA 1·2 ng/mL", ("amount", None, 1.2)),
        ("psa", "PSA .8 ng/mL", ("amount", None, 0.8)),
        ("lab_values", "Creatinine 1·2 mg/dL (0·6-1·3)", ("lab", "creatinine", None, 1.2, None)),
        ("lab_values", "Platelets 142·10^9/L", ("lab", "platelets", None, 142.0, None)),
        ("prostate_volume", "Prostate volume 45·5 cc", ("amount", None, 45.5)),
    ],
)
def test_a_middle_point_is_a_decimal_one_but_before_a_power_of_ten(
    field: str, text: str, key: tuple[object, ...]
) -> None:
    (found,) = values(field, text, wide=False)
    assert found.key == key


def test_words_that_somebody_quotes_are_read_alike() -> None:
    read = read_words("psa", "1·2 ng/mL")
    assert isinstance(read, Amount)
    assert read.number == 1.2


def test_a_middle_point_moves_no_span() -> None:
    text = "Deep margin negative, 1·2 mm. PSA 4·5 ng/mL."
    (item,) = extract_field("psa", Parts(text)).items
    assert text[item.start : item.end] == "PSA 4·5 ng/mL"
