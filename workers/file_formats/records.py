"""Reads JSON and JSON Lines as `store.documents.records.SourceRecord`."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from store.documents.records import SourceRecord, unlike_any
from workers.file_formats.errors import UnreadableDocument
from workers.file_formats.plain import decode, validation_line

_SPACE = re.compile(r"[ \t\n\r]*+")


class _Repeated(ValueError):
    """A field is repeated, or a number is not finite."""


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Repeated(f"field {name[:60]!r} is given twice: keep one")
            seen.add(name)
    return fields


def _no_constant(name: str) -> Any:
    raise _Repeated(f"{name} is no JSON number: remove it")


def _finite(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise _Repeated(f"{written[:60]} is too large for a number: write it as words")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_fields, parse_constant=_no_constant, parse_float=_finite
)


def read_json(data: bytes) -> list[SourceRecord]:
    """The records of a JSON file, which holds one record or a list of records.

    Raises UnreadableDocument with the line of the first record that is not valid JSON, has unknown
    or missing fields or wrong types; no file is read in part.
    """
    text = decode(data)
    start = _skip(text, 0)
    if text[start] != "[":
        value, end = _value(text, start)
        if _skip(text, end) < len(text):
            raise UnreadableDocument(
                f"line {_line(text, _skip(text, end))}: more follows the JSON value; "
                "name the file .jsonl if it has one record a line"
            )
        return [_record(value, _line(text, start))]
    records: list[SourceRecord] = []
    line, counted = 1, 0
    for at, value in _elements(text, start):
        line, counted = line + text.count("\n", counted, at), at
        records.append(_record(value, line))
    if not records:
        raise UnreadableDocument("the JSON list is empty; nothing to read")
    return records


def read_json_lines(data: bytes) -> list[SourceRecord]:
    """The records of a file with one a line; blank lines are skipped. Raises as `read_json`."""
    records: list[SourceRecord] = []
    for number, line in enumerate(decode(data).split("\n"), 1):
        if line.strip():
            records.append(record_of_line(line, number))
    return records


def record_of_line(line: str, number: int) -> SourceRecord:
    """The record of one line of JSON Lines. Raises as `read_json` does."""
    value, end = _value(line, _skip(line, 0), first_line=number)
    if line[end:].strip():
        raise UnreadableDocument(f"line {number}: more than one JSON value; write one a line")
    return _record(value, number)


def _record(value: Any, line: int) -> SourceRecord:
    if not isinstance(value, dict):
        raise UnreadableDocument(f"line {line}: a record is a JSON object with title and text")
    if isinstance(value.get("resourceType"), str):
        raise UnreadableDocument(
            f"line {line}: a FHIR resource is not read: save its narrative (text.div) as HTML, or "
            "write a record with title and text"
        )
    for name in ("published_at", "fetched_at"):
        if isinstance(value.get(name), int | float):
            # a bare year would be read as seconds since 1970
            raise UnreadableDocument(
                f"line {line}: field {name!r} is a number: write it as 2024-03-01T00:00:00Z"
            )
    try:
        record = SourceRecord.model_validate(value)
    except ValidationError as error:
        raise UnreadableDocument(f"line {line}: {validation_line(error)}") from error
    if (how := unlike_any(record.identifiers)) is not None:
        raise UnreadableDocument(f"line {line}: {how}")
    problem = _unstorable(record.facts)
    if problem:
        raise UnreadableDocument(f"line {line}: field 'facts' {problem}; remove it")
    return record


def _unstorable(facts: dict[str, Any]) -> str | None:
    """Why PostgreSQL cannot store the facts; None if it can. The model checks all other fields."""
    written = json.dumps(facts, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return "contains half of a surrogate pair"
    return "contains a NUL character" if "\\u0000" in written.replace("\\\\", "") else None


def _elements(text: str, start: int) -> Iterator[tuple[int, Any]]:
    """The elements of the list that begins at `start`, each with its offset."""
    at = _skip(text, start + 1)
    if text[at : at + 1] == "]":
        end = at
    else:
        while True:
            value, end = _value(text, at)
            yield at, value
            end = _skip(text, end)
            if text[end : end + 1] != ",":
                break
            at = _skip(text, end + 1)
    if text[end : end + 1] != "]":
        raise UnreadableDocument(f"line {_line(text, end)}: expected ',' or ']' in the JSON list")
    rest = _skip(text, end + 1)
    if rest < len(text):
        raise UnreadableDocument(f"line {_line(text, rest)}: more follows the JSON list: remove it")


def _value(text: str, start: int, *, first_line: int = 1) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise UnreadableDocument(
            f"line {line}, column {error.colno}: not valid JSON: {error.msg}"
        ) from error
    except _Repeated as error:
        raise UnreadableDocument(f"line {first_line + _line(text, start) - 1}: {error}") from error
    except RecursionError as error:
        raise UnreadableDocument(
            "the JSON is nested too deeply; a record is a flat object"
        ) from error
    except ValueError as error:
        # int() refuses numbers of more than 4,300 digits
        raise UnreadableDocument(
            f"line {first_line + _line(text, start) - 1}: a number is too long"
        ) from error


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
