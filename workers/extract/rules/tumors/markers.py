"""What stains and receptor assays showed. Pure."""

import re
from collections.abc import Iterator
from functools import cache

from workers.extract.fields import Found
from workers.extract.rubrics import vocabulary
from workers.extract.rules.texts.numbers import NUMBER, sure_number
from workers.extract.rules.tumors.hybridization import decided
from workers.extract.values import Marker

_RESULT = (
    r"(?:strongly\s++|weakly\s++|diffusely\s++|focally\s++|focal\s++|diffuse\s++)?"
    r"(?:(?P<neg>neg(?:ative)?\b|not\s++amplified|non-?amplified|not\s++expressed|absent|non-?reactive|"
    r"no\s++expression|not\s++detected|unamplified|no\s++staining)|"
    r"(?P<equ>equivocal|borderline|indeterminate)|(?P<lost>loss(?:\s++of(?:\s++nuclear)?\s++"
    r"expression)?|lost|deficient)|(?P<intact>intact|retained|preserved|proficient)|"
    r"(?P<low>HER2-low|low(?!er))|"
    r"(?P<pos>pos(?:itive)?\b|overexpress(?:ed|ion)|amplified|expressed|reactive|strong(?!\s++and)|"
    r"high\b))"
)
_PERCENT = (
    r"(?P<sign>[<>≤≥~]=?|less than|more than|greater than|approximately|about|up to)?\s{0,40}+"
    rf"(?:(?P<between>between)\s++)?(?P<p>{NUMBER})\s*+%?\s*+"
    rf"(?:(?:-|–|to|(?(between)and|to))\s*+(?P<p2>{NUMBER})\s*+)?%"
)
_TUMOR_SHARE = re.compile(
    r"(?i)\b(?:TPS|CPS|IC)\b\W{0,4}(?P<sign>[<>≤≥])?\s*+"
    rf"(?P<p>{NUMBER})(?:\s*+(?:-|–|to)\s*+(?P<p2>{NUMBER}))?"
)
_MOST = 100.0
"""Of a share, and of a combined positive score."""
_SCORE = r"(?P<score>(?<![\w.])[0-3]\s?\+|(?<![\w.])0(?![\d.%]|\s?/))"
_SIGN_AFTER = re.compile(
    r"(?i)^\s?(?:(?:focal|diffuse|strong|weak|patchy)(?:ly)?\s)?(?P<mark>\(?\+{1,3}\)?|"
    r"\(-\)|[-−–](?=ve\b|[ \t]*+(?:[,;./)|\n]|$|(?:and|but|with)\b)))(?!\d)"
)
"""Behind a name: a plus or a minus, which no words follow: those are what a dash leads to."""
_OF_EIGHT = re.compile(
    r"(?i)\b(?:allred|quick)(?:\s++score)?\s*+[:=]?\s*+(?P<named>[0-8])(?![\d.%+])|"
    r"(?<![\d./])(?P<bare>[0-8])\s?/\s?8(?![\d./])"
)
_LEAST_ALLRED = 3
"""Of eight: more than 2 is positive (Harvey et al., J Clin Oncol 1999;17:1474)."""
_CUE_LIST = re.compile(
    r"(?i)\b(?P<cue>(?:immuno)?(?:positive|negative|reactive|non-?reactive|intact|retained|"
    r"loss|lost|expression|expressing|expresse?s?))\s++(?:nuclear\s++)?"
    r"(?:(?:(?:staining|expression|reactivity|immunoreactivity)\s++)?(?:for|of|with|in)\s++|"
    r"(?<=express\s)|(?<=expresses\s)|(?<=expressing\s))(?:the\s++)?"
)
_LIST_ENDS = re.compile(
    r"(?i)[.;\n]|\b(?:and|but|while|whereas)\s++(?:\w+\s++)?(?:negative|positive|not)\b|"
    r"\b(?:but|while|whereas)\b"
)
_BACK = re.compile(
    r"(?i)\b(?P<cue>positive|negative|loss of|intact|retained|absent|no)\s++"
    r"(?:nuclear\s++)?(?:expression\s++of\s++|staining\s++for\s++)?$"
)
_GENE_EVENT = re.compile(
    r"\b(?:fusion|rearrangement|mutation|alteration|variant|amplification)s?\b"
)
"""Behind a name: a gene is spoken of, and no stain."""
_AND = re.compile(r"\s{0,40}+(?:,|/|and|or|&|,\s{0,40}+and|,\s{0,40}+or)\s{0,40}+")
_STOP = re.compile(r"[.;\n](?=\s|$|[A-Z])|\n")
_LONGEST_LIST = 200
"""Characters of a list of markers behind a word of result (ours)."""
_GAP = 70
"""Characters from a marker to its result (ours)."""


@cache
def marker_pattern() -> re.Pattern[str]:
    """Finds the spellings of markers that the rules know."""
    spellings = sorted(_canonical(), key=len, reverse=True)
    exact = [re.escape(one) for one in spellings if _by_case(one)]
    loose = [re.escape(one).replace(r"\ ", r"\s") for one in spellings if not _by_case(one)]
    return re.compile(
        rf"(?<![A-Za-z0-9/])(?:(?i:{'|'.join(loose)})|{'|'.join(exact)})(?![A-Za-z0-9]|-(?=\d))"
    )


def _by_case(spelling: str) -> bool:
    return len(spelling) <= 4 and spelling.isupper()


@cache
def _canonical() -> dict[str, str]:
    return {one: name for name, every in vocabulary().markers.items() for one in every}


@cache
def _folded() -> dict[str, str]:
    return {_fold(one): name for one, name in _canonical().items()}


def _fold(words: str) -> str:
    return re.sub(r"[\s/-]", "", words.lower())


def marker_named(words: str) -> str | None:
    """The canonical name of a marker."""
    return _folded().get(_fold(words))


def markers(text: str) -> Iterator[Found]:
    """Every marker with a result: in its own entry, or in a list after a word of result."""
    places = [(one.start(), one.end(), marker_named(one.group()) or "") for one in
              marker_pattern().finditer(text)]  # fmt: skip
    listed = dict(_listed(text))
    after: Found | None = None
    found: list[Found] = []
    for index in range(len(places) - 1, -1, -1):
        start, end, name = places[index]
        following = places[index + 1][0] if index + 1 < len(places) else len(text)
        # "Estrogen receptor (ER): …" names one marker twice
        if index + 1 < len(places) and places[index + 1][2] == name and following - end <= 3:
            continue
        begin = start
        if index and places[index - 1][2] == name and start - places[index - 1][1] <= 3:
            begin = places[index - 1][0]
        one = own_result(text, name, begin, end, following)
        if one is None and start in listed:
            result, cue_start = listed[start]
            one = Found(Marker(marker=name, result=result), cue_start, end)
        one = one or _before(text, name, begin, end)
        if one is None and after is not None and _AND.fullmatch(text[end:following]):
            one = _shared(name, begin, after)
        after = one
        if one is not None:
            found.append(one)
    yield from (decided(text, one) for one in reversed(found))


def _shared(name: str, start: int, after: Found) -> Found | None:
    """ "MSH2 and MSH6 are retained": the result of the next marker is this one's, too."""
    result = getattr(after.value, "result", None)
    if result is None:
        return None
    return Found(Marker(marker=name, result=result), start, after.end)


def own_result(text: str, name: str, start: int, end: int, following: int) -> Found | None:
    """The result that stands after the marker, before the next one."""
    mark = _SIGN_AFTER.match(text[end:following])
    hard = _STOP.search(text, end, min(len(text), end + _GAP + 62))
    limit = min(following, end + _GAP + 60, hard.start() if hard else len(text))
    value, stop = read_result(text, name, end, limit)
    if mark is not None and (value is None or value.result is None):
        result = "positive" if "+" in mark["mark"] else "negative"
        percent = (value.percent, value.percent_to, value.comparator) if value else (None,) * 3
        stop = max(stop, end + mark.end())
        return Found(
            Marker(marker=name, result=result, percent=percent[0], percent_to=percent[1],
                   comparator=percent[2]), start, stop,
        )  # fmt: skip
    return Found(value, start, stop) if value is not None else None


def read_result(text: str, name: str, start: int, limit: int) -> tuple[Marker | None, int]:
    """Result, percentage and score of a marker in `text[start:limit]`, and where they end."""
    words = text[start:limit]
    if re.match(r"\s{0,40}+(?:,|and\b|or\b|/)\s*+$", words) or re.match(
        r"\s{0,5}+(?:,|and\b|/)", words[:5]
    ):
        return None, start
    result = re.search(rf"(?i)\b{_RESULT}", words)
    percent = re.search(_PERCENT, words, re.IGNORECASE)
    score = re.search(_SCORE, words) if name in ("HER2", "PD-L1", "AR", "ER", "PR", "p53") else None
    if name == "PD-L1" and percent is None:
        percent = _TUMOR_SHARE.search(words)
    if result is not None and result.start() > _GAP:
        result = None
    of_eight = _OF_EIGHT.search(words) if name in ("ER", "PR") else None
    parts = [one for one in (result, percent, score, of_eight) if one is not None]
    if not parts:
        return None, start
    stated = _stated(result, words)
    mark = score["score"].replace(" ", "") if score else None
    if stated is None and name == "HER2" and mark:
        stated = {"0": "negative", "1+": "negative", "2+": "equivocal", "3+": "positive"}[mark]
    if stated is None and of_eight is not None:
        points = int(of_eight["named"] or of_eight["bare"])
        stated = "positive" if points >= _LEAST_ALLRED else "negative"
    sign = percent["sign"] if percent else None
    value = Marker(
        marker=name,
        result=stated,
        percent=sure_number(percent["p"], _MOST) if percent else None,
        percent_to=sure_number(percent["p2"], _MOST) if percent and percent["p2"] else None,
        comparator=_SIGNS.get(sign.lower()) if sign else None,
        score=mark,
    )
    end = start + max(one.end() for one in parts)
    if text[end : end + 1] == ")" and "(" in text[start:end]:
        end += 1
    return value, end


_SIGNS = {"<": "<", ">": ">", "≤": "≤", "≥": "≥", "<=": "≤", ">=": "≥", "less than": "<",
          "more than": ">", "greater than": ">"}  # fmt: skip


def _stated(result: re.Match[str] | None, words: str) -> str | None:
    if result is None:
        return None
    for group, name in (("neg", "negative"), ("equ", "equivocal"), ("lost", "lost"),
                        ("intact", "intact"), ("low", "low"), ("pos", "positive")):  # fmt: skip
        if result[group]:
            before = words[max(0, result.start() - 8) : result.start()].lower()
            if name == "positive" and re.search(r"\b(?:not|no)\s*+$", before):
                return "negative"
            return name
    return None


def _listed(text: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """Start of each marker in a list after a word of result: that result, and where it begins."""
    for match in _CUE_LIST.finditer(text):
        before = text[max(0, match.start() - 12) : match.start()].lower()
        result = _of_cue(match["cue"], before)
        end = min(len(text), match.end() + _LONGEST_LIST)
        stop = _LIST_ENDS.search(text, match.end(), end)
        end = stop.start() if stop else end
        for one in marker_pattern().finditer(text, match.end(), end):
            yield one.start(), (result, match.start())


def _of_cue(cue: str, before: str) -> str:
    cue = cue.lower()
    if re.search(r"\b(?:no|not|without)\s++(?:\w+\s++)?$", before):
        return "negative"
    if "non" in cue or "negative" in cue:
        return "negative"
    if cue in ("loss", "lost"):
        return "lost"
    return "intact" if cue in ("intact", "retained") else "positive"


def _before(text: str, name: str, start: int, end: int) -> Found | None:
    match = _BACK.search(text[max(0, start - 40) : start])
    if match is None:
        return None
    at = max(0, start - 40) + match.start()
    cue = match["cue"].lower()
    if cue == "no" and _GENE_EVENT.search(text, end, min(len(text), end + _GAP)):
        return None
    result = {"loss of": "lost", "absent": "negative", "no": "negative", "retained": "intact"}
    return Found(Marker(marker=name, result=result.get(cue, cue)), at, end)
