"""Reports in one line: headings in capitals, or entries parted by a semicolon. Pure."""

import re

from clinical_text.headings import is_known
from clinical_text.layouts.sheet import Sheet
from knowledge.names.tables import tables

_MOST_LINES = 4
"""Lines up to which a text is in one (ours)."""
_LEAST = 3
_CAPITALS = re.compile(
    r"(?<=[ \n])(?P<name>[A-Z][A-Z/&-]{2,}(?:[ ](?:OF|AND|THE|FOR|[A-Z][A-Z/&-]+)){0,3})(?=[ ])"
)
_IN_CAPITALS = re.compile(r"(?:^|[\s(])[A-Z][A-Z0-9-]*[ ]$")
"""Right before capitals: they are part of a longer run."""
_COUNTED = re.compile(r"[ ](?P<number>\d{1,2})[).](?=[ ][A-Z])")
_LABEL = re.compile(
    r"(?<![:,])[ ](?=(?:[A-Z][A-Za-z/&]{1,14}|"
    r"(?<=[.;)\w][ ])[A-Z][a-z]{2,14}(?:[ ][A-Za-z/]{1,14}){1,2}):[ ])"
)
"""Before a label with a colon, known or not, in the middle of a text in one line."""
_BEHIND_GAPS = re.compile(r"[ ]{2}[A-Z][^:\n]{1,40}:")
"""Labels that gaps set apart already."""
_LEAST_LETTERS = 5
_ENTRY = re.compile(
    r"(?P<mark>;|\||~|\^|[ ]\*(?=[ ]))[ ]?(?=[A-Za-z][A-Za-z0-9 _./-]{1,30}(?::[ ]|=(?=\S)))"
)


def plain_run_on(text: str) -> str:
    """The text with a line for each heading or entry; as long as before."""
    if text.strip().count("\n") >= _MOST_LINES:
        return text
    sheet = Sheet(text)
    marks = [one["mark"] for one in _ENTRY.finditer(text)]
    mark = max(marks, key=marks.count, default="")
    if marks.count(mark) >= _LEAST:
        for at, sign in enumerate(text):
            if sign == mark.strip():
                sheet.put(at, "\n")
        return sheet.text()
    labels = [one for one in _LABEL.finditer(text) if one.start()]
    several = len(labels) > text.strip().count("\n") + 1  # in a line, so that not each begins one
    if several and len(labels) >= _LEAST > len(_BEHIND_GAPS.findall(text)):
        for one in labels:
            sheet.put(one.start(), "\n")
    letters = [one for one in text if one.isalpha()]
    if sum(map(str.islower, letters)) * 2 < len(letters):
        return sheet.text()
    heads = _heads(text)
    if len(heads) < _LEAST or len(re.findall(r"[A-Za-z]:[ ]", text)) >= len(heads):
        return sheet.text()
    for start, end in heads:
        sheet.put(start - 1, "\n")
        sheet.put(end, ":")
    count = 0
    for one in _COUNTED.finditer(text):
        number = int(one["number"])
        if number == count + 1 > 1:
            sheet.put(one.start(), "\n")
        count = number if number in (1, count + 1) else count
    return sheet.text()


def _heads(text: str) -> list[tuple[int, int]]:
    """Runs of capitals that begin with the name of a part: one that is known, or whole words."""
    found = []
    for one in _CAPITALS.finditer(text):
        words, at = one["name"].split(" "), one.start()
        if _IN_CAPITALS.search(text, max(0, at - 12), at) or not text[:at].strip():
            continue
        every = [" ".join(words[:last]) for last in range(len(words), 0, -1)]
        name = next((each for each in every if is_known(each)), None)
        if name is None and len(words[0]) >= _LEAST_LETTERS and all(map(_is_word, words)):
            name = every[0]
        if name is not None:
            found.append((at, at + len(name)))
    return found


def _is_word(word: str) -> bool:
    small = word.lower()
    return any(map(tables().is_word, (small, small.removesuffix("s")))) or is_known(word)
