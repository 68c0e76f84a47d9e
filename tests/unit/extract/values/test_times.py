"""Of several values the present one is chosen, never that of an earlier time."""

import pytest

from tests.grid import grid
from workers.extract.fields import FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Amount, Measurement


def chosen(field: str, words: str) -> FieldResult:
    return extract_field(field, Parts(f"CT CHEST\nFindings: {words}\n"))


@grid(
    ("words", "millimeters"),
    [
        ("The nodule was 8 mm in 2022 and now measures 14 mm.", 14.0),
        ("The nodule measured 8 mm in 2022, and it now measures 14 mm.", 14.0),
        ("The nodule was 8 mm. The nodule now measures 14 mm.", 14.0),
        ("The lesion measured 8 mm in March 2022 and 14 mm in June 2024.", 14.0),
        ("In 2022 the mass measured 8 mm; the mass measures 14 mm in 2024.", 14.0),
        ("The mass initially measured 8 mm and currently 14 mm.", 14.0),
        ("The mass was originally 8 mm, it is 14 mm today.", 14.0),
        ("The mass measures 14 mm (8 mm in 2022).", 14.0),
        ("The tumor was 32 mm in greatest dimension.", 32.0),
        ("Nodule of 12 mm. A further nodule was 4 mm.", 12.0),
    ],
)
def test_the_present_size_is_chosen(words: str, millimeters: float) -> None:
    found = chosen("tumor_size", words)
    assert found.status is Status.FOUND
    assert isinstance(found.items[0].value, Measurement)
    assert found.items[0].value.millimeters == (millimeters,)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("tumor_size", "The nodule was 8 mm in 2022. It now measures 14 mm."),
        ("tumor_size", "The nodule was 8 mm in 2022 and has since grown, last seen in 2024."),
        ("psa", "PSA 4.1 (2019), 12.4 (2023)."),
        ("psa", "PSA was 4.1 ng/mL, it is now 12.4 ng/mL."),
    ],
)
def test_where_only_an_earlier_value_is_read_it_is_ambiguous(field: str, words: str) -> None:
    assert chosen(field, words).status is Status.AMBIGUOUS


def test_the_highest_category_of_an_earlier_time_is_not_the_present_one() -> None:
    found = chosen("assessment_category", "BI-RADS 4 in 2021. Now BI-RADS 2.")
    assert found.status is Status.FOUND
    assert isinstance(found.items[0].value, Amount)
    assert found.items[0].value.number == 2.0
