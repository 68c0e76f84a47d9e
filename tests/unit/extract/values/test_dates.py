"""Which number of a date is the day: what the document's other dates settle."""

import pytest

from workers.extract.fields import FieldResult, Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Day


def days_of(text: str, field: str = "admission_date") -> tuple[FieldResult, set[str]]:
    found = extract_field(field, Parts(text))
    return found, {one.value.iso for one in found.items if isinstance(one.value, Day)}


def stay(admitted: str, discharged: str, more: str = "") -> str:
    return f"DISCHARGE SUMMARY\nAdmission date: {admitted}\nDischarge date: {discharged}\n{more}\n"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        (stay("03/04/2024", "03/25/2024"), "2024-03-04"),
        (stay("04/03/2024", "25/03/2024"), "2024-03-04"),
        (stay("03/04/2024", "03/05/2024", "Date of birth: 12/31/1950"), "2024-03-04"),
        (stay("03.04.2024", "05.04.2024", "Date of birth: 31.12.1950"), "2024-04-03"),
        (stay("03/04/24", "03/25/24"), "2024-03-04"),
    ],
)
def test_a_date_that_is_certain_settles_the_order_of_the_others(text: str, iso: str) -> None:
    found, days = days_of(text)
    assert found.status is Status.FOUND
    assert days == {iso}
    assert all(one.value.other is None for one in found.items if isinstance(one.value, Day))


@pytest.mark.parametrize(
    "text",
    [
        stay("03/04/2024", "03/05/2024"),
        stay("03/04/2024", "2024-05-25"),
        stay("03/04/2024", "05.04.2024"),
        stay("03/04/2024", "03/05/2024", "Seen 12/31/1950 and 31/12/1950"),
        stay("03/04/2024", "25.05.2024"),
    ],
)
def test_a_date_that_nothing_settles_keeps_both_readings(text: str) -> None:
    (item,) = days_of(text)[0].items
    assert isinstance(item.value, Day)
    assert {item.value.iso, item.value.other} == {"2024-04-03", "2024-03-04"}


def test_the_stay_settles_the_order_where_only_one_gives_a_discharge_after_the_admission() -> None:
    text = stay("03/11/2024", "04/02/2024")
    assert days_of(text)[1] == {"2024-03-11"}
    assert days_of(text, "discharge_date")[1] == {"2024-04-02"}
    assert days_of(stay("03/04/2024", "2024-03-25"))[1] == {"2024-03-04"}


@pytest.mark.parametrize(
    "text",
    [
        stay("2024-05-20", "2024-05-02"),
        stay("25/03/2024", "04/03/2024"),
        stay("May 20, 2024", "03/04/2024"),
    ],
)
def test_a_discharge_before_its_admission_is_never_both_found(text: str) -> None:
    for field in ("admission_date", "discharge_date"):
        assert days_of(text, field)[0].status is Status.AMBIGUOUS


def test_of_two_that_contradict_each_other_only_the_one_that_lost_a_digit_is_open() -> None:
    text = stay("2023-12-20", "2023-12-3")
    assert days_of(text)[0].status is Status.FOUND
    assert days_of(text, "discharge_date")[0].status is Status.AMBIGUOUS


def test_dates_are_read_so_to_the_end() -> None:
    more = "Diagnosis: pneumonia\nHospital course: He was given antibiotics and got well.\n"
    fields = extract_text(stay("03/04/2024", "03/25/2024", more)).fields
    assert fields["admission_date"].value == Day(iso="2024-03-04")
    assert fields["discharge_date"].value == Day(iso="2024-03-25")


@pytest.mark.parametrize(
    "text",
    [
        stay("03/04/2024", "03/05/2024", "Diagnosis: community acquired pneumonia, right side"),
        "PATHOLOGY REPORT\nReported: 01/02/2024\nDiagnosis: invasive ductal carcinoma, grade 2\n",
    ],
)
def test_a_date_that_nothing_settles_opens_a_review(text: str) -> None:
    found = extract_text(text)
    assert found.needs_review
    dated = {name for one in found.parts
             for name in one.outcome.best.evaluation.feedback.review_fields}  # fmt: skip
    assert dated & {"date", "admission_date"}


def test_a_date_that_another_settles_opens_none() -> None:
    text = (
        "PATHOLOGY REPORT\nReceived: 25/01/2024\nReported: 01/02/2024\n"
        "Diagnosis: invasive ductal carcinoma, grade 2. Margins negative.\n"
    )
    best = extract_text(text).parts[0].outcome.best
    assert "date" not in best.evaluation.feedback.review_fields


def test_the_day_of_the_sample_dates_a_report_that_names_no_other() -> None:
    rows = "Ferritin;88;ng/mL;30-200\nHbA1c;8.9;%;4.0-5.6\nTSH;0.2;mIU/L;0.4-4.0\n"
    found = extract_text(f"LAB RESULTS\ncollected 13-Nov-2022\n{rows}").fields["date"]
    assert [one.value.iso for one in found.items if isinstance(one.value, Day)] == ["2022-11-13"]
    both = extract_text(f"LAB RESULTS\ncollected 13-Nov-2022, reported 15-Nov-2022\n{rows}")
    days = [one.value for one in both.fields["date"].items]
    assert [one.iso for one in days if isinstance(one, Day)] == ["2022-11-15"]
