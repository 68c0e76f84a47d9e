"""What goes together is not thereby cause and effect. Pure."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from knowledge.guards.meaning import cause_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import Phrasebook, drawn_from, read


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """A word of cause in the claim in the place of a word of association in every sentence that it
    may be drawn from. Empty: no veto, which is no support."""
    said, source = read(claim), read(grounds.passage)
    for members in said.sentences:
        words = [said.words[i] for i in members]
        if not _causes().find(words):
            continue
        content = [i for i in members if said.tokens[i].content]
        theirs = [
            [source.words[i] for i in source.sentences[one]]
            for one in drawn_from(said, content, source)
        ]
        ours, linked = _named(words), len(_associations().find(words))
        if theirs and all(
            ours - _named(one) and len(_associations().find(one)) > linked for one in theirs
        ):
            return [Finding("cause", "the passage states an association, the claim a cause")]
    return []


def _named(words: Sequence[str]) -> Counter[str]:
    return Counter(name for _, _, name in _causes().find(words))


@cache
def _causes() -> Phrasebook[str]:
    return Phrasebook([(phrase, phrase) for phrase in cause_policy().cause])


@cache
def _associations() -> Phrasebook[None]:
    return Phrasebook([(phrase, None) for phrase in cause_policy().association])
