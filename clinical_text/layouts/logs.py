"""Drawn frames of tables, `name="value"` of logs, and the hours before their lines. Pure.

`lab="Hill Laboratory"` says what `lab: Hill Laboratory` does; a frame and an hour say nothing.
"""

import re

FRAME = "\u2500-\u257f"
"""The signs of which the frames of tables are drawn."""
_UPRIGHT = "\u2502\u2503\u2551\u2506\u2507\u250a\u250b"
_FRAME = re.compile(f"[{FRAME}]")
_LEAST = 3
_PAIR = re.compile(r'(?<![\w"])(?P<name>[A-Za-z_][\w.-]{1,40})="(?P<value>[^"\n]{0,400})"')
_HOUR = re.compile(
    r"(?m)^[ \t]{0,9}(?P<before>\[?(?:\d{4}-\d\d-\d\d[ T])?)(?P<hour>\d{1,2}:\d\d(?::\d\d)?\]?[ \t]"
    r"(?:[ \t]{0,9}(?:Dr|Prof|Nurse|Sister|Mr|Mrs|Ms)\.?[ ][A-Z][\w'’-]{1,30}:)?)"
)
"""The hour, and who speaks, before a line of a log or of a talk."""
_LINE = re.compile(r"(?m)^[^\n]*\S")


def plain_frames(text: str) -> str:
    """The text with the marks of a table of text in place of a drawn frame."""
    return _FRAME.sub(lambda one: "|" if one.group() in _UPRIGHT else " ", text)


def plain_logs(text: str) -> str:
    """The text with labels in place of quoted pairs, and without the hours of a log."""
    if text.lstrip()[:1] != "<" and sum(1 for _ in _PAIR.finditer(text)) >= _LEAST:
        text = _PAIR.sub(lambda one: f"{one['name']}: {one['value']} ", text)
    hours = len(_HOUR.findall(text))
    if hours >= _LEAST and 2 * hours >= len(_LINE.findall(text)):
        text = _HOUR.sub(_without_hour, text)
    return text


def _without_hour(one: re.Match[str]) -> str:
    before = one["before"].rjust(one.start("hour") - one.start())
    return before + " " * len(one["hour"])
