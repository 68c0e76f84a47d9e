"""The hard fact of numbers: stops what a document does not have, and no notation of what it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.verify.facts.numbers import guard
from workers.verify.guards.grounds import Grounds


def codes(claim: str, text: str, **more: str) -> list[str]:
    return [finding.code for finding in guard(claim, Grounds(text, text=text, **more))]  # type: ignore[arg-type]


@grid(
    ("claim", "text"),
    [
        ("The 12,000 screened", "We screened 12 000 women."),
        ("The 12'000 screened", "We screened 12,000 women."),
        ("The 12 thousand screened", "We screened 12,000 women."),
        ("Some 1.2 million were screened", "We screened 1,234,567 women."),
        ("A mean of 1.5 mg", "A mean of 1,5 mg was given."),
        ("A mean of 1,5 mg", "A mean of 1·5 mg was given."),
        ("A ratio of 0.5", "The ratio was .5 in both."),
        ("A mean of 18 points", "A mean of 18.0 points."),
        ("It fell by 23.5 points", "The change was −23.5 points."),
        ("Forty-two percent relapsed", "42% relapsed."),
        ("one hundred and twenty patients", "120 patients were treated."),
        ("twenty-one-day mortality", "Mortality at 21 days was low."),
        ("A third of patients relapsed", "33.1% relapsed."),
        ("Some 33% relapsed", "A third of patients relapsed."),
        ("Three quarters of patients relapsed", "75% relapsed."),
        ("A 2-fold rise", "The rate doubled."),
        ("The 20% to 35% who relapsed", "Between 20–35% relapsed."),
        ("One in fifty relapsed", "2.1% relapsed."),
        ("20 per 1000 relapsed", "2% relapsed."),
    ],
)
def test_notations_are_the_same_number(claim: str, text: str) -> None:
    assert codes(claim, text) == []


@grid(
    ("claim", "text"),
    [
        ("2 g twice daily", "A dose of 2000 mg twice daily."),
        ("after 60 min", "It lasted 1 h."),
        ("for 14 days", "It lasted two weeks."),
        ("over 12 months", "It lasted one year."),
        ("for 12 weeks", "It lasted 3 months."),
        ("every 24 hours", "It is given daily."),
        ("a glucose of 126 mg per dL", "Glucose was 126 mg/dl."),
        ("In week 24 it rose", "It rose at 24 weeks."),
    ],
)
def test_units_are_converted(claim: str, text: str) -> None:
    assert codes(claim, text) == []


@grid(
    ("claim", "text"),
    [
        ("19.6% relapsed", "19.57% relapsed."),
        ("20% relapsed", "19.57% relapsed."),
        ("About 300 patients took part", "312 patients took part."),
        ("19.6% relapsed", "Of 138 patients 27 relapsed."),
        ("80.4% were free of relapse", "19.6% relapsed."),
        ("a difference of 4.5 points", "Relapse in 32.5% against 28% of patients."),
        ("a 30% lower risk", "The hazard ratio was 0.70."),
        ("215 patients took part", "The arms had 110 and 105 patients."),
        ("330 patients took part", "The arms had 110, 105 and 115 patients."),
        ("2.5 times as many", "There were 50 events. Controls had 20 events."),
        ("About 27 patients relapsed", "Of 138 patients 19.6% relapsed."),
        ("over a span of 12 years", "The study ran from 1993 to 2005."),
    ],
)
def test_arithmetic_bears_out(claim: str, text: str) -> None:
    assert codes(claim, text) == []


def test_arithmetic_stays_within_two_sentences() -> None:
    text = "There were 50 events. It was well. Nobody asked. Controls had 20 events."
    assert codes("70 events were seen", text) == ["number"]


@grid(
    ("claim", "text", "code"),
    [
        ("19.6% relapsed", "14.2% relapsed.", "number"),
        ("455 patients took part", "312 patients took part.", "number"),
        ("Forty-two percent relapsed", "52% relapsed.", "number"),
        ("a third of patients relapsed", "82% relapsed.", "number"),
        ("A dose of 75 mg", "A dose of 75 µg.", "unit"),
        ("for 18 weeks", "It lasted 18 months.", "unit"),
        ("18% relapsed", "It lasted 18 months.", "unit"),
        ("at least 50 visits", "There were at most 50 visits.", "comparator"),
        ("P > 0.05 for both", "For both P < 0.05.", "comparator"),
        ("It began in 2012", "It began in 2009.", "number"),
    ],
)
def test_what_the_document_has_not_is_a_finding(claim: str, text: str, code: str) -> None:
    assert codes(claim, text) == [code]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("P < 0.001", "P = 0.0004 for both."),
        ("more than 50% relapsed", "62% relapsed."),
        ("over 300 patients", "312 patients took part."),
        ("more than 7% in some", "A value of 7% or less is normal."),  # the rest of the cut-off
        ("at least 50 µg/g in all", "None had at most 50 µg/g."),
    ],
)
def test_a_bound_that_holds_is_no_finding(claim: str, text: str) -> None:
    assert codes(claim, text) == []


@pytest.mark.parametrize(
    "claim",
    [
        "Two trials and both factors in one patient",
        "The first of three reasons",
        "In COVID-19, IL-6 and CD4 cells of grade 3 disease (NCT01234567, T790M)",
        "All of them, 100%, relapsed",
        "No number at all",
    ],
)
def test_counting_names_and_none_or_all_are_no_evidence(claim: str) -> None:
    assert codes(claim, "Some relapsed.") == []


def test_a_rule_may_be_applied_to_a_case() -> None:
    assert codes("A nine-year-old is not covered", "Covered from 12 years or older.") == []


def test_title_and_origin_count() -> None:
    grounds = Grounds("It was seen.", "In 455 men", "It was seen.", origin={"on": "2019-05-02"})
    assert guard("Published in 2019 of 455 men", grounds) == []


def test_years_in_two_digits_count() -> None:
    assert codes("Seen in September 1993", "Seen on 9/1/93.") == []


def test_the_finding_quotes_claim_and_document() -> None:
    found = guard("Forty percent relapsed", Grounds("", text="It was 52% there."))
    assert found[0].detail == "“Forty percent” is not in the document, which has “52%”"


def test_numbers_beyond_all_measure_are_read_over() -> None:
    assert codes("1 × 10^999 cells", "1 × 10^998 cells, " + "9" * 500) == []


_WRITTEN = [
    lambda number: f"{number}",
    lambda number: f"{number:,}",
    lambda number: f"{number:,}".replace(",", " "),
    lambda number: f"{number:,}".replace(",", "'"),
    lambda number: f"{number:,}".replace(",", "\u2009"),
    lambda number: f"{number}.0",
    lambda number: f"{number / 1000:.3f} thousand",
]


@given(st.integers(1_001, 999_999), st.sampled_from(_WRITTEN), st.sampled_from(_WRITTEN))
def test_any_notation_is_found_again_and_no_other_number(number, claimed, stated) -> None:
    text = f"We saw {stated(number)} women."
    assert codes(f"There were {claimed(number)} women", text) == []
    assert codes(f"There were {claimed(number + 7)} women", text) == ["number"]


@pytest.mark.parametrize(
    ("claim", "text", "codes"),
    [
        ("60 percentage points of patients responded.", "60% of patients responded.", ["unit"]),
        ("Response was 12 percentage points lower.", "Response was 32% in A and 44% in B.", []),
        ("It fell by 12 percentage points.", "It fell by 12 percentage points.", []),
    ],
)
def test_a_share_is_no_difference_of_shares(claim: str, text: str, codes: list[str]) -> None:
    assert [one.code for one in guard(claim, Grounds(text, "", text))] == codes


@grid(
    ("claim", "text", "code"),
    [
        ("The mean change was 10 mmHg.", "The mean change was minus ten mmHg.", "sign"),
        ("Base excess was 8.", "Base excess was -8.", "sign"),
        ("Base excess was -8.", "Base excess was minus eight.", ""),
        ("Pressure was down by 10 mmHg.", "The change in pressure was -10 mmHg.", ""),
        ("Pressure fell: it was 10 mmHg lower.", "The change in pressure was -10 mmHg.", ""),
        ("The difference was 2.1 days.", "The difference was -2.1 days.", ""),
        ("The risk was 1.63% higher.", "The risk was higher (RR 1.63).", "unit"),
        ("The risk was 63% higher.", "The risk was higher (RR 1.63).", ""),
    ],
)
def test_a_sign_and_a_ratio_are_kept(claim: str, text: str, code: str) -> None:
    assert [one.code for one in guard(claim, Grounds(text, text=text))] == [code] * bool(code)


@given(
    number=st.integers(11, 89),  # "10,000" may be read to have a 10, and 91 per 1,000 leave 91 %
    told=st.sampled_from([100, 1000, 10_000, 100_000]),
    joint=st.sampled_from(["per", "in", "out of"]),
    turned=st.booleans(),
)
def test_a_number_of_a_hundred_is_not_the_same_of_a_thousand(
    number: int, told: int, joint: str, turned: bool
) -> None:
    share, rate = f"{number}% of them fell ill.", f"{number} {joint} {told:,} fell ill."
    claim, text = (share, rate) if turned else (rate, share)
    assert codes(claim, text) == ([] if told == 100 else ["unit"])


@given(st.sampled_from([(50, 84), (31, 71), (41, 59), (77, 151), (19, 23), (101, 290)]))
def test_a_share_is_no_difference_in_percentage_points(counts: tuple[int, int]) -> None:
    part, whole = counts
    share = round(100 * part / whole)
    text = f"{share}% ({part}/{whole}) of them responded."
    assert codes(text.replace("%", " percentage points"), text) == ["unit"]
    rise = f"Response rose from 2% to {share + 2}%."
    assert codes(f"It rose by {share} percentage points.", rise) == []
