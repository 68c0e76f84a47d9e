"""Lines of a form: what nobody filled in says nothing, a box says what it is marked with. Pure."""

import re
from functools import cache

from knowledge.documents.notes import section_policy

_LABEL = re.compile(r"[^:\n]{1,60}:\s*")
_EMPTY = r"(?:\[[ \u00a0_]?\]|☐|□)"
_TICKED = r"(?:\[[xX✓✔]\]|☒|☑)"
EMPTY_BOX = re.compile(rf"{_EMPTY}\s*(?=\S)")
TICKED_BOX = re.compile(rf"{_TICKED}\s*(?=\S)")
_BOX = re.compile(rf"{_EMPTY}|{_TICKED}")
_BOXES_ONLY = re.compile(rf"(?:{_EMPTY}\s*[^\[\]☐□☒☑]{{1,30}}){{2,}}")


def is_unfilled(words: str) -> bool:
    """Whether behind a label, or in the whole line, stands nothing but places to be filled in:
    `Tobacco: ***`, `Phone: ____`, `Alcohol: [ ] yes [ ] no`."""
    if _choice().search(words):
        return True
    label = _LABEL.match(words)
    value = words[label.end() :] if label else words
    if label and _BOXES_ONLY.fullmatch(value.strip()):
        return True
    rest, places = _places().subn(" ", value)
    return places > 0 and not any(map(str.isalnum, rest))


def begins_with_box(words: str) -> bool:
    """Whether a line is an entry of a list of boxes, ticked or not."""
    return _BOX.match(words) is not None


@cache
def _places() -> re.Pattern[str]:
    return re.compile("|".join(section_policy().unfilled))


@cache
def _choice() -> re.Pattern[str]:
    return re.compile("|".join(section_policy().choices), re.IGNORECASE)
