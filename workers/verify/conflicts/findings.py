"""Findings without a number that deny each other: "X lowered deaths", "X did not". Pure.

Only sentences that say nothing else are read, on one treatment, one outcome and one condition that
both tell: what an estimate shows is compared by its interval (`effects`), and in doubt there is no
conflict.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

from clinical_text.labels import body_of
from knowledge.loader import load
from knowledge.matching.literals import ignoring_case
from knowledge.works.conflicts import conflict_policy
from store.core.spans import Span
from workers.verify.conflicts import subjects
from workers.verify.conflicts.effects import outcome_name
from workers.verify.conflicts.types import Conflict, Side, Witness

_LONGEST = 300
_FRONTED = re.compile(
    r"(?i)^(?:in|among|for)\s+(?P<condition>[^,;:()]{3,120}),\s+(?P<rest>.+)$", re.S
)
_PARTS = re.compile(
    r"(?i)\s(?P<kind>in|among|for|(?:as )?compared (?:with|to)|versus|vs\.?|than|beyond)\s"
)
_CONDITION = ("in", "among", "for")
_NO_STATEMENT = re.compile(r"[;:()%]|(?<![\w-])\d")
# Behind these the verb is a participle: "was reduced", "an increased risk".
_PARTICIPLE = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|being|an?|the|with|for|of|and|or)(?:\s\w+ly)?$"
)


@dataclass(frozen=True)
class Read:
    """What a sentence says: `subject` lowers or raises (`lowers`) `outcome`, or does not."""

    subject: str
    outcome: str
    condition: str
    against: str
    lowers: bool
    denied: bool


@dataclass(frozen=True)
class Finding:
    """A sentence of a witness, read."""

    witness: Witness
    sentence: Span
    read: Read

    @property
    def words(self) -> str:
        """The sentence."""
        return self.sentence.of(self.witness.text)

    def side(self) -> Side:
        """The sentence and what it amounts to."""
        one = self.read
        verb = ("does not lower" if one.lowers else "does not raise") if one.denied else ""
        verb = verb or ("lowers" if one.lowers else "raises")
        return Side(self.witness, self.sentence.start, self.sentence.end, f"{verb} {one.outcome}")


def findings(witness: Witness, question: str) -> list[Finding]:
    """The findings of a witness on what is asked that are told without a number."""
    found = []
    for span in witness.sentences:
        sentence = span.of(witness.text)
        if len(sentence) > _LONGEST or not any(map(ignoring_case(sentence).__contains__, _verbs())):
            continue
        read = read_finding(sentence)
        if read and subjects.is_asked(f"{sentence}\n{witness.title}", question):
            found.append(Finding(witness, span, read))
    return found


def contradictions(witnesses: Sequence[Witness], question: str) -> Iterator[Conflict]:
    """The conflicts between findings of different documents, unresolved as yet."""
    found = [one for witness in witnesses for one in findings(witness, question)]
    for one, other in combinations(found, 2):
        if one.witness.document_id != other.witness.document_id and contradict(one, other):
            sides = one.side(), other.side()
            subject = min(one.read.subject, other.read.subject, key=len)
            yield Conflict("effect", "opposite_direction", subject, one.read.outcome, sides)


def contradict(one: Finding, other: Finding) -> bool:
    """Whether one says what the other denies, or the opposite, of the same in the same."""
    a, b = one.read, other.read
    if a.outcome != b.outcome or not _deny(a, b):
        return False
    if not (subjects.same_thing(a.subject, b.subject) and _same_against(a, b)):
        return False
    if not subjects.same_condition(a.condition, b.condition):
        return False
    if subjects.opposed((one.words, one.witness.title), (other.words, other.witness.title)):
        return False
    around = (f"{one.words}\n{one.witness.title}", f"{other.words}\n{other.witness.title}")
    times = subjects.times(around[0]), subjects.times(around[1])
    return not subjects.other_doses(*around) and not (all(times) and times[0].isdisjoint(times[1]))


def _deny(one: Read, other: Read) -> bool:
    if one.lowers == other.lowers:
        return one.denied != other.denied
    return not one.denied and not other.denied


def _same_against(one: Read, other: Read) -> bool:
    return not (one.against and other.against) or subjects.same_thing(one.against, other.against)


@lru_cache(maxsize=4096)
def read_finding(sentence: str) -> Read | None:
    """What the sentence finds; None: nothing, or more than that."""
    words = " ".join(body_of(sentence).split()).strip(" .")
    verb = _verb().search(words)
    if verb is None or _NO_STATEMENT.search(words):
        return None
    condition = ""
    if fronted := _FRONTED.match(words):
        condition, words = fronted["condition"], fronted["rest"]
        verb = _verb().search(words)
    if verb is None or "," in words or _verb().search(words, verb.end()):
        return None
    subject = words[: verb.start()]
    if _PARTICIPLE.search(subject):
        return None
    parts = _PARTS.split(words[verb.end() :])
    told = {"condition": [condition], "against": [""]}
    for kind, part in zip(parts[1::2], parts[2::2], strict=True):
        told["condition" if kind.lower() in _CONDITION else "against"].append(part)
    condition = " ".join(filter(None, told["condition"]))
    if _hedged().search(words) or not subjects.content(subject) or not condition:
        return None
    lowers = (verb["base"] or verb["said"]).lower().startswith(conflict_policy().findings.lowers)
    against = " ".join(filter(None, told["against"]))
    outcome = outcome_name(_risk().sub("", parts[0].strip()))
    if not outcome.endswith(_heads()):
        return None
    return Read(subject, outcome, condition, against, lowers, verb["base"] is not None)


@cache
def _verbs() -> tuple[str, ...]:
    """One of these is in whatever `_verb` finds; looked for first, because that is quick."""
    policy = conflict_policy().findings
    return (*policy.lowers, *policy.raises)


@cache
def _verb() -> re.Pattern[str]:
    bases = "|".join(map(re.escape, _verbs()))
    return re.compile(
        r"(?i)\s(?:(?:did|does|do|has|have) not|failed to)\s(?:significantly\s)?"
        rf"(?P<base>{bases})d?(?:ed)?(?:\ssignificantly)?\s"
        rf"|\s(?:significantly\s)?(?P<said>(?:{bases})(?:s|d|ed))(?:\ssignificantly)?\s"
    )


@cache
def _heads() -> tuple[str, ...]:
    """The last words of what can happen to a patient."""
    return tuple(load("reading/effects")["outcomes"]["heads"])


@cache
def _risk() -> re.Pattern[str]:
    return re.compile(r"(?i)^(?:the\s+)?(?:(?:risk|rate|incidence|odds)s?\s+of\s+)?(?:the\s+)?")


@cache
def _hedged() -> re.Pattern[str]:
    """Words of those who tell of others' findings, or are not sure of their own."""
    return re.compile(rf"(?i)\b(?:{'|'.join(conflict_policy().findings.told_by_others)})\b")
