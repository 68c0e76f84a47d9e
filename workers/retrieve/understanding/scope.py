"""Whether a question is on medicine at all (invariant 9: `out_of_scope`). Pure."""

import re
from functools import cache

from knowledge.loader import load
from knowledge.products import products


@cache
def _clinical() -> re.Pattern[str]:
    policy = load("questions")["clinical"]
    words = "|".join(map(re.escape, policy["words"]))
    return re.compile(rf"(?i)\b(?:{words})\b|\b\w+(?:{'|'.join(policy['endings'])})\b")


def speaks_of_medicine(question: str) -> bool:
    """Whether a word of the question is of medicine: a known drug or test, a word of clinical
    research, an identifier of a work, or a word built as medical words are."""
    named = products(question) or re.search(load("questions")["identifiers"], question)
    return bool(named or _clinical().search(question))
