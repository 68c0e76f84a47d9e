"""A person's correction of an extraction from a form: words that are located in the text. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.extractions.schemas import MAX_VALUE_CHARS, MAX_VALUES
from api_gateway.extractions.view import RAW, label
from api_gateway.pages.highlights import inside
from store.extractions.reviews import Stated

PREFIX = "field-"
_MOST_LINES = 12
"""Our choice: the most lines of a box; a longer one scrolls."""


class NotFound(ValueError):
    """The words are not in the text, or are there more than once."""


@dataclass(frozen=True)
class BoxView:
    """A field in the form: its values in the document's words, one per line."""

    name: str
    label: str
    words: str
    lines: int
    error: str = ""


def boxes(
    text: str,
    fields: Mapping[str, Any],
    given: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> list[BoxView]:
    """A box for each field, except fields with more words than a correction may have.

    Args:
        given: the submitted form, if it is shown again.
        errors: the error messages by field.
    """
    views = []
    for name, body in fields.items():
        values = _values(text, body)
        if name == RAW or values is None:
            continue
        words = "\n".join(values)
        if given is not None:
            words = given.get(PREFIX + name, words)
        lines = min(max(words.count("\n") + 1, 1), _MOST_LINES)
        views.append(BoxView(name, label(name), words, lines, (errors or {}).get(name, "")))
    return views


def _values(text: str, body: Mapping[str, Any]) -> list[str] | None:
    """The words of a field's values with single spaces; None if a correction may not be so long."""
    if body["status"] == "not_present":
        return []
    values = []
    for item in body.get("items") or [body]:
        if inside(text, item.get("start"), item.get("end")):
            words = text[item["start"] : item["end"]]
            if len(words) > MAX_VALUE_CHARS:
                return None
            values.append(" ".join(words.split()))
    return values


def corrections(
    text: str, fields: Mapping[str, Any], given: Mapping[str, str]
) -> tuple[dict[str, Sequence[Stated] | None], dict[str, str]]:
    """The changes of a person, and their errors, both by field.

    An unchanged box is no correction; an emptied box says that the document states nothing.
    """
    changed: dict[str, Sequence[Stated] | None] = {}
    errors: dict[str, str] = {}
    for name, body in fields.items():
        before = _values(text, body)
        sent = given.get(PREFIX + name)
        if name == RAW or before is None or sent is None:
            continue
        after = [" ".join(line.split()) for line in sent.splitlines() if line.strip()]
        if after == before:
            continue
        try:
            changed[name] = [_stated(text, words) for words in _few(after)] if after else None
        except NotFound as error:
            errors[name] = str(error)
    return changed, errors


def _few(values: list[str]) -> list[str]:
    if len(values) > MAX_VALUES or max(map(len, values)) > MAX_VALUE_CHARS:
        raise NotFound(
            f"may have up to {MAX_VALUES} lines of up to {MAX_VALUE_CHARS} characters each"
        )
    return values


def _stated(text: str, words: str) -> Stated:
    start, end = located(text, words)
    return Stated(text[start:end], start, end)


def located(text: str, words: str) -> tuple[int, int]:
    """The span `[start, end)` of these words in the text. White space is ignored; case is ignored
    if the words do not occur in their exact case.

    Raises:
        NotFound: they occur nowhere, or at several places.
    """
    sought = " ".join(words.split())
    if not sought:
        raise NotFound("has no words")
    starts = [match.start() for match in _ONE_OF_SPACED.finditer(text)]
    spaced = "".join(" " if text[start].isspace() else text[start] for start in starts)
    for written, wanted in ((spaced, sought), (_alike(spaced), _alike(sought))):
        times = written.count(wanted)
        if times == 1:
            at = written.find(wanted)
            return starts[at], starts[at + len(wanted) - 1] + 1
        if times:
            raise NotFound(
                f"“{_short(words)}” stands {times} times in the document: copy more of the "
                "words around the right one"
            )
    raise NotFound(f"“{_short(words)}” does not stand in the document")


_ONE_OF_SPACED = re.compile(r"\s++|\S")
"""A character, or a run of white space."""


def _alike(words: str) -> str:
    """The words in lower case, with the same length."""
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in words)


def _short(words: str) -> str:
    return words if len(words) <= 60 else words[:59] + "…"
