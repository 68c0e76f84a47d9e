"""The payers that a question names and whose decision no other payer's replaces. Pure.

Words: `populations.payers` of `answers.yaml`.
"""

import re
from functools import cache

from knowledge.loader import load
from knowledge.matching.words import Mention, Words


def asks_on_coverage(question: str) -> bool:
    """True if the question asks what a payer covers."""
    pattern: str = load("questions/answers")["populations"]["payers"]["asked"]
    return re.search(pattern, question, re.IGNORECASE) is not None


def named(question: str) -> tuple[Mention, ...]:
    """The mentions of such payers; none if the question is not about coverage."""
    return tuple(_strict().mentions(question)) if asks_on_coverage(question) else ()


def without_payers(question: str) -> str:
    """The question without the payers' names: decisions of other payers answer all of it except
    the payer asked about, and the answer says so."""
    kept, last = [], 0
    for mention in named(question):
        kept.append(question[last : mention.start])
        last = mention.end
    return "".join([*kept, question[last:]])


@cache
def _strict() -> Words:
    policy = load("questions/answers")["populations"]["payers"]
    return Words({payer: policy["names"][payer] for payer in policy["strict"]})
