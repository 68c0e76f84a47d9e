"""Effects of one thing on one outcome that cannot both hold. Pure.

Two estimates contradict each other when both show a difference and these point opposite ways, or
when their intervals, of one measure, have no value in common. That one shows a difference and the
other none is no contradiction: the second may have been too small.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain, combinations

from clinical_text.effects.estimates import Estimate
from knowledge.works.conflicts import conflict_policy
from workers.verify.conflicts import subjects
from workers.verify.conflicts.types import Conflict, Side, Why, Witness

_OPPOSITE = {"lower": "higher", "higher": "lower"}
_NUMBERED = re.compile(r"\d[\w.,·%]*")


@dataclass(frozen=True)
class Effect:
    """An estimate with what it is compared by."""

    witness: Witness
    estimate: Estimate

    @cached_property
    def sentence(self) -> str:
        """The sentence around it."""
        return self.estimate.sentence.of(self.witness.text)

    @property
    def outcome(self) -> str | None:
        """The name of its outcome, one for all its spellings; None where none is told."""
        return outcome_name(self.estimate.outcome.text) if self.estimate.outcome else None

    @cached_property
    def around(self) -> str:
        """Its sentence and title."""
        return f"{self.sentence}\n{self.witness.title}"

    @property
    def interval(self) -> tuple[object, Decimal, Decimal] | None:
        """What it is measured in, and both ends of its interval; None: no other one compares."""
        one = self.estimate
        if one.measure == "percent" or one.low is None or one.high is None:
            return None
        return (one.measure, one.unit), one.low, one.high

    @property
    def shows_difference(self) -> bool:
        """Whether its direction is shown, not only its value: percentages need a p value."""
        one = self.estimate
        if one.direction not in _OPPOSITE:
            return False
        if one.measure == "percent":
            return one.p is not None and one.p.significant is True
        return one.low is not None or one.p is None or one.p.significant is True

    def side(self) -> Side:
        """The estimate's sentence, and the estimate in its own words."""
        one = self.estimate
        statement = f"{one.written}: {one.direction}" if one.direction else one.written
        return Side(self.witness, one.sentence.start, one.sentence.end, statement)


@lru_cache(maxsize=4096)  # an outcome is that of many estimates
def outcome_name(words: str) -> str:
    """The one name of an outcome, without its time: "3-year OS" is overall survival."""
    plain = " ".join(_NUMBERED.sub(" ", words.lower()).replace("the ", " ").split()).strip(" -")
    parts = re.split(r"\s*(?:,|/|\bor\b|\band\b)\s*", plain)
    known = sorted({_named(part) for part in parts if part})
    return " or ".join(known)


def _named(part: str) -> str:
    found = conflict_policy().outcome_names
    singular = part[:-1] if part.endswith("s") and not part.endswith("ss") else part
    return found.get(part) or found.get(singular) or singular


def effects(witness: Witness) -> list[Effect]:
    """The estimates of a witness that name their outcome."""
    found = (Effect(witness, estimate) for estimate in witness.estimates)
    return [one for one in found if one.outcome]


def contradictions(witnesses: Sequence[Witness], question: str) -> Iterator[Conflict]:
    """The conflicts between estimates of different documents on what is asked, unresolved as yet.

    The numbers are looked at first: hardly any could contradict another one, and what an estimate
    is about takes much longer to tell.
    """
    told = list(chain.from_iterable(map(effects, witnesses)))
    contested = {
        outcome
        for outcome, found in _by_outcome(told).items()
        if len(able_to_contradict(found)) > 1
    }
    asked = (
        one for one in told if one.outcome in contested and subjects.is_asked(one.around, question)
    )
    for outcome, found in _by_outcome(asked).items():
        for one, other in combinations(able_to_contradict(found), 2):
            if one.witness.document_id == other.witness.document_id:
                continue
            why = contradict(one, other)
            if why is not None:
                subject = subject_of(one, other)
                yield Conflict("effect", why, subject, outcome, (one.side(), other.side()))


def _by_outcome(found: Iterable[Effect]) -> dict[str, list[Effect]]:
    grouped: dict[str, list[Effect]] = {}
    for one in found:
        if one.outcome is not None:
            grouped.setdefault(one.outcome, []).append(one)
    return grouped


def able_to_contradict(found: Sequence[Effect]) -> list[Effect]:
    """Those whose numbers could contradict those of another one of them: whichever two `contradict`
    each other are both here."""
    ends: dict[object, tuple[Decimal, Decimal]] = {}
    for one in found:
        if one.interval is not None:
            scale, low, high = one.interval
            lowest, highest = ends.get(scale, (high, low))
            ends[scale] = min(lowest, high), max(highest, low)
    return [one for one in found if one.shows_difference or _lies_apart(one, ends)]


def _lies_apart(one: Effect, ends: Mapping[object, tuple[Decimal, Decimal]]) -> bool:
    """Whether its interval has nothing in common with that which ends first, or begins last."""
    if one.interval is None:
        return False
    scale, low, high = one.interval
    first_end, last_begin = ends[scale]
    return first_end < low or high < last_begin


def contradict(one: Effect, other: Effect) -> Why | None:
    """Why the two cannot both hold; None: they can, or are about different things."""
    if not (_may_differ(one, other) and _comparable(one, other)):
        return None
    swapped = _is_swapped(one, other)
    if swapped is None:
        return None
    a, b = one.estimate, other.estimate
    if one.shows_difference and other.shows_difference:
        assert b.direction is not None, "it shows a difference"
        direction = _OPPOSITE[b.direction] if swapped else b.direction
        if a.direction != direction:
            return "opposite_direction"
    return "disjoint_intervals" if not swapped and _are_disjoint(one, other) else None


def _may_differ(one: Effect, other: Effect) -> bool:
    """Whether their numbers could contradict each other at all; cheap, and seldom so."""
    both = one.shows_difference and other.shows_difference
    return both or _are_disjoint(one, other)


def _are_disjoint(one: Effect, other: Effect) -> bool:
    if one.interval is None or other.interval is None:
        return False
    (scale, low, high), (of_other, other_low, other_high) = one.interval, other.interval
    return scale == of_other and (high < other_low or other_high < low)


def _comparable(one: Effect, other: Effect) -> bool:
    """Whether condition, population and time are not told to be different."""
    for a, b in ((one.sentence, other.sentence), (one.around, other.around)):
        first, second = subjects.diseases(a), subjects.diseases(b)
        if first and second and first.isdisjoint(second):
            return False
    if subjects.opposed((one.sentence, one.witness.title), (other.sentence, other.witness.title)):
        return False
    a_population, b_population = one.estimate.population, other.estimate.population
    if a_population and b_population:
        a_words = subjects.condition_words(a_population.text)
        b_words = subjects.condition_words(b_population.text)
        if a_words and b_words and subjects.overlap(a_words, b_words) == 0:
            return False
    if subjects.other_doses(one.around, other.around):
        return False
    a_times, b_times = subjects.times(one.sentence), subjects.times(other.sentence)
    return not (a_times and b_times and a_times.isdisjoint(b_times))


def _is_swapped(one: Effect, other: Effect) -> bool | None:
    """Whether the arms stand the other way round; None: they are not the same arms."""
    a, b = one.estimate, other.estimate
    first = a.intervention.text if a.intervention else None
    second = b.intervention.text if b.intervention else None
    against = a.comparator.text if a.comparator else None
    other_against = b.comparator.text if b.comparator else None
    if first and against and second and other_against:
        if subjects.same_thing(first, second) and subjects.same_thing(against, other_against):
            return False
        crossed = subjects.same_thing(first, other_against)
        return True if crossed and subjects.same_thing(against, second) else None
    if (against is None) != (other_against is None):
        told, silent = (against or other_against or ""), (other if against else one)
        if not subjects.content(told) <= subjects.content(silent.around):
            return None
    elif against and other_against and not subjects.same_thing(against, other_against):
        return None
    if first and second:
        return False if subjects.same_thing(first, second) else None
    return False if _same_frame(one, other) else None


def _same_frame(one: Effect, other: Effect) -> bool:
    """Whether sentences that do not both name their arm are on one treatment all the same.

    By all the products that they or their titles name; without any, by the words that the
    sentences have in common besides the outcome, or the titles where these have no others.
    """
    first, second = (
        subjects.named_products(each.sentence) or subjects.named_products(each.witness.title)
        for each in (one, other)
    )
    if first or second:
        return first == second
    share = conflict_policy().same_frame
    a, b = _frame(one), _frame(other)
    if a == b and a:
        return True
    if min(len(a), len(b)) >= 2:  # one word in common is chance
        return subjects.overlap(a, b) >= share
    titles = subjects.content(one.witness.title), subjects.content(other.witness.title)
    if not (a or b or any(titles)):
        return True  # neither names anything, so nothing tells them apart
    return subjects.overlap(*titles) >= share


def _frame(one: Effect) -> frozenset[str]:
    """The words of its sentence that name things, but for its outcome and its numbers."""
    outcome = one.estimate.outcome.text if one.estimate.outcome else ""
    words = _NUMBERED.sub(" ", one.sentence.replace(one.estimate.written, " "))
    return subjects.content(words) - subjects.content(outcome)


def subject_of(one: Effect, other: Effect) -> str:
    """What both are about: the arms of the one that tells most of them, else its title."""
    best = max((one, other), key=lambda each: len(each.estimate.phrases))
    first, against = best.estimate.intervention, best.estimate.comparator
    if first and against:
        return f"{first.text} against {against.text}"
    return first.text if first else best.witness.title or best.outcome or ""
