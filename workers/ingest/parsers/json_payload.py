"""What the parsers of JSON payloads share: loading, reading fields whose types are not to be
trusted, partial dates, the account of fields that no record holds, and the making of a record and
its text.

Nothing here raises anything but `workers.http.errors.Malformed`, whatever the bytes are.
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
_HEADING = 280  # with its marks below clinical_text.headings.MAX_HEADING
_NAME = re.compile(r"[A-Za-z0-9_@$:.-]{1,80}")
_DATE = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?|(\d{2})(\d{2}))?", re.ASCII | re.DOTALL
)


def load(payload: bytes, *, strict: bool = True) -> Any:
    """The value of a JSON payload. `strict=False` allows control characters within strings.

    Raises Malformed for what is not JSON: cut bytes, other encodings, NaN, numbers without bound,
    nesting without end.
    """
    try:
        return json.loads(payload, strict=strict, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise Malformed(_instead(payload.lstrip()[:1]) or _place(error)) from None
    except RecursionError:
        raise Malformed("not readable JSON: nested too deeply") from None
    except ValueError:
        # bytes that are no text, NaN, and integers of more than 4,300 digits
        raise Malformed("not readable JSON: an impossible number or character") from None


def _instead(first: bytes) -> str:
    """What stands where JSON should be, by its first byte; "" where that does not tell."""
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
    """What stands at `path` below `value`; None where the way does not lead there."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def obj(value: Any, *path: str) -> Json:
    """The object at `path`; empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, dict) else {}


def rows(value: Any, *path: str) -> list[Json]:
    """The objects of the list at `path`; what is no object is left to the account of fields."""
    found = at(value, *path)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def text(value: Any, *path: str) -> str:
    """The string at `path` without white space around it, or a number as it is written; else ""."""
    return _scalar(at(value, *path))


def texts(value: Any, *path: str) -> list[str]:
    """The strings of the list at `path` that are not blank."""
    found = at(value, *path)
    if not isinstance(found, list):
        return []
    return [string for string in map(_scalar, found) if string]


def number(value: Any, *path: str) -> int | None:
    """The whole number at `path`, also where it is sent as a string of at most 18 digits."""
    found = at(value, *path)
    if isinstance(found, bool):
        return None
    if isinstance(found, int):
        return found
    if isinstance(found, str) and len(found) <= 18 and found.isascii() and found.isdigit():
        return int(found)
    return None


def flag(value: Any, *path: str) -> bool | None:
    """The boolean at `path`."""
    found = at(value, *path)
    return found if isinstance(found, bool) else None


def _scalar(found: Any) -> str:
    if isinstance(found, str):
        return found.strip()
    if isinstance(found, bool):
        return "true" if found else "false"
    return str(found) if isinstance(found, int | float) else ""


def one_line(words: str) -> str:
    """`words` on one line, cut with an ellipsis to what a title, an author or a label may hold."""
    return shorten(words, _LINE)


def filled(fields: Mapping[str, Any]) -> Json:
    """`fields` without those that say nothing: null, "", and empty lists and objects."""
    return {
        name: value
        for name, value in fields.items()
        if value is not None and value != "" and value != [] and value != {}
    }


def when(words: str) -> tuple[datetime, Precision] | None:
    """A date as sources write it, with how much of it is stated: `2024`, `2024-03`, `2024-03-01`,
    `20240301`, a time behind the day ignored. Midnight UTC of its first day; None if it is none."""
    found = _DATE.fullmatch(words)
    if found is None:
        return None
    year, month, day, compact_month, compact_day = found.groups()
    month, day = month or compact_month, day or compact_day
    try:
        moment = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    except ValueError:
        return None
    return moment, "day" if day else "month" if month else "year"


class Fields:
    """The fields a parser knows, compiled once: those it maps and those it leaves out on purpose.

    A path is written `designModule.phases[]`, `armGroups[].label`; a prefix with `/*` behind it
    covers it and all that is below (`derivedSection/*`).
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
        """Whether a field of this path is known."""
        node: _Node | None = self._root
        for step in path.replace("[]", ".[]").split("."):
            if node is None or node.all:
                break
            node = node.below.get(step)
        return node is not None and (node.leaf or node.all)

    def unknown(self, record: Any) -> Counter[str]:
        """How often each unknown path holds a value in `record`; null and "nothing in it" are none.

        A name that is no name of a field is written `?`: it may be words of a document.
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
    """A step of the known paths."""

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
    """Put a record of `fields` into `parsed`, or the problem that keeps it from being one.

    Facts are checked as well: PostgreSQL holds no NUL and no half of a surrogate pair. The problem
    names the field and the rule, never the words.
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
    """The text of a record while it is written: `## Heading`, items of one fact each, paragraphs.

    Items are single lines, so that each is a sentence of its own: white space within is one space.
    A section in which nothing comes to stand leaves no heading.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._heading = ""
        self._in_list = False

    def section(self, title: str, *, level: int = 2) -> None:
        """Begin a section."""
        self._heading = "#" * level + " " + shorten(title, _HEADING)

    def item(self, words: str) -> None:
        """One fact as a sentence; nothing, if there are no words."""
        line = " ".join(words.split())
        if line:
            self._add("- " + sentence(line), in_list=True)

    def fact(self, name: str, value: str) -> None:
        """One fact as `name: value.`; nothing, if there is no value."""
        if value:
            self.item(f"{name}: {value}")

    def paragraph(self, words: str) -> None:
        """Words as they came."""
        if words.strip():
            self._add(words.strip(), in_list=False)

    def text(self) -> str:
        """All that was written."""
        return "".join(self._parts)

    def _add(self, block: str, *, in_list: bool) -> None:
        if self._heading:
            block, self._heading, gap = f"{self._heading}\n\n{block}", "", "\n\n"
        else:
            gap = "\n" if in_list and self._in_list else "\n\n"
        self._parts.append(gap + block if self._parts else block)
        self._in_list = in_list


def sentence(words: str) -> str:
    """`words` with a full stop, if they end in no mark of their own."""
    return words if words[-1:] in ".!?" else words + "."


def shorten(words: str, limit: int) -> str:
    """`words` on one line of at most `limit` characters, cut with an ellipsis."""
    line = " ".join(words.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
