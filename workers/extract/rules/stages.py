"""Is a stage that of a tumor? Kidneys, pressure and ulcers have stages, too. Pure."""

import re
from functools import cache

from workers.extract.rubrics import alternatives, any_of, vocabulary
from workers.extract.rules.tumor_words import tumor_words

_REACH = 70
"""Characters before and behind a stage in which its disease is named (ours)."""
_WRAP = re.compile(r"(?<!\s)\s++(?=[a-z])")
"""White space before a small letter: where it holds the end of a line, the line was cut there."""
_ENDS = re.compile(r"(?i)[.;,:)\n]|\b(?:and|with|in|at|on|but|for|who|which|status)\b")
_LIGHT = re.compile(
    r"(?i)(?:[\s,:(=–-]|\b(?:currently|now|is|was|at|of|in|as|a|the|clinical)\b){1,70}$"
)


@cache
def _of_tumors() -> re.Pattern[str]:
    words = (*tumor_words().tumor_stage, *vocabulary().histology_heads)
    return re.compile(rf"(?i)(?<![a-z])(?:{alternatives(words)})s?(?![a-z])")


@cache
def _of_others() -> re.Pattern[str]:
    return any_of(tumor_words().not_tumor_stage.words)


@cache
def _endings() -> re.Pattern[str]:
    return re.compile(rf"(?i)[a-z](?:{alternatives(tumor_words().not_tumor_stage.endings)})\b")


def _whole(words: str) -> str:
    """The words with a space where a line was cut."""
    return _WRAP.sub(lambda one: " " if "\n" in one.group() else one.group(), words)


def of_another_disease(text: str, start: int, end: int) -> bool:
    """Whether the disease that is named at a stage, behind it or else before it, is no tumor."""
    behind = _ENDS.split(_whole(text[end : end + _REACH]))[0]
    before = _LIGHT.sub("", _whole(text[max(0, start - _REACH) : start]))
    for words in (behind, _ENDS.split(before)[-1]):
        if _of_tumors().search(words):
            return False
        if _of_others().search(words) or _endings().search(words):
            return True
    return False
