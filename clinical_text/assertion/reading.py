"""The cues of a sentence, and what each reaches."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from clinical_text.assertion import scopes
from clinical_text.assertion.labels import Label, answer
from clinical_text.assertion.lexicon import Side, Word, lexicon, plain
from clinical_text.assertion.marks import Assertion, Cue, Reading, reading
from clinical_text.assertion.nouns import FARTHEST, nouns
from clinical_text.assertion.sentence import BREAKS, LINE, QUOTES, Sentence, Trigger
from clinical_text.sentences.tokens import Token
from store.core.spans import Span

_TIMES = frozenset(
    ["day", "week", "month", "year", "yr", "hour", "hr", "wk", "minute", "decade", "d", "y", "mo"]
)
_EARLIER = frozenset(["prior", "previous", "former", "past"])
_VERBLESS = 4
"""Words before "negative" that it speaks of where no verb stands between (ours)."""
_LISTERS = frozenset(
    ["denies", "deny", "denied", "denying", "nil", "negative for", "-ve for", "neg for", "negative"]
)


@dataclass(frozen=True)
class Marks:
    """What the cues of a sentence reach, unit by unit, in code points of the text."""

    sentence: Sentence
    cues: tuple[tuple[Cue, frozenset[int]], ...]

    def at(self, start: int, end: int) -> Reading:
        """What is said of the words at `[start, end)`: of the noun that heads them."""
        units = self._units(start, end)
        if not units:
            return reading(frozenset())
        head = self._head(units)
        return reading(frozenset(self._by_unit.get(head, ())))

    def anywhere(self, start: int, end: int) -> frozenset[Cue]:
        """Every cue that reaches any of the words at `[start, end)`."""
        return frozenset(
            cue for unit in self._units(start, end) for cue in self._by_unit.get(unit, ())
        )

    @cached_property
    def _by_unit(self) -> Mapping[int, Sequence[Cue]]:
        found: dict[int, list[Cue]] = {}
        for cue, reached in self.cues:
            for unit in reached:
                found.setdefault(unit, []).append(cue)
        return found

    def _units(self, start: int, end: int) -> range:
        first = bisect_left(self.sentence.ends, start + 1)
        return range(first, bisect_left(self.sentence.starts, end, first))

    def _head(self, units: range) -> int:
        """The last word before the first preposition."""
        s, head = self.sentence, -1
        for i in units:
            if head >= 0 and s.has(i, Word.PREPOSITION):
                break
            if s.is_word(i) and not (head >= 0 and s.words[i].isdigit()):
                head = i
        return head if head >= 0 else units[0]


def marks(
    text: str,
    span: Span,
    tokens: Sequence[Token],
    labels: Sequence[tuple[Label, Sequence[Token]]],
    title: str,
) -> Marks:
    """What a sentence says of each of its words.

    Args:
        labels: the labels in the sentence, each with the tokens of its value.
        title: of the section that the sentence stands in.
    """
    s = Sentence(text, tokens)
    asked = _asks(s)
    found = [
        (trigger, _reached(s, trigger))
        for trigger in s.triggers
        if not asked or trigger.group.side == "before"  # "how is it ruled out?" rules nothing out
    ]
    cues = [
        (Cue(one.group.means, s.starts[one.first], s.ends[one.last - 1]), reached)
        for one, reached in found
        if one.first not in s.void and reached is not None
    ]
    cues += _relatives(s)
    cues += _asked(s)
    for label, value in labels:
        cues += _label(s, label, value)
    means = lexicon().heading_of.get(plain(title))
    if means is not None:
        everything = [i for i in range(len(s)) if s.is_word(i)]
        cues.append((Cue(means, span.start, span.start), everything))
    cues += _holding(s)
    return Marks(s, tuple((cue, frozenset(reached)) for cue, reached in cues))


def _reached(s: Sentence, trigger: Trigger) -> list[int] | None:
    """What a trigger reaches; None where the words only look like one."""
    if _is_no_trigger(s, trigger):
        return None
    side = trigger.group.side
    if side == "either":
        if trigger.first in s.joined:
            return [trigger.first - 1]
        side = _side(s, trigger)
    return _before(s, trigger) if side == "after" else _behind(s, trigger)


def _before(s: Sentence, trigger: Trigger) -> list[int]:
    """What a trigger reaches that stands behind what it speaks of."""
    before = trigger.first - 1
    if trigger.group.scope == "next":
        return [before] if before >= 0 and s.is_word(before) else []
    verbless = trigger.group.side == "either" and not s.has(before, Word.AUXILIARY)
    return scopes.subject(s, trigger.first, _VERBLESS if verbless else FARTHEST)


def _behind(s: Sentence, trigger: Trigger) -> list[int]:
    """What a trigger reaches that stands before what it speaks of."""
    scope, begin = trigger.group.scope, trigger.last
    if s.word(begin) == ":" and s.word(trigger.first - 1) in ("", LINE, ".", ";", ","):
        begin += 1
    if begin >= len(s):
        return []
    if scope == "next":
        return [begin] if s.is_word(begin) else []
    if scope == "predicate":
        return scopes.predicate(s, trigger, lists=_lists(s, trigger))
    if scope == "phrase":
        return _phrase(s, trigger, begin)
    if scope == "clause":
        return scopes.clause(s, begin)
    if scope == "condition":
        return scopes.condition(s, trigger)
    lists = _lists(s, trigger)
    reached, at = nouns(s, begin, len(s), lists=lists)
    if not lists and len(reached) > 1 and reached[-1] == at - 1 and s.has(at, Word.VERB):
        reached.pop()  # "in patients without diabetes mortality was": it is the verb's
    if at < len(s) and at in s.at and s.at[at].denies and not _tells(s, reached):
        s.void |= {trigger.first, at}
        return []
    return reached + scopes.through_verb(s, trigger, at)


def _phrase(s: Sentence, trigger: Trigger, begin: int) -> list[int]:
    lists = trigger.group.means in (Assertion.HISTORICAL, Assertion.HYPOTHETICAL)
    reached, at = nouns(s, begin, len(s), lists=lists, phrase=True)
    if s.words[trigger.last - 1] in _EARLIER and s.has(at, Word.VERB):
        return reached + scopes.clause(s, at)  # "the previous biopsy showed ..."
    opens = s.words[trigger.first].startswith("suggest") and s.has(at, Word.VERB)
    return [] if opens else reached  # "suggests that X has": X is taken for granted


def _tells(s: Sentence, reached: Sequence[int]) -> bool:
    """Whether anything but carriers is reached."""
    return any(not s.has(i, Word.CARRIER | Word.LIGHT) for i in reached)


def _is_no_trigger(s: Sentence, trigger: Trigger) -> bool:
    """Whether the words only look like one: "No, ...", "No. 5", "May 2010"."""
    word, following = s.words[trigger.first], s.word(trigger.last)
    if (
        trigger.group.means is Assertion.HISTORICAL
        and s.word(trigger.first - 1).rstrip("s") in _TIMES
    ):
        return True  # "a two-week history of cough" tells of today's cough
    if word == "previously" and (following.endswith("ed") or s.has(trigger.last, Word.EXISTENTIAL)):
        return not s.has(trigger.last + 1, Word.PREPOSITION)
    if trigger.last - trigger.first > 1:
        return False
    if word == "no":
        return following in (",", ".", "") or following[:1].isdigit()
    if word == "may":
        return (
            following[:1].isdigit()
            or s.word(trigger.first - 1)[:1].isdigit()
            or s.word(trigger.first - 1) in ("in", "since", "on", "of")
        )
    if word == "if":
        before = s.behind.get(trigger.first)
        return before is not None and before.group.means is Assertion.HYPOTHETICAL
    if word in ("may", "might", "could"):
        return following == "not"
    if word == "?":
        return trigger.last >= len(s) or s.word(trigger.last) == LINE
    if word == "free" and following in ("and", "or"):
        return "survival" in s.words[trigger.last : trigger.last + 6]
    if word in ("past", "old", "remote"):
        return s.word(trigger.first - 1)[:1].isdigit()
    return False


def _side(s: Sentence, trigger: Trigger) -> Side:
    """Where what a phrase speaks of stands: "absent reflexes", "reflexes absent"."""
    before, after = trigger.first - 1, trigger.last
    while before >= 0 and (s.words[before].endswith("ly") or s.words[before] in ("also", "not")):
        before -= 1
    being = s.has(before, Word.BE)
    if s.words[trigger.first] == "denied":
        return "after" if being else "before"
    if (
        s.words[trigger.first] in ("ruled", "excluded")
        and not being
        and before >= 0
        and s.has(before, Word.VERB)
        and s.words[before] not in ("has", "have", "had")
    ):
        return "after"
    nothing_behind = (
        after >= len(s)
        or not s.is_word(after)
        or s.has(after, Word.PREPOSITION | Word.END | Word.LISTING | Word.VERB)
    )
    return "after" if being or nothing_behind else "before"


def _lists(s: Sentence, trigger: Trigger) -> bool:
    """Whether commas alone make a list behind a denial: where it opens its statement."""
    words = " ".join(s.words[trigger.first : trigger.last])
    if words in _LISTERS:
        return True
    before = trigger.first - 1
    if words == "without" or s.has(before, Word.PREPOSITION):
        return False
    return not s.has(_opening(s, trigger.first), Word.PREPOSITION | Word.END)


def _opening(s: Sentence, at: int) -> int:
    """Where the statement around a unit begins, as far as it is looked for."""
    lowest = max(0, at - FARTHEST)
    while at > lowest and s.words[at - 1] not in BREAKS and s.words[at - 1] not in QUOTES:
        at -= 1
    return at


def _relatives(s: Sentence) -> Iterator[tuple[Cue, list[int]]]:
    """What relatives have: "mother had breast cancer", "cancer in his father"."""
    lists = lexicon()
    for at, word in enumerate(s.words):
        if word.removesuffix("'s") not in lists.relatives:
            continue
        before, after = s.word(at - 1), at + 1
        while s.has(after, Word.AUXILIARY) and s.word(after) in (
            "also",
            "has",
            "been",
            "still",
            "is",
            "was",
        ):
            if (
                s.word(after) == "has"
                and s.word(after + 1) not in ("been",)
                and s.word(after + 1) not in lists.informing
            ):
                break
            after += 1
        if s.word(after) in lists.informing and s.word(after + 1) not in ("diagnosed", "positive"):
            continue
        own = before in (
            "his",
            "her",
            "their",
            "my",
            "patient's",
            "the patient's",
            "maternal",
            "paternal",
            "a",
        )
        if own and s.word(at - 2) == "in":
            yield Cue(Assertion.OTHER, s.starts[at], s.ends[at]), scopes.subject(s, at - 2)
            continue
        if before == "(" and s.word(after) == ")":
            yield Cue(Assertion.OTHER, s.starts[at], s.ends[at]), scopes.subject(s, at - 1)
            continue
        if before in lists.beside or (
            own and s.word(at - 2) in ("with", "by", "to", "for", "of", "from", "and")
        ):
            continue
        yield Cue(Assertion.OTHER, s.starts[at], s.ends[at]), _of_relative(s, after)


def _of_relative(s: Sentence, at: int) -> list[int]:
    """What is told of a relative: to the end of the statement or the patient's next mention."""
    found = []
    for i in range(at, min(len(s), at + FARTHEST)):
        if (
            s.words[i] in ("his", "her")
            and i > at
            and not s.has(i - 1, Word.PREPOSITION | Word.VERB)
        ):
            break
        if s.words[i] in (";", LINE, ".") or (
            s.words[i] in ("he", "she", "patient", "pt", "but", "i") and i > at + 1
        ):
            break
        if s.is_word(i):
            found.append(i)
    return found


def _asks(s: Sentence) -> bool:
    """Whether it is a question by its first word."""
    at = len(s) - 1
    return at > 0 and s.words[at] == "?" and s.words[_opening(s, at)] in lexicon().grammar.asking


def _asked(s: Sentence) -> Iterator[tuple[Cue, list[int]]]:
    """A question supposes nothing; a note's "pneumonia?" leaves it open."""
    at = len(s) - 1
    if at < 1 or s.words[at] != "?":
        return
    means = Assertion.HYPOTHETICAL if _asks(s) else Assertion.POSSIBLE
    begin = _opening(s, at)
    yield (
        Cue(means, s.starts[at], s.ends[at]),
        [i for i in range(begin, at) if s.is_word(i)],
    )


def _label(s: Sentence, label: Label, value: Sequence[Token]) -> Iterator[tuple[Cue, list[int]]]:
    """What the value says of its label, and the label of its value."""
    first = bisect_left(s.starts, label.name.start)
    stop = bisect_left(s.starts, label.name.end, first)
    if first >= stop:
        return
    said = answer(value)
    cue_at = (value[0].start, value[-1].end) if value else (label.name.end, label.name.end)
    if said == "no":
        yield Cue(Assertion.NEGATED, *cue_at), nouns(s, first, stop)[0]
    elif said in ("unknown", "short") and not label.loose:
        yield Cue(Assertion.UNKNOWN, *cue_at), list(range(first, stop))
    means = lexicon().heading_of.get(plain("".join(s.words[first:stop])))
    if means is not None and first not in s.at:
        begin = bisect_left(s.starts, label.value.start)
        end = bisect_left(s.starts, label.value.end, begin)
        yield Cue(means, *label.name), [i for i in range(begin, end) if s.is_word(i)]


def _holding(s: Sentence) -> Iterator[tuple[Cue, list[int]]]:
    """Words that hold their own denial: "afebrile"."""
    holding = lexicon().grammar.holding
    for at, word in enumerate(s.words):
        if word in holding and at not in s.at:
            yield Cue(Assertion.NEGATED, s.starts[at], s.ends[at]), [at]
