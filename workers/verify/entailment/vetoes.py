"""What a learned score may never overrule: numbers, negation, direction, order. Pure.

The score is statistical; these rules are not. Each compares the claim with the sentences nearest
to it. Ours, but for the number guard (DESIGN section 2, invariant 6).
"""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from workers.verify.entailment.features import Rarity, Text, opposed
from workers.verify.entailment.lexicon import lexicon
from workers.verify.entailment.passage import stems
from workers.verify.guards import numbers

# From this likeness of its stems on, a claim is a sentence with small changes, and each change
# counts. Ours: one word in four may differ.
_NEAR_VERBATIM = 0.75
# A sentence that holds this share of the claim's words speaks of the same thing. Ours.
_SAME_MATTER = 0.5
# Letters and digits of one name, glued or with a hyphen: COVID-19, IL6, SARS-CoV-2.
_NAME = re.compile(
    r"\b(?=[^\W\d_]{0,12}[A-Z])((?:[A-Za-z]{1,12}[-‐‑]){0,3}[A-Za-z]{1,12})[-‐‑]?(\d{1,5})\b"
)
_LONGEST = 150  # stems that are compared in order; time grows with their square


def vetoes(claim: Text, close: Sequence[Text], passage: str, rarity: Rarity) -> tuple[str, ...]:
    """Names of the rules that forbid to call `claim` supported, in a fixed order.

    Args:
        claim: the claim.
        close: the sentences nearest to it, the best first.
        passage: the whole text that it is held against.
        rarity: how rare stems are.
    """
    same_matter = [s for s in close if rarity.covered(claim.content, s.content) >= _SAME_MATTER]
    rules = {
        "number": _number(claim.text, passage),
        "name": _other_name(claim.text, passage),
        "negation": _negation(claim, same_matter),
        "direction": _direction(claim, same_matter or close[:1]),
        "small_change": any(_small_change(claim, sentence) for sentence in close),
    }
    return tuple(name for name, broken in rules.items() if broken)


def _number(claim: str, passage: str) -> bool:
    """Whether the claim has a figure that the passage has not; those of names are not figures."""
    plain_claim, plain_passage = (_NAME.sub(r"\1\2", text) for text in (claim, passage))
    return any(found.code != "name" for found in numbers.guard(plain_claim, plain_passage))


def _other_name(claim: str, passage: str) -> bool:
    """Whether the passage knows a name of the claim with other digits only (IL-6 for IL-8)."""
    held: dict[str, set[str]] = {}
    for letters, digits in _NAME.findall(passage):
        held.setdefault(letters.lower(), set()).add(digits)
    return any(
        digits not in held.get(letters.lower(), {digits})
        for letters, digits in _NAME.findall(claim)
    )


def _negates(text: Text) -> bool:
    return text.negations > 0 or text.no_effect


def _negation(claim: Text, same_matter: Sequence[Text]) -> bool:
    """Whether only one of claim and evidence says no."""
    if not same_matter:
        return False
    if _negates(claim):
        return not any(_negates(s) or opposed(claim, s) for s in same_matter)
    return all(s.no_effect for s in same_matter)


def _direction(claim: Text, sentences: Sequence[Text]) -> bool:
    """Whether what the claim says goes up only goes down in the evidence, or the reverse."""
    if claim.up == claim.down:  # none, or both: which goes with what is not known here
        return False
    agree = any(s.up if claim.up else s.down for s in sentences)
    against = any(s.down if claim.up else s.up for s in sentences)
    return against and not agree and not any(_negates(s) for s in (claim, *sentences))


def _small_change(claim: Text, sentence: Text) -> bool:
    """Whether the claim is the sentence but for a doubt, a negation, a number, an opposite or the
    order."""
    own, other = claim.stems[:_LONGEST], sentence.stems[:_LONGEST]
    if 2 * sum((Counter(own) & Counter(other)).values()) < _NEAR_VERBATIM * (len(own) + len(other)):
        return False
    if sentence.hedged and not claim.hedged:  # what "may" or "suggests" is said to be so
        return True
    matcher = SequenceMatcher(None, own, other, autojunk=False)
    added: list[str] = []
    lost: list[str] = []
    for code, a, b, c, d in matcher.get_opcodes():
        if code == "equal":
            continue
        added += own[a:b]
        lost += other[c:d]
        if _opposite(own[a:b], other[c:d]):
            return True
    moved = Counter(added) & Counter(lost)
    if any(stem not in lexicon().stop_stems for stem in moved):
        return True
    return (
        any(stem.isdigit() for stem in added)
        or _negating(added, claim)
        or _negating(lost, sentence)
    )


def _opposite(own: Sequence[str], other: Sequence[str]) -> bool:
    """Whether replacing `other` by `own` turned a word into its opposite."""
    words = lexicon()
    up, down = not words.up.isdisjoint(own), not words.down.isdisjoint(own)
    if (up and not words.down.isdisjoint(other)) or (down and not words.up.isdisjoint(other)):
        return True
    return any(not words.partners.get(s, frozenset()).isdisjoint(other) for s in own)


def _negating(changed: Sequence[str], text: Text) -> bool:
    """Whether a negation of `text` is among its changed stems."""
    cues = {part for words in lexicon().negating.findall(text.text) for part in stems(words)}
    return not cues.isdisjoint(changed)
