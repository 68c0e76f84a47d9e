"""How a sentence points back at what was said before it. Pure."""

from collections.abc import Sequence
from enum import IntEnum

from knowledge.meaning import content_policy
from workers.verify.guards.statements import Statement

_HEAD = 4
"""Words at the head of a sentence among which it points back (ours)."""


class Pointing(IntEnum):
    """How a sentence begins."""

    NOT = 0
    WITH_NOUN = 1
    """ "These mice", "both drugs": the noun is what it speaks of."""
    ALONE = 2
    """ "It", "they", "this trial": what it speaks of is named elsewhere."""


def points(passage: Statement, members: Sequence[int]) -> tuple[Pointing, Sequence[int]]:
    """How the sentence at `members` points back, and where what it speaks of begins in it."""
    policy = content_policy().close
    for at, i in enumerate(members[:_HEAD]):
        word = passage.words[i]
        if word in policy.prepositions:
            return Pointing.NOT, members
        if word == "that" and at and passage.tokens[members[at - 1]].content:
            continue  # "studies show that": it joins, and points at nothing
        if word in policy.pronouns:
            return Pointing.ALONE, members
        if word in policy.pointers:
            after = members[at + 1 : at + 2]
            token = passage.tokens[after[0]] if after else None
            alone = token is None or not token.content or token.frame
            return (Pointing.ALONE if alone else Pointing.WITH_NOUN), members[at + 1 :]
    return Pointing.NOT, members
