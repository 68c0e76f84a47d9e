"""Quantities of clinical sentences, and the guard that compares two texts by them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.reading.quantities import Kind, names, quantities
from workers.verify.guards.numbers import guard

Row = tuple[str, str | None, str | None, Kind]


def rows(text: str) -> list[Row]:
    return [(str(q.value), q.unit, q.comparator, q.kind) for q in quantities(text)]


@pytest.mark.parametrize(
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
        ("IL-6 and stage 3", [("6", None, None, Kind.PLAIN), ("3", None, None, Kind.PLAIN)]),
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


PASSAGE = (
    "Among 455 patients the hazard ratio was 0.60 (95% CI, 0.33 to 0.92; P<0.001) after twelve "
    "months; 50 percent had a 7·5 mg/kg dose, and pain changed by −1.2 points in EGFR T790M "
    "disease (NCT04068103, PMID 32482534)."
)


@pytest.mark.parametrize(
    "claim",
    [
        "In 455 patients HR was .6 (P < .001).",
        "50% of patients at 12 months (95% CI 0.33–0.92).",
        "A dose of 7.5 mg/kg was given to 50 per cent.",
        "Pain changed by -1.2 points in T790M disease.",
        "It worked (NCT 04068103).",
        "No number at all.",
    ],
)
def test_a_claim_that_keeps_its_numbers_passes(claim: str) -> None:
    assert guard(claim, PASSAGE) == []


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("HR 0.61", "number"),
        ("455.0001 patients", "number"),
        ("thirty-one of 456", "number"),
        ("eleven months", "number"),
        ("P > .001", "comparator"),
        ("P = .001", "comparator"),
        ("more than 50%", "comparator"),
        ("OR 0.60", "measure"),
        ("HR 0.92", "measure"),
        ("a dose of 7.5 mg", "unit"),
        ("a dose of 7.5 µg/kg", "unit"),
        ("12 weeks", "unit"),
        ("50 patients", "unit"),
        ("changed by 1.2 points", "sign"),
        ("in EGFR T791M disease", "name"),
        ("see NCT04068104", "identifier"),
        ("see PMID 32482535", "identifier"),
        ("see doi 10.1038/s41591-024-03254-6", "identifier"),
    ],
)
def test_a_claim_that_changes_one_is_vetoed(claim: str, code: str) -> None:
    assert [finding.code for finding in guard(claim, PASSAGE)] == [code]


@pytest.mark.parametrize(
    ("claim", "allowed"),
    [
        ("see PMID 123", "123"),
        ("see PMID: 123", "PMID 123"),
        ("see (doi:10.1000/AbC).", "10.1000/abc"),
        ("see ACTRN12615000381583", "ACTRN12615000381583"),
        ("see UMIN000039205", "UMIN000039205"),
        ("see ISRCTN12345678", "ISRCTN12345678"),
    ],
)
def test_an_identifier_of_the_cited_document_is_allowed(claim: str, allowed: str) -> None:
    assert [finding.code for finding in guard(claim, PASSAGE)] == ["identifier"]
    assert guard(claim, PASSAGE, frozenset({allowed})) == []


@given(
    st.one_of(
        st.text(max_size=80),
        st.text(alphabet="0159.,·-−–+<>≤± %pPmgkHRCIn=()/×⁶\u2009NTone ", max_size=60),
    )
)
def test_no_text_is_vetoed_against_itself(text: str) -> None:
    assert guard(text, text) == []


@given(st.data())
def test_any_changed_digit_of_a_quantity_is_a_finding(data: st.DataObject) -> None:
    digits = [i for q in quantities(PASSAGE) for i in range(q.start, q.end) if PASSAGE[i].isdigit()]
    at = data.draw(st.sampled_from(digits))
    new = data.draw(st.sampled_from([d for d in "0123456789" if d != PASSAGE[at]]))
    assert guard(PASSAGE[:at] + new + PASSAGE[at + 1 :], PASSAGE) != []


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**9, places=4))
def test_a_number_is_read_with_its_exact_value(value: Decimal) -> None:
    assert [q.value for q in quantities(f"It was {value:f} then")] == [value]
