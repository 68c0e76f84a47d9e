"""What in situ hybridization says of HER2 where the stain is equivocal. Pure."""

import re
from collections.abc import Iterator

from workers.extract.fields import Found
from workers.extract.rubrics import vocabulary
from workers.extract.values import Marker

_TEST = re.compile(
    r"(?i)(?<![a-z])(?:[dcfs]{0,2}-?ISH|in[\s-]situ[\s-]hybridi[sz]ation|HER-?2/CEP-?17)(?![a-z])"
)
_ENDS = re.compile(r"[.;](?=\s|$)|\n")
_NEGATIVE = re.compile(
    r"(?i)\b(?:not|no|non|without|absence\s++of)[\s-]++(?:[\w/]+[\s-]++){0,5}?amplif\w++|"
    r"\b(?:un|non)amplified\b|\bnegative\b|"
    r"\bamplification\s*+(?:is|was|:)?\s*+(?:not\s++(?:detected|seen|identified|present)|absent)"
)
_POSITIVE = re.compile(r"(?i)\b(?:amplified|amplification|positive)\b")
_OPEN = re.compile(
    r"(?i)\b(?:if|should|pending|ordered|recommend\w*|to\s++follow|will\s++be|requested|suggested|"
    r"cannot|could\s++not|indeterminate|equivocal|borderline|insufficient|failed|advised|"
    r"not\s++(?:performed|done|available|assess\w*|evalua\w*)|rule\s++out|for\s++amplification)\b"
)
_REACH = 300
"""Characters behind a stain in which its hybridization stands (ours)."""


def decided(text: str, one: Found) -> Found:
    """An equivocal HER2 with what the hybridization behind it says; any other as it is."""
    value = one.value
    if not isinstance(value, Marker) or (value.marker, value.result) != ("HER2", "equivocal"):
        return one
    told = list(_told(text, one.end, min(len(text), one.end + _REACH)))
    if len({result for result, _ in told}) != 1:
        return one
    result, end = told[0]
    return one._replace(value=value.model_copy(update={"result": result}), end=end)


def settles(text: str, one: Found) -> bool:
    """Whether a HER2 result is that of a hybridization."""
    value = one.value
    decisive = isinstance(value, Marker) and value.result in ("positive", "negative")
    return decisive and _TEST.search(text, one.start, one.end) is not None


def _told(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Each result of a hybridization, and where its statement ends."""
    while start < end:
        stop = _ENDS.search(text, start)
        finish = stop.start() if stop else len(text)
        words = text[start:finish]
        result = _result(words) if _TEST.search(words) and not _of_other_genes(words) else None
        if result is not None:
            yield result, start + len(words.rstrip())
        start = finish + 1


def _result(words: str) -> str | None:
    if _OPEN.search(words):
        return None
    negative, rest = _NEGATIVE.search(words), _NEGATIVE.sub("", words)
    positive = _POSITIVE.search(rest)
    if negative and _NEGATIVE.search(words, negative.end()) is None and positive:
        # "negative for amplification" is one statement, "negative, amplified" are two
        return "negative" if re.search(r"(?i)negative\s++for\b", words) else None
    return "negative" if negative else "positive" if positive else None


def _of_other_genes(words: str) -> bool:
    others = set(re.findall(r"\b[A-Z][A-Z0-9]{1,7}\b", words)) & set(vocabulary().genes)
    return bool(others - {"ERBB2", "HER2"})
