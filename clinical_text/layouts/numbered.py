"""Forms whose lines are counted: "[ 5] FINAL DIAGNOSIS: …", "Q7) Findings …… : none", and
print-outs of records: "0300 SPECIMEN   PROSTATE". Pure."""

import re

from clinical_text.layouts.sheet import Sheet, lines

_NUMBERED = re.compile(
    r"[ \t]{0,20}(?:(?P<line>\d{2,6})[ \t]+(?=[A-Z][A-Za-z0-9 /.-]{1,40}?(?:[ ]{2}|:|[ ]?=))|"
    r"(?P<number>\[[ ]?\d{1,3}\]|\([ ]?\d{1,3}\)|[A-Z]{0,2}[ ]?[#-]?\d{1,3}[a-z]?[.):])(?=\s)"
    r"[ \t]*+(?P<name>[A-Za-zÀ-ÿ(][^:?\n]{0,70}?)(?P<dots>[ ]?(?:[.…·_][ ]?){2,}+)?"
    r"[ \t]*+(?::(?=\s|$)|(?P<asked>\?)[ \t]*+$))"
)
_DIGITS = re.compile(r"\d+")
_LEAST, _SHARE = 4, 0.5
"""Lines with a number and a label from which a text is such a form, and their share of the lines
that begin at the margin (ours)."""
_MOST_WORDS = 9
"""Words of a label (ours)."""


def plain_numbers(text: str) -> str:
    """The form without the numbers of its lines; as long as before."""
    found, margin, last = [], 0, 0
    for start, end in lines(text):
        if end == start:
            continue
        one = _NUMBERED.match(text, start, end)
        counts = one is not None and len((one["name"] or "").split()) <= _MOST_WORDS
        margin += counts or text[start] not in " \t"
        if one is None or not counts:
            continue
        digits = _DIGITS.search(one["number"] or one["line"])
        count = int(digits.group()) if digits else 0
        if count <= last:
            return text  # the numbers of several lists, or of what is no form
        last = count
        found.append(one)
    if len(found) < _LEAST or len(found) < _SHARE * margin:
        return text
    sheet = Sheet(text)
    for one in found:
        sheet.blank(*one.span("number" if one["number"] else "line"))
        if one["asked"]:
            sheet.put(one.start("asked"), ":")
        if one["dots"]:
            sheet.blank(*one.span("dots"))
    return sheet.text()
