"""Measures a claim against a passage: reads both, aligns them, counts features."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from store.core.spans import Span
from workers.verify.entailment.features import NAMES, Rarity, Text, features
from workers.verify.entailment.flags import token_flags
from workers.verify.entailment.head import Head, Tokens
from workers.verify.entailment.lexicon import lexicon
from workers.verify.entailment.passage import sentences
from workers.verify.entailment.states import Reading
from workers.verify.entailment.vetoes import vetoes

Matrix = NDArray[np.float32]

# Of the alignment, as the mean of all heads: log odds of supported and of contradicted, for the
# nearest sentences together and for the single sentence where they are highest.
SCORES = ("near_supported", "near_contradicted", "best_supported", "best_contradicted")
MEASURES = (*NAMES, *SCORES)

_REMEMBERED = 1024  # texts whose tokens are kept, some 12 KB each for every head
_READ_TOGETHER = 16  # pairs; more texts at once are read faster, as equal lengths share a run


class Reader(Protocol):
    """What is needed of an encoder: `states.TokenReader`, or a stand-in."""

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """Tokens and their numbers."""

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """One reading a text, in their order."""


class Measured(NamedTuple):
    """What was measured: `values` in the order of `MEASURES`, the sentence that is nearest or
    decided, the rules that forbid to call the claim supported, and the passage's length in
    sentences (`passage_length`)."""

    values: Matrix
    span: Span
    vetoes: tuple[str, ...]
    length: int


class _Known(NamedTuple):
    """A text as each head and the similarity need it."""

    tokens: tuple[Tokens, ...]
    vector: Matrix


class Measurer:
    """Measures with one head or several, whose scores are averaged: heads trained from different
    random weights err differently. Safe to call from several threads at once."""

    def __init__(self, heads: Sequence[Head], rarity: Rarity) -> None:
        self._heads = tuple(heads)
        self._rarity = rarity
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._flags: Matrix | None = None
        self._lock = Lock()

    def measure_all(
        self, pairs: Iterable[tuple[str, str]], reader: Reader
    ) -> Iterator[Measured | None]:
        """Of each (claim, evidence) pair in order; None where there is nothing to measure: an empty
        side, or a claim longer than the limit."""
        remaining = iter(pairs)
        while batch := list(islice(remaining, _READ_TOGETHER)):
            cut = [(Text(claim.strip()), *self._passage(claim, text)) for claim, text in batch]
            wanted = [t.text for claim, _, texts, _ in cut if texts for t in (claim, *texts)]
            known = self._read(dict.fromkeys(wanted), reader)
            for claim, spans, texts, length in cut:
                yield self._measure(claim, spans, texts, length, known) if texts else None

    def _passage(self, claim: str, evidence: str) -> tuple[list[Span], list[Text], int]:
        """The sentences of `evidence` that are read for `claim`, with their places, and how long it
        is in all."""
        limits, wanted = lexicon().limits, Text(claim[: lexicon().limits.claim_characters]).content
        if not wanted or len(claim.strip()) > limits.claim_characters:
            return [], [], 0
        spans = sentences(evidence[: limits.evidence_characters])
        found = [(span, Text(evidence[span.start : span.end])) for span in spans]
        found = [(span, text) for span, text in found if text.content]
        length = passage_length(text for _, text in found)
        if len(found) > limits.sentences:
            shares = [self._rarity.covered(wanted, text.content) for _, text in found]
            best = sorted(range(len(found)), key=lambda i: -shares[i])[: limits.sentences]
            found = [found[i] for i in sorted(best)]
        return [span for span, _ in found], [text for _, text in found], length

    def _read(self, texts: Iterable[str], reader: Reader) -> dict[str, _Known]:
        """What is known of each text; the model reads only those it has not read lately."""
        with self._lock:
            if self._flags is None:
                self._flags = token_flags(reader.vocabulary)
            known = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in texts if text not in known]
        for text, reading in zip(missing, reader.read(missing) if missing else [], strict=True):
            states, flags = reading.states.astype(np.float32), self._flags[reading.ids]
            tokens = (Tokens(head.project(states), reading.ids, flags) for head in self._heads)
            known[text] = _Known(tuple(tokens), reading.vector)
        with self._lock:
            for text, value in known.items():
                self._known[text] = value
                self._known.move_to_end(text)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known

    def _measure(
        self,
        claim: Text,
        spans: Sequence[Span],
        texts: Sequence[Text],
        length: int,
        known: Mapping[str, _Known],
    ) -> Measured | None:
        own = known[claim.text]
        read = [known[text.text] for text in texts]
        if not all(len(r.tokens[0].ids) for r in (own, *read)):
            return None
        cosines = [float(own.vector @ r.vector) for r in read]
        shares = [self._rarity.covered(claim.content, text.content) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: -(cosines[i] + shares[i]))
        near = order[: lexicon().limits.nearest]
        scores, best = self._aligned(own.tokens, [read[i].tokens for i in near], near)
        values = features(claim, texts, cosines, near, self._rarity)
        close = [texts[i] for i in near]
        forbidden = vetoes(claim, close, "\n".join(t.text for t in texts), self._rarity)
        return Measured(np.concatenate([values, scores]), spans[best], forbidden, length)

    def _aligned(
        self,
        claim: Sequence[Tokens],
        passages: Sequence[Sequence[Tokens]],
        near: Sequence[int],
    ) -> tuple[Matrix, int]:
        """The scores of the alignment, and which of the sentences `near` is decisive. Tokens come
        as each head needs them."""
        in_order = np.argsort(near)
        found = []
        for i, head in enumerate(self._heads):
            parts = [passage[i] for passage in passages]
            together = Tokens.joined([parts[k] for k in in_order])
            found.append([_odds(head.logits(claim[i], tokens)) for tokens in (together, *parts)])
        odds = np.mean(found, axis=0)
        single = odds[1:]
        column = int(single[:, 1].max() > single[:, 0].max())
        best = near[int(single[:, column].argmax())]
        return np.array([*odds[0], *single.max(axis=0)], np.float32), best


def passage_length(sentences: Iterable[Text]) -> int:
    """How many sentences there are; one that is longer than sentences are counts as several, so
    that a text without stops is no short passage."""
    longest = lexicon().limits.sentence_characters
    return sum(-(-len(sentence.text) // longest) for sentence in sentences)


def _odds(logits: Matrix) -> tuple[float, float]:
    """Log odds of supported and of contradicted against the other two."""
    s, c, n = (float(x) for x in logits)
    return s - float(np.logaddexp(c, n)), c - float(np.logaddexp(s, n))
