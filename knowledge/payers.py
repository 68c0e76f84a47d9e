"""The payers that a question names and whose decision no other payer's can stand for. Pure.

Words: `populations.payers` of `answers.yaml`.
"""

import re
from functools import cache

from knowledge.loader import load
from knowledge.words import Mention, Words


def asks_on_coverage(question: str) -> bool:
    """Whether it asks what somebody pays for."""
    asked: str = load("answers")["populations"]["payers"]["asked"]
    return re.search(asked, question, re.IGNORECASE) is not None


def named(question: str) -> tuple[Mention, ...]:
    """Where it names such payers; of a question on something else nowhere."""
    return tuple(_strict().mentions(question)) if asks_on_coverage(question) else ()


def without_payers(question: str) -> str:
    """The question without their names: what others cover speaks to all of it but for whom it
    asks about, and is told so."""
    kept, last = [], 0
    for one in named(question):
        kept.append(question[last : one.start])
        last = one.end
    return "".join([*kept, question[last:]])


@cache
def _strict() -> Words:
    policy = load("answers")["populations"]["payers"]
    return Words({one: policy["names"][one] for one in policy["strict"]})
