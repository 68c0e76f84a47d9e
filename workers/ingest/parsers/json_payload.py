"""Shared parts of the JSON parsers: loading, reading fields of untrusted types, partial dates,
counting unmapped fields, and building a record and its text.

Whatever the bytes are, only `workers.http.errors.Malformed` is raised here.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import ValidationError

from store.documents.records import SourceRecord
from workers.http.errors import Malformed
from workers.ingest.parsers.base import LeftOut, Parsed, Problem

Json = dict[str, Any]
Precision = Literal["day", "month", "year"]

MAX_DEPTH = 60
"""Deeper fields are counted under their ancestor of this depth."""

_LINE = 1000  # store.records.Line
_HEADING = 280  # with its `#` marks, less than clinical_text.headings.MAX_HEADING
_NAME = re.compile(r"[A-Za-z0-9_@$:.-]{1,80}")
_DATE = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?|(\d{2})(\d{2}))?", re.ASCII | re.DOTALL
)


def load(payload: bytes, *, strict: bool = True) -> Any:
    """The value of a JSON payload. `strict=False` allows control characters within strings.

    Raises Malformed for truncated bytes, other encodings, NaN, numbers out of range, nesting that
    is too deep, and anything else that is not JSON.
    """
    try:
        return json.loads(payload, strict=strict, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise Malformed(_instead(payload.lstrip()[:1]) or _place(error)) from None
    except RecursionError:
        raise Malformed("not readable JSON: nested too deeply") from None
    except ValueError:
        # bytes that are not text, NaN, and integers of more than 4,300 digits
        raise Malformed("not readable JSON: an impossible number or character") from None


def _instead(first: bytes) -> str:
    """A message on what came instead of JSON, judged by its first byte; "" if that is unclear."""
    if not first:
        return "an empty answer where JSON should be"
    return "a web page or XML where JSON should be" if first == b"<" else ""


def _place(error: json.JSONDecodeError) -> str:
    return f"not JSON at line {error.lineno}, column {error.colno}"


def _refuse(_: str) -> Any:
    raise ValueError


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError
    return value


def at(value: Any, *path: str) -> Any:
    """The value at `path` below `value`, or None if the path does not exist."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def obj(value: Any, *path: str) -> Json:
    """The object at `path`, or an empty object if there is none."""
    member = at(value, *path)
    return member if isinstance(member, dict) else {}


def rows(value: Any, *path: str) -> list[Json]:
    """The objects in the list at `path`. Other values are skipped; `Fields.unknown` counts them."""
    members = at(value, *path)
    return [row for row in members if isinstance(row, dict)] if isinstance(members, list) else []


def text(value: Any, *path: str) -> str:
    """The scalar at `path` as a string without surrounding white space, or "" if there is none."""
    return _scalar(at(value, *path))


def texts(value: Any, *path: str) -> list[str]:
    """The non-blank scalars of the list at `path`, as strings."""
    members = at(value, *path)
    if not isinstance(members, list):
        return []
    return [string for string in map(_scalar, members) if string]


def number(value: Any, *path: str) -> int | None:
    """The integer at `path`, also if sent as a string of at most 18 digits; otherwise None."""
    member = at(value, *path)
    if isinstance(member, bool):
        return None
    if isinstance(member, int):
        return member
    if isinstance(member, str) and len(member) <= 18 and member.isascii() and member.isdigit():
        return int(member)
    return None


def flag(value: Any, *path: str) -> bool | None:
    """The boolean at `path`, or None if there is none."""
    member = at(value, *path)
    return member if isinstance(member, bool) else None


def _scalar(found: Any) -> str:
    if isinstance(found, str):
        return found.strip()
    if isinstance(found, bool):
        return "true" if found else "false"
    return str(found) if isinstance(found, int | float) else ""


def one_line(words: str) -> str:
    """`words` on one line, cut with an ellipsis to the limit for titles, authors and labels."""
    return shorten(words, _LINE)


def filled(fields: Mapping[str, Any]) -> Json:
    """`fields` without empty values: null, "", and empty lists and objects."""
    return {
        name: value
        for name, value in fields.items()
        if value is not None and value != "" and value != [] and value != {}
    }


def when(words: str) -> tuple[datetime, Precision] | None:
    """Parse `2024`, `2024-03`, `2024-03-01` or `20240301`; a time after the day is ignored.

    Returns midnight UTC of the first possible day with the stated precision, or None.
    """
    match = _DATE.fullmatch(words)
    if match is None:
        return None
    year, month, day, compact_month, compact_day = match.groups()
    month, day = month or compact_month, day or compact_day
    try:
        moment = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    except ValueError:
        return None
    return moment, "day" if day else "month" if month else "year"


class Fields:
    """The fields a parser knows, compiled once: those it maps and those it leaves out on purpose.

    Paths look like `designModule.phases[]` or `armGroups[].label`; a path ending in `/*`
    (`derivedSection/*`) covers that field and all fields below it.
    """

    def __init__(self, mapped: Iterable[str], left_out: LeftOut) -> None:
        self._root = _Node()
        for path in (*mapped, *left_out):
            node = self._root
            for step in path.removesuffix("/*").replace("[]", ".[]").split("."):
                node = node.below.setdefault(step, _Node())
            node.leaf = True
            node.all = node.all or path.endswith("/*")

    def covers(self, path: str) -> bool:
        """Return True if the field at this path is known."""
        node: _Node | None = self._root
        for step in path.replace("[]", ".[]").split("."):
            if node is None or node.all:
                break
            node = node.below.get(step)
        return node is not None and (node.leaf or node.all)

    def unknown(self, record: Any) -> Counter[str]:
        """Count the values at each unknown path in `record`, except null and empty containers.

        A name that cannot be a field name is written `?`, because it may be words of a document.
        """
        counts: Counter[str] = Counter()
        stack: list[tuple[Any, _Node | None, str, int]] = [(record, self._root, "", 0)]
        while stack:
            value, node, path, depth = stack.pop()
            if isinstance(value, dict):
                children: Iterable[tuple[str, Any]] = value.items()
            elif isinstance(value, list):
                children = (("[]", child) for child in value)
            else:
                children = ()
                if value is not None and not (node and node.leaf):
                    counts[path] += 1
            for name, child in children:
                below = node.below.get(name) if node else None
                if below is not None and below.all:
                    continue
                if below is not None and below.leaf and not isinstance(child, dict | list):
                    continue
                if depth < MAX_DEPTH:
                    stack.append((child, below, _join(path, name), depth + 1))
                else:
                    counts[path] += 1
        return counts


class _Node:
    """One step of the known paths."""

    __slots__ = ("all", "below", "leaf")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.leaf = False
        self.all = False


def _join(path: str, name: str) -> str:
    if name == "[]":
        return path + name
    if not _NAME.fullmatch(name):
        name = "?"
    return f"{path}.{name}" if path else name


def add_record(parsed: Parsed, source_id: str | None, **fields: Any) -> None:
    """Add a record of `fields` to `parsed`, or a Problem if they do not form a valid record.

    Facts are checked too: PostgreSQL stores neither NUL nor lone surrogates. The problem names the
    field and the rule, never the value.
    """
    try:
        facts = json.dumps(fields.get("facts", {}), ensure_ascii=False, allow_nan=False)
        facts.encode()
        if "\\u0000" in facts.replace("\\\\", ""):
            parsed.problems.append(Problem(source_id, "facts: contains a NUL character"))
            return
        parsed.records.append(SourceRecord(**fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        parsed.problems.append(Problem(source_id, f"{place}: {first['msg']}"))
    except UnicodeEncodeError:
        parsed.problems.append(Problem(source_id, "facts: contains half of a surrogate pair"))
    except (TypeError, ValueError, RecursionError):
        parsed.problems.append(Problem(source_id, "facts: cannot be written as JSON"))


class Draft:
    """Builds the text of a record from `## Heading` lines, items of one fact each, and paragraphs.

    Each item is a sentence on a single line; white space in it becomes one space. A section without
    content gets no heading.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._heading = ""
        self._in_list = False

    def section(self, title: str, *, level: int = 2) -> None:
        """Begin a section."""
        self._heading = "#" * level + " " + shorten(title, _HEADING)

    def item(self, words: str) -> None:
        """Add one fact as a sentence; empty words add nothing."""
        line = " ".join(words.split())
        if line:
            self._add("- " + sentence(line), in_list=True)

    def fact(self, name: str, value: str) -> None:
        """Add one fact as `name: value.`; an empty value adds nothing."""
        if value:
            self.item(f"{name}: {value}")

    def paragraph(self, words: str) -> None:
        """Add a paragraph without changing its words; blank words add nothing."""
        if words.strip():
            self._add(words.strip(), in_list=False)

    def text(self) -> str:
        """The text written so far."""
        return "".join(self._parts)

    def _add(self, block: str, *, in_list: bool) -> None:
        if self._heading:
            block, self._heading, gap = f"{self._heading}\n\n{block}", "", "\n\n"
        else:
            gap = "\n" if in_list and self._in_list else "\n\n"
        self._parts.append(gap + block if self._parts else block)
        self._in_list = in_list


def sentence(words: str) -> str:
    """`words`, with a full stop if they do not end in `.`, `!` or `?`."""
    return words if words[-1:] in ".!?" else words + "."


def shorten(words: str, limit: int) -> str:
    """`words` on one line of at most `limit` characters, cut with an ellipsis."""
    line = " ".join(words.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
