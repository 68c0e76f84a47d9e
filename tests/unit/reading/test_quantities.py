"""Quantities of clinical sentences, and the names with digits among them."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.quantities import Kind, names, quantities
from tests.grid import grid

Row = tuple[str, str | None, str | None, Kind]


def rows(text: str) -> list[Row]:
    return [(str(q.value), q.unit, q.comparator, q.kind) for q in quantities(text)]


@grid(
    ("text", "expected"),
    [
        (
            "HR 0.60 (95% CI, 0.33-0.92; P < .001)",
            [
                ("0.60", None, None, Kind.RATIO),
                ("95", "%", None, Kind.PERCENT),
                ("0.33", None, None, Kind.CI),
                ("0.92", None, None, Kind.CI),
                ("0.001", None, "<", Kind.P_VALUE),
            ],
        ),
        ("p=0.02", [("0.02", None, None, Kind.P_VALUE)]),
        ("hazard ratio for death, 0.7", [("0.7", None, None, Kind.RATIO)]),
        ("1,980 patients", [("1980", None, None, Kind.COUNT)]),
        ("1\u2009980 women", [("1980", None, None, Kind.COUNT)]),
        ("n = 455", [("455", None, None, Kind.COUNT)]),
        ("median 7·5 months", [("7.5", "month", None, Kind.DURATION)]),
        ("10.5 mg/kg", [("10.5", "mg/kg", None, Kind.DOSE)]),
        ("5 µg per day", [("5", "μg/day", None, Kind.DOSE)]),
        ("12-month survival", [("12", "month", None, Kind.DURATION)]),
        ("in March 2021", [("2021", None, None, Kind.DATE)]),
        ("a change of −1.2 points", [("-1.2", "point", None, Kind.PLAIN)]),
        ("a change of -1.2 points", [("-1.2", "point", None, Kind.PLAIN)]),
        ("CI − 0.2, 0.1", [("-0.2", None, None, Kind.CI), ("0.1", None, None, Kind.CI)]),
        ("from 0.11−0.26", [("0.11", None, None, Kind.PLAIN), ("0.26", None, None, Kind.PLAIN)]),
        ("at least two patients", [("2", None, "≥", Kind.COUNT)]),
        ("65 years or older", [("65", "year", "≥", Kind.DURATION)]),
        ("no more than 3 cycles", [("3", "cycle", "≤", Kind.DURATION)]),
        ("over 12 months", [("12", "month", None, Kind.DURATION)]),
        ("over 50 percent", [("50", "%", ">", Kind.PERCENT)]),
        ("IL-6 and stage 3", [("3", None, None, Kind.PLAIN)]),
        ("3.2 × 10⁶ cells", [("3.2E+6", None, None, Kind.PLAIN)]),
        ("one of the trials", []),
        ("PMID 32482534, NCT04264702, doi:10.1038/s41591-024-03254-6", []),
    ],
)
def test_quantities_of_clinical_phrases(text: str, expected: list[Row]) -> None:
    assert rows(text) == expected


def test_a_quantity_points_at_its_words() -> None:
    text = "It was P\u2009<\u2009.001 and 10.5 mg/kg."
    assert [q.raw for q in quantities(text)] == ["<\u2009.001", "10.5 mg/kg"]
    assert all(text[q.start : q.end] == q.raw for q in quantities(text))


def test_a_unit_at_the_end_of_a_range_or_list_is_shared() -> None:
    shared = [q.shared_unit for q in quantities("15.4, 23.2, and 19.3%; 10–20 mg; HR 0.6, 5%")]
    assert shared == ["%", "%", None, "mg", None, None, None]


def test_words_with_digits_are_names() -> None:
    assert names("EGFR T790M, CD4 and HbA1c at 5 mg, NCT04264702") == {"t790m", "cd4", "hba1c"}


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**9, places=4))
def test_a_number_is_read_with_its_exact_value(value: Decimal) -> None:
    assert [q.value for q in quantities(f"It was {value:f} then")] == [value]
