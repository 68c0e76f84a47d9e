"""Numbers of a text in one notation: every way to write a value is the same, no other value is."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.numbers.notation import in_digits, in_one_notation, in_plain_digits

MINUS = "\u2212"
UNITS = st.sampled_from(
    [
        ("mg", "mg", "milligrams"),
        ("mcg", "µg", "μg", "micrograms"),
        ("mmHg", "mm Hg"),
        ("%", " %", "percent", "per cent"),
        ("mmol/L", "mmol/l"),
        ("units", "U"),
    ]
)
FRAMES = st.sampled_from(["The dose was {}.", "It changed by {} in adults.", "A total of {}."])
WHOLE = st.one_of(st.integers(0, 9), st.integers(10, 999), st.integers(1000, 9_999_999)).map(
    lambda value: Decimal(value)
)
VALUES = st.one_of(WHOLE, st.decimals("0.01", "999", places=2).filter(lambda one: one % 1 != 0))
WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]


def writings(value: Decimal) -> list[str]:
    """The ways to write a value without its unit."""
    if value % 1:
        written = str(value)
        whole = [written[1:]] if written.startswith("0.") else []
        return [written, written.replace(".", ","), written.replace(".", "·"), *whole]
    number = int(value)
    grouped = [f"{number:,}".replace(",", gap) for gap in (",", " ", "\u2009", "\u202f", "'")]
    return [str(number), *(grouped if number > 999 else ()), *WORDS[number : number + 1]]


@st.composite
def quantities(draw: st.DrawFn) -> tuple[tuple[Decimal, str, bool], str]:
    """What a quantity is (value, unit, whether below zero), and one of its writings."""
    value, units, is_negative = draw(VALUES), draw(UNITS), draw(st.booleans())
    unit = draw(st.sampled_from(units))
    gap = "" if unit.startswith(" ") else " "
    number = draw(st.sampled_from(writings(value)))
    signs = ["minus "] if number.isalpha() else [MINUS, "-", "minus "]
    sign = draw(st.sampled_from(signs)) if is_negative else ""
    written = f"{sign}{number}{gap}{unit}"
    return (value, units[0], is_negative), written


@given(quantities(), quantities(), FRAMES)
def test_two_writings_are_the_same_if_and_only_if_they_say_the_same(
    one: tuple[tuple[Decimal, str, bool], str],
    two: tuple[tuple[Decimal, str, bool], str],
    frame: str,
) -> None:
    alike = in_one_notation(frame.format(one[1])) == in_one_notation(frame.format(two[1]))
    assert alike == (one[0] == two[0])


@given(st.data())
def test_all_writings_of_a_quantity_are_the_same(data: st.DataObject) -> None:
    value, units = data.draw(VALUES), data.draw(UNITS)
    found = {in_one_notation(f"It was {number} {units[0]}.") for number in writings(value)}
    assert len(found) == 1, found


@given(st.text(alphabet="0123456789., '’·-\u2009abmg%µ", max_size=40))
def test_places_stay_and_one_notation_of_a_notation_is_itself(text: str) -> None:
    assert len(in_plain_digits(text)) == len(in_digits(text)) == len(text)


def test_where_commas_part_decimals_none_is_taken_for_one_between_groups() -> None:
    around = "Potassium was 3,5 mmol/L; the rate was 1,234 mmol/L."
    said = in_one_notation("The rate was 1,234 mmol/L.", around)
    assert said != in_one_notation("The rate was 1234 mmol/L.")
    assert said != in_one_notation("The rate was 1,234 mmol/L.")


@given(st.integers(13, 99))
def test_spelled_numbers_are_read(number: int) -> None:
    ones = WORDS[number % 10]
    words = TEENS[number - 13] if number < 20 else TENS[number // 10 - 2]
    if number > 20 and number % 10:
        words = f"{words}-{ones}"
    assert in_one_notation(f"{words.capitalize()} studies") == f"{number} studies"


@given(st.sampled_from(TENS), st.sampled_from(ORDINALS))
def test_ordinals_stay(ten: str, ordinal: str) -> None:
    text = f"the {ten}-{ordinal} study"
    assert in_one_notation(text) == text
