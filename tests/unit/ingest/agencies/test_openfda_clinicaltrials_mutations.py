"""Whatever becomes of a payload on its way: its parser gives a Parsed or Malformed only."""

import copy
import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.fakes import clinicaltrials, openfda
from tests.fuzz.properties import a_payload_is_read_or_malformed
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.clinicaltrials.study import parse
from workers.ingest.parsers.openfda.drugsfda import parse_drugsfda
from workers.ingest.parsers.openfda.enforcement import parse_enforcement
from workers.ingest.parsers.openfda.event import parse_event
from workers.ingest.parsers.openfda.label import parse_label

Parse = Callable[[bytes], Parsed]

_META = {"last_updated": "2026-03-01", "results": {"total": 3}}
_STUDY = clinicaltrials.made_up_study("NCT00000001", date(2026, 3, 1), results=True)
_REPORT = openfda.made_up_report(1)
_COUNTS = {"results": [{"term": "1", "count": 3}, {"time": "20260101", "count": 3}]}


def _page(*rows: Any) -> dict[str, Any]:
    return {"meta": _META, "results": list(rows)}


CASES: dict[str, tuple[Parse, Any]] = {
    "study": (parse, _STUDY),
    "studies": (parse, {"studies": [_STUDY, _STUDY], "nextPageToken": "x"}),
    "label": (parse_label, _page(openfda.made_up_label(1), openfda.made_up_label(2))),
    "drugsfda": (parse_drugsfda, _page(openfda.made_up_application(1))),
    "enforcement": (parse_enforcement, _page(openfda.made_up_recall(1))),
    "event": (parse_event, _page(_REPORT)),
    "counts": (
        parse_event,
        {
            "faers": {
                "query": "a:b",
                "reports": _page(_REPORT),
                "reactions": _COUNTS,
                "seriousness": _COUNTS,
                "days": _COUNTS,
            }
        },
    ),
}

_ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    " ",
    "\x00",
    "\ud800",
    "# A\n\n- b | c",
    "2026-02-30",
    "<table><tr><td>",
    "x" * 2000,
    [],
    [[]],
    [None, 1, "a", {}],
    {},
    {"a": {"b": []}},
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value with each of its keys or indices."""
    stack = [value]
    while stack:
        found = stack.pop()
        keys = found.keys() if isinstance(found, dict) else range(len(found))
        for key in keys:
            yield found, key
            if isinstance(found[key], dict | list):
                stack.append(found[key])


def mutate_fields(draw: Callable[[st.SearchStrategy[Any]], Any], base: Any) -> bytes:
    """The payload with some fields dropped, retyped, doubled or renamed."""
    value = copy.deepcopy(base)
    for _ in range(draw(st.integers(1, 4))):
        found = list(places(value))
        if not found:
            break
        container, key = found[draw(st.integers(0, len(found) - 1))]
        change = draw(st.sampled_from(["drop", "retype", "rename", "double"]))
        if change == "drop":
            del container[key]
        elif change == "retype":
            container[key] = copy.deepcopy(draw(st.sampled_from(_ODD)))
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[f"{key}s"] = container.pop(key)
    return json.dumps(value).encode()


def mutate_bytes(draw: Callable[[st.SearchStrategy[Any]], Any], base: Any) -> bytes:
    """The payload with bytes dropped, doubled, replaced, or cut off."""
    content = bytearray(json.dumps(base).encode())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        length = draw(st.integers(1, 30))
        change = draw(st.sampled_from(["drop", "double", "replace", "cut"]))
        if change == "drop":
            del content[at : at + length]
        elif change == "double":
            content[at:at] = content[at : at + length]
        elif change == "replace":
            content[at : at + length] = draw(st.binary(min_size=1, max_size=8))
        else:
            del content[at:]
    return bytes(content)


@pytest.mark.parametrize("case", sorted(CASES))
@examples(150)
@given(data=st.data())
def test_changed_fields_give_a_parsed_or_malformed(case: str, data: st.DataObject) -> None:
    parse_payload, base = CASES[case]
    a_payload_is_read_or_malformed(parse_payload, mutate_fields(data.draw, base))


@pytest.mark.parametrize("case", sorted(CASES))
@examples(100)
@given(data=st.data())
def test_changed_bytes_give_a_parsed_or_malformed(case: str, data: st.DataObject) -> None:
    parse_payload, base = CASES[case]
    a_payload_is_read_or_malformed(parse_payload, mutate_bytes(data.draw, base))


@grid("case", sorted(CASES))
@grid(
    "payload",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'"words"',
        b"NaN",
        b'{"results": NaN}',
        b'{"studies": 1e999}',
        b"<html>trouble</html>",
        b"\xff\xfe\x00",
        b'{"studies": {}, "results": {}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"protocolSection": []}',
        b'{"error": {"code": "SERVER_ERROR", "message": "Check your request and try again"}}',
        b'{"results": ' + b"1" * 5000 + b"}",
    ],
)
def test_what_is_not_the_protocol_is_malformed(case: str, payload: bytes) -> None:
    with pytest.raises(Malformed):
        CASES[case][0](payload)
