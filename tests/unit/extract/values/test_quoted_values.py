"""What words are worth that somebody says are the value of a field."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from knowledge.loader import load
from workers.extract.rules.reading import find_value, read_words
from workers.extract.rules.texts.written_days import day_before, written_day

MONTHS: dict[int, Sequence[str]] = load("documents/months")["months"]
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
Notation = Callable[[date, str], str]
NAMED: Sequence[Notation] = (
    lambda day, month: f"{day.day} {month} {day.year}",
    lambda day, month: f"{day.day:02d}-{month.upper()}-{day.year}",
    lambda day, month: f"{month} {day.day}, {day.year}",
    lambda day, month: f"{month.title()}. {day.day}/{day.year % 100:02d}",
    lambda day, month: f"{day.year} {month} {day.day:02d}",
    lambda day, month: f"le {day.day} {month} {day.year}, 14:30",
    lambda day, month: f"{day.day:02d}{month}{day.year % 100:02d}",
    lambda day, month: f"{day.day}. {month} '{day.year % 100:02d}",
    lambda day, _: f"{day.day}.{ROMAN[day.month - 1]}.{day.year}",
    lambda day, _: f"{day.day} / {ROMAN[day.month - 1].upper()} / {day.year}",
)
FIGURES: Sequence[Notation] = (
    lambda day, _: f"{day.day:02d}/{day.month:02d}-{day.year}",
    lambda day, _: f"{day.day} | {day.month} | {day.year}",
    lambda day, _: f"{day.year}. {day.month:02d}. {day.day:02d}.",
    lambda day, _: f"{day:%Y%m%d}1130",
)
DAYS = some.dates(date(2000, 1, 1), date(2039, 12, 31))


@given(day=DAYS, notation=some.sampled_from(NAMED), chance=some.randoms(use_true_random=False))
def test_a_day_is_read_in_every_notation_and_language(
    day: date, notation: Notation, chance: Any
) -> None:
    month = chance.choice(MONTHS[day.month])
    read = written_day(notation(day, month))
    assert read is not None
    assert read.iso == day.isoformat()


@given(day=DAYS, notation=some.sampled_from(FIGURES))
def test_a_day_in_figures_is_read_with_any_mark(day: date, notation: Notation) -> None:
    read = written_day(notation(day, ""))
    assert read is not None
    assert day.isoformat() in (read.iso, read.other)


@given(words=some.text(alphabet="abcdefghijklmnopqrstuvwxyz .,-/", max_size=40))
def test_words_without_a_figure_or_a_number_word_name_no_day(words: str) -> None:
    read = written_day(words)
    assert read is None or read.iso[:2] in ("19", "20")


@pytest.mark.parametrize(
    ("words", "iso"),
    [
        ("the twelfth of march twenty twenty-four", "2024-03-12"),
        ("may sixteenth two thousand twenty three", "2023-05-16"),
        ("fourteenth of april twenty twenty three", "2023-04-14"),
    ],
)
def test_a_day_that_was_spoken_is_read(words: str, iso: str) -> None:
    read = written_day(words)
    assert read is not None
    assert read.iso == iso


@pytest.mark.parametrize("words", ["2022", "the 11th", "1.2", "3 May or 5 June 2021", "12 13"])
def test_words_that_name_no_one_day_are_none(words: str) -> None:
    assert written_day(words) is None


@given(day=DAYS, later=some.integers(0, 300))
def test_a_day_without_its_year_is_the_last_before_the_document(day: date, later: int) -> None:
    latest = date.fromordinal(day.toordinal() + later)
    if (day.month, day.day) == (2, 29):
        return
    read = day_before(f"{day.day} {MONTHS[day.month][0]}", latest.isoformat())
    assert read is not None
    assert read.iso == day.isoformat()


@pytest.mark.parametrize(
    ("field", "words", "key"),
    [
        ("blood_loss", "thirty mL", ("amount", None, 30.0)),
        ("blood_loss", "2.1 L, cell saver 900 ml returned", ("amount", None, 2100.0)),
        ("blood_loss", "1,100 ml", ("amount", None, 1100.0)),
        ("blood_loss", "less than 5 ml", ("amount", "<", 5.0)),
        ("blood_loss", "nil", ("amount", None, 0.0)),
        ("blood_loss", "1.5 L", ("amount", None, 1500.0)),
        ("lymph_nodes", "8 nodes, all clean", ("nodes", 0, 8)),
        ("lymph_nodes", "3 positive of 21 examined", ("nodes", 3, 21)),
        ("lymph_nodes", "A single hilar node is reactive.", ("nodes", 0, 1)),
        ("lymph_nodes", "five, none involved", ("nodes", 0, 5)),
        ("lymph_nodes", "8 nodes, all involved", ("nodes", 8, 8)),
        ("lymph_nodes", "two nodes, both positive", ("nodes", 2, 2)),
        ("lymph_nodes", "two nodes, both negative", ("nodes", 0, 2)),
        ("lymph_nodes", "a single node is replaced by tumour", ("nodes", 1, 1)),
        ("lymphovascular_invasion", "lymphatics clear", ("presence", "absent")),
        ("lymphovascular_invasion", "V1 L0", ("presence", "present")),
        ("perineural_invasion", "Nerves are widely invaded", ("presence", "present")),
        ("perineural_invasion", "a nerve twig is not involved", ("presence", "absent")),
        ("msi_status", "proficient (all four proteins retained)", ("msi", "MSS")),
        ("msi_status", "MSH6 lost, i.e. deficient", ("msi", "MSI-H")),
        ("msi_status", "no loss of repair proteins", ("msi", "MSS")),
        ("msi_status", "Stable (2.4 % unstable sites)", ("msi", "MSS")),
        ("blood_loss", "no more than 50 ml", ("amount", "<", 50.0)),
        ("stage", "Ann Arbor II (bulky)", ("stage", "II")),
        ("stage", "Dukes B", ("stage", "Dukes B")),
        ("grade", "ISUP 2", ("grade", "2")),
        ("tnm", "cT2b, cN1, cM0", ("tnm", "2b", "1", "0")),
        ("tumor_size", "one point four centimetres", ("measurement", 14.0)),
        ("assessment_category", "EU-TIRADS 4", ("amount", None, 4.0)),
        ("tmb", "5 mutations per Mb", ("amount", None, 5.0)),
    ],
)
def test_words_that_are_said_to_be_a_value_are_read_by_their_kind(
    field: str, words: str, key: tuple[object, ...]
) -> None:
    value = read_words(field, words)
    assert value is not None
    assert value.key == key


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("lymph_nodes", "stations 5, 6, 7, 10, 11 sampled"),
        ("lymph_nodes", "none submitted"),
        ("lymph_nodes", "2 nodes, not free of tumour"),
        ("lymph_nodes", "3 nodes positive"),
        ("perineural_invasion", "Perineural invasion"),
        ("lymphovascular_invasion", "Lymphovascular invasion:"),
        ("lymphovascular_invasion", "vessels not clear of tumour"),
        ("msi_status", "not high"),
        ("msi_status", "MLH1 retained, MSH6 lost"),
        ("grade", "not ISUP 3"),
        ("tnm", "no T1a"),
        ("msi_status", "not evaluable"),
        ("stage", "II or III"),
        ("tmb", "not evaluable on RNA assay"),
        ("tumor_size", "17"),
        ("blood_loss", "a few swabs"),
        ("blood_loss", "10 mL/kg"),
        ("psa", "4.5 µmol/L"),
        ("prostate_volume", "45 g"),
        ("prostate_volume", "64 x 52 x 41 mm = 71 ml"),
    ],
)
def test_words_that_say_no_value_or_several_are_none(field: str, words: str) -> None:
    assert read_words(field, words) is None


@pytest.mark.parametrize(
    ("field", "words"), [("date", "5 Apr 22"), ("blood_loss", "minimal"), ("stage", "Dukes B")]
)
def test_running_text_is_not_read_so_freely(field: str, words: str) -> None:
    assert find_value(field, words) is None
