"""A claim states no number that its document neither has nor gives by arithmetic. Pure.

This is a hard fact: a finding stops the claim whatever a judge says of it. So every doubt about a
reading speaks for the claim: what the document has counts in any notation, and from anywhere in it.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from clinical_text.doc import doc
from clinical_text.numbers.notation import PAD, in_digits
from clinical_text.quantities import Kind, quantities
from clinical_text.structure import segment
from clinical_text.vocabulary import vocabulary
from workers.verify.guards.direction import directions
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read

_SMALL = 12
"""Whole numbers up to it, without a unit, may be the writer's own counting (ours)."""
_PER_SENTENCE = 40
"""Numbers of a sentence that arithmetic is done with (ours)."""
_OF_A_CLAIM = 60
"""Numbers of a claim that are looked up at most (ours)."""
_LARGEST = 1e18
"""Larger numbers are not read (ours)."""
_CALENDAR = 0.09
"""How far a month may be off four weeks, as part of the length (ours)."""
_HEDGED = 0.1
"""How far "about" may be off, as part of the number (ours)."""
_SCALES: Mapping[str, Mapping[str, float]] = {
    "time": {
        **{"ms": 1e-3 / 86400, "second": 1 / 86400, "minute": 1 / 1440, "hour": 1 / 24},
        **{"day": 1, "week": 7, "month": 30.4375, "year": 365.25},
    },
    "mass": {"kg": 1e3, "g": 1, "mg": 1e-3, "μg": 1e-6, "ng": 1e-9, "pg": 1e-12},
    "volume": {"l": 1, "dl": 0.1, "ml": 1e-3, "μl": 1e-6},
    "amount": {"mol": 1, "mmol": 1e-3, "μmol": 1e-6, "nmol": 1e-9, "pmol": 1e-12},
    "molar": {"mM": 1e-3, "μM": 1e-6, "nM": 1e-9},
    "length": {"km": 1e3, "cm": 1e-2, "mm": 1e-3, "μm": 1e-6, "nm": 1e-9},
    "share": {"%": 1, "‰": 0.1},
    "points": {"percentage points": 1},
    "dose": {"gy": 1, "cgy": 1e-2},
    "activity": {"gbq": 1e3, "mbq": 1},
    **{unit: {unit: 1} for unit in ("mmhg", "kpa", "kcal", "kj", "°c", "°f", "$", "€", "£")},
}
_SCALE_OF = {unit: (name, size) for name, units in _SCALES.items() for unit, size in units.items()}
_ERA = range(1900, 2101)
_COUNTED_BOTH = 1.01
"""Years that a span may be longer when its first and last are counted both (ours)."""
_P_AT_MOST = 0.1
"""A bound up to it, without a unit, is one of a p value, whose numbers may be far off (ours)."""
_SUMMED = 5
"""Numbers that are summed up at most (ours)."""
_ROUND = (100, 1000, 10_000, 100_000)
"""Numbers that a rate is told per (ours)."""
_WHOLES = {"%": 100.0, "‰": 1000.0}
_NEAR = 2.0
"""How many times larger than its bound a number may be to be what the bound is about (ours)."""
_Sizes = Mapping[str, Sequence[float]]

_DIGITS = re.compile(r"\d{1,15}(?:[.,·]\d{1,15}){0,5}")
_PART_OF = {
    **dict(zip(("half", "third", "fourth", "fifth", "sixth"), range(2, 7), strict=True)),
    **dict(zip(("seventh", "eighth", "ninth", "tenth"), range(7, 11), strict=True)),
    **{"halve": 2, "quarter": 4},
}
_FRACTION = re.compile(
    rf"(?i)\b(?:(?P<top>an?|one|two|three|four|five|six|seven|eight|nine)[\s-])?"
    rf"(?P<part>{'|'.join(_PART_OF)})(?:s|d)?\b|(?P<sign>[½⅓⅔¼¾])"
)
_SIGNS = {"½": 1 / 2, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 1 / 4, "¾": 3 / 4}
_FOLDS = re.compile(
    r"(?i)\b(?:(twice|twofold|doubl)|(thrice|threefold|tripl|trebl)|(quadrupl))\w{0,4}"
)
_LENGTHS = {
    **{"hour": "hour", "day": "day", "dai": "day", "week": "week", "month": "month"},
    **{"year": "year", "annual": "year", "fortnight": "fortnight", "decade": "decade"},
}
_MANY = {"fortnight": (14, "day"), "decade": (10, "year")}
_LENGTH = re.compile(
    r"(?i)(?:\b(?:an?|per|each|every|the|last|past|next|first|previous|following|once|in)[\s-]|/|"
    rf"\b(?=\w{{3,6}}ly\b))({'|'.join(_LENGTHS)})(?:ly|s)?\b"
)
_HEDGE = re.compile(
    r"(?i)(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.?"
    r"|close to|just (?:under|over)|well (?:over|under|above|below))|[~≈∼])\s{0,3}$"
)
_ONE_IN = re.compile(r"(?i)\b(?:1|one)(?:\s\w{1,15})?\s(?:in|out of)(?:\s(?:every|each))?\s{1,30}$")
_DATES = re.compile(r"\b\d{1,2}([/.-])\d{1,2}\1(?:\d{2}|\d{4})\b")
_PER = re.compile(
    r"(?i)(?:\s[^\W\d]{1,20}){0,3}?(?:\s(?:per|in|of|out of)(?:\severy)?|\s?/)"
    r"\s?1[0,\s\u2003]{2,10}(?![\d%])"
)
_BARE = re.compile(r"(?i)(?:\b(?:is|are|was|were)|[=:])\s{0,3}$")
_YEARS = re.compile(r"(?:[-–/.'’]|\b[^\W\d_]{3,9}\.? )(\d\d)(?![\d%])")


class Figure(NamedTuple):
    """A number as a text states it; `unit` None where it has none or none that is certain."""

    value: float
    step: float
    unit: str | None
    comparator: str | None
    kind: Kind
    raw: str
    start: int
    end: int
    hedged: bool = False
    denied: bool = False
    per: float = 0
    negative: bool = False


class _Document(NamedTuple):
    """What a document states: all figures by size, and those of each two neighbouring sentences,
    by what they measure, by size."""

    figures: Sequence[Figure]
    sizes: _Sizes
    exact: _Sizes
    totals: _Sizes
    windows: Sequence[_Sizes]
    dated: bool


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The numbers of `claim` that the document of `grounds` certainly does not bear out.

    An empty list means that nothing speaks for certain against them, not that they are true.
    """
    whole = [grounds.text, grounds.title, *grounds.known.values()]
    if grounds.passage not in grounds.text:
        whole += [grounds.passage, grounds.neighbours]
    document = _read("\n\n".join(part for part in whole if part))
    figures = figures_of(claim)
    stated = [*filter(_is_stated, figures), *_parts(claim)][:_OF_A_CLAIM]
    findings = [_judged(figure, document) for figure in stated]
    signs = [_unsigned(one, document) for one in figures[:_OF_A_CLAIM] if _is_bare(claim, one)]
    # A change has a sign; the size of a fall, or of a difference, may be told without.
    if any(signs) and all(one.word.startswith("chang") for one in directions(read(claim))):
        findings += signs
    return [*dict.fromkeys(finding for finding in findings if finding is not None)]


def _is_bare(claim: str, figure: Figure) -> bool:
    """Whether no word tells which way a number goes: "was 10", not "down by 10" of -10."""
    return _BARE.search(claim, max(0, figure.start - 10), figure.start) is not None


def _unsigned(figure: Figure, document: _Document) -> Finding | None:
    """The finding about a number that the document has with a minus only."""
    same = _between(document.figures, figure.value, _slack(figure))
    alike = [one for one in same if not _differ(one, figure)]
    if figure.negative or not alike or not all(one.negative for one in alike):
        return None
    return _finding("sign", figure, alike[0])


def _judged(figure: Figure, document: _Document) -> Finding | None:
    """The finding about one number of a claim, None where it may be right."""
    same = _between(document.figures, figure.value, _slack(figure))
    alike = [one for one in same if not _differ(one, figure)]
    if any(not _opposed(one, figure) for one in alike):
        return None
    if not alike and _is_ruled(figure, document):
        return None
    if not alike and any(gives(figure, document) for gives in (_converts, _bounds, _follows)):
        return None
    if alike:
        return _finding("comparator", figure, alike[0])
    if same:
        return _finding("unit", figure, same[0])
    others = [one for one in document.figures if figure.unit and one.unit == figure.unit]
    if others:
        return _finding(
            "number", figure, min(others, key=lambda one: abs(one.value - figure.value))
        )
    return Finding("number", f"“{figure.raw}” is not in the document")


def _is_ruled(figure: Figure, document: _Document) -> bool:
    """Whether the document bounds what it measures: the claim may apply the rule to a case."""
    if figure.comparator is not None or figure.unit is None or figure.kind is Kind.PERCENT:
        return False
    return any(one.comparator and one.unit == figure.unit for one in document.figures)


def _finding(code: str, figure: Figure, other: Figure) -> Finding:
    return Finding(code, f"“{figure.raw}” is not in the document, which has “{other.raw}”")


def _is_stated(figure: Figure) -> bool:
    """Whether a number of a claim must come from its document: not the writer's own counting, not
    what words say without a number (a, each, none, all)."""
    if figure.value in (0, 1) or (figure.value == 100 and figure.unit == "%"):
        return False
    if figure.kind is Kind.PERCENT or figure.unit is not None or figure.step < 1 or figure.per:
        return True
    return figure.value > _SMALL and (figure.value not in _ROUND or figure.comparator is not None)


def _slack(figure: Figure) -> float:
    """How far a number that rounds to this one may be off it."""
    slack = figure.step / 2
    if figure.hedged:
        slack = max(slack, _HEDGED * figure.value)
    return slack + 1e-9 * figure.value


def _between(figures: Sequence[Figure], value: float, slack: float) -> Sequence[Figure]:
    first = bisect_left(figures, value - slack, key=lambda one: one.value)
    return figures[first : bisect_right(figures, value + slack, key=lambda one: one.value)]


def _differ(one: Figure, other: Figure) -> bool:
    """Whether these have certainly two units, are parts of two numbers ("52%", "52 per 1,000"), or
    one is a ratio and one a share; units of a denominator count where both have one."""
    wholes = {one.per or _WHOLES.get(one.unit or "", 0) for one in (one, other)}
    if len(wholes) == 2 and 0 not in wholes:
        return True
    if one.unit is None or other.unit is None:
        return {one.kind, other.kind} == {Kind.RATIO, Kind.PERCENT}
    for part, its in zip(one.unit.split("/"), other.unit.split("/"), strict=False):
        if part in _SCALE_OF and its in _SCALE_OF and _SCALE_OF[part] != _SCALE_OF[its]:
            return True
    return False


_TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}


def _opposed(one: Figure, figure: Figure) -> bool:
    """Whether they bound the same number from two sides: not the two halves that a cut-off makes
    (≤ 7 and > 7), and no bound that is denied ("none was below 50")."""
    turned = _TURNED.get(one.comparator or "")
    return turned == figure.comparator and turned is not None and not one.denied | figure.denied


def _base(figure: Figure) -> tuple[str, float]:
    """What it measures, and its size in the unit that all sizes of that are told in."""
    first, *rest = (figure.unit or "").split("/")
    name, size = _SCALE_OF.get(first, ("", 1.0))
    return "/".join([name, *rest]), size


def _converts(figure: Figure, document: _Document) -> bool:
    """Whether the document has it in another unit of the same kind, or as a share of one."""
    name, size = _base(figure)
    value, slack = figure.value * size, _slack(figure) * size
    if name.startswith("time") and figure.step >= 1:
        slack = max(slack, _CALENDAR * value)
    if name == "share" and _has(document.sizes.get("", ()), value / 100, slack / 100):
        return True
    if name == "" and _has(document.sizes.get("share", ()), value * 100, slack * 100):
        return True
    if figure.per and _has(
        document.sizes.get("share", ()), 100 * value / figure.per, 100 * slack / figure.per
    ):
        return True
    if name == "" and any(
        _has(document.sizes.get("", ()), value * thousands, slack * thousands)
        for thousands in (1e-6, 1e-3, 1e3, 1e6)
    ):
        return True
    return name != "" and _has(document.sizes.get(name, ()), value, slack)


def _bounds(figure: Figure, document: _Document) -> bool:
    """Whether the document has a number of its kind, itself no bound, that this bound holds for."""
    name, size = _base(figure)
    sizes = document.exact.get(name, ())
    value = figure.value * size
    if figure.comparator not in _TURNED or not sizes:
        return False
    is_upper = figure.comparator in ("<", "≤")
    if figure.kind is Kind.P_VALUE or (not name and value <= _P_AT_MOST):
        return sizes[0] <= value if is_upper else sizes[-1] >= value
    low, high = (value / _NEAR, value) if is_upper else (value, value * _NEAR)
    return _has(sizes, (low + high) / 2, (high - low) / 2)


def _follows(figure: Figure, document: _Document) -> bool:
    """Whether arithmetic gives it: the rest of a share or of a ratio, else from two numbers of
    neighbouring sentences."""
    name, size = _base(figure)
    value, slack = figure.value * size, _slack(figure) * size
    shares, plain = document.sizes.get("share", ()), document.sizes.get("", ())
    if (name == "time" and document.dated) or _has(document.totals.get(name, ()), value, slack):
        return True
    if name == "share" and (
        _has(shares, 100 - value, slack)
        or _has(plain, 1 - value / 100, slack / 100)
        or _has(plain, 1 + value / 100, slack / 100)
    ):
        return True
    of = "share" if name == "points" else name  # the difference of two shares, and no share
    return any(
        _differs(of, size, value, slack, window)
        or (name == "" and _is_ratio(value, slack, window))
        or (name == "share" and _is_share(value, slack, window))
        for window in document.windows
    )


def _differs(name: str, size: float, value: float, slack: float, window: _Sizes) -> bool:
    """Whether it is the sum or difference of two numbers, one of them perhaps without its unit, or
    the years from one to another."""
    own, plain = window.get(name, ()), window.get("", ())
    for one in own:
        if _has(own, one + value, slack) or _has(own, value - one, slack):
            return True
        if name and any(
            _has(plain, other / size, slack / size)
            for other in (one + value, one - value, value - one)
        ):
            return True
    if name == "" and any(
        _has(sizes, one + value, slack) for sizes in window.values() for one in sizes
    ):
        return True
    years = value / _SCALES["time"]["year"]
    return name == "time" and any(
        _has(plain, one + years, _COUNTED_BOTH) for one in plain if one in _ERA
    )


def _is_ratio(value: float, slack: float, window: _Sizes) -> bool:
    """Whether it is one number by another, or a count times a share."""
    return any(
        _has(sizes, one * value, one * slack) for sizes in window.values() for one in sizes if one
    ) or any(
        _has(window.get("share", ()), 100 * value / one, 100 * slack / one)
        for one in window.get("", ())
        if one > _SMALL
    )


def _is_share(value: float, slack: float, window: _Sizes) -> bool:
    """Whether it is the share of one count in another, or the change from one number to another."""
    parts, slack = value / 100, slack / 100
    return any(
        _has(sizes, one * (1 - parts), one * slack)
        or _has(sizes, one * (1 + parts), one * slack)
        or (name == "" and one >= 1 and _has(sizes, one * parts, one * slack))
        for name, sizes in window.items()
        for one in sizes
        if one
    )


def _has(sizes: Sequence[float], value: float, slack: float) -> bool:
    """Whether one of the sizes, in order, is this value or less than `slack` off it."""
    at = bisect_left(sizes, value - slack * (1 + 1e-9) - 1e-12)
    return at < len(sizes) and sizes[at] <= value + slack * (1 + 1e-9) + 1e-12


@lru_cache(maxsize=256)
def _read(text: str) -> _Document:
    """What a document states."""
    stated = figures_of(text)
    loose = [*_loose(text, stated)]
    told = [*stated, *(figure for figure in loose if figure.unit)]
    starts = [sentence.start for sentence in segment(text).sentences]
    sentences: list[list[Figure]] = [[] for _ in range(len(starts) + 1)]
    for figure in [*stated, *(figure for figure in loose if figure.unit == "%")]:
        sentence = sentences[bisect_right(starts, figure.start)]
        if len(sentence) < _PER_SENTENCE:
            sentence.append(figure)
    pairs = zip(sentences, [*sentences[1:], []], strict=True)
    windows = [_grouped([*sentence, *following]) for sentence, following in pairs if sentence]
    figures = sorted([*stated, *loose], key=lambda figure: figure.value)
    exact = [figure for figure in told if figure.comparator is None]
    return _Document(
        figures,
        *(_grouped(told), _grouped(exact), _grouped(list(_totals(sentences)))),
        windows,
        len(_DATES.findall(text)) > 1,
    )


def _totals(sentences: Sequence[Sequence[Figure]]) -> Iterator[Figure]:
    """What three or more numbers of one kind, one after the other in a sentence, sum up to."""
    for sentence in sentences:
        rows: defaultdict[str, list[Figure]] = defaultdict(list)
        for figure in sentence:
            rows[_base(figure)[0]].append(figure)
        for row in rows.values():
            for first, figure in enumerate(row):
                total = figure.value
                for last, other in enumerate(row[first + 1 : first + _SUMMED], start=2):
                    total += other.value
                    if last > 2 and other.unit == figure.unit:
                        yield figure._replace(value=total)


def _grouped(figures: Sequence[Figure]) -> Mapping[str, Sequence[float]]:
    """The sizes of the figures in order, by what they measure."""
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for figure in figures:
        name, size = _base(figure)
        groups[name].append(figure.value * size)
    return {name: sorted(sizes) for name, sizes in groups.items()}


@lru_cache(maxsize=64)
def figures_of(text: str) -> Sequence[Figure]:
    """The numbers of a text in order, without those in names and identifiers."""
    plain = in_digits(text)
    found = []
    for one in quantities(plain):
        start = one.start
        while start and plain[start - 1] == PAD:
            start -= 1
        unit = one.unit or one.shared_unit
        glued = unit is not None and unit.split("/")[0] not in vocabulary().unit_kind
        if glued or re.search(r"\d[smy]$", one.raw):
            unit = None
        if abs(one.value) > _LARGEST:
            continue
        value, step = float(abs(one.value)), 10.0 ** int(one.value.as_tuple().exponent)
        one_in = unit is None and value > 1 and _ONE_IN.search(plain, max(0, start - 40), start)
        per = None if unit else _PER.match(plain, one.end)
        if one_in:
            value, step, unit = 100 / value, 20 / value, "%"
        found.append(
            Figure(
                value,
                step,
                unit,
                one.comparator,
                one.kind,
                text[start : one.end].strip(),
                start,
                one.end,
                _HEDGE.search(plain, max(0, one.start - 30), start) is not None,
                denied=one.comparator is not None and doc(text).denies_beside(start),
                per=10.0 ** per[0].count("0") if per else 0,
                negative=one.value < 0,
            )
        )
    return found


def _loose(text: str, stated: Sequence[Figure]) -> Iterator[Figure]:
    """The numbers that a document may be read to have besides: those of names, of fractions and of
    multiples, other readings of a comma or point, years in two digits."""

    def figure(value: float, match: re.Match[str], unit: str | None = None) -> Figure:
        return Figure(value, 1, unit, None, Kind.PLAIN, match[0], *match.span())

    taken = {at for one in stated for at in range(one.start, one.end)}
    for match in _DIGITS.finditer(text):
        parts = re.split("[.,·]", match[0])
        if match.start() not in taken or len(parts) > 1:
            yield figure(float("".join(parts)), match)
        if match.start() not in taken or "," in match[0]:
            yield from (figure(float(part), match) for part in parts)
            yield figure(float(".".join(parts[:2])), match)
    for match in _YEARS.finditer(text):
        yield from (figure(century + float(match[1]), match) for century in (1900, 2000))
    for match in _FRACTION.finditer(text):
        yield figure(100 * _fraction(match), match, "%")
    for match in _FOLDS.finditer(text):
        yield figure(1 + (match.lastindex or 1), match)
    for match in _LENGTH.finditer(text):
        unit = _LENGTHS[match[1].lower()]
        number, unit = _MANY.get(unit, (1, unit))
        yield figure(number, match, unit)


def _parts(claim: str) -> Iterator[Figure]:
    """The fractions that words of a claim state, as shares that may be off a little."""
    for match in _FRACTION.finditer(claim):
        if match["top"] and claim[match.end() : match.end() + 4] == " of ":
            value = 100 * _fraction(match)
            yield Figure(value, 10, "%", None, Kind.PLAIN, match[0], *match.span(), hedged=True)


def _fraction(match: re.Match[str]) -> float:
    if match["sign"]:
        return _SIGNS[match["sign"]]
    top = (match["top"] or "a").lower()
    return (1 if top in ("a", "an") else vocabulary().number_words.index(top)) / _PART_OF[
        match["part"].lower()
    ]
