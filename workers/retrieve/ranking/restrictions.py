"""Passages that only say "not outside a trial": no answer on trials (MC-1.4). Pure."""

import re
from functools import cache

from knowledge.answering.policy import retrieval_policy


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    given = retrieval_policy().restrictions.patterns
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in given)


def restricts(text: str) -> bool:
    """Whether `text` confines something to clinical trials."""
    return any(pattern.search(text) for pattern in _patterns())


def demotion(text: str, query_type: str) -> float:
    """What a passage loses of its score for a question of this type, 0 or more."""
    policy = retrieval_policy().restrictions
    return policy.demotion if query_type in policy.demoted_for and restricts(text) else 0.0
