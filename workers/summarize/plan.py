"""The plan of a note: recommendations among the assessment items, ordered, with a confidence. Pure.

A recommendation is an assessment item, or words of one, and inherits its citation: so what it says
stands in the span that it cites (clinical notes seed, citation rule 4).
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from clinical_text.assertion.marks import Assertion
from clinical_text.doc import doc
from knowledge.documents.notes import plan_policy, section_policy
from knowledge.subjects.drugs import drugs_at
from workers.summarize.cautions import addressed, named_in, opposed_words, tells_of_a_reaction
from workers.summarize.forms import EMPTY_BOX, TICKED_BOX
from workers.summarize.items import Item, folded
from workers.summarize.names import BRACKETS, kind_of, names_only, plain
from workers.summarize.persons import introduces, is_of_a_relative

_IF = re.compile(r"\bif\b")
_SEEK = re.compile(r"\b(?:seek|present to|return|go to|call)\b")
_SEEK_BEHIND = re.compile(r"\b(?:seek|return|call)\b")
_MAY = re.compile(
    r"\b(?:in|by|until|since|from|on|early|mid|late|of|\d{1,2}(?:st|nd|rd|th)?)[ -]May\b|\bMay \d"
)
"""The month."""
_MARK = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
"""A mark of an export or of the end of a report: nothing but words in brackets."""
_VALUE = re.compile(r"[^\W\d_]{1,12}\s+\d+(?:[.,]\d+)?")
"""A name and its value alone: "K 6.1". Of a drug it is a dose."""
_OPEN_ACTS = ("order", "medicine", "finding", "result")
"""What a line of a plan may seem to do that is meant as a step: "Chest X-ray"."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Words of an assessment item, how sure it is that they recommend, and why not surer."""

    item: Item
    text: str
    confidence: float
    note: str | None

    def as_body(self, number: int) -> dict[str, object]:
        """The five fields of a recommendation (seed, "Plan Generation Prompt Schema")."""
        return {
            "number": number,
            "recommendation": self.text,
            "source": self.item.source,
            "confidence": self.confidence,
            "hallucination_guard_note": self.note,
        }


def recommendations(text: str, items: Sequence[Item]) -> list[Recommendation]:
    """What the rules take for recommendations, the most urgent first, else in the note's order.

    A plan may name the problems again, over what is done for each: those are none.
    """
    problems = {
        folded(item.text_in(text))
        for item in items
        if item.kind != "plan"
        and item.list in ("key_problems", "assessment")
        and item.act.name != "order"
    }
    opposed, notes = opposed_words(text, items), plan_policy().notes
    doubted = dict.fromkeys(_boxed(text, items), notes.boxes)
    doubted |= dict.fromkeys(addressed(text, items), notes.addressed)
    unsure = {
        (one.start, one.end)
        for one in items
        if one.divider and one.act.order < plan_policy().planned
    }
    found = [
        one
        for item in items
        if item.list == "assessment"
        and not _is_past(text, item)
        and (one := _read(text, item, opposed, doubted.get(item), unsure)) is not None
        and folded(one.text) not in problems
    ]
    return sorted(found, key=lambda one: urgency(one.text))


def urgency(words: str) -> int:
    """0: now; 1: between; 2: routine, or only if something happens."""
    policy, lower = plan_policy(), words.lower()
    if any(map(_is_a_caution, lower.split("\n"))):
        return 2
    if policy.has("urgent", words) and not policy.has("withheld", words):
        return 0
    return 2 if policy.has("routine", words) else 1


def _is_a_caution(line: str) -> bool:
    """Whether a line says to seek help if something happens, in either order."""
    conditions = [one.start() for one in _IF.finditer(line)]
    if not conditions:
        return False
    sought = _SEEK.search(line)
    if sought is not None and sought.end() <= conditions[-1]:
        return True
    return _SEEK_BEHIND.search(line, conditions[0]) is not None


def guarded(confidence: float, note: str | None) -> tuple[float, str | None]:
    """The confidence to two places, with a note exactly where it is below the threshold."""
    policy = plan_policy()
    sure = round(min(1.0, max(0.0, confidence)), 2)
    if sure >= policy.guard_below:
        return sure, None
    return sure, note or policy.notes.model


def _boxed(text: str, items: Sequence[Item]) -> list[Item]:
    """The items of a plan with a box before them, where some are ticked and some are not."""
    planned = [one for one in items if one.kind in ("plan", "assessment_plan")]
    ticked, empty = (
        [one for one in planned if box.match(text, one.start, one.end)]
        for box in (TICKED_BOX, EMPTY_BOX)
    )
    return [*ticked, *empty] if ticked and empty else []


def _is_past(text: str, item: Item) -> bool:
    """Whether a line above an entry says that it is over: `Used to have:`."""
    words = item.text_in(text)
    for start, end in item.over:
        said = f"{text[start:end].rstrip(':')}: "
        marks = doc(said + words).reading(len(said), len(said) + len(words)).marks
        if Assertion.HISTORICAL in marks:
            return True
    return False


def _read(
    text: str,
    item: Item,
    opposed: frozenset[str],
    doubted: str | None,
    unsure: Set[tuple[int, int]],
) -> Recommendation | None:
    words = item.text_in(text)
    told = None if item.earlier else _told(item, words, unsure=bool(unsure & set(item.over)))
    if told is None:
        return None
    base, note = told
    policy, sure = plan_policy(), plan_policy().confidence
    if doubted is not None:
        base, note = base - sure.withheld, doubted
    elif policy.has("withheld", words):
        base, note = base - sure.withheld, policy.notes.withheld
    elif opposed & named_in(words) and not policy.has("turned", words):
        base, note = base - sure.withheld, policy.notes.opposed
    elif any(_turns(text[start:end]) for start, end in item.over):
        base, note = base - sure.withheld, policy.notes.turned
    elif policy.has("conditional", _MAY.sub(" ", words)):
        base = min(base - sure.conditional, sure.inferred)
        note = policy.notes.conditional
    return Recommendation(item, words, *guarded(base, note))


def _told(item: Item, words: str, *, unsure: bool) -> tuple[float, str | None] | None:
    """How surely words are a step by where they stand and what they do; None: they are none.

    Args:
        unsure: whether a line above them may not head orders: `Given up:`.
    """
    policy, sure = plan_policy(), plan_policy().confidence
    if item.divider and not _is_an_order(words):
        return None
    order = item.act.order
    tells = policy.has("taken_back", words) or tells_of_a_reaction(words)
    if _VALUE.fullmatch(words) and not drugs_at(words):
        return None
    if is_of_a_relative(words) or (tells and order < policy.certain) or _MARK.fullmatch(words):
        return None
    if item.kind == "plan":
        planned = item.act.step >= policy.planned
        open_ = item.act.name in _OPEN_ACTS and item.act.step >= policy.unlikely
        if not planned and not open_ and (introduces(words) or not drugs_at(words)):
            return None
        base, note = (sure.plan, None) if planned else (sure.plan_doubted, policy.notes.statement)
    elif order < (policy.planned if item.kind == "assessment_plan" else policy.likely):
        return None
    elif item.kind == "assessment_plan" or (order >= policy.certain and not unsure):
        base, note = sure.ordered, None
    else:
        base, note = sure.inferred, policy.notes.assessment
    if item.inferred and note is None:
        return min(base, sure.inferred), policy.notes.inferred
    return base, note


def _is_an_order(words: str) -> bool:
    """Whether a line over others says by itself what is to be done: no name, and no "Start:"."""
    policy = section_policy()
    if _is_a_part(words) or plain(words) in policy.dividers or kind_of(words) == "plan":
        return False
    if words.endswith(":") and len(words.split()) > policy.divider_words:
        return True
    incomplete = words.endswith(":") and not any(map(str.isdigit, words))
    return plan_policy().has("actions", words) and not incomplete


def _turns(words: str) -> bool:
    """Whether a line over an entry may turn it; "Plan (in no order)" does not."""
    return not _is_a_part(words) and plan_policy().turns(words)


def _is_a_part(words: str) -> bool:
    bare = BRACKETS.sub(" ", words)
    return bare.strip() != words and names_only(bare)
