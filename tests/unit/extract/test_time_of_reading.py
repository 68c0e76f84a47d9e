"""Reading takes time in proportion to the text, and its results stay in proportion, too."""

import json
from collections.abc import Callable

from tests.grid import grid
from tests.linearity.growth import growth
from tests.linearity.readers_extract_and_notes import every_field, extraction
from workers.extract.documents import classify
from workers.extract.intake.readability import assess
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.texts.tick_boxes import plain_ticks
from workers.summarize.persons import introduces
from workers.summarize.plan import urgency


@grid(
    ("read", "unit", "start"),
    [
        (assess, "a", 4_000),
        (every_field, "10 mg, 20 mg, ", 2_000),
        (every_field, "mother 5 mg ", 2_000),
        (extraction, "stage IIIA ", 2_000),
        (lambda text: plain_ticks(text, lambda _: False), "[x] a [ ] b ", 60_000),
        (classify, "DISCHARGE SUMMARY\na\nPATHOLOGY REPORT\nb\n", 4_000),
        (lambda text: extract_field("allergies", Parts(text)), "Allergies: a\n", 20_000),
        (lambda text: extract_field("medications", Parts(text)), "Meds: a,\n", 4_000),
        (urgency, "if ", 4_000),
        (introduces, "her 65 year old son ", 4_000),
    ],
)
def test_twice_the_text_takes_no_more_than_some_twice_the_time(
    read: Callable[[str], object], unit: str, start: int
) -> None:
    def family(length: int) -> str:
        return "The result " + unit * (length // len(unit))

    read(family(200))  # what is compiled and loaded once is no part of the growth
    found = growth(read, family, start=start, most=8 * start, least_seconds=0.01)
    assert found is None or found.linear, found


def test_a_label_again_ends_what_stands_under_it() -> None:
    text = "Course: well on antibiotics\n" * 40
    (item,) = extract_field("hospital_course", Parts(text)).items
    assert text[item.start : item.end] == "well on antibiotics"


def test_results_grow_with_the_text_and_no_faster() -> None:
    sizes = [
        len(json.dumps(extraction("Course: a\nMeds: aspirin 5 mg\n" * times), default=str))
        for times in (50, 100)
    ]
    assert sizes[1] < 2.5 * sizes[0]


def test_many_allergies_that_differ_are_reviewed_and_not_counted_without_end() -> None:
    text = "".join(f"Allergies: drug{chr(97 + n % 26)}{chr(97 + n // 26)}ine\n" for n in range(200))
    found = extract_field("allergies", Parts(text))
    assert found.status == "ambiguous"
    assert len(found.items) == 60
