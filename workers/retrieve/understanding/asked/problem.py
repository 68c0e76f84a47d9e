"""Which of the conditions that a question names it is about, and which it only mentions. Pure.

What is asked about comes before what is told; of what is told, why help is sought before the other
troubles of a patient. What is denied, a relative's or to be left out is none of them.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from knowledge.loader import load
from workers.retrieve.understanding.asked.names import Kind, Named
from workers.retrieve.understanding.asked.places import Places
from workers.retrieve.understanding.sentences import Sentence

_KINDS: Mapping[Kind, float] = {"condition": 1.5, "other": 0.0, "drug": -1.0}
_LOOK = 120
"""Code points before and behind a condition that say how it is told."""


@cache
def _frames() -> dict[str, re.Pattern[str]]:
    policy = load("asked")["conditions"]
    return {
        name: re.compile(policy[name], re.IGNORECASE)
        for name in ("sought", "found", "beside", "treated", "outcome_before", "outcome_behind")
    }


def problem(question: str, names: Sequence[Named], sentences: Sequence[Sentence]) -> Named | None:
    """The name of what `question` is about; None where it names nothing.

    Args:
        names: those of the question that it asserts of the patient or asks about.
        sentences: those of the question.
    """
    parts = [one for one in sentences if one.asks] or sentences
    asking = Places((one.start, one.end) for one in parts)
    best: tuple[float, int, Named] | None = None
    for one in names:
        asked = asking.meet(one.start, one.end)
        worth = _worth(question, one, asked=asked)
        if best is None or (worth, -one.start) > best[:2]:
            best = (worth, -one.start, one)
    return best[2] if best else None


def _worth(question: str, one: Named, *, asked: bool) -> float:
    before = question[max(0, one.start - _LOOK) : one.start]
    behind = question[one.end : one.end + _LOOK]
    frames = _frames()
    worth = _KINDS[one.kind] + 2.0 * asked + 0.5 * one.text.isupper()
    if frames["beside"].search(before):
        worth -= 2.5
    elif frames["found"].search(before):
        worth += 2.0
    elif frames["sought"].search(before):
        worth += 1.0
    if not asked and frames["treated"].search(behind):
        worth -= 1.5
    if frames["outcome_before"].search(before) or frames["outcome_behind"].search(behind):
        worth -= 1.0
    return worth
