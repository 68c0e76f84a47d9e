"""What a passage gives to one arm of a comparison stays with it (DESIGN section 2, invariant 6).

Values may not change places, nor the two sides of "A was superior to B", nor the arm that is
compared with. A comparison told from the other side ("B was inferior to A") stays true. Pure.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache

from clinical_text.quantities import Kind
from knowledge.guard_terms import arm_terms
from workers.verify.guards.arm_values import Bound, bound_values, connectors, in_order
from workers.verify.guards.binding import crossed, telling_words
from workers.verify.guards.compared import keeps_pair
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import (
    Lexicon,
    fold,
    quantities_of,
    sentences,
    spelled_out,
    tokens,
)
from workers.verify.guards.negation import negations
from workers.verify.guards.statements import read

_SYMMETRIC = ("similar", "comparable", "equivalent")
_NEUTRAL = ("versus", "vs", "vs.", "against")
_UNNAMED = frozenset(("control", "comparator"))
_TELLS_CONTROL = _UNNAMED | {"controlled"}
_MOST_VALUES = 100
"""Values of a claim or a passage that are told apart: each is compared with each. No sentence of
our real texts has half as many; a table without stops has."""
_SIDE_BY_SIDE = 4
"""Words between a control and what it had, at most (ours)."""
_ARMS = re.compile(r"(?i)\b(?:group|arm)s?\b")
_HEALTHY = re.compile(
    r"(?i)\b(?:healthy|normal|matched|population|community|unaffected|historical)[\s-]"
    r"(?:\w+[\s-])?(?:controls?|volunteers?|subjects?)\b"
)
_NUMBER_NEXT = re.compile(
    r"(?i)\s{0,20}(?:an?\s{1,20}|the\s{1,20}|only\s{1,20})?"
    r"(?:[<>=≤≥$€£−+~]?\s{0,20}[.·]?\d|(?:quarter|third|half|twice|double)\b)"
)
_NOMINAL = re.compile(
    r"(?i)\b(?:superiority|(?:non-?)?inferiority|benefits?|advantages?|favou?red|preferred|preference)"
    r"\b[^.;,]{1,80}?\b(?P<late>over|to)\b"
)
_CLAUSE = re.compile(r"(?i)[;:]|\b(?:whereas|while|but|although|though)\b")
_END = re.compile(r"[,;:()\[\]]")
_PREPOSITION = re.compile(
    r"(?i)\s{0,20}(?:(?:in|with|for|among|on|of|by|that|those|at|the|after)\s{1,20}){1,12}"
)

_GROUP = re.compile(
    r"(?i)\b(?:in|of|with|for|among)\s+(?:those\s+in\s+)?(?:the\s+)?"
    r"(?P<who>(?:(?!(?:the|and|or)\b)[\w/+.-]+\s+){1,3}?)(?:group|arm)s?\b"
)
_ONE_PREPOSITION = re.compile(r"(?i)\s{0,20}(?P<word>in|with|for|among|by|after|on|of)\s")


@dataclass(frozen=True, slots=True)
class _Comparison:
    """`left` is compared with `right`: the words that only this side has."""

    left: frozenset[str]
    right: frozenset[str]
    way: int
    connector: str
    has_values: bool
    clause: frozenset[str]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """What `claim` says of an arm that its passage says of another, or of an arm it has not."""
    said, passage = sentences(fold(claim)), fold(grounds.passage)
    stated = sentences(passage)
    findings = _moved_values(said, stated)
    findings += _moved_sides(said, stated, grounds)
    findings += _strange_groups(said, passage)
    return findings + _strange_controls(said, passage, grounds)


def _moved_values(said: Sequence[str], stated: Sequence[str]) -> list[Finding]:
    claimed = bound_values(said)
    if not claimed:
        return []
    values = bound_values(stated)
    if max(len(claimed), len(values)) > _MOST_VALUES:
        return [Finding("arm", "there are more values than are told apart", unsaid=True)]
    by_value = in_order(values)
    stated_too = {one.quantity.value for one in claimed}
    findings = []
    for one in claimed:
        own = [b for b in by_value.get(one.quantity.value, []) if _same_kind(b, one)]
        alike = {(b.sentence, b.quantity.units, b.quantity.measure): b for b in own}
        rivals = {
            b.words
            for place in alike.values()
            for b in values
            if b.words
            and b.is_rival_of(place)
            and (_is_result(b) or b.quantity.value in stated_too)
        }
        if rivals and _is_crossed(one, [place.words for place in own], rivals):
            detail = f"“{one.quantity.raw}” is the value of another arm"
            findings.append(Finding("arm", detail, keeps_pair(one.quantity.value, said, stated)))
    return findings


def _is_crossed(one: Bound, own: Sequence[Set[str]], rivals: Set[frozenset[str]]) -> bool:
    """Whether a value is said of what a rival is stated of, wherever the passage has the value.

    The words beside it decide, those that govern it only where these tell nothing, and its rank in
    a run only where no word does.
    """
    ranks = frozenset(word for word in one.near if word[1:-1].isdecimal())
    levels = (one.near - ranks, one.words - ranks, ranks)
    return bool(own) and not any(
        all(not _is_rather(levels, place, rival) for rival in rivals) for place in own
    )


def _is_rather(levels: Sequence[Set[str]], place: Set[str], rival: Set[str]) -> bool:
    for said in levels:
        if said & (place ^ rival):
            return crossed(said, [place], [rival])
    return False


def _is_result(one: Bound) -> bool:
    """Whether it could be taken for another value of its sentence: bare numbers often could not."""
    return one.quantity.kind is not Kind.PLAIN or bool(one.quantity.units - {None})


def _same_kind(stated: Bound, said: Bound) -> bool:
    return bool(stated.quantity.units & said.quantity.units)


def _moved_sides(said: Sequence[str], stated: Sequence[str], grounds: Grounds) -> list[Finding]:
    claimed = [one for sentence in said for one in _comparisons(sentence)]
    if not claimed:
        return []
    known = [one for sentence in stated for one in _comparisons(sentence)]
    words = telling_words(" ".join(stated)) | _heads(" ".join(stated))
    findings = []
    for one in claimed:
        if not one.right & words:
            findings += _strange_comparator(one, known, grounds)
            continue
        near = _nearest(one, [other for other in known if _share(one, other)])
        if near and not any(_agree(one, other) for other in near):
            findings.append(Finding("arm", "the sides of the comparison have changed places"))
        elif not near and _against_values(one, bound_values(stated)):
            findings.append(Finding("arm", "the values of the passage say the opposite"))
    return findings


def _share(one: _Comparison, other: _Comparison) -> bool:
    return bool(one.right & (other.left | other.right))


def _nearest(one: _Comparison, known: Sequence[_Comparison]) -> list[_Comparison]:
    """Those made in the clauses that have most words of the claim's."""
    shared = [len(one.clause & other.clause) for other in known]
    return [o for o, words in zip(known, shared, strict=True) if words == max(shared)]


def _agree(one: _Comparison, other: _Comparison) -> bool:
    """Whether both compare the same side with the same, or tell one fact from its two sides."""
    straight = len(one.right & other.right)
    turned = len(one.right & other.left)
    if turned < straight or (turned == straight and not one.left & other.right):
        return True
    if one.way * other.way == -1:
        return True
    is_symmetric = one.connector.startswith(_SYMMETRIC)
    is_neutral = one.connector in _NEUTRAL and one.way == 0 and not one.has_values
    return is_symmetric or is_neutral


def _against_values(one: _Comparison, values: Sequence[Bound]) -> bool:
    """Whether "lower with A than with B" contradicts every pair of values for A and B."""
    verdicts = []
    for mine in values if one.way else ():
        for other in values:
            if not mine.is_rival_of(other):
                continue
            left, right = mine.words - other.words, other.words - mine.words
            if one.left & left and one.right & right and not one.right & left:
                rises = mine.quantity.value > other.quantity.value
                verdicts.append(rises == (one.way > 0))
    return bool(verdicts) and not any(verdicts)


def _strange_comparator(
    one: _Comparison, known: Sequence[_Comparison], grounds: Grounds
) -> list[Finding]:
    """The claim's comparator is not in the passage: the source may still name it, where the passage
    speaks of a control without saying which."""
    around = telling_words(fold(f"{grounds.title}\n\n{grounds.neighbours}"))
    if not one.right & around:
        around = telling_words(fold(grounds.text))
    is_open = all(other.right & _UNNAMED for other in known)
    if is_open and one.right <= around and (not known or _is_the_control(one.right, grounds)):
        return []
    return [Finding("comparator", f"“{' '.join(sorted(one.right))}” is not what is compared with")]


def _strange_controls(said: Sequence[str], passage: str, grounds: Grounds) -> list[Finding]:
    named = {one.name for sentence in said for one in _controls().find(sentence)}
    stated = {one.name for one in _controls().find(passage)} if named else set()
    strange = named - stated
    if strange and stated <= named:
        near = fold(f"{grounds.title}\n\n{grounds.neighbours}")
        strange -= {one.name for one in _controls().find(near)}
    if strange and not stated:
        text = fold(grounds.text).lower()
        strange = {name for name in strange if name not in text}
    if not stated and _UNNAMED & {word.stem for word in tokens(passage)}:
        names = named - strange
        strange |= {one for one in names if not _is_the_control(telling_words(one), grounds)}
    unsaid = not stated or any(negations(read(" ".join(said))).odd)
    return [
        Finding("comparator", f"“{name}” is not in the passage", unsaid) for name in sorted(strange)
    ]


def _strange_groups(said: Sequence[str], passage: str) -> list[Finding]:
    """Values that the claim gives to an arm of which the passage does not tell; where that speaks
    of arms itself, it may mean this one."""
    if not any(_GROUP.search(one) for one in said) or _ARMS.search(passage):
        return []
    words = telling_words(" ".join([passage, *spelled_out(passage)]))
    return [
        Finding(
            "arm", f"the passage does not tell of the “{found['who'].strip()}” arm", unsaid=True
        )
        for sentence in said
        for found in _GROUP.finditer(sentence)
        if _names_an_arm(found["who"], words) and bound_values([sentence])
    ]


def _names_an_arm(who: str, words: Set[str]) -> bool:
    """Whether the words before "group" name an arm that `words` do not."""
    own = telling_words(who) - arm_terms().any_arm
    return bool(own) and not own & words


def _is_the_control(arm: Set[str], grounds: Grounds) -> bool:
    """Whether the source says that its controls had `arm`: the two stand side by side
    ("placebo-controlled", "controls received placebo"), or patients were assigned to it. Elsewhere
    in the text is not enough, and healthy controls had none of the arms."""
    texts = [fold(text) for text in (grounds.title, grounds.neighbours, grounds.text)]
    if any(_HEALTHY.search(text) for text in texts):
        return False
    for sentence in (one for text in texts for one in sentences(text)):
        words = [word.stem for word in tokens(sentence)]
        if arm <= set(words) and not arm_terms().allotted.isdisjoint(words):
            return True
        for at, word in enumerate(words):
            near = words[max(0, at - _SIDE_BY_SIDE) : at + _SIDE_BY_SIDE + 1]
            if word in _TELLS_CONTROL and arm <= set(near):
                return True
    return False


def _comparisons(sentence: str) -> list[_Comparison]:
    spans = [match.span() for match in connectors().finditer(sentence)]
    spans += [match.span("late") for match in _NOMINAL.finditer(sentence)]
    has_values = (
        any(q.measure in ("HR", "OR", "RR") for q in quantities_of(sentence)) if spans else False
    )
    found = []
    for start, end in sorted(spans):
        if _NUMBER_NEXT.match(sentence, end):
            continue
        right, stop = _phrase(sentence, end)
        breaks = [match.end() for match in _CLAUSE.finditer(sentence, 0, start)]
        left = sentence[breaks[-1] if breaks else 0 : start]
        if not telling_words(left):
            left = sentence[stop:]
        left_side = _beside(left, sentence[end:])
        # "The patient group" is an arm where nothing else names it.
        mine = telling_words(left_side) | _heads(left_side)
        its = telling_words(right) or _heads(right)
        if mine - its and its - mine:
            connector = " ".join(sentence[start:end].lower().split())
            way = _way(left + " " + connector)
            words = telling_words(left) | its
            found.append(_Comparison(mine - its, its - mine, way, connector, has_values, words))
    return found


def _heads(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in tokens(text)) & {"patient", "case", "subject"}


def _beside(left: str, right: str) -> str:
    """What is compared in "higher in A than in B": both sides have the same preposition."""
    lead = _ONE_PREPOSITION.match(right)
    if lead is None:
        return left
    parts = re.split(rf"(?i)\b{lead['word']}\s", left)
    return parts[-1] if len(parts) > 1 and telling_words(parts[-1]) else left


def _phrase(sentence: str, start: int) -> tuple[str, int]:
    """The noun phrase at `start`, and where it ends."""
    lead = _PREPOSITION.match(sentence, start)
    begin = lead.end() if lead else start
    closing = _END.search(sentence, begin)
    stop = closing.start() if closing else len(sentence)
    for token in tokens(sentence[begin:stop]):
        if token.start and token.lower in arm_terms().phrase_ends:
            stop = begin + token.start
            break
    return sentence[begin:stop], stop


def _way(text: str) -> int:
    """1 when the nearest word of direction says more, -1 when it says less, 0 without any."""
    terms = arm_terms()
    for token in reversed(tokens(text)):
        word = token.lower
        if word in terms.up or word in terms.down:
            return 1 if word in terms.up else -1
    return 0


@cache
def _controls() -> Lexicon:
    return Lexicon({phrase: (phrase,) for phrase in arm_terms().controls})
