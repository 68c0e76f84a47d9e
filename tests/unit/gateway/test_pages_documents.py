"""Extracted documents and corrections as pages show them, without a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.extractions.view import result_view
from api_gateway.reviews.view import NotFound, corrections, located

TEXT = "Grade 2.\nMargins negative. 🧬 Grade  2 again; ER positive."


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
