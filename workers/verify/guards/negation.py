"""What the passage asserts the claim must assert alike. Pure.

The reading is that of `clinical_text.doc`. A word that one text denies must not stand as plain fact
in the other, nor what one only supposes, looks for or tells of somebody else.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from clinical_text.assertion.lexicon import lexicon
from clinical_text.assertion.marks import Assertion
from knowledge.guards.meaning import direction_policy, negation_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import (
    SAME_WORD,
    Phrasebook,
    Statement,
    nearest,
    read,
    stem_of,
)


@dataclass(frozen=True)
class Negations:
    """Of each token of a text: whether it is negated at all, and whether it heads what is.

    `odd` counts cues: a word that two of them reach is affirmed. `stems` are those of the negated
    words, which stand for the plain word ("ineffective" for "effective").
    """

    odd: tuple[bool, ...]
    heads: frozenset[int]
    stems: tuple[str, ...]
    words: tuple[str, ...]
    denying: frozenset[int]
    """Sentences in which anything is denied, or told to be left undone: what denies too may say the
    same in other words."""
    turned: frozenset[int]
    """Clauses that a denial turns round."""

    def places(self, stem: str, *, negated: bool) -> list[int]:
        """Where `stem` stands negated, or where not."""
        return [i for i, s in enumerate(self.stems) if s == stem and self.odd[i] is negated]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Words that one text negates and the other states. Empty: no veto, which is no support."""
    said, source = read(claim), read(grounds.passage)
    ours, theirs = negations(said), negations(source)
    findings = _added(said, ours, source, theirs, grounds)
    findings += _lost(said, ours, source, theirs)
    return list(dict.fromkeys(findings))


def _added(
    said: Statement, ours: Negations, source: Statement, theirs: Negations, grounds: Grounds
) -> list[Finding]:
    """Heads of the claim's negations that the passage does not negate."""
    findings = []
    denies = any(theirs.odd) or not negation_policy().shunning.isdisjoint(source.words)
    for i in sorted(ours.heads):
        stem = ours.stems[i]
        negated = nearest(said, i, source, theirs.places(stem, negated=True))
        plain = nearest(said, i, source, theirs.places(stem, negated=False))
        if negated < 0 and plain < 0 and (stem in directed_stems() or denies):
            continue  # another word for it: the direction and content guards read that
        if negated < 0 and plain < 0 and stem in _denied_near(grounds):
            continue  # the heading says for whom: "patients without ..."
        places = theirs.places(stem, negated=False)
        if _is_shunned(source, places) or _is_freed(source, places):
            continue
        if plain >= 0 and _all_turned(source, theirs, places):
            continue  # the same in other words: "X was not significant", "no significant X"
        if negated < plain or negated < 0:
            detail = f"the claim negates “{said.words[i]}”, the passage does not"
            stated = any(source.tokens[j].sentence not in theirs.denying for j in places)
            findings.append(Finding("negation", detail, unsaid=not stated))
    return findings


def _all_turned(text: Statement, read: Negations, places: Sequence[int]) -> bool:
    """Whether each of these stands in a clause with a denial."""
    return all(text.tokens[i].clause in read.turned for i in places)


def _is_shunned(source: Statement, places: Sequence[int]) -> bool:
    """Whether each of these stands in a clause that tells to avoid something."""
    tokens, shunning = source.tokens, negation_policy().shunning
    shunned = {one.clause for one in tokens if one.word in shunning}
    return bool(places) and all(tokens[i].clause in shunned for i in places)


def _is_freed(source: Statement, places: Sequence[int]) -> bool:
    """Whether each of these stands in the name of its absence ("recurrence-free survival")."""
    return bool(places) and all(source.words[i + 1 : i + 2] == ("free",) for i in places)


def _denied_near(grounds: Grounds) -> frozenset[str]:
    near = negations(read(grounds.neighbours))
    return frozenset(near.stems[i] for i in near.heads)


def _lost(said: Statement, ours: Negations, source: Statement, theirs: Negations) -> list[Finding]:
    """Heads of the passage's negations that the claim states as fact."""
    findings = []
    for stem in {theirs.stems[j] for j in theirs.heads}:
        heads = [j for j in theirs.heads if theirs.stems[j] == stem]
        others = [j for j, s in enumerate(theirs.stems) if s == stem and j not in theirs.heads]
        for i in ours.places(stem, negated=False):
            if said.tokens[i].clause in ours.turned:
                continue
            plain = max(SAME_WORD, nearest(said, i, source, others)) if others else -1.0
            if nearest(said, i, source, heads) > plain:
                detail = f"the passage negates “{said.words[i]}”, the claim does not"
                findings.append(Finding("negation", detail, unsaid=bool(ours.denying)))
    return findings


@lru_cache(maxsize=64)
def negations(text: Statement) -> Negations:
    """What `text` negates."""
    tokens, holding = text.tokens, lexicon().grammar.holding
    stems = list(text.stems)
    odd, denying, turned = [False] * len(tokens), set[int](), set[int]()
    for members in text.sentences:
        number = text.doc.sentence_at(tokens[members[0]].start)
        starts = [tokens[i].start for i in members]
        for cue, _ in text.doc.marks_of(number).cues:
            if cue.means is Assertion.NEGATED:
                denying.add(tokens[members[0]].sentence)
                if text.doc.text[cue.start : cue.end].lower() != "non":  # it turns a word
                    before = bisect_right(starts, cue.start) - 1
                    if before >= 0 and cue.start < tokens[members[before]].end:
                        turned.add(tokens[members[before]].clause)
        for i in members:
            cues = text.doc.reading(tokens[i].start, tokens[i].end).cues
            count = sum(cue.means is Assertion.NEGATED for cue in cues)
            odd[i] = count % 2 == 1 and tokens[i].content
            if count and not count % 2:
                turned.discard(tokens[i].clause)  # "no change was not observed"
            if tokens[i].word in holding:
                stems[i] = stem_of(holding[tokens[i].word])[0]
    refrained = {tokens[i].sentence for i, *_ in _refraining().find(text.words)}
    heads = frozenset(i for i in range(len(tokens)) if odd[i] and _heads(text, odd, i))
    return Negations(
        tuple(odd),
        heads,
        tuple(stems),
        text.words,
        frozenset(denying | refrained),
        frozenset(turned),
    )


def _heads(text: Statement, odd: Sequence[bool], i: int) -> bool:
    """Whether a denied word is the last of those that stand together: the noun, or the verb."""
    after = i + 1
    return after >= len(odd) or not odd[after] or text.tokens[after].start > text.tokens[i].end + 1


@cache
def _refraining() -> Phrasebook[None]:
    return Phrasebook([(phrase, None) for phrase in negation_policy().refraining])


@cache
def directed_stems() -> frozenset[str]:
    """Stems that the direction guard reads, negation and all."""
    policy = direction_policy()
    lists = [*policy.signs.values(), *policy.standing.values()]
    return frozenset(stem_of(word)[0] for words in lists for word in words if " " not in word)
