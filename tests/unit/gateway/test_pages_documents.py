"""Extracted documents and corrections as pages show them, without a server."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from api_gateway.extractions.values import FORMS, written
from api_gateway.extractions.view import result_view
from api_gateway.reviews.view import NotFound, corrections, located
from workers.extract import values
from workers.extract.values import Day, LabValue, Margin, Marker, Measurement, Nodes, Tnm

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


def test_fields_stand_as_they_follow_in_the_text() -> None:
    at = {"status": "found", "value": None}
    result = {"fields": {"er": at | {"start": 38, "end": 40}, "grade": at | {"start": 0, "end": 7}}}
    assert [one.name for one in result_view(TEXT, result, None).fields] == ["grade", "er"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Tnm(prefix="p", t="1c", n="0"), "pT1c N0"),
        (Day(iso="2024-05-03", other="2024-03-05"), "3 May 2024 or 5 Mar 2024"),
        (Day(iso="2024-05"), "May 2024"),
        (Marker(marker="ER", result="positive", percent=98.0), "ER positive 98%"),
        (Margin(status="negative", distance_mm=3.0, which="deep"), "deep negative, 3 mm"),
        (Measurement(dimensions=(1.4, 2.0), unit="cm"), "1.4 × 2 cm"),
        (Nodes(positive=0, examined=2), "0 of 2 positive"),
        (
            LabValue(name="potassium", number=5.4, unit="mmol/L", low=3.5, high=5.1, flag="high"),
            "potassium 5.4 mmol/L, high (3.5 to 5.1)",
        ),
        (LabValue(name="ApoB", number=88.0, unit="mg/dL", high=90.0), "ApoB 88 mg/dL (up to 90)"),
    ],
)
def test_values_are_written_as_people_write_them(value: BaseModel, said: str) -> None:
    assert written(value.model_dump(exclude_none=True)) == said


def test_every_kind_of_value_that_is_read_has_its_form_with_all_of_its_parts() -> None:
    kinds = {
        one.model_fields["kind"].default: set(one.model_fields) - {"kind"}
        for one in vars(values).values()
        if isinstance(one, type) and issubclass(one, BaseModel) and "kind" in one.model_fields
    }
    assert kinds.keys() == FORMS.keys()
    for kind, parts in kinds.items():
        named = set(re.findall(r"\{(\w+)\}", FORMS[kind]))
        missing = parts - named - ({"low", "high"} if "range" in named else set())
        assert not missing, kind
