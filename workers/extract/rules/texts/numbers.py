"""Measurements, amounts, lymph nodes and dates. Pure."""

import re
from collections.abc import Iterator
from datetime import date
from math import inf

from workers.extract.fields import Found
from workers.extract.values import Amount, Day, Measurement, Nodes

NUMBER = (
    r"(?:(?<![\d.,/])(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d{1,5}(?:[.,]\d{1,4})?)|"
    r"(?<![^\s(<>≤≥~=:×x*-])\.\d{1,4})(?!\d|[.,]\d)"
)
"""A number that is read whole or not at all; `sure_number` says which it is."""
NO_RANGE = r"(?!\s*+(?:-|–|—|to\b|or\b|and\b)\s*+\d)"
"""Behind a number that is not the first of two."""
_SECOND = re.compile(
    r"(?i)(?<![\d.,/])(?:(?P<rising>(?<!ranging )(?<!varying )from\s++)?\d[\d.,]*+\s*+(?:-|–|—|to)|"
    r"between\s++\d[\d.,]*+\s++and)\s*+$"
)
"""Before a number that is the second of a range; of what rose "from 3 to 4" it is what is now."""
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_GROUP = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_ALL_OF_A_BOWEL = 8000.0
"""Millimeters; nothing in a person that is measured is longer (ours)."""
_UNIT = r"(?:mm|cm|millimet(?:er|re)s?|centimet(?:er|re)s?)"
_SIZE = re.compile(
    rf"(?i)(?P<a>{NUMBER})(?:\s*+-?\s*+(?P<u1>{_UNIT})?\s*+(?:x|×|by|\*)\s*+"
    rf"(?P<b>{NUMBER})(?:\s*+-?\s*+(?P<u2>{_UNIT})?\s*+(?:x|×|by|\*)\s*+(?P<c>{NUMBER}))?)?"
    rf"\s*+-?\s*+(?P<unit>{_UNIT})(?![a-z0-9²³])(?!\s*+(?:\^|/|3\b))"
)
_NOT_A_SIZE = re.compile(
    r"(?i)\b(?:slices?|sections?\s++thickness|thickness|collimation|intervals?|reconstruct\w*|"
    r"spacing|margin\w*(?!\s++measur)|closest|nearest|clearance|(?:felt|lies|sited|situated|located|mass|lesion|tumou?r|polyp)\s++at(?=\s*+$)|from\s++(?:the\s++)?(?:anal|incisors|teeth|nipple|verge))\b"
)
_EARLIER = re.compile(
    r"(?i)\b(?:previously|prior(?:ly)?|formerly|then|compared\s++(?:to|with)|from|versus|vs\.?)\W*"
    r"(?:measur\w+\s++|was\s++|were\s++)?$|"
    r"\d\s?(?:mm|cm)[\s,;(]*+(?:(?:it|this|which)\s++)?(?:was|were|had\s++been)\s*+$"
)
_EARLIER_AFTER = re.compile(
    r"(?i)\s{0,40}+(?:previously|before|on the prior|in the prior|earlier)\b"
)
_DATED_AFTER = re.compile(
    r"(?i)\s{0,40}+(?:in|on|from)\s++(?:[a-z]{3,9}\.?\s++)?"
    r"(?:(?:19|20)\d\d|\d{1,2}[/.-]\d{1,2}[/.-](?:19|20)?\d\d)[^()\n]{0,6}\)"
)
"""Behind a size that a bracket opens with: when it was so."""
_LABEL_BEFORE = re.compile(
    r"(?:^|[\n.;:])\s{0,90}+[-•*\d.)(]{0,90}+\s{0,90}+([A-Za-z][^\n.;:]{0,80}?)\W{0,90}$"
)
_SIZE_OF_TUMOR = re.compile(
    r"(?i)\b(?:tumou?r|lesion|mass|[a-z]{0,20}(?:carcinoma|sarcoma|blastoma|lymphoma)|nodule|neoplasm|"
    r"cancer|malignan\w+|focus|adenoma|melanoma|size|extent)|"
    r"(?:^|\n)[\s\W]{0,9}(?:greatest|max(?:imum|imal|\.)?) (?:dimension|diameter)"
)
_NODES = [
    re.compile(
        r"(?i)(?P<p>\d{1,3})\s*+(?:/|of|out of|\(of)\s*+(?P<e>\d{1,3})\)?\s*+(?:\w+\s++){0,4}?"
        r"(?:lymph\s++)?nodes?\b"
    ),
    re.compile(
        r"(?i)(?:lymph\s++)?nodes?\b[^.\n]{0,60}?(?<![\d/])(?P<p>\d{1,3})\s*+(?:/|of|out of)\s*+"
        r"(?P<e>\d{1,3})(?![\d/])"
    ),
    re.compile(
        r"(?i)(?:lymph\s++)?nodes?\W+(?:(?:total\s++)?number\s++)?"
        r"(?:examined|retrieved|present|sampled|removed|found|identified|submitted)"
        r"\W+(?P<e>\d{1,3})\D{0,60}?"
        r"(?:positive|involved|with\s++\w*metast\w*)\W+(?:nodes?\W+)?(?P<p>\d{1,3})"
    ),
    re.compile(
        r"(?i)nodes?\b[^.\d]{0,30}?\btotal\W+(?:number\W+)?(?P<e>\d{1,3})\b[^.\d]{0,30}?"
        r"\b(?:positive|involved)\W+(?P<p>\d{1,3})\b"
    ),
    re.compile(
        r"(?i)(?:positive|involved)\s++(?:lymph\s++)?nodes\W+(?P<p>\d{1,3})\D{0,60}?examined\W+"
        r"(?P<e>\d{1,3})"
    ),
]
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORD_NUMBERS = {"no": 0, "none": 0, "zero": 0} | {
    word: number for number, word in enumerate(
        (*_ONES, "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
         "seventeen", "eighteen", "nineteen"), 1)
} | {
    f"{ten}-{one}" if one else ten: 10 * tens + ones
    for tens, ten in enumerate(_TENS, 2) for ones, one in enumerate(("", *_ONES))
}  # fmt: skip
NUMBER_WORD = "|".join(sorted(_WORD_NUMBERS, key=len, reverse=True)).replace("-", "[- ]")
_OF_WHICH = re.compile(
    rf"(?i)\b(?P<e>\d{{1,3}}|(?:{NUMBER_WORD}))\s++(?:\w+\s++){{0,3}}?(?:lymph\s++)?nodes?\b[^.\n]{{0,40}}?"
    r"(?:of\s++which|of\s++these|,|\(|and(?=\s++\S++\s++of\s++(?:these|which|them)\b))"
    rf"\s*+(?P<p>\d{{1,3}}|(?:{NUMBER_WORD}))\b\s*+(?:of\s++(?:which|these|them)\s*+)?"
    r"(?:contain(?:s|ed)?|show(?:s|ed)?|(?:is|are)\s++(?:\w++\s++)?(?:positive|involved|metast\w+|replaced)|with|"
    r"positive|involved|harbou?rs?|has|have|h[eo]lds?|bears?|metast\w+)"
)
_SPELLED = re.compile(
    rf"(?i)\b(?P<p>{NUMBER_WORD})\s++(?:of|out of)\s++(?:the\s++)?"
    rf"(?P<e>\d{{1,3}}|(?:{NUMBER_WORD})\b)\s*+(?:(?!and\b)\w+\s++){{0,4}}?(?:lymph\s++)?nodes?\b"
)
_SPELLED_BEHIND = re.compile(
    rf"(?i)\bnodes?\b[^.;,\n\d]{{0,25}}?\b(?P<p>{NUMBER_WORD})\s++(?:of|out of)\s++(?:the\s++)?"
    rf"(?P<e>\d{{1,3}}|(?:{NUMBER_WORD})\b)(?!\s++(?:(?!and\b)\w+\s++){{0,3}}?nodes?\b)"
)
_LAST_CENTURY = 40
"""From this on a year of two digits is one of birth, and of the last century (ours)."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|" \
         r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"  # fmt: skip
_DATES = re.compile(
    r"(?i)(?<![\d/.-])(?:"
    r"(?P<y1>(?:19|20)\d\d)(?P<mark1>[-/.])(?P<m1>\d{1,2})(?P=mark1)(?P<d1>\d{1,2})|"
    r"(?P<d2>\d{1,2})(?P<mark2>[-/.]|[ ]/[ ])(?P<m2>\d{1,2})(?P=mark2)"
    r"(?P<y2>(?:(?:19|20)\d\d|\d\d))|"
    rf"(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?[\s-]*+(?:of\s++)?(?P<m3>{_MONTH})[\s,-]*+(?P<y3>(?:19|"
    rf"20)\d\d)|"
    rf"(?P<d5>\d{{1,2}})(?P<mark5>[-/.])(?P<m5>{_MONTH})(?P=mark5)(?P<y5>\d\d)|"
    rf"(?P<m4>{_MONTH})\s++(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s++(?P<y4>(?:19|20)\d\d)"
    r")(?![\d])"
)


def _decimal(words: str) -> float:
    """The number, with a decimal point or comma."""
    return float(words.replace(",", "."))


def sure_number(words: str, most: float = inf) -> float | None:
    """The number; None where a point may as well part thousands.

    A comma before each three digits parts thousands. Of a number with one such group, or with a
    point in its place, only the decimal is left where thousands would be more than `most`.
    """
    if _GROUP.fullmatch(words):
        thousands = float(re.sub(r"[.,]", "", words))
        if thousands > most:
            return _decimal(words)
        return thousands if "," in words else None
    return _decimal(words.replace(",", "") if _GROUPS.fullmatch(words) else words)


def sizes(text: str) -> Iterator[Found]:
    """Every length with its unit, in one to three dimensions."""
    for match in _SIZE.finditer(text):
        unit = "cm" if match["unit"].lower().startswith("c") else "mm"
        most = _ALL_OF_A_BOWEL * (0.1 if unit == "cm" else 1.0)
        read = [sure_number(match[one], most) for one in "abc" if match[one]]
        parts = [one for one in read if one is not None]
        if len(parts) < len(read):
            continue
        for mark, at in (("u1", 0), ("u2", 1)):
            if match[mark] and (("c" in match[mark].lower()[:1]) != (unit == "cm")):
                parts[at] *= 10.0 if unit == "mm" else 0.1
        before = re.split(r"\n|\.\s", text[max(0, match.start() - 30) : match.start()])[-1]
        if (range_ := _SECOND.search(before)) and not range_["rising"]:
            continue
        after = re.split(r"\n|\.\s|,", text[match.end() : match.end() + 18])[0]
        if _NOT_A_SIZE.search(before) or _NOT_A_SIZE.search(after):
            continue
        value = Measurement(dimensions=tuple(parts), unit=unit, of=_of(text, match.start()))
        yield Found(value, *match.span(), wide=of_earlier(text, *match.span()))


def of_earlier(text: str, start: int, end: int) -> bool:
    """Whether a size is told of an earlier examination, to compare with."""
    before = re.split(r"\n|\.\s", text[max(0, start - 30) : start])[-1]
    after = text[end : end + 30]
    if before.endswith("(") and _DATED_AFTER.match(after):
        return True
    return _EARLIER.search(before) is not None or _EARLIER_AFTER.match(after) is not None


def _of(text: str, start: int) -> str | None:
    """What was measured: the words before, back to the last stop."""
    before = _LABEL_BEFORE.search(text[max(0, start - 90) : start])
    if before is None:
        return None
    label = " ".join(before[1].split())
    return label or None


def tumor_sizes(text: str) -> Iterator[Found]:
    """Sizes in whose line a tumor is spoken of."""
    for found in sizes(text):
        begin = max(text.rfind("\n", 0, found.start), text.rfind(". ", 0, found.start)) + 1
        after = re.split(r"\n|\.\s", text[found.end : found.end + 40])[0]
        near = text[max(begin, found.start - 120) : found.start] + after
        if _SIZE_OF_TUMOR.search(near):
            yield found


def nodes(text: str) -> Iterator[Found]:
    """How many lymph nodes have tumor."""
    for pattern in _NODES:
        for match in pattern.finditer(text):
            positive, examined = int(match["p"]), int(match["e"])
            if positive <= examined:
                yield Found(Nodes(positive=positive, examined=examined), *match.span())
    for match in (
        *_SPELLED.finditer(text),
        *_SPELLED_BEHIND.finditer(text),
        *_OF_WHICH.finditer(text),
    ):
        p, e = (spelled(match[one]) for one in "pe")
        if p <= e:
            yield Found(Nodes(positive=p, examined=e), *match.span())


def spelled(word: str) -> int:
    """The number that a word or digits name."""
    return int(word) if word.isdigit() else _WORD_NUMBERS[word.lower().replace(" ", "-")]


def bare_nodes(text: str) -> Iterator[Found]:
    """A pair of numbers alone."""
    for match in re.finditer(r"(?<![\d/])(\d{1,3})\s*+(?:/|of|out of)\s*+(\d{1,3})(?![\d/])", text):
        if int(match[1]) <= int(match[2]):
            yield Found(Nodes(positive=int(match[1]), examined=int(match[2])), *match.span())


def days(text: str) -> Iterator[Found]:
    """Every full date; what day and month both could be is read day first where it must be."""
    for match in _DATES.finditer(text):
        value = _day(match)
        if value is not None:
            yield Found(value, *match.span())
    for match in _COMPACT.finditer(text):
        iso = _iso(int(match["y"]), int(match["m"]), int(match["d"]))
        if iso is not None:
            yield Found(Day(iso=iso), *match.span("day"))


_COMPACT = re.compile(
    r"(?m)(?:^|[:=|(]|\d[ ]?[-–][ ]?)[ \t]*+"
    r"(?P<day>(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d))"
    r"(?=[T ]?\d\d:|[ \t]*+(?:$|[.,;|)\n]|[ ]{2}))"
)
"""A day of eight digits, alone behind a label or in a line or cell of its own."""


def _day(match: re.Match[str]) -> Day | None:
    for index in "12345":
        year = match[f"y{index}"]
        if year is None:
            continue
        y = int(year)
        if len(year) == 2:
            y += 2000 if y < _LAST_CENTURY else 1900
        d, m = int(match[f"d{index}"]), _month(match[f"m{index}"])
        first = _iso(y, m, d)
        other = _iso(y, d, m) if index == "2" and d != m else None
        if first is None:
            return Day(iso=other) if other else None
        return Day(iso=first, other=other)
    return None


def _month(words: str) -> int:
    return int(words) if words.isdigit() else _MONTHS.index(words.lower()[:3]) + 1


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


_OTHER_UNIT = (
    r"(?:(?:[munpkdcµμ]?[lg]|mcg|[munpµμ]?mol|m?eq|m?i?u|units?|(?:milli|centi|deci)?lit(?:er|re)s?|"
    r"(?:kilo|milli|micro)?gram(?:me)?s?|oz|ounces?|pints?|cups?|cc|cm|mm)s?(?![A-Za-z])|%|"
    r"[-–x×]\s*+\d|(?:to|or|by|and)\s++\d)"
)
"""What stands behind a number that is of another unit, or is only the first of several."""


def amounts(label: str, unit: str, *, measured: bool = True) -> re.Pattern[str]:
    """A pattern: a label, few other characters, a number, and its unit or none.

    Args:
        measured: a number before any other unit is not the field's.
    """
    other = rf"(?!\s*+{_OTHER_UNIT})" if measured else ""
    return re.compile(
        rf"(?i)(?<![A-Za-z0-9-])(?:{label})(?![A-Za-z])(?P<between>[^\d\n.;<>≤≥]{{0,25}})"
        rf"(?P<sign>[<>≤≥]=?)?\s*+(?P<n>{NUMBER})(?:{own_unit(unit)}|{other})"
    )


def own_unit(unit: str) -> str:
    """The pattern of a unit behind its number, which is no part of another."""
    return rf"\s*+(?P<unit>{unit})s?(?![A-Za-z]|\s?/\s?[A-Za-z])"


def amount(pattern: re.Pattern[str], text: str, most: float = inf) -> Iterator[Found]:
    """What such a pattern finds, up to the most that there can be."""
    for match in pattern.finditer(text):
        value = sure_number(match["n"], most)
        if value is None or value > most:
            continue
        unit = match["unit"] or None
        found = Amount(number=value, unit=unit, comparator=match["sign"])
        yield Found(found, match.start(), match.end("unit") if unit else match.end("n"))


def bare_amount(words: str, unit: str | None, most: float = inf) -> Amount | None:
    """The amount that words are which name none, in any unit or in this."""
    match = _BARE.match(words)
    value = sure_number(match["n"], most) if match is not None else None
    if match is None or value is None or value > most:
        return None
    written: str | None = match["unit"]
    if unit is not None:
        own = re.compile(f"(?i){own_unit(unit)}").match(words, match.end("n"))
        if own is None and re.compile(rf"(?i)\s*+{_OTHER_UNIT}").match(words, match.end("n")):
            return None
        written = own["unit"] if own is not None else None
    return Amount(number=value, unit=written, comparator=match["sign"])


_BARE = re.compile(
    rf"^\W{{0,80}}?(?P<sign>[<>≤≥])?\s{{0,80}}(?P<n>{NUMBER})\s{{0,80}}"
    r"(?P<unit>[^\d\s]\S{0,80}(?:\s?\S{1,80})?)?\W{0,80}$"
)
