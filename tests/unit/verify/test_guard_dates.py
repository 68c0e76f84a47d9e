"""A date of a claim is a date of its passage, of the same event."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.verify.guards.dates import guard
from workers.verify.guards.grounds import Grounds

PASSAGE = (
    "The FDA approved the test in March 2019 and announced coverage on June 12, 2020. Patients "
    "were enrolled from 2015 to 2018; follow-up ended in January, 2021."
)


@grid(
    "claim",
    [
        "The test was approved in March 2019.",
        "The test was approved in 2019, and coverage announced in 2020.",
        "Coverage was announced on 12 June 2020.",
        "Coverage was announced on 2020-06-12.",
        "Coverage was announced on 6/12/2020.",
        "Coverage was announced in Jun 2020.",
        "Patients were enrolled in 2015-2018.",
        "Patients were enrolled between 2015 and 2018.",
        "Patients were enrolled 2015–18.",
        "Follow-up ended in Jan 2021.",
    ],
)
def test_a_date_of_the_passage_passes_in_any_format(claim: str) -> None:
    assert guard(claim, Grounds(PASSAGE)) == []


@grid(
    ("claim", "code"),
    [
        ("The test was approved in 2018.", "date_event"),
        ("The test was approved in 2022.", "date"),
        ("The test was approved in April 2019.", "date"),
        ("The test was approved on March 3, 2019.", "date"),
        ("The test was approved in early 2019.", "date"),
        ("The test was approved in June 2020.", "date_event"),
        ("Coverage was announced in March 2019.", "date_event"),
        ("The trial was completed in 2018.", "date_event"),
        ("Patients were enrolled from 2018 to 2015.", "date_order"),
        ("Patients were enrolled since 2018.", "date_order"),
    ],
)
def test_another_date_or_event_is_vetoed(claim: str, code: str) -> None:
    assert code in {finding.code for finding in guard(claim, Grounds(PASSAGE))}


def test_the_record_may_date_the_publication_and_nothing_else() -> None:
    grounds = Grounds("The test predicts relapse.", identifiers={"published_on": "2022-06-04"})
    assert guard("Published in June 2022, it says that the test predicts relapse.", grounds) == []
    assert guard("Published in 2021, it says that the test predicts relapse.", grounds) != []
    assert guard("The test was approved in 2022.", grounds) != []


def test_a_number_inside_a_doi_is_no_year() -> None:
    grounds = Grounds("It predicts relapse.", identifiers={"doi": "10.1001/jamaoncol.2019.0528"})
    assert guard("In 2019 it predicts relapse.", grounds) != []


@pytest.mark.parametrize("text", ["It may help.", "2015 patients", "It weighs 2000 mg", "p 1990.5"])
def test_what_is_no_date_is_left_to_others(text: str) -> None:
    assert guard(text, Grounds("Nothing.")) == []


_DAYS = st.dates(min_value=date(1990, 1, 1), max_value=date(2030, 12, 31))


@given(_DAYS, _DAYS)
def test_two_days_are_equal_in_all_formats_or_in_none(one: date, other: date) -> None:
    passage = Grounds(f"It was seen on {one:%B} {one.day}, {one.year}.")
    for claim in (f"On {other.day} {other:%b} {other.year} it was seen.", f"Seen {other:%Y-%m-%d}"):
        assert (guard(claim, passage) == []) == (one == other)
