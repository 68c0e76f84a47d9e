"""Which words of a sentence each of its values is said of. Pure.

A value goes with the words of its own segment ("15% in the guided group"), a run of values with
the items of the list beside it, in order ("lower with A than with B (15% vs. 28%)", "A, B and C:
1, 2 and 3, respectively").
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from clinical_text.quantities import Kind, Quantity
from knowledge.guards.guard_terms import arm_terms
from workers.verify.guards.binding import telling_words
from workers.verify.guards.lexing import quantities_of

_OUTSIDE = frozenset({Kind.P_VALUE, Kind.CI, Kind.DATE})
_LEVEL = re.compile(r"\s{0,9}(?:,\s{0,9})?(?:CI|CrI|confidence|credible)(?!\w)")
_OPENING = re.compile(
    r"(?i)(?:^|(?<=\s))\s{0,9}(?:[a-z]{1,40}\s{1,9}){0,2}[(\[]\s{0,9}(?:n\s{0,9}=\s{0,9})?$"
)
_NOUN = r"(?:(?:of\s{1,9})?(?:the\s{1,9})?(?:patients|participants|subjects|events|points)\b)?"
_LIST_JOIN = r"(?:,|;|/|&|\band\b|\bor\b|,\s{0,9}and\b|,\s{0,9}or\b)"
_PREPOSED = re.compile(
    r"(?i)(?<![\s,%])[\s,%]*+"
    r"(?:(?:of|in|for|with|among|on|after|at|following|from|under|by|without)\b|[a-z]{1,40} in\b)"
)
_AND = re.compile(r"(?i)\b(?:and|or)\b")
_SOFT = re.compile(r"(?i),|\b(?:and|or)\b")
_PUNCTUATION = re.compile(r"[,;:()\[\]]")
_STOP = re.compile(r"[;:()\[\]]")
_PREPOSITION = re.compile(r"(?is)\b(?:in|with|for|among|on|of|between|by)\s(?=.)")
_FROM_TO = re.compile(
    r"(?i)\b(from|to)\s{1,9}(?:an?\s{1,9})?(?:median\s{1,9}of\s{1,9}|mean\s{1,9}of\s{1,9})?$"
)

_TIME = r"(?:years?|months?|weeks?|days?|hours?|minutes?)"
_AT = re.compile(
    rf"(?i)(?<![\s,])[\s,]*+(?:at|after|by|within)\s{{1,9}}(?P<when>[\w.]{{1,40}}[\s-]{{1,9}}{_TIME})\b"
)
# A length of time that is planned or looked back on is no result.
_PLANNED = re.compile(
    r"(?i)\b(?:for|after|at|over|during|within|every|aged?|first|last|another|least|by|past|than)"
    r"(?:\s{1,9}(?:the|a|an|another|about|up\s{1,9}to))?\s{0,9}$"
)

# "Day 30" counts a time, "a difference of 1.1%" belongs to both arms, and "[95.4-100]" says how
# sure a value is.
_NO_VALUE = re.compile(
    r"(?i)(?:\b(?:day|week|month|year|cycle|visit)s?|\bdifferences?(?:,|:|\s{1,9}(?:of|was|is|=))?)\s{0,9}$"
)
_NUMBER = r"[−-]?\d[\d.,·]{0,20}+\s?%?\s{0,9}"
_LOW = (
    re.compile(r"[\[(]\s{0,9}$"),
    re.compile(rf"%?\s{{0,9}}(?:-|–|to)\s{{0,9}}{_NUMBER}[)\];,]"),
)
_HIGH = re.compile(rf"[\[(]\s{{0,9}}{_NUMBER}(?:-|–|to)\s{{0,9}}$")
_CLOSING = re.compile(r"\s{0,9}[)\];,]")
_BRACKET = re.compile(r"(?<!\s)\s*+[(\[]")
_INSIDE = re.compile(r"[^()\[\]]{0,400}[)\]]")
_WHOLE_BRACKET = re.compile(r"\s{0,9}[(\[][^()\[\]]{0,400}[)\]]")
_NEAR = 80
"""Characters beside a value in which what is looked for there stands (ours)."""
_PART_OF = ("/", "of", "of the", "out of", "out of the")

# The words beside a value, and those that govern it.
_Said = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Bound:
    """A value and the words it is said of; values of one `sentence` can be rivals.

    `near` are the words beside it or of its item in a list, `words` these and what governs them.
    """

    quantity: Quantity
    near: frozenset[str]
    words: frozenset[str]
    sentence: int

    def is_rival_of(self, other: "Bound") -> bool:
        """Whether the two could be mistaken for one another: one sentence, one unit, two values."""
        mine, its = self.quantity, other.quantity
        return (
            self.sentence == other.sentence
            and mine.value != its.value
            and bool(mine.units & its.units)
            and mine.measure == its.measure
        )


def bound_values(parts: Sequence[str]) -> list[Bound]:
    """The values of folded sentences with the words they are said of, in order."""
    return [
        Bound(quantity, near, near | frame, number)
        for number, sentence in enumerate(parts)
        for quantity, (near, frame) in _bind(sentence)
    ]


@cache
def connectors() -> re.Pattern[str]:
    """Words that part the sides of a comparison, in a folded text."""
    phrases = sorted(arm_terms().connectors, key=len, reverse=True)
    joined = "|".join(r"\s{1,9}".join(map(re.escape, phrase.split())) for phrase in phrases)
    return re.compile(rf"(?i)(?<!\w)(?:{joined})(?!\w)")


@cache
def _hard() -> re.Pattern[str]:
    contrasts = "|".join(sorted(arm_terms().contrasts))
    return re.compile(rf"{connectors().pattern}|;|:|(?<!\w)(?:{contrasts})(?!\w)")


@cache
def _joint() -> re.Pattern[str]:
    joint = rf"(?:(?:,\s{{0,9}}+)?{connectors().pattern[4:]}|{_LIST_JOIN})"
    return re.compile(
        rf"(?i)(?<!\s)\s{{0,9}}+{_NOUN}\s{{0,9}}+{joint}\s{{0,9}}+(?:(?:only|about|just)\s{{1,9}}+)?"
    )


def _bind(sentence: str) -> Iterator[tuple[Quantity, _Said]]:
    groups = _groups(sentence, [q for q in quantities_of(sentence) if _counts(sentence, q)])
    ends = [_end(sentence, group) for group in groups]
    frame: frozenset[str] = frozenset()
    at = 0
    while at < len(groups):
        last = at
        while (
            last + 1 < len(groups)
            and _are_joined(sentence[ends[last] : groups[last + 1][0].start])
            and groups[at][0].units & groups[last + 1][0].units  # a dose is in no list of shares
        ):
            last += 1
        left = sentence[ends[at - 1] if at else 0 : groups[at][0].start]
        after = groups[last + 1][0].start if last + 1 < len(groups) else len(sentence)
        right = sentence[ends[last] : after]
        said = _items(left, right, last - at + 1) if last > at else [_segment(left, right, at > 0)]
        for group, (near, own) in zip(groups[at : last + 1], said, strict=True):
            # What the first of several values is said of governs those that follow it.
            frame = own or frame
            moved = _FROM_TO.search(_before(sentence, group[0].start))
            edge = {f"<{moved[1].lower()}>"} if moved else set()
            when = _AT.match(sentence, group[-1].end)
            time = {f"<at {when['when'].lower()}>"} if when else set()
            for quantity in group:
                yield quantity, (near | edge | time, frame)
        at = last + 1


def _counts(sentence: str, quantity: Quantity) -> bool:
    """Whether it is a result or a size rather than an interval, a level or a date."""
    if quantity.kind in _OUTSIDE or quantity.measure == "CI" or _is_bound(sentence, quantity):
        return False
    if _NO_VALUE.search(_before(sentence, quantity.start)):
        return False
    if quantity.kind is Kind.DURATION:
        is_compound = "-" in quantity.raw[1:]
        return not is_compound and not _PLANNED.search(_before(sentence, quantity.start))
    return not (quantity.unit == "%" and _LEVEL.match(sentence, quantity.end))


def _before(sentence: str, at: int) -> str:
    return sentence[max(0, at - _NEAR) : at]


def _is_bound(sentence: str, quantity: Quantity) -> bool:
    """Whether it is one end of a range that stands in brackets."""
    before = _before(sentence, quantity.start)
    after = sentence[quantity.end : quantity.end + _NEAR]
    is_low = bool(_LOW[0].search(before) and _LOW[1].match(after))
    return is_low or bool(_HIGH.search(before) and _CLOSING.match(after))


def _groups(sentence: str, found: Sequence[Quantity]) -> list[list[Quantity]]:
    """Values with those in the brackets after them, their spread, or what they are parts of."""
    groups: list[list[Quantity]] = []
    for quantity in found:
        between = sentence[groups[-1][-1].end : quantity.start] if groups else ""
        opened = between.count("(") + between.count("[") > between.count(")") + between.count("]")
        spread = quantity.comparator == "±" or between.strip(" )]") in _PART_OF
        follows = bool(groups) and (bool(_OPENING.fullmatch(between)) or spread)
        inside = bool(groups) and len(groups[-1]) > 1 and not _STOP.search(between) and opened
        if follows or inside:
            groups[-1].append(quantity)
        else:
            groups.append([quantity])
    return groups


def _end(sentence: str, group: Sequence[Quantity]) -> int:
    """Where a value and the bracket after it end."""
    end = group[-1].end
    if len(group) > 1 or _BRACKET.match(sentence[end : end + _NEAR]):
        closing = _INSIDE if len(group) > 1 else _WHOLE_BRACKET
        closed = closing.match(sentence, end)
        bracketed = "(" in sentence[group[0].end : end] or "[" in sentence[group[0].end : end]
        if closed and (len(group) == 1 or bracketed) and not re.search(r"\d", closed.group()):
            return closed.end()
        if closed and _is_interval(closed.group()):
            return closed.end()
    return end


def _is_interval(text: str) -> bool:
    return bool(re.search(r"CI|IQR|SD|SE|range|confidence|[pP]\s{0,9}[<=>]|-|±|\bto\b", text))


def _are_joined(between: str) -> bool:
    return bool(_joint().fullmatch(between))


def _items(left: str, right: str, count: int) -> list[_Said]:
    """What each of `count` values in a run is said of, from the list beside the run.

    Their rank stands with the words: where no list is found, it is all there is to compare.
    """
    ranks = [frozenset({f"<{rank}>"}) for rank in range(1, count + 1)]
    for items in (_listed_left(left, count), _listed_right(right, count)):
        if items is not None and all(map(telling_words, items)):
            behind = max((one.end() for one in _PREPOSITION.finditer(items[0])), default=0)
            near = telling_words(items[0][behind:]) or telling_words(items[0])
            frame = telling_words(items[0]) - near
            beside = [near, *map(telling_words, items[1:])]
            return [(words | rank, frame) for words, rank in zip(beside, ranks, strict=True)]
    return [(rank, frozenset()) for rank in ranks]


def _listed_left(left: str, count: int) -> list[str] | None:
    if count == 2:
        parts = list(connectors().finditer(left)) or list(_AND.finditer(left))
        if not parts:
            return None
        joint = parts[-1]
        return [_near_end(left[: joint.start()]), _near_start(left[joint.end() :])]
    joints = list(_AND.finditer(left))
    if not joints:
        return None
    before = [item for item in left[: joints[-1].start()].split(",") if item.strip()]
    items = [*before[-(count - 1) :], _STOP.split(left[joints[-1].end() :])[0]]
    return items if len(items) == count else None


def _listed_right(right: str, count: int) -> list[str] | None:
    if not _PREPOSED.match(right):
        return None
    right = _STOP.split(right)[0]
    if count == 2:
        joint = connectors().search(right) or _AND.search(right)
        if joint is None:
            return None
        return [right[: joint.start()], _near_start(right[joint.end() :])]
    joint = _AND.search(right)
    if joint is None:
        return None
    before = [item for item in right[: joint.start()].split(",") if item.strip()]
    items = [*before, right[joint.end() :].split(",")[0]]
    return items if len(items) == count else None


def _near_end(text: str) -> str:
    """The last stretch of `text` between punctuation that has telling words."""
    return next(filter(telling_words, reversed(_PUNCTUATION.split(text))), "")


def _near_start(text: str) -> str:
    return next(filter(telling_words, _PUNCTUATION.split(text)), "")


def _segment(left: str, right: str, is_later: bool) -> _Said:
    """What one value is said of; `left` and `right` reach to the values beside it.

    Words further to the left belong to a value before it, where there is one (`is_later`), unless
    a preposition opens them: "in the control group, 28% died".
    """
    hard = [match.end() for match in _hard().finditer(left)]
    left = left[hard[-1] :] if hard else left
    if _OPENING.search(left):
        return telling_words(_near_end(left)), frozenset()
    first = _hard().search(right)
    right = right[: first.start()] if first else right
    soft = _SOFT.search(right)
    after = telling_words(right[: soft.start()] if soft else right)
    joints = [match.end() for match in _SOFT.finditer(left)]
    before = telling_words(left[joints[-1] :] if joints else left)
    if _PREPOSED.match(right):
        return after, before
    if before or not is_later:
        return before or telling_words(left), after
    pieces = [piece for piece in _SOFT.split(left)[1:] if _PREPOSED.match(piece)]
    return telling_words(pieces[-1]) if pieces else frozenset(), after


def in_order(values: Iterable[Bound]) -> dict[object, list[Bound]]:
    """Values by what is printed of them, so that the same value is found again."""
    found: dict[object, list[Bound]] = {}
    for one in values:
        found.setdefault(one.quantity.value, []).append(one)
    return found
