"""TNM formulas and stage groups. Pure."""

import re
from collections.abc import Iterator

from workers.extract.fields import Found
from workers.extract.rules.tumors.stages import of_another_disease
from workers.extract.values import Stage, Tnm

_TNM = re.compile(
    r"(?<![A-Za-z0-9])(?P<prefix>(?:[ymra]{0,2}[cpuCPU]|y?mr)?|y)"
    r"T(?P<gap>\s?)(?P<t>is|IS|[0-4][a-dA-D]?[1-3]?|a|X|x)"
    r"(?:\s?\((?:m|\d{1,2}|DCIS|Paget|LCIS)\))?"
    r"(?:[\s,;/]*+(?:[ymra]{0,2}[cpuCPU])?N\s?(?P<n>[0-3Xx](?:mi|[a-dA-D])?)(?:\s?\((?:sn|i[+-]|"
    r"mol[+-]|mi|f|\d{1,3}/\d{1,3})\)){0,4})?"
    r"(?:[\s,;/]*+(?:[ymra]{0,2}[cpu])?M\s?(?P<m>[01Xx][a-d]?))?(?![A-Za-z0-9-])"
)
_STAGING = re.compile(r"(?i)\b(?:stage|staging|tnm|category)\b[^\n.;]{0,15}$")
_MRI = re.compile(r"(?i)[\s-]?(?:w\b|weight|signal|hyper|hypo|sequence|relax)")
_OF_A_SCORE = re.compile(r"[\s,;/]{0,40}+(?:M\s?[1-3])?\s{0,40}+=\s{0,40}+\d")
_SCORED = re.compile(
    r"(?i)\b(?:nottingham|elston|ellis|bloom|richardson|scarff|grade\s*+(?:\d|i{1,3}))\W{0,4}$"
)
"""Tubules, nuclei and mitoses are given as T, N and M, too: those of a score are no stage."""
_SCORE_REACH = 25
_NM = re.compile(r"(?<![A-Za-z0-9])(?P<prefix>[ymra]{0,2}[cpu]?)(?P<k>[NM])\s?"
                 r"(?P<v>[0-3X](?:mi|[a-d])?)(?![A-Za-z0-9-])")  # fmt: skip
_STAGE = re.compile(
    r"(?i)(?<![a-z])(?:stage|figo)(?:\s++group(?:ing)?)?"
    r"(?:\s++at\s++(?:(?:initial\s++)?diagnosis|presentation|(?:study\s++)?entry|enrol\w+|baseline))?"
    r"(?:\s*+\(?(?:19|20)\d\d\)?|\s*+\((?:ajcc|figo|uicc)[^()\n]{0,20}\))?\s*+(?:is|of|:|=|-|\|)?\s*+(?:stage\s++)?"
    r"(?P<g>iv|iii|ii|i|[0-4])\s?(?P<sub>[a-d][1-3]?)?(?![a-z0-9])"
)


def tnms(text: str) -> Iterator[Found]:
    """TNM formulas; T alone only with a prefix or a word of stage near, for MRI has T1 and T2."""
    for match in _TNM.finditer(text):
        start, end = match.span()
        t, n, m = (_part(match[one]) for one in "tnm")
        before = text[max(0, start - _SCORE_REACH) : start]
        of_a_score = _OF_A_SCORE.match(text, end) or _SCORED.search(before)
        if of_a_score and n and not match["prefix"]:
            continue
        if n is None and m is None and _is_a_word(match, text[max(0, start - 30) : start]):
            continue
        if n is None and m is None:
            if not match["prefix"]:
                cue = _STAGING.search(text[max(0, start - 30) : start])
                if cue is None or _MRI.match(text, end):
                    continue
                start -= len(cue.group())
            # "pT2", "pN1": the parts may stand in lines of their own
            n, end = _later(text, "N", end)
            m, end = _later(text, "M", end)
        yield Found(Tnm(prefix=match["prefix"], t=t, n=n, m=m), start, end)


def _is_a_word(match: re.Match[str], before: str) -> bool:
    """Whether a T with no N is a word with what stands behind it: "CT is", "PT 2 times", "CTA"."""
    capital = match["prefix"].isupper()
    if match["t"] in ("is", "a", "x", "X") and (capital or match["gap"]):
        return True
    return bool(match["gap"]) and (capital or _STAGING.search(before) is None)


def _later(text: str, kind: str, end: int) -> tuple[str | None, int]:
    """N or M a line or two below a T that stands alone."""
    match = next((one for one in _NM.finditer(text, end, min(len(text), end + 120))
                  if one["k"] == kind), None)  # fmt: skip
    if match is None:
        return None, end
    return _part(match["v"]), max(end, match.end())


def _part(words: str | None) -> str | None:
    return None if words is None else re.sub(r"\s", "", words).replace("x", "X")


def stages(text: str) -> Iterator[Found]:
    """Stage groups of tumors."""
    for match in _STAGE.finditer(text):
        if of_another_disease(text, *match.span()):
            continue
        group = match["g"].upper()
        group = {"1": "I", "2": "II", "3": "III", "4": "IV"}.get(group, group)
        yield Found(Stage(group=group + (match["sub"] or "").upper()), *match.span())


def bare_stages(text: str) -> Iterator[Found]:
    """A stage group alone."""
    if match := re.fullmatch(r"(?i)\W{0,200}+(iv|iii|ii|i|[0-4])([a-d][1-3]?)?\W{0,200}+", text):
        group = {"1": "I", "2": "II", "3": "III", "4": "IV"}.get(match[1], match[1].upper())
        yield Found(Stage(group=group + (match[2] or "").upper()), 0, len(text))
