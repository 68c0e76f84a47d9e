"""Is a stage that of a tumor? Kidneys, pressure and ulcers have stages, too. Pure."""

import re

from knowledge.names.reading import names
from knowledge.names.tables import tables
from workers.extract.rules.tumors.neoplasms import tumor_words

_REACH = 70
"""Characters before and behind a stage in which its disease is named (ours)."""
_WRAP = re.compile(r"(?<!\s)\s++(?=[a-z])")
"""White space before a small letter: where it holds the end of a line, the line was cut there."""
_ENDS = re.compile(r"(?i)[.;,:)\n]|\b(?:and|with|in|at|on|but|for|who|which|status)\b")
_CAPITALS = re.compile(r"\b[A-Z]{2,6}\b")
_LIGHT = re.compile(
    r"(?i)(?:[\s,:(=–-]|\b(?:currently|now|is|was|at|of|in|as|a|the|clinical)\b){1,70}$"
)


def _whole(words: str) -> str:
    """The words with a space where a line was cut."""
    return _WRAP.sub(lambda one: " " if "\n" in one.group() else one.group(), words)


def of_another_disease(text: str, start: int, end: int) -> bool:
    """Whether the disease that is named at a stage, behind it or else before it, is no tumor."""
    behind = _ENDS.split(_whole(text[end : end + _REACH]))[0]
    before = _LIGHT.sub("", _whole(text[max(0, start - _REACH) : start]))
    *earlier, last = _ENDS.split(before)
    # "multiple myeloma, R-ISS stage II": what stands alone before a stage may be its system
    if len(last.split()) == 1 and earlier and tumor_words(earlier[-1]):
        return False
    for words in (behind, last):
        kinds = frozenset[str]().union(*(one.kinds for one in names(words)))
        if "tumor" in kinds or tumor_words(words):
            return False
        if "disease" in kinds or _is_short_for_one(words):
            return True
    return False


def _is_short_for_one(words: str) -> bool:
    """Whether a word in capitals is short for a disease ("AKI"), told elsewhere or not."""
    senses = (one for word in _CAPITALS.findall(words) for one in tables().senses(word.lower()))
    return any("disease" in tables().kinds(one.entry) for one in senses)
