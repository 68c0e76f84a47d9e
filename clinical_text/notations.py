"""What programs write around names and values, read as a person's labels: JSON and XML. Pure.

`"lab": "Hill Laboratory", "issued": "2025-02-27"` says what `lab: Hill Laboratory` does. Marks give
way to spaces and a tag to its name with a colon, each in its place: spans hold in the text.
"""

import re

_LEAST = 3
"""Names from which a text is written so (ours)."""
_KEY = re.compile(r'"[A-Za-z_][^"\\\n]{0,60}"[ ]?:')
_JSON = re.compile(r'"(?P<words>(?:[^"\\\n]|\\.)*)"|[{}\[\],]')
_ELEMENT = re.compile(
    r"<(?P<name>[A-Za-z][\w:.-]{2,40})(?:\s[^<>]{0,200})?>[^<>]{1,2000}</(?P=name)>"
)
_TAG = re.compile(
    r"<(?P<end>[/?!]?)(?P<name>[A-Za-z][\w:.-]{0,40})(?P<more>(?:\s[^<>]{0,200})?/?)>"
)


def without_notation(text: str) -> str:
    """The text with labels in place of keys and tags; as long as before."""
    if _many(_KEY, text) and text.lstrip()[:1] in "{[":
        return _JSON.sub(_bare, text)
    if text.lstrip()[:1] == "<" and _many(_ELEMENT, text):
        return _TAG.sub(_label, text)
    return text


def _many(pattern: re.Pattern[str], text: str) -> bool:
    return sum(1 for _, _ in zip(range(_LEAST), pattern.finditer(text))) == _LEAST  # noqa: B905


def _bare(one: re.Match[str]) -> str:
    words = one["words"]
    return " " if words is None else f" {words} "


def _label(one: re.Match[str]) -> str:
    if one["end"] or one["more"].endswith("/"):
        return " " * len(one.group())
    return f" {one['name']}:".ljust(len(one.group()))
