"""What can be counted about a claim and a passage: words, numbers, negation, direction. Pure.

Each feature is a number without unit, most in 0..1; `NAMES` says in which order. Rarity is the
inverse document frequency of a stem, learned with the weights.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clinical_text.quantities import names, quantities
from workers.verify.entailment.lexicon import lexicon
from workers.verify.entailment.passage import stems, words

Vector = NDArray[np.float32]

NAMES = (
    "best_coverage", "all_coverage", "near_coverage", "pairs_covered", "rarest_covered",
    "best_covered_back", "best_cosine", "second_cosine", "mean_cosine",
    "numbers_in_claim", "numbers_missing", "names_missing", "capitals_missing",
    "negation_added", "negation_lost", "null_added", "null_lost",
    "direction_same", "direction_opposed", "direction_added", "opposite_word",
    "hedge_lost", "hedge_added", "absolute_added", "cause_added",
    "claim_length", "evidence_length", "sentences", "best_position",
)  # fmt: skip


@dataclass(frozen=True)
class Text:
    """One text with what is counted about it."""

    text: str

    @cached_property
    def stems(self) -> list[str]:
        """All stems in order."""
        return stems(self.text)

    @cached_property
    def content(self) -> frozenset[str]:
        """Stems that carry content."""
        return frozenset(self.stems) - lexicon().stop_stems

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Neighbouring stems that carry content."""
        kept = [s for s in self.stems if s not in lexicon().stop_stems]
        return frozenset(pairwise(kept))

    @cached_property
    def capitals(self) -> frozenset[str]:
        """Names and short forms: words with a capital after the first letter, or a digit."""
        return frozenset(
            word.lower() for word in words(self.text) if any(c.isupper() for c in word[1:])
        )

    @cached_property
    def negations(self) -> int:
        """How many negations it has."""
        return len(lexicon().negating.findall(self.text))

    @cached_property
    def no_effect(self) -> bool:
        """Whether it says that there is no effect or difference."""
        return bool(lexicon().without_effect.search(self.text))

    @cached_property
    def hedged(self) -> bool:
        """Whether it expresses doubt."""
        return bool(lexicon().hedging.search(self.text))

    @cached_property
    def up(self) -> bool:
        """Whether it says that something goes up."""
        return not lexicon().up.isdisjoint(self.stems)

    @cached_property
    def down(self) -> bool:
        """Whether it says that something goes down."""
        return not lexicon().down.isdisjoint(self.stems)


class Rarity:
    """How rare a stem is; an unknown one is as rare as the rarest."""

    def __init__(self, table: Mapping[str, float], unknown: float) -> None:
        self._table = table
        self._unknown = unknown

    def __call__(self, word: str) -> float:
        """The inverse document frequency of a stem."""
        return self._table.get(word, self._unknown)

    def covered(self, wanted: frozenset[str], held: frozenset[str]) -> float:
        """The share of `wanted`, weighted by rarity, that is in `held`; 0 if nothing is wanted."""
        whole = math.fsum(map(self, wanted))
        return math.fsum(map(self, wanted & held)) / whole if whole else 0.0


def features(
    claim: Text,
    sentences: Sequence[Text],
    cosines: Sequence[float],
    near: Sequence[int],
    rarity: Rarity,
) -> Vector:
    """The features of a claim against a passage of at least one sentence, shape (len(NAMES),).

    Args:
        claim: the claim.
        sentences: the passage's sentences in order.
        cosines: the encoder's similarity of each sentence to the claim.
        near: the numbers of the sentences nearest to the claim, best first.
        rarity: how rare stems are.
    """
    best = sentences[near[0]]
    close = [sentences[i] for i in near]
    close_content = frozenset().union(*(s.content for s in close))
    everything = frozenset().union(*(s.content for s in sentences))
    whole = "\n".join(s.text for s in sentences)
    ranked = sorted(cosines, reverse=True)
    up, down = any(s.up for s in close[:2]), any(s.down for s in close[:2])
    values = [
        *_overlap(claim, best, everything, close_content, rarity),
        ranked[0],
        ranked[1] if len(ranked) > 1 else ranked[0],
        sum(ranked) / len(ranked),
        *_figures(claim, whole),
        float(claim.negations > 0 and all(s.negations == 0 for s in close)),
        float(claim.negations == 0 and best.negations > 0),
        float(claim.no_effect and not any(s.no_effect for s in close)),
        float(best.no_effect and not claim.no_effect),
        float((claim.up and up) or (claim.down and down)),
        float((claim.up and not up and down) or (claim.down and not down and up)),
        float((claim.up or claim.down) and not up and not down),
        float(opposed(claim, best)),
        float(best.hedged and not claim.hedged),
        float(claim.hedged and not best.hedged),
        _added(claim, close, lexicon().absolutes),
        float(
            not lexicon().causal_stems.isdisjoint(claim.stems)
            and all(lexicon().causal_stems.isdisjoint(s.stems) for s in close)
        ),
        math.log1p(len(claim.content)) / 3,
        math.log1p(len(whole)) / 8,
        math.log1p(len(sentences)) / 4,
        near[0] / max(1, len(sentences) - 1),
    ]
    return np.array(values, np.float32)


def _overlap(
    claim: Text,
    best: Text,
    everything: frozenset[str],
    close: frozenset[str],
    rarity: Rarity,
) -> list[float]:
    # By name among equally rare ones: the order of a set differs from process to process.
    rarest = sorted(sorted(claim.content), key=rarity, reverse=True)[:4]
    return [
        rarity.covered(claim.content, best.content),
        rarity.covered(claim.content, everything),
        rarity.covered(claim.content, close),
        len(claim.pairs & best.pairs) / len(claim.pairs) if claim.pairs else 0.0,
        sum(s in close for s in rarest) / len(rarest) if rarest else 0.0,
        rarity.covered(best.content, claim.content),
    ]


def _figures(claim: Text, whole: str) -> list[float]:
    claimed = {abs(q.value) for q in quantities(claim.text)}
    missing = claimed - {abs(q.value) for q in quantities(whole)} if claimed else claimed
    plain = whole.lower()
    return [
        float(bool(claimed)),
        float(bool(missing)),
        float(bool(names(claim.text) - names(whole))),
        sum(word not in plain for word in claim.capitals) / max(1, len(claim.capitals)),
    ]


def _added(claim: Text, close: Sequence[Text], listed: frozenset[str]) -> float:
    """Whether the claim has one of the `listed` words and no sentence has it."""
    stated = {word.lower() for word in words(claim.text)} & listed
    held = {word.lower() for s in close for word in words(s.text)}
    return float(bool(stated - held))


def opposed(claim: Text, sentence: Text) -> bool:
    """Whether the sentence has the opposite of a word of the claim, and not the word itself."""
    held = frozenset(sentence.stems)
    return any(
        not partners.isdisjoint(held)
        for word, partners in lexicon().partners.items()
        if word in claim.stems and word not in held
    )
