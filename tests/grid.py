"""A grid whose rows one test asserts: a test of its own costs milliseconds, a row nothing.

    @grid(("text", "value"), [("5 mg", 5), ("7 mg", 7)])
    def test_a_dose_is_read(text: str, value: int) -> None: ...

is written like `pytest.mark.parametrize`, and may stand above another grid or `hypothesis.given`.
All rows are tried, and each that fails is named. Rows share the test's fixtures: where these keep
what a row does to them, parametrize.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import pytest

Test = Callable[..., None]


def grid(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """A decorator: the test is called with each row, its values by these names.

    The test raises an exception group that holds the error of each row that failed; it is skipped
    where there are no rows, as of data that is not here.

    Raises:
        ValueError: a row is too short or too long.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    cells = [dict(zip(columns, _values(row, len(columns)), strict=True)) for row in rows]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def try_all(*arguments: Any, **fixtures: Any) -> None:
            if not cells:
                pytest.skip(f"no rows of {', '.join(columns)}")
            errors, named = [], []
            for number, row in enumerate(cells, start=1):
                try:
                    test(*arguments, **fixtures, **row)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # all are told
                    named.append(_name(number, row))
                    error.add_note(f"in {named[-1]}")
                    errors.append(error)
            if errors:
                told = "\n".join(named)
                raise BaseExceptionGroup(f"{len(errors)} of {len(cells)} rows:\n{told}", errors)

        known = signature(test)
        left = [one for one in known.parameters.values() if one.name not in columns]
        try_all.__signature__ = known.replace(parameters=left)  # type: ignore[attr-defined]
        return try_all

    return decorate


def _values(row: Any, columns: int) -> Sequence[Any]:
    """The values of a row as `parametrize` takes it: of one column, a row is its value."""
    if isinstance(row, type(pytest.param())):
        return row.values
    return (row,) if columns == 1 else row


def _name(number: int, row: dict[str, Any]) -> str:
    return f"row {number}: " + ", ".join(f"{name}={value!r:.200}" for name, value in row.items())
