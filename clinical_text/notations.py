"""What programs write around names and values, read as a person's labels. Pure.

`"lab": "Hill Laboratory"`, `<lab>Hill Laboratory</lab>` and `lab="Hill Laboratory"` say what `lab:
Hill Laboratory` does; the frame of a table and the hours before the lines of a log say nothing.
Marks give way to spaces and a tag to its name with a colon, each in its place: spans hold in the
text.
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


_PAIR = re.compile(r'(?<![\w"])(?P<name>[A-Za-z_][\w.-]{1,40})="(?P<value>[^"\n]{0,400})"')
_HOUR = re.compile(
    r"(?m)^[ \t]{0,9}(?P<before>\[?(?:\d{4}-\d\d-\d\d[ T])?)(?P<hour>\d{1,2}:\d\d(?::\d\d)?\]?[ \t]"
    r"(?:[ \t]{0,9}(?:Dr|Prof|Nurse|Sister|Mr|Mrs|Ms)\.?[ ][A-Z][\w'’-]{1,30}:)?)"
)
"""The hour, and who speaks, before a line of a log or of a talk."""
_LINE = re.compile(r"(?m)^[^\n]*\S")
FRAME = "\u2500-\u257f"
"""The signs of which the frames of tables are drawn."""
_UPRIGHT = "\u2502\u2503\u2551\u2506\u2507\u250a\u250b"
_FRAME = re.compile(f"[{FRAME}]")


def without_notation(text: str) -> str:
    """The text with labels in place of keys and tags; as long as before."""
    text = _FRAME.sub(lambda one: "|" if one.group() in _UPRIGHT else " ", text)
    if _many(_PAIR, text):
        text = _PAIR.sub(lambda one: f"{one['name']}: {one['value']} ", text)
    if _many(_HOUR, text) and 2 * len(_HOUR.findall(text)) >= len(_LINE.findall(text)):
        text = _HOUR.sub(lambda one: one["before"].rjust(one.start("hour") - one.start())
                         + " " * len(one["hour"]), text)  # fmt: skip
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
