"""What of a claim and its passage is compared at all. Pure."""

import math
import re
from collections import Counter
from dataclasses import replace

from knowledge.answering.judging import judging_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read

_REFERENCE = re.compile(r"(?i)\[\s*see\s[^\[\]]{1,300}\]")
"""Where a label sends its reader: "[see Warnings and Precautions (5.1)]" """
_END = re.compile(r"[.!?;:\n]")
_LONGEST = 4000
"""Characters of a claim or a passage that are compared (ours: 3 of 10,000 sentences of our real
texts have more than 1,100)."""
_MOST_WORDS = 100_000
_MOST_SENTENCES = 150
"""Words, and sentences, of a claim times those of its passage: each meets each (ours)."""


def too_much(claim: str, grounds: Grounds) -> Finding | None:
    """What says that the two are too long to be compared: what is not compared does not pass."""
    both = claim, grounds.passage
    if max(map(len, both)) <= _LONGEST:
        # Seen at once: a word has two characters and more, and a sentence ends somewhere.
        ends = math.prod(1 + len(_END.findall(text)) for text in both)
        if ends <= _MOST_SENTENCES and math.prod(map(len, both)) <= 4 * _MOST_WORDS:
            return None
        said, source = read(claim), read(grounds.passage)
        words = max(map(len, said.sentences), default=0) * max(
            map(len, source.sentences), default=0
        )
        if words <= _MOST_WORDS and len(said.sentences) * len(source.sentences) <= _MOST_SENTENCES:
            return None
    return Finding("too_long", "the claim or its passage is too long to be compared", unsaid=True)


_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_ALMOST = 0.85
"""Share of its words that its passage has by which a claim is almost its passage. Ours: at the same
share of false claims it costs no more true ones than 0.9 does, and more than 0.8."""


_SEEN = 1000
"""Characters of a passage that the verifier sees beside a claim (ours: of 317 tokens). Of a longer
one it reads a part, of which it is sure too easily (docs/verification.md)."""


def is_own_wording(claim: str, passage: str) -> bool:
    """Whether a claim is worded as those are on which the verifier was measured: a sentence, not a
    label with its value, not too short, and not almost its passage, for which the sentence itself
    can be shown; and beside a passage of which it sees the whole."""
    said = read(claim)
    content = sum(token.content for token in said.tokens)
    return (
        content >= judging_policy().least_words
        and not any(label.name.start == 0 for label in said.doc.labels)
        and len(passage) <= _SEEN
        and not is_almost(claim, passage)
    )


def is_almost(claim: str, passage: str) -> bool:
    """Whether a claim is its passage but for a word here and there: what is cut out, put in or put
    elsewhere may turn it, and of such changes the verifier sees least."""
    ours, theirs = (Counter(_WORD.findall(text.lower())) for text in (claim, passage))
    return (ours & theirs).total() >= _ALMOST * ours.total()


def without_references(claim: str, grounds: Grounds) -> tuple[str, Grounds]:
    """Both without the references of the passage to other sections, which say nothing of what it
    tells; a reference of the claim's own is a part of the claim."""
    found = _REFERENCE.findall(grounds.passage)
    if not found:
        return claim, grounds
    for one in found:
        claim = claim.replace(one, " ").replace(" ".join(one.split()), " ")
    return claim, replace(grounds, passage=_REFERENCE.sub(" ", grounds.passage))


def is_quoted_whole(claim: str, passage: str) -> bool:
    """Whether `claim` is, character for character, one or more whole sentences of `passage`."""
    if claim == passage:
        return any(map(str.isalnum, claim))  # it has words
    at = passage.find(claim)
    if at < 0 or passage[at + len(claim) :].lstrip()[:1] == "?":
        return False  # a question is not quoted without its mark
    ours, source = read(claim).tokens, read(passage)
    if not ours:
        return False
    begins = {source.tokens[members[0]].start for members in source.sentences}
    ends = {source.tokens[members[-1]].end for members in source.sentences}
    return at + ours[0].start in begins and at + ours[-1].end in ends
