"""Sentences that take sides for and against one treatment in one condition. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from knowledge.works.conflicts import Kind as ConflictKind
from knowledge.works.conflicts import conflict_policy
from store.core.spans import Span
from workers.verify.conflicts import subjects
from workers.verify.conflicts.types import Conflict, Side, Witness

_WORD = re.compile(r"[^\W\d_]+")
LONGEST = 800
"""Code points of a sentence that is read; longer ones are lists run together."""
_CLAUSE = re.compile(
    r"[;:]\s|,\s(?:and|but|while|whereas|although)\s|\bthat\s|\bbut\s|\balthough\s"
)
_CONDITION = re.compile(
    r"(?i)\b(?:for(?: the)?(?: (?:\w+ )?(?:treatment|prevention|management|use) (?:of|in))?"
    r"|in|among|of"
    r"|as (?:a |the )?(?:first[ -]line )?(?:treatment|therapy|option|agent)? ?(?:for|in|of)"
    r"|to treat|to prevent|to reduce)\s+(?:the\s+|an?\s+)?"
)
_ACTIVE = re.compile(
    r"(?i)(?:recommend(?:s|ing)?|against|suggests?|approved|licensed|authori[sz]ed|avoid\w*|use of"
    r"|use|give|administer|prescribe)$"
)
_APPROVAL = re.compile(r"(?i)(?:approval|authori[sz]ation|licen[cs]e|clearance)$")
_PASSIVE = re.compile(r"(?i)\b(?:is|are|was|were|be|been)\b")
_THAT = re.compile(r"(?i)\s{0,40}that\s{1,40}")
_FRONTED = re.compile(
    r"(?is)\s{0,40}(?:in|for|among)\s{1,40}(?P<condition>[^,]{3,120}),\s{1,40}(?P<rest>.*)"
)
_OF = re.compile(r"(?i)\s{0,40}(?:of|to)\s{1,40}")
_NOT_BE = re.compile(r"(?i)\s(?<!\s\s)\s{0,40}(?:not\s{1,40})?(?:should\s{1,40})?be\b")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_AUXILIARIES = re.compile(
    r"(?i)^\s*+(?:the use of\s+)?"
    r"|(?<!\s)(?:\s{1,40}(?:is|are|was|were|has|have|be|been|not)){1,12}\s{0,40}$"
)
_NO_CONDITION = re.compile(
    r"(?i)^(?:first|second|third)[ -]line|^(?:this|these|the) (?:guideline|document|version|label)|"
    r"^(?:the )?(?:united states|european union|eu|us|u\.s\.|japan|canada|europe)\b|^(?:19|20)\d\d|"
    r"^(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)


@dataclass(frozen=True)
class Stance:
    """A side that a sentence takes: for or against the use or the approval of `subject`.

    `condition` is for whom or what, "" where it holds without condition.
    """

    witness: Witness
    sentence: Span
    family: Literal["use", "approval"]
    supports: bool
    subject: str
    condition: str

    @property
    def words(self) -> str:
        """The sentence."""
        return self.sentence.of(self.witness.text)

    def side(self) -> Side:
        """The sentence and what it amounts to."""
        verbs = {
            ("use", True): "recommends",
            ("use", False): "advises against",
            ("approval", True): "approved",
            ("approval", False): "not approved",
        }
        verb = verbs[self.family, self.supports]
        return Side(self.witness, self.sentence.start, self.sentence.end, verb)


def stances(witness: Witness, question: str) -> list[Stance]:
    """The sides that the sentences of a witness take on what is asked."""
    found = []
    telling = conflict_policy().takes_sides
    for span in witness.sentences:
        sentence = span.of(witness.text)
        held = sentence.lower().__contains__
        if len(sentence) > LONGEST or not any(map(held, telling)):
            continue
        read = _read(sentence)
        if read is not None and subjects.is_asked(f"{sentence}\n{witness.title}", question):
            family, supports, subject, condition = read
            found.append(Stance(witness, span, family, supports, subject, condition))
    return found


@lru_cache(maxsize=4096)
def _read(sentence: str) -> tuple[Literal["use", "approval"], bool, str, str] | None:
    """Family, side, subject and condition of a sentence; None: it takes no side."""
    policy = conflict_policy()
    if any(pattern.search(sentence) for pattern in policy.neutral):
        return None
    for family, supports in product(policy.stances, (False, True)):
        stance = policy.stances[family]
        for pattern in stance.for_ if supports else stance.against:
            cue = pattern.search(sentence)
            if cue is not None:
                return family, supports, *_around(sentence, cue)
    return None


def _around(sentence: str, cue: re.Match[str]) -> tuple[str, str]:
    """The subject and the condition of the words that take a side.

    "X is not recommended for Y": the subject stands before, in the same clause. "The panel
    recommends X for Y": it stands behind, up to the condition.
    """
    clauses = [match.end() for match in _CLAUSE.finditer(sentence, 0, cue.start())]
    before = sentence[clauses[-1] if clauses else 0 : cue.start()]
    begin = that.end() if (that := _THAT.match(sentence, cue.end())) else cue.end()
    stop = _CLAUSE.search(sentence, begin)
    behind = sentence[begin : stop.start() if stop else len(sentence)]
    condition = ""
    if fronted := _FRONTED.match(before):  # "In patients with Y, X is recommended"
        condition, before = fronted["condition"], fronted["rest"]
    if _is_active(cue.group().strip(), behind):
        subject, told = _object(behind)
        if subjects.content(subject):
            return _plain(subject), _plain(f"{condition} {told}")
    subject = _AUXILIARIES.sub("", before)
    inner = _CONDITION.search(subject)
    if inner and subjects.content(subject[: inner.start()]):  # "X for Y is recommended"
        condition = f"{condition} {subject[inner.end() :]}"
        subject = subject[: inner.start()]
    return _plain(subject), _plain(f"{condition} {behind}")


def _is_active(cue: str, behind: str) -> bool:
    """Whether the subject follows: "recommends X", "approval of X"; not "X was approved for Y"."""
    if _APPROVAL.search(cue):
        return _OF.match(behind) is not None
    return _ACTIVE.search(cue) is not None and not _PASSIVE.search(cue)


def _object(behind: str) -> tuple[str, str]:
    """What is recommended or approved, and for what: "[recommends] X for Y"."""
    start = opened.end() if (opened := _OF.match(behind)) else 0
    rest = behind[start:]
    if acted := _NOT_BE.search(rest):  # "that X be used in Y"
        return rest[: acted.start()], rest[acted.end() :]
    if _CONDITION.match(rest.lstrip()):
        return "", ""
    for found in _CONDITION.finditer(rest):
        named = subjects.content(rest[: found.start()])
        if named and not _NO_CONDITION.match(rest[found.end() :]):
            return rest[: found.start()], rest[found.end() :]
    return rest, ""


def _plain(words: str) -> str:
    """Without asides, on one line."""
    return " ".join(_ASIDE.sub(" ", words).split()).strip(" .,")


def contradictions(witnesses: Sequence[Witness], question: str) -> Iterator[Conflict]:
    """The conflicts between stances of different documents, unresolved as yet."""
    found = [one for witness in witnesses for one in stances(witness, question)]
    for one in (stance for stance in found if stance.supports):
        for other in (stance for stance in found if not stance.supports):
            if one.witness.document_id != other.witness.document_id and contradict(one, other):
                name = subject_of(one, other)
                sides = one.side(), other.side()
                yield Conflict(_kind(one, other), "opposite_stance", name, None, sides)


def contradict(one: Stance, other: Stance) -> bool:
    """Whether one speaks for what the other speaks against: the same, for the same."""
    if one.family != other.family or one.supports == other.supports:
        return False
    if not _same_subject(one, other) or _other_acts(one) != _other_acts(other):
        return False
    if subjects.doses(one.words) != subjects.doses(other.words):
        return False
    if subjects.opposed((one.words, one.witness.title), (other.words, other.witness.title)):
        return False
    if one.family == "approval" and _other_regulators(one, other):
        return False
    return _same_condition(one, other)


def _same_subject(one: Stance, other: Stance) -> bool:
    """By products, else by words; a title names what its sentence does not."""
    named = [one.subject, other.subject]
    if not all(subjects.content(name) for name in named):
        for place, stance in enumerate((one, other)):
            if not subjects.content(stance.subject):
                named[place] = stance.witness.title
    return subjects.same_thing(*named)


def _other_acts(stance: Stance) -> frozenset[str]:
    """What is done with the subject besides using it, in the words for it."""
    words = frozenset(_WORD.findall(stance.subject.lower()))
    return words & conflict_policy().other_acts


def _same_condition(one: Stance, other: Stance) -> bool:
    """Whether both hold for the same; one without condition is as wide as its title.

    A general "no" contradicts every "yes"; a general "yes" allows for exceptions.
    """
    supporting, opposing = (one, other) if one.supports else (other, one)
    a, b = (
        subjects.condition_words(supporting.condition),
        subjects.condition_words(opposing.condition),
    )
    if a and b:
        return subjects.same_condition(supporting.condition, opposing.condition)
    if b:
        return bool(subjects.diseases(opposing.condition)) and subjects.same_condition(
            supporting.witness.title, opposing.condition
        )
    wide = subjects.diseases(opposing.witness.title)
    told = subjects.diseases(supporting.condition or supporting.witness.title)
    return not (wide and told and wide.isdisjoint(told))


def _other_regulators(one: Stance, other: Stance) -> bool:
    a, b = regulators(one), regulators(other)
    return bool(a and b) and a.isdisjoint(b)


def regulators(stance: Stance) -> frozenset[str]:
    """Whose approval a stance is about: by its sentence, else by its publisher and title."""
    for words in (stance.words, f"{stance.witness.publisher or ''} {stance.witness.title}"):
        found = frozenset(
            name for name, pattern in conflict_policy().regulators.items() if pattern.search(words)
        )
        if found:
            return found
    return frozenset()


def _kind(one: Stance, other: Stance) -> ConflictKind:
    if one.family == "approval":
        return "approval"
    policy = conflict_policy()
    kinds = {one.witness.source_type, other.witness.source_type}
    between = kinds & policy.label_sources and kinds & policy.guideline_sources
    return "label_guideline" if between else "recommendation"


def subject_of(one: Stance, other: Stance) -> str:
    """What both speak of, by the shorter of their words for it."""
    named = [name for name in (one.subject, other.subject) if subjects.content(name)]
    return min(named, key=len) if named else one.witness.title
