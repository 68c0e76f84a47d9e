"""The canonical JSON of whatever is hashed: what was stored once must hash to the same for ever."""

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from functools import reduce
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from store.core.hashes import EXACT, hashed, json_hash, plain


class _Name(StrEnum):
    FIRST = "first"


class _Number(IntEnum):
    ONE = 1


class _Colour(Enum):
    RED = 1


class _Words(str):
    __slots__ = ()


class _Share(float):
    pass


class _Pairs(dict[Any, Any]):
    pass


def by_the_rules(value: Any) -> Any:
    """The rules of `plain`, one after the other."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return {str(key): by_the_rules(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [by_the_rules(inner) for inner in value]
    if isinstance(value, float):
        if value.is_integer() and abs(value) <= EXACT:
            return int(value)
        return value if math.isfinite(value) and not value.is_integer() else repr(value)
    return value


_FLOATS = (
    st.floats() | st.integers(-(2**60), 2**60).map(float) | st.sampled_from([1e16, -0.0, 5e-5])
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | _FLOATS
    | st.text()
    | st.sampled_from([_Name.FIRST, _Number.ONE])
    | st.text().map(_Words)
    | _FLOATS.map(_Share)
)
_KEYS = (
    st.text(max_size=5) | st.text(max_size=5).map(_Words) | st.integers() | st.booleans() | _FLOATS
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(_KEYS | st.none() | st.just(_Name.FIRST), inner)
        | st.dictionaries(st.text(max_size=5), inner).map(MappingProxyType)
        | st.dictionaries(st.text(max_size=5), inner).map(_Pairs)
    ),
)


def written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@given(_VALUES)
@example({"a": [1e16, -0.0, 2.0, math.nan, -math.inf, 2**53 + 0.0, 2**200], True: None, 3.0: ()})
@example([_Share(2.0), _Name.FIRST, _Number.ONE, {_Name.FIRST: _Words("a")}])
@example([1e-5, -9.9e-5, 1e-4, 5e-324, _Share(1.5e-7), {"\ud7ff": 1, "\U00010000": 2, "\uffff": 3}])
@example(reduce(lambda inner, _: [inner], range(400), 2**64))
def test_every_value_is_written_as_by_the_rules(value: Any) -> None:
    assert written(plain(value)) == written(by_the_rules(value))
    assert hashed(value).json == written(by_the_rules(value))


@pytest.mark.parametrize("value", [datetime.now(UTC), {1}, b"a", object(), uuid4(), _Colour.RED])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        hashed({"a": [value]})


def test_the_hash_of_a_body_is_the_one_that_is_stored() -> None:
    body = {"b": [2.0, 0.1, 1e16, -0.0, None, True], "a": {"ü": "α\n", "1": ()}, 1: _Name.FIRST}
    canonical = '{"1":"first","a":{"1":[],"ü":"α\\n"},"b":[2,0.1,"1e+16",0,null,true]}'

    assert json_hash(body) == hashlib.sha256(canonical.encode()).hexdigest()
