"""A question's short forms, spelled out as sources write them: "DFS in ctDNA+ pts". Pure.

What is searched for and looked for is the question so spelled; what is told of it stays as asked.
Forms: `shorthand` of knowledge/questions/questions.yaml.
"""

import re
from functools import cache

from knowledge.loader import load


def spelled_out(question: str) -> str:
    """The question with its short forms written out, those that can mean one thing only."""
    for written, means in _forms():
        question = written.sub(means, question)
    return question


@cache
def _forms() -> list[tuple[re.Pattern[str], str]]:
    """Without regard to case, but for a pattern that is `as_written`."""
    return [
        (re.compile(one["written"], 0 if one.get("as_written") else re.IGNORECASE), one["means"])
        for one in load("questions/questions")["shorthand"]
    ]
