"""Judges whether a passage supports a claim. Deterministic: equal texts give equal verdicts."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from store.core.spans import Span
from workers.verify.entailment.features import Rarity
from workers.verify.entailment.head import Head
from workers.verify.entailment.lexicon import lexicon
from workers.verify.entailment.measure import MEASURES, Measured, Measurer, Reader
from workers.verify.entailment.verbatim import verbatim

Label = Literal["supported", "contradicted", "not_enough"]
LABELS: tuple[Label, ...] = ("supported", "contradicted", "not_enough")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a passage says of a claim.

    `p_supported` and `p_contradicted` are probabilities as the model sees them; `sentence_span` is
    the sentence of the passage that decided, in code points of the passage; `vetoes` names the
    rules that forbade "supported". `label` is the verdict by policy (knowledge/verification.yaml).
    """

    label: Label
    p_supported: float
    p_contradicted: float
    sentence_span: Span | None = None
    vetoes: tuple[str, ...] = ()


class Model:
    """Loaded weights. Safe to call from several threads at once."""

    def __init__(self, heads: Sequence[Head], combiner: Mapping[str, Any]) -> None:
        """Takes what `load` reads.

        Raises:
            ValueError: the weights were trained on other measures than the code takes.
        """
        if tuple(combiner["measures"]) != MEASURES:
            raise ValueError("the verifier's weights were trained on other measures")
        rarity = Rarity(combiner["rarity"], combiner["rarity_unknown"])
        self._measurer = Measurer(heads, rarity)
        self._mean, self._scale, self._weights, self._bias = (
            np.array(combiner[name], np.float64) for name in ("mean", "scale", "weights", "bias")
        )

    def judge_all(self, pairs: Iterable[tuple[str, str]], reader: Reader) -> Iterator[Judgement]:
        """The judgements of (claim, evidence) pairs in order, read together in small batches.

        Evidence is a sentence, a passage or an abstract.
        """
        pairs = list(pairs)
        measured = self._measurer.measure_all(pairs, reader)
        for (claim, evidence), found in zip(pairs, measured, strict=True):
            if found is None:
                yield Judgement("not_enough", 0.0, 0.0)
                continue
            span = verbatim(claim, evidence)
            yield Judgement("supported", 1.0, 0.0, span) if span else self._judged(found)

    def _judged(self, found: Measured) -> Judgement:
        policy = lexicon().policy
        supported, contradicted = self.probabilities(found)
        label: Label = "not_enough"
        if supported >= policy.supported_from(found.length) and not found.vetoes:
            label = "supported"
        elif contradicted >= policy.contradicted:
            label = "contradicted"
        return Judgement(label, supported, contradicted, found.span, found.vetoes)

    def probabilities(self, found: Measured) -> tuple[float, float]:
        """Supported and contradicted, before policy and vetoes."""
        scaled = (found.values - self._mean) / self._scale
        scores = scaled @ self._weights + self._bias
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return float(shares[0]), float(shares[1])


@lru_cache(maxsize=1)
def load() -> Model:
    """The committed weights.

    Raises:
        FileNotFoundError: the package was installed without them.
        ValueError: they belong to other code.
    """
    folder = files("workers.verify.entailment")
    combiner = json.loads(folder.joinpath("weights.json").read_text(encoding="utf-8"))
    with folder.joinpath("weights.npz").open("rb") as file:
        stacked = dict(np.load(file, allow_pickle=False))
    count = len(stacked["match"])
    heads = [Head({name: value[i] for name, value in stacked.items()}) for i in range(count)]
    return Model(heads, combiner)


def judge_all(pairs: Iterable[tuple[str, str]], encoder: Reader) -> Iterator[Judgement]:
    """What `Model.judge_all` says by the committed weights."""
    return load().judge_all(pairs, encoder)
