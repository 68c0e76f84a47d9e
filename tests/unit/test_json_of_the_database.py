"""What a column holds is read as the standard library would read it."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from store.core.database import read_json

_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",)))
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner)
)


@given(_values)
@example([2**53 + 1, -(2**70), 0.1, 5e-324, 1.7976931348623157e308, "\x00\u2028🧬", {"": [[]]}])
def test_a_value_is_read_as_it_was_written(value: Any) -> None:
    written = json.dumps(value).encode()
    found = read_json(written)
    assert repr(found) == repr(json.loads(written))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=20, min_value=-(10**6)))
def test_a_number_with_more_digits_than_a_float_has_is_the_nearest_one(value: Any) -> None:
    written = f"{value:f}".encode()
    assert read_json(written) == json.loads(written)


def test_what_is_nested_deeper_than_anything_here_is_read_too() -> None:
    deep = "[" * 400 + "]" * 400
    assert read_json(deep.encode()) == json.loads(deep)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        read_json(b"{")
