"""Microsatellites: stable or not, by their own name or by mismatch repair. Pure.

A tumor whose mismatch repair is deficient (dMMR) is treated as one of high instability (MSI-H), one
that is proficient (pMMR) as stable (MSS), as guidelines name them together.
"""

import re
from collections.abc import Iterator

from workers.extract.fields import Found
from workers.extract.rules.texts.negation import negated
from workers.extract.values import Microsatellites

_IS = (
    r"(?:\s*+(?:status|protein(?:s|\s++expression)?|system|result))?\s*+"
    r"(?:is|was|are|:|=|-|,|\|)?\s*+"
)
_NAME = r"(?:microsatellite[\s-]+instability\s*+(?:\(MSI\))?|MSI(?![\s-]?[HL]))"
_REPAIR = r"(?:MMR|mismatch[\s-]+repair(?:\s*+\(MMR\))?)"
_NOT_FOUND = r"(?:not\s++(?:detected|found|identified|present)|negative|absent)"
_STATUS = re.compile(
    r"(?i)(?<![a-z])(?:"
    rf"(?P<MSS>MSS\b|MS[- ]stable|pMMR\b|microsatellite[\s-]+stable|"
    rf"MSI[\s-]?H(?:igh)?{_IS}{_NOT_FOUND}|"
    rf"(?:{_NAME}|microsatellites?){_IS}(?:stable|MSS|{_NOT_FOUND})|"
    r"no\s++(?:evidence\s++of\s++)?(?:microsatellite\s++instability|"
    rf"{_REPAIR}(?:\s++protein)?\s++deficiency)|"
    rf"proficient\s++{_REPAIR}|{_REPAIR}[\s-]*+{_IS}proficient)|"
    r"(?P<MSIL>MSI[\s-]?L(?:ow)?\b|"
    rf"{_NAME}{_IS}low\b)|"
    r"(?P<MSIH>MSI[\s-]?H(?:igh)?\b|dMMR\b|"
    rf"{_NAME}[\s-]*+{_IS}(?:MSI[\s-]?)?(?:high|present|detected|positive|instable|unstable)\b|"
    r"microsatellite[\s-]+(?:instable|unstable)|"
    rf"deficient\s++{_REPAIR}|{_REPAIR}[\s-]*+{_IS}deficien(?:t|cy)))"
)
_NAMES = {"MSS": "MSS", "MSIL": "MSI-L", "MSIH": "MSI-H"}
_ONLY_LOOKED_FOR = re.compile(
    r"(?i)(?:\?|\b(?:exclude|rule\s++out|r/o|query|(?:assess|test)\w*\s++for|if|whether))\s*+$"
)
_NOT_SAID_BEHIND = re.compile(
    r"(?i)\s{0,40}+(?:not\b|testing|test\b|analysis|pending|requested|:\s*+(?:not|pending)|\?)"
)


def microsatellites(text: str) -> Iterator[Found]:
    """MSI-H, MSI-L or MSS; what is denied, asked or still looked for is none."""
    for match in _STATUS.finditer(text):
        start, end = match.span()
        if _ONLY_LOOKED_FOR.search(text[max(0, start - 30) : start]):
            continue
        if _NOT_SAID_BEHIND.match(text, end):
            continue
        if match.lastgroup == "MSIH" and negated(text, start, start):
            continue
        yield Found(Microsatellites(status=_NAMES[match.lastgroup or ""]), start, end)
