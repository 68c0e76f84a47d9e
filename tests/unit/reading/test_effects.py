"""Effects that a text states in numbers: what is read, where it stands, and what is left alone."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.effects.estimates import MOST, Estimate, as_row, estimates, from_row
from clinical_text.structure import segment
from store.core.spans import Span
from tests.grid import grid


def read(text: str) -> list[Estimate]:
    """The estimates of a text, its sentences found as at ingest."""
    return estimates(text, segment(text).sentences)


def one(text: str) -> Estimate:
    """The only estimate of a text."""
    (found,) = read(text)
    return found


@grid(
    ("text", "measure", "value", "low", "high"),
    [
        ("The HR for death was 0.60 (95% CI 0.41 to 0.87).", "HR", "0.60", "0.41", "0.87"),
        ("Recurrence was rarer (HR, 0.60; 95% CI, 0.41-0.87).", "HR", "0.60", "0.41", "0.87"),
        ("Hazard ratio [HR] 2·91 [95% CI 1·99–4·25].", "HR", "2.91", "1.99", "4.25"),
        ("Bleeding rose (adjusted odds ratio (OR) = 1.2; 0.8, 1.9).", "OR", "1.2", None, None),
        ("Bleeding rose (aOR 1.2 (0.8, 1.9)).", "OR", "1.2", "0.8", "1.9"),
        ("Relative risk 0.41 (0.19–0.85) was found.", "RR", "0.41", "0.19", "0.85"),
        ("The incidence rate ratio was 0.83 (95% CI 0.53, 1.30).", "RR", "0.83", "0.53", "1.30"),
        ("Odds ratio (95% CI): 1.54 (1.25 to 1.89).", "OR", "1.54", "1.25", "1.89"),
        (
            "Weight differed (mean difference −2.5 kg; 95% CI −3.6 to −1.4).",
            "MD",
            "-2.5",
            "-3.6",
            "-1.4",
        ),
        ("The SMD was -0.31 (95% CI -0.52 to -0.10).", "SMD", "-0.31", "-0.52", "-0.10"),
        ("Risk difference -4% (95% CI -15 to 8).", "RD", "-4", "-15", "8"),
    ],
)
def test_a_named_measure_is_read_with_its_interval(
    text: str, measure: str, value: str, low: str | None, high: str | None
) -> None:
    found = one(text)
    assert (found.measure, found.value) == (measure, Decimal(value))
    assert (found.low, found.high) == (
        None if low is None else Decimal(low),
        None if high is None else Decimal(high),
    )


def test_level_p_value_and_place_are_those_of_the_text() -> None:
    text = "Background. Deaths fell (HR 0.60 [97.5% CI 0.41–0.87]; P<0.001), it was said."
    found = one(text)
    assert found.written == text[found.start : found.end]
    assert found.written == "HR 0.60 [97.5% CI 0.41–0.87]; P<0.001"
    assert found.level == Decimal("97.5")
    assert found.p is not None
    assert (found.p.comparator, found.p.value) == ("<", Decimal("0.001"))
    assert (
        found.sentence.of(text)
        == "Deaths fell (HR 0.60 [97.5% CI 0.41–0.87]; P<0.001), it was said."
    )


def test_each_effect_of_a_sentence_is_read_with_its_own_numbers_and_outcome() -> None:
    text = (
        "Patients with a response had longer event-free survival (HR, 0.24; 95% CI, 0.18–0.33) and "
        "overall survival (HR, 0.16; 95% CI, 0.11–0.25)."
    )
    first, second = read(text)
    assert first.phrases["outcome"].text == "event-free survival"
    assert second.phrases["outcome"].text == "overall survival"
    assert (first.value, second.value) == (Decimal("0.24"), Decimal("0.16"))


def test_a_list_under_one_name_is_read_to_its_end() -> None:
    first, second = read("The HRs were 0.60 (95% CI 0.41-0.87) and 0.75 (95% CI 0.60-0.94).")
    assert (first.value, second.value) == (Decimal("0.60"), Decimal("0.75"))
    assert (second.low, second.high) == (Decimal("0.60"), Decimal("0.94"))


@grid(
    ("text", "direction"),
    [
        ("The HR for death was 0.60 (95% CI 0.41 to 0.87).", "lower"),
        ("The HR for death was 1.40 (95% CI 1.10 to 1.80).", "higher"),
        ("The HR for death was 0.60 (95% CI 0.34 to 1.05).", "none"),
        ("The HR for death was 0.60 (P = 0.21).", "none"),
        ("The HR for death was 0.60.", "lower"),
        ("The HR for overall survival was 0.60 (95% CI 0.41 to 0.87).", "higher"),
        ("The odds ratio for survival was 1.60 (95% CI 1.10 to 2.40).", "higher"),
        ("The mean difference was -2.5 kg (95% CI -3.6 to -1.4).", "lower"),
        ("The absolute risk reduction for stroke was 2.1% (95% CI 1.0 to 3.2).", "lower"),
        ("Stroke occurred in 15% of the apixaban group vs 28% of the warfarin group.", "lower"),
        ("Stroke was as frequent (15% vs. 28%; P = 0.20).", "none"),
    ],
)
def test_the_direction_is_that_of_the_outcome_in_the_first_arm(text: str, direction: str) -> None:
    assert one(text).direction == direction


@pytest.mark.parametrize(
    ("text", "value", "other", "arms"),
    [
        (
            "Discontinuation was 27.2% in the sitagliptin group and 28.8% in the control group.",
            "27.2",
            "28.8",
            ("sitagliptin", "control"),
        ),
        (
            "Treatment was given to 15% and 28% in the ctDNA-guided and standard groups.",
            "15",
            "28",
            ("ctDNA-guided", "standard"),
        ),
        (
            "Anemia was commoner in the TEL group (52.5%) compared with the TE group (10.0%).",
            "52.5",
            "10.0",
            ("TEL", "TE"),
        ),
        ("Failure was rarer (18% vs 51%; p<0.001).", "18", "51", (None, None)),
    ],
)
def test_percentages_of_two_arms_are_one_effect(
    text: str, value: str, other: str, arms: tuple[str | None, str | None]
) -> None:
    found = one(text)
    assert (found.measure, found.value, found.other) == ("percent", Decimal(value), Decimal(other))
    named = tuple(phrase and phrase.text for phrase in (found.intervention, found.comparator))
    assert named == arms


@pytest.mark.parametrize(
    ("text", "what", "words"),
    [
        (
            "The hazard ratio for disease recurrence or death was 0.64.",
            "outcome",
            "disease recurrence or death",
        ),
        (
            "An HR of 0.6 (95% CI 0.4-0.9) for overall survival was seen.",
            "outcome",
            "overall survival",
        ),
        (
            "Apixaban versus warfarin: HR for stroke 0.60 (95% CI 0.4-0.8).",
            "intervention",
            "Apixaban",
        ),
        (
            "Apixaban versus warfarin: HR for stroke 0.60 (95% CI 0.4-0.8).",
            "comparator",
            "warfarin",
        ),
        (
            "ctDNA-guided therapy reduced recurrence (HR 0.60; P<0.01).",
            "intervention",
            "ctDNA-guided therapy",
        ),
        (
            "Among patients with stage II colon cancer, the HR for relapse was 0.60 (P = 0.01).",
            "population",
            "patients with stage II colon cancer",
        ),
    ],
)
def test_outcome_population_and_arms_are_the_words_of_the_sentence(
    text: str, what: str, words: str
) -> None:
    phrase = one(text).phrases[what]
    assert phrase.text == words
    assert text[phrase.start : phrase.end] == words


@grid(
    "text",
    [
        "The HR fell below 45 beats/min, and HR 76 was the mean.",
        "Severe illness was defined as RR ≥50/min or chest in-drawing.",
        "Choose warfarin or 5 mg of apixaban.",
        "Groups RM and RD, 8 (5-11) h and 12 (8-16) h, woke later.",
        "Weight fell from 45% to 32% of the baseline.",
        "We calculated odds ratios with 95% confidence intervals.",
        "Agents were diuretics (73%), beta blockers (56%) and calcium channel blockers (42%).",
        "The response rate (RR) was 45% in all 130 patients.",
        "Power was 80% at a significance level of 5%.",
        f"HR{' ' * 40}0.60 (95% CI 0.41-0.87) in a column.",
    ],
)
def test_what_is_no_effect_of_one_arm_against_another_is_left_alone(text: str) -> None:
    assert read(text) == []


def test_an_interval_that_does_not_hold_its_value_is_not_taken_for_its_own() -> None:
    found = one("Diabetes counted (HR 1.88; 95% CI 1.42 to 1.49).")
    assert (found.low, found.high) == (None, None)


def test_a_p_value_of_another_question_is_not_taken() -> None:
    assert one("The HR for death was 0.60 (95% CI 0.41-0.87; P for interaction = 0.27).").p is None


def test_a_factor_in_a_list_is_not_the_outcome_of_the_next_one() -> None:
    text = (
        "In a multivariate model, heart failure (HR 2.99; 95% CI 1.61 to 5.56) and diabetes "
        "(HR 1.81; 95% CI 1.36 to 2.40) were independent factors."
    )
    assert [found.outcome for found in read(text)] == [None, None]


_PIECES = st.sampled_from(
    [
        "The HR for death was 0.60 (95% CI 0.41–0.87; P<0.001). ",
        "Mean difference −2.5 kg (95% CI −3.6 to −1.4), ",
        "15% in the A group and 28% in the B group; ",
        "among patients with α-thalassemia 𝟙 ",
        "odds ratio [OR], 1.2 [1.1, 1.4] ",
        "versus placebo ",
        "relapse-free survival (",
        ")",
        "\n\n",
        "％ vs. 12 % ",
        " " * 15,
        "a" * 300,
    ]
)


@given(st.lists(_PIECES | st.text(max_size=30), max_size=12).map("".join))
def test_every_place_is_an_exact_span_of_the_text(text: str) -> None:
    for found in read(text):
        assert text[found.start : found.end] == found.written
        assert found.sentence.start <= found.start < found.end <= found.sentence.end
        assert found.low is None or found.high is None or found.low <= found.value <= found.high
        for phrase in found.phrases.values():
            assert text[phrase.start : phrase.end] == phrase.text
            assert phrase.text.strip()


@given(st.lists(_PIECES, max_size=8).map("".join))
def test_what_is_stored_of_an_estimate_is_all_of_it(text: str) -> None:
    for found in read(text):
        assert from_row(as_row(found), text) == found


def test_a_table_run_together_is_read_up_to_a_number_of_effects() -> None:
    text = "HR 0.5 (0.4 to 0.6), " * (MOST + 20)

    assert len(estimates(text, [Span(0, len(text))])) == MOST
