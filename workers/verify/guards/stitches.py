"""Whether a claim runs two sentences into one. Pure.

"A rose in mice. B fell in rats." does not say that A fell in rats. A claim is drawn from one
sentence of its passage; what it has from another one is told by runs of words that stand so only
there. What a sentence only points at ("it rose") may be named by the words that open the sentence
before it.
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import pairwise

from knowledge.meaning import content_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import Statement, read

_HEAD = 4
"""Words at the head of a sentence among which it points back (ours)."""
_OPENING = 6
"""Words of content, before a verb, that name what the next sentence points back at (ours)."""
_JOINS = frozenset(["of", "and", "or", "with", "in", "for", "to", "the", "a", "an"])
_RUN = 3
"""So many words on end, one of them of content, are a run of a sentence (ours)."""


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


def pointer(text: Statement, members: Sequence[int]) -> str:
    """The word with which the sentence at `members` begins to point back; "" if it does not.

    What comes after a word of content points at that ("the study found that it").
    """
    policy = content_policy().close
    for i in members[:_HEAD]:
        word, token = text.words[i], text.tokens[i]
        if word in policy.prepositions or token.content or token.frame:
            return ""
        if word in policy.pronouns or word in policy.pointers:
            return word
    return ""


def opening(grounds: Grounds, members: Sequence[int]) -> frozenset[str]:
    """The stems that open the sentence before the one at `members`, where that is in the passage;
    those that open what is around the passage otherwise."""
    source = read(grounds.passage)
    number = source.tokens[members[0]].sentence if members else 0
    text, at = (source, number - 1) if number else (read(grounds.neighbours), 0)
    if at >= len(text.sentences):
        return frozenset()
    found: list[str] = []
    for i in text.sentences[at]:
        token = text.tokens[i]
        verb = token.word.endswith("ed") or not (token.content or token.word in _JOINS)
        if len(found) == _OPENING or (found and verb):
            break
        found += [token.stem] if token.content else []
    return frozenset(found)


def stitched(
    said: Statement,
    members: Sequence[int],
    source: Statement,
    drawn: Sequence[int],
    grounds: Grounds,
    lead: int,
) -> Iterator[Finding]:
    """Runs of the claim's sentence at `members` that only another sentence of the passage has.

    Args:
        drawn: the places of the words of the sentence that the claim is drawn from.
        lead: how many words of content at its head may be another sentence's.
    """
    here = _runs(source, drawn)
    elsewhere = {
        run
        for places in source.sentences
        if drawn and places[0] != drawn[0]
        for run in _runs(source, places)
    }
    title = _pairs(read(grounds.title))
    content = [i for i in members if said.tokens[i].content]
    own = [i for i in members if lead == 0 or (len(content) > lead and i >= content[lead])]
    for run in _runs_in_order(said, own):
        if run in elsewhere and run not in here and run not in title:
            yield Finding("closeness", f"“{' '.join(run)}” is said in another sentence")
            return


def _runs(text: Statement, places: Sequence[int]) -> set[tuple[str, ...]]:
    return set(_runs_in_order(text, places))


def _runs_in_order(text: Statement, places: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Each pair of neighbouring words of content, each three words with one of content."""
    for at, i in enumerate(places):
        run = places[at : at + _RUN]
        if len(run) == _RUN and any(_tells(text, j) for j in run):
            yield tuple(text.words[j] for j in run)
        pair = places[at : at + 2]
        if len(pair) == 2 and _tells(text, i) and _tells(text, pair[1]):
            yield tuple(text.stems[j] for j in pair)


def _pairs(text: Statement) -> set[tuple[str, ...]]:
    return {
        (text.stems[i], text.stems[j])
        for i, j in pairwise(range(len(text.tokens)))
        if _tells(text, i) and _tells(text, j)
    }


def _tells(text: Statement, i: int) -> bool:
    token = text.tokens[i]
    return token.content and not token.frame and not token.word[0].isdigit()
