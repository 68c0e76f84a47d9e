"""The marked findings of `benchmarks/assertions`: what measures was not learned, and marks fit."""

import csv

from benchmarks.assertions.data import FOLDER, INVENTED, LEARNED, UNSEEN, marks
from clinical_text.assertion.marks import Assertion


def rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / name).read_text().splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_no_sentence_that_measures_was_learned() -> None:
    learned, unseen = (
        {row["sha256"] for name in names for row in rows(name)} for names in (LEARNED, UNSEEN)
    )

    assert not learned & unseen


def test_each_mark_is_an_assertion_of_a_place() -> None:
    for name in (*LEARNED, *UNSEEN, INVENTED):
        for row in rows(name):
            assert {*map(Assertion, (row["means"], *row["also"].split()))}
            assert 0 <= int(row["start"]) < int(row["end"])


def test_marks_of_invented_sentences_need_no_open_set() -> None:
    found = list(marks(INVENTED, {}))

    assert len(found) == len(rows(INVENTED))
    assert all(one.sentence[one.start : one.end].strip() for one in found)
    assert all(one.means in one.accepted for one in found)
