"""Extracted documents and corrections as pages show them, without a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.extractions.view import HEIGHT, WIDTH, chart, result_view
from api_gateway.reviews.view import NotFound, corrections, located

TEXT = "Grade 2.\nMargins negative. 🧬 Grade  2 again; ER positive."
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=5)


@given(SCORES, st.one_of(st.none(), st.floats(0, 1)))
def test_every_score_is_drawn_inside_the_chart_and_better_is_higher(
    scores: list[float], threshold: float | None
) -> None:
    steps = [
        {"part": 0, "type": "pathology", "n": n, "score": one, "gain": None}
        for n, one in enumerate(scores, start=1)
    ]
    drawn = chart(steps, threshold)
    assert drawn is not None
    assert [one.score for one in drawn.steps] == [f"{one:.3f}" for one in scores]
    for one in drawn.steps:
        assert 0 < one.x < WIDTH
        assert 0 < one.y < HEIGHT
    for before, after in zip(drawn.steps, drawn.steps[1:], strict=False):
        assert before.x < after.x
        assert (float(after.score) <= float(before.score)) or after.y <= before.y


def test_without_iterations_nothing_is_drawn() -> None:
    assert chart([], 0.95) is None


def test_words_are_found_whatever_their_spaces_and_case() -> None:
    start, end = located(TEXT, "margins   NEGATIVE.\n🧬")
    assert TEXT[start:end] == "Margins negative. 🧬"


@pytest.mark.parametrize(
    ("words", "told"), [("Grade 2", "stands 2 times"), ("Grade 3", "does not stand"), (" ", "no")]
)
def test_words_that_are_nowhere_or_at_several_places_are_refused(words: str, told: str) -> None:
    with pytest.raises(NotFound, match=told):
        located(TEXT, words)


@given(st.text("ab \n🧬", min_size=1, max_size=30), st.data())
def test_what_is_found_is_what_was_said_but_for_spaces(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    words = text[start:end]
    try:
        found = located(text, words)
    except NotFound:
        return
    assert text[found[0] : found[1]].split() == words.split()


FIELDS = {
    "margins": {"status": "found", "start": 9, "end": 26, "value": None},
    "tnm": {"status": "not_present", "start": None, "end": None, "value": None},
    "grade": {"status": "found", "start": 0, "end": 7, "value": None},
}


def test_only_what_was_changed_is_a_correction() -> None:
    given = {
        "field-margins": "Margins  negative.\r\n",
        "field-tnm": "ER positive\r\nagain",
        "field-grade": " \r\n",
        "field-unknown": "x",
    }
    changed, errors = corrections(TEXT, FIELDS, given)
    assert errors == {}
    assert set(changed) == {"tnm", "grade"}
    assert changed["grade"] is None
    assert [one.value for one in changed["tnm"] or ()] == ["ER positive", "again"]
    for one in changed["tnm"] or ():
        assert TEXT[one.start : one.end] == one.value


def test_spans_that_lie_outside_are_not_shown_as_words() -> None:
    result = {"fields": {"grade": {"status": "found", "start": 50, "end": 900, "value": "2"}}}
    found = result_view(TEXT, result, None)
    assert [(one.words, one.value, one.placed) for one in found.fields[0].items] == [
        ("", "2", False)
    ]
