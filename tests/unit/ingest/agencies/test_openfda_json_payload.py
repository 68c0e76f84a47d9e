"""What all parsers of JSON share never raises anything but Malformed, and loses nothing unseen."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.json_payload import (
    Draft,
    Fields,
    add_record,
    filled,
    flag,
    load,
    number,
    obj,
    one_line,
    rows,
    text,
    texts,
    when,
)

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=20,
)


@grid(
    "payload",
    [
        b"",
        b"{",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b"1" * 5000,
        b"[" * 200_000,
        b'"\xff"',
        b'{"a": "\n"}',
        b"{} {}",
        b"\x00",
    ],
)
def test_what_is_no_json_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed) as caught:
        load(payload)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "an empty answer where JSON should be"),
        (b" \n", "an empty answer where JSON should be"),
        (b"\n<!DOCTYPE html><html>Down</html>", "a web page or XML where JSON should be"),
        (b"Resource not found.", "not JSON at line 1, column 1"),
    ],
)
def test_what_came_in_place_of_json_is_named(payload: bytes, reason: str) -> None:
    with pytest.raises(Malformed) as caught:
        load(payload)
    assert str(caught.value) == reason


def test_control_characters_in_strings_are_read_where_they_are_allowed() -> None:
    assert load(b'{"ERROR": "a\nb"}', strict=False) == {"ERROR": "a\nb"}


@given(_json)
def test_getters_take_any_value_for_any_type(value: Any) -> None:
    for path in ((), ("a",), ("a", "b")):
        assert isinstance(obj(value, *path), dict)
        assert all(isinstance(row, dict) for row in rows(value, *path))
        assert isinstance(text(value, *path), str)
        assert all(texts(value, *path))
        assert isinstance(number(value, *path), int | None)
        assert flag(value, *path) in (None, True, False)


@given(_json)
def test_every_value_is_either_known_or_counted(value: Any) -> None:
    def leaves(found: Any, path: str = "") -> list[str]:
        if isinstance(found, dict):
            return [p for k, v in found.items() for p in leaves(v, f"{path}.{k}" if path else k)]
        if isinstance(found, list):
            return [p for v in found for p in leaves(v, f"{path}[]")]
        return [] if found is None else [path]

    fields = Fields(["a.b", "a[]", "b[].c"], {"c/*": "a reason", "a.c": "another one"})
    every = leaves(value)
    unknown = fields.unknown(value)
    assert sorted(unknown.elements()) == sorted(path for path in every if not fields.covers(path))


@grid(
    ("path", "covered"),
    [
        ("a.b", True),
        ("a.b[]", False),
        ("a.b.c", False),
        ("a", False),
        ("b[]", True),
        ("b", False),
        ("c", True),
        ("c.d[].e", True),
        ("c[]", True),
        ("d", False),
    ],
)
def test_a_path_is_covered_by_itself_or_by_a_prefix(path: str, covered: bool) -> None:
    assert Fields(["a.b", "b[]"], {"c/*": "a reason"}).covers(path) == covered


def test_names_that_are_no_names_are_not_repeated() -> None:
    assert Fields([], {}).unknown({"Mr. Somebody, 54": 1, "a b": {"c-d": 1}}) == {
        "?": 1,
        "?.c-d": 1,
    }


def test_deep_values_are_counted_in_bounded_paths() -> None:
    value: Any = 1
    for _ in range(900):
        value = {"a" * 80: [value]}
    ((path, count),) = Fields([], {}).unknown(value).items()
    assert count == 1
    assert len(path) < 6000


@pytest.mark.parametrize(
    ("words", "moment", "precision"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC), "year"),
        ("2024-03", datetime(2024, 3, 1, tzinfo=UTC), "month"),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC), "day"),
        ("20240229", datetime(2024, 2, 29, tzinfo=UTC), "day"),
        ("2024-02-29T12:00:00Z", datetime(2024, 2, 29, tzinfo=UTC), "day"),
    ],
)
def test_dates_keep_what_they_state(words: str, moment: datetime, precision: str) -> None:
    assert when(words) == (moment, precision)


@grid("words", ["", "2023-02-29", "0000", "202403", "2024-3-1", "24-03-01", "2024-03-01x", "٢٠٢٤"])
def test_what_is_no_date_is_none(words: str) -> None:
    assert when(words) is None


def test_nothing_is_filled_with_nothing() -> None:
    assert filled({"a": None, "b": "", "c": [], "d": {}, "e": 0, "f": False}) == {
        "e": 0,
        "f": False,
    }


def test_lines_are_bounded() -> None:
    assert one_line(" a\n b ") == "a b"
    assert one_line("x" * 2000) == "x" * 999 + "…"


def test_a_draft_leaves_no_empty_sections() -> None:
    draft = Draft()
    draft.section("Empty")
    draft.section("First")
    draft.fact("Nothing", "")
    draft.fact("A\nfact", "of  one line")
    draft.item("ends itself?")
    draft.paragraph("kept  as\nit is")
    draft.section("Second", level=3)
    draft.item("one")
    draft.section("Empty")
    assert draft.text() == (
        "## First\n\n- A fact: of one line.\n- ends itself?\n\nkept  as\nit is\n\n"
        "### Second\n\n- one."
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"title": " ", "text": "t"}, "title"),
        ({"title": "t", "text": " "}, "text"),
        ({"title": "t", "text": "secret \x00"}, "text"),
        ({"title": "t", "text": "t", "facts": {"a": ["secret \x00"]}}, "facts"),
        ({"title": "t", "text": "t", "facts": {"a": "secret \ud800"}}, "facts"),
        ({"title": "t", "text": "t", "facts": {"a": object()}}, "facts"),
        ({"title": "t", "text": "t", "identifiers": {"pmid": "secret"}}, "identifiers.pmid"),
    ],
)
def test_a_record_that_cannot_be_is_a_problem_without_its_words(
    fields: dict[str, Any], reason: str
) -> None:
    parsed = Parsed()
    add_record(parsed, "x:1", **fields)
    assert parsed.records == []
    (problem,) = parsed.problems
    assert problem.source_id == "x:1"
    assert problem.reason.startswith(reason)
    assert "secret" not in problem.reason


def test_a_backslash_and_the_letters_u0000_are_no_nul() -> None:
    parsed = Parsed()
    add_record(parsed, "x:1", title="t", text="t", facts=json.loads(r'{"a": "\\u0000"}'))
    assert parsed.problems == []
