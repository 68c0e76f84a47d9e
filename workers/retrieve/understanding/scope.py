"""Whether a question is on medicine at all (invariant 9: `out_of_scope`). Pure."""

import re
from functools import cache

from knowledge.drugs import drugs
from knowledge.loader import load
from knowledge.products import products
from store.index.terms import term_set

_WORD = re.compile(r"[^\W\d_]+")


@cache
def _clinical() -> re.Pattern[str]:
    policy = load("questions")["clinical"]
    words = "|".join(map(re.escape, policy["words"]))
    return re.compile(rf"(?i)\b(?:{words})\b|\b\w+(?:{'|'.join(policy['endings'])})\b")


def names_something(question: str) -> bool:
    """Whether it is on anything in particular, beside words of asking and of every day."""
    words = " ".join(one for one in _WORD.findall(question) if len(one) > 2 or not one.isascii())
    return not term_set(words) <= _everyday()


@cache
def _everyday() -> frozenset[int]:
    policy = load("questions")
    return term_set(" ".join((*policy["everyday"], *policy["asking_words"])))


def speaks_of_medicine(question: str) -> bool:
    """Whether a word of the question is of medicine: a known drug or test, a word of clinical
    research, an identifier of a work, or a word built as medical words are."""
    identifiers = load("questions")["identifiers"]
    named = products(question) or drugs(question) or re.search(identifiers, question, re.IGNORECASE)
    return bool(named or _clinical().search(question))
