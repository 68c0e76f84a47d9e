"""Dates of PubMed say as much as they state, and no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.ingest.parsers.pubmed.dates import medline_date, partial_date, read_date, written_date
from workers.ingest.parsers.xml import parse_xml


@grid(
    ("inner", "stated", "precision"),
    [
        ("<Year>2024</Year>", "2024", "year"),
        ("<Year>2024</Year><Month>Jun</Month>", "2024-06", "month"),
        ("<Year>2024</Year><Month>06</Month><Day>3</Day>", "2024-06-03", "day"),
        ("<Year>2024</Year><Month>June</Month><Day>03</Day>", "2024-06-03", "day"),
        ("<Year>2024</Year><Season>Spring</Season>", "2024", "year"),
        ("<Year>2024</Year><Season>Summer</Season>", "2024", "year"),
        ("<Year>2024</Year><Season>May-Jun</Season>", "2024-05", "month"),
        ("<Year>2023</Year><Month>Feb</Month><Day>29</Day>", "2023-02", "month"),
        ("<Year>2023</Year><Month>13</Month><Day>2</Day>", "2023", "year"),
        ("<Year>2023</Year><Day>2</Day>", "2023", "year"),
        ("<MedlineDate>2024 Nov-Dec</MedlineDate>", "2024-11", "month"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "1998-12", "month"),
        ("<MedlineDate>1998-1999 Jan</MedlineDate>", "1998", "year"),
        ("<MedlineDate>2000 Dec 23-30</MedlineDate>", "2000-12", "month"),
        ("<MedlineDate>1976-1977 Winter</MedlineDate>", "1976", "year"),
        ("<MedlineDate>Spring 2000</MedlineDate>", "2000", "year"),
        ("<MedlineDate>Dec 1998-Jan 1999</MedlineDate>", "1998-12", "month"),
    ],
)
def test_a_date_is_the_first_that_is_stated(inner: str, stated: str, precision: str) -> None:
    found = read_date(parse_xml(f"<PubDate>\n  {inner}\n</PubDate>".encode()))
    assert found is not None
    assert (str(found), found.precision) == (stated, precision)
    assert found.moment.isoformat().startswith(stated)
    assert (found.whole is not None) == (precision == "day")


@pytest.mark.parametrize(
    "inner",
    ["", "<Year/>", "<Year>24</Year>", "<Year>0000</Year>", "<MedlineDate>in press</MedlineDate>"],
)
def test_without_a_year_there_is_no_date(inner: str) -> None:
    assert read_date(parse_xml(f"<PubDate>{inner}</PubDate>".encode())) is None


def test_the_words_of_a_date_are_kept() -> None:
    element = parse_xml(b"<PubDate><Year>2024</Year> <Season>Spring</Season></PubDate>")
    assert written_date(element) == "2024 Spring"
    assert (read_date(None), written_date(None)) == (None, "")


@given(st.text(max_size=80), st.text(max_size=20), st.text(max_size=20))
def test_any_text_gives_a_date_or_none(year: str, month: str, day: str) -> None:
    for found in (
        partial_date(year, month, day),
        partial_date("2024", month, day),
        medline_date(year),
    ):
        assert found is None or found.moment.year == found.year
