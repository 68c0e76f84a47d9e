"""Every kind of falsehood that was reported, over a grammar: nothing false is verified, no cross
stands at what is true, and another notation of a figure is the same figure."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.verify.pasted.kinds import SEEN, UNSEEN, Kind, cases
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import statements

_MANY = 7
_BOTH = [pytest.param(half, name, id=f"{name}-{at}") for at, half in enumerate((SEEN, UNSEEN))
         for name in half]  # fmt: skip
_NOTATIONS = ("grouping", "sign", "unit")


def told(source: str, claim: str) -> dict[str, Any]:
    """What is told of a claim beside its source."""
    found = statements(claim)
    along = sent_along([{"title": "", "text": source}], found)
    at = datetime(2026, 11, 22, tzinfo=UTC)
    body = checked(claim, found, along, against="documents", at=at)
    line: dict[str, Any] = body["statements"][0]
    return line


def true_ones(kind: Kind) -> Iterator[tuple[str, str]]:
    return ((one.source, one.true) for one in cases(kind, _MANY) if one.true is not None)


@pytest.mark.parametrize(("half", "name"), _BOTH)
def test_what_the_source_does_not_say_is_neither_verified_nor_partly(
    half: Mapping[str, Kind], name: str
) -> None:
    passed = [
        one
        for one in cases(half[name], _MANY)
        if told(one.source, one.false)["verification_status"] in ("verified", "partially_verified")
    ]
    assert passed == []


@pytest.mark.parametrize(("half", "name"), _BOTH)
def test_what_the_source_says_is_not_contradicted(half: Mapping[str, Kind], name: str) -> None:
    crossed = [one for one in true_ones(half[name]) if told(*one)["relation"] == "contradicted"]
    assert crossed == []


@pytest.mark.parametrize("half", [SEEN, UNSEEN])
@pytest.mark.parametrize("name", _NOTATIONS)
def test_another_notation_of_a_figure_is_verified(half: Mapping[str, Kind], name: str) -> None:
    missed = [
        one for one in true_ones(half[name]) if told(*one)["verification_status"] != "verified"
    ]
    assert missed == []
