"""Trains the claim verifier and writes its weights and training report. Seeded throughout.

    nice python -m benchmarks.claims.train --scifact DIR --corpus FILE --evidence-inference DIR

Steps: pairs are made from both sets (`pairs`); the frozen encoder reads their texts once
(`readings`); the alignment head is trained on pairs from abstracts that no SciFact claim cites and
from Evidence Inference, then on SciFact claims (`head`); a logistic model is fitted to its scores
and the counted features (`combine`). SciFact is cut into folds that share no claim and no abstract:
every fold is measured by a head and a logistic model that never saw it. The committed weights leave
one fold out, so that they can be tested themselves.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from benchmarks.claims import head, report
from benchmarks.claims.combine import Logistic, folds
from benchmarks.claims.pairs import Pair, from_abstracts, from_findings, from_scifact, split
from benchmarks.claims.readings import Readings, read_all, restore, save
from benchmarks.claims.sources import (
    LABELS,
    Abstract,
    SciFactPair,
    read_corpus,
    read_findings,
    read_original_findings,
    read_scifact,
)
from benchmarks.claims.tables import Array
from workers.verify.entailment.features import Rarity
from workers.verify.entailment.head import Head
from workers.verify.entailment.measure import MEASURES, Measured, Measurer
from workers.verify.entailment.passage import stems
from workers.verify.entailment.states import TokenReader

SEED, CHOICE_SEED, HELD_SEED, FOLD_SEED = 20261122, 5, 7, 1
HEAD_SEEDS = (1, 2, 3)  # of the heads whose scores are averaged
FOLDS = 5
LEFT_OUT = 0  # the fold that the committed weights never see
MOST_UNSAFE = 0.05  # the bound on unsafe acceptance; `report.thresholds` keeps a margin
OUT = Path("workers/verify/entailment")

Weights = Mapping[str, Array]  # of one head

# How many abstracts and articles give made pairs: more took the reading time of one evening.
TITLES, SENTENCES, ARTICLES = 800, 500, 38  # abstracts, abstracts, percent
HELD_BACK = 10  # one in so many abstracts and articles, for the logistic model
REPEATED = 1800  # made pairs that are trained again beside the claims of SciFact
# Ours: what a pair counts in the logistic model, where a claim against its whole abstract is 1.
PASSAGE_WEIGHT, MADE_WEIGHT = 0.5, 0.3


@dataclass(frozen=True)
class Material:
    """All pairs there are: experts' SciFact pairs as they are, and training pairs by origin."""

    expert: list[SciFactPair]
    scifact: list[Pair]
    made: list[Pair]
    held_back: list[Pair]
    counts: dict[str, int]
    rarity: dict[str, float]
    unknown: float


def gather(options: argparse.Namespace) -> Material:
    """Reads the sets and makes the pairs."""
    rng = Random(SEED)
    corpus = read_corpus(options.corpus)
    expert = read_scifact(
        options.scifact / "claims_train.jsonl", options.scifact / "qrels_train.tsv", corpus
    )
    findings = read_findings(options.evidence_inference)
    if options.annotations:
        findings = list(dict.fromkeys(findings + read_original_findings(options.annotations)))
    cited = {pair.abstract.key for pair in expert}
    free = [abstract for key, abstract in corpus.items() if key not in cited]
    abstracts = list(from_abstracts(free, rng, 1))
    titles = [p for p in abstracts if p.kind.startswith("title")]
    sentences = [p for p in abstracts if p.kind.startswith("sentence")]
    statements = list(from_findings(findings, rng))
    articles = {p.group for p in statements}
    scifact = list(from_scifact(expert, rng))
    choice = Random(CHOICE_SEED)
    chosen = _some(sentences, SENTENCES, choice)
    chosen = [*_some(titles, TITLES, choice), *chosen]
    chosen += _some(statements, len(articles) * ARTICLES // 100, choice)
    groups = sorted({p.group for p in chosen})
    Random(HELD_SEED).shuffle(groups)
    held = set(groups[: len(groups) // HELD_BACK])
    rarity, unknown = _rarity(corpus)
    return Material(
        expert,
        scifact,
        [p for p in chosen if p.group not in held],
        [p for p in chosen if p.group in held],
        {
            "scifact_claims": len({p.claim_key for p in expert}),
            "scifact_pairs": len(expert),
            "scifact_abstracts_no_claim_cites": len(free),
            "evidence_inference_judgments": len(findings),
            "evidence_inference_articles": len({f.article for f in findings}),
        },
        rarity,
        unknown,
    )


def _some(pairs: Sequence[Pair], count: int, rng: Random) -> list[Pair]:
    """The pairs of `count` groups."""
    groups = sorted({p.group for p in pairs})
    rng.shuffle(groups)
    kept = set(groups[:count])
    return [p for p in pairs if p.group in kept]


def _rarity(corpus: Mapping[str, Abstract]) -> tuple[dict[str, float], float]:
    """Inverse document frequencies of stems in at least five abstracts, and of all others."""
    held: Counter[str] = Counter()
    for abstract in corpus.values():
        held.update(set(stems(f"{abstract.title} {abstract.text}")))
    table = {
        word: round(math.log(len(corpus) / count), 2)
        for word, count in sorted(held.items())
        if count >= 5 and len(word) < 30
    }
    return table, round(math.log(len(corpus) / 2), 2)


def readings_of(material: Material, cache: Path) -> Readings:
    """Reads all texts, or takes what an earlier run read of the same texts."""
    reader = TokenReader(Path(".attest/encoder"), threads=2)
    pairs = [*material.scifact, *material.made, *material.held_back]
    wanted = dict.fromkeys(text for p in pairs for text in (p.claim, *p.evidence))
    for expert in material.expert:
        wanted.update(dict.fromkeys(split(_whole(expert.abstract))))
        wanted[expert.claim.strip()] = None
    path = cache / "readings.npz"
    if path.exists():
        held = restore(path, reader.vocabulary)
        if wanted.keys() <= held.places.keys():
            return held
    readings = read_all(list(wanted), reader)
    cache.mkdir(parents=True, exist_ok=True)
    save(readings, path)
    return readings


class Trainer:
    """Holds what all trainings share."""

    def __init__(self, material: Material, readings: Readings) -> None:
        self.material, self.readings = material, readings
        self.fold = folds(material.expert, FOLDS, FOLD_SEED)
        self.of_claim = {
            p.claim_key: fold for p, fold in zip(material.expert, self.fold, strict=True)
        }
        self._rarity = Rarity(material.rarity, material.unknown)

    def pretrain(self, seed: int, cache: Path) -> head.Weights:
        """A head on made pairs alone: no claim of SciFact and no abstract that one cites. Taken
        from `cache` if an earlier run left it there."""
        path = cache / f"pretrained-{seed}.npz"
        if not path.exists():
            table = self.readings.table
            weights = head.fresh(self.readings.states.shape[1], table.flags.shape[1], seed)
            samples = self.readings.samples(self.material.made)
            found = head.train(weights, table, samples, epochs=4, rate=2e-3, seed=seed)
            np.savez(path, **{name: value.numpy() for name, value in found.items()})
        with np.load(path, allow_pickle=False) as held:
            return {name: torch.from_numpy(held[name]) for name in held}

    def tune(self, seed: int, without: int, cache: Path) -> Weights:
        """A head on SciFact but the fold `without`, with made pairs lest it forget them."""
        path = cache / f"head-{seed}-{without}.npz"
        if not path.exists():
            own = FOLDS * (seed - 1) + without
            chosen = [p for p in self.material.scifact if self.of_claim[p.group] != without]
            chosen += Random(own).sample(self.material.made, REPEATED)
            samples, table = self.readings.samples(chosen), self.readings.table
            first = self.pretrain(seed, cache)
            tuned = head.train(first, table, samples, epochs=2, rate=1.5e-3, seed=own)
            np.savez(path, **{name: value.numpy() for name, value in tuned.items()})
        with np.load(path, allow_pickle=False) as held:
            return {name: held[name] for name in held}

    def measure(self, heads: Sequence[Weights], pairs: Sequence[tuple[str, str]]) -> list[Measured]:
        """What several heads measure together on (claim, evidence) pairs."""
        measurer = Measurer([Head(weights) for weights in heads], self._rarity)
        found = list(measurer.measure_all(pairs, self.readings))
        return [m for m in found if m is not None]


@dataclass(frozen=True)
class Measures:
    """Measured pairs: `values` (n, k), `labels` (n,), `folds` (n,) (-1: none), `vetoed` (n,),
    `weights` (n,), `lengths` of the passages in sentences (n,), and whether each is an expert's
    claim against its whole abstract."""

    values: Array
    labels: Array
    folds: Array
    vetoed: Array
    weights: Array
    lengths: Array
    whole: Array


def measures(trainer: Trainer, heads: Sequence[Sequence[Weights]]) -> Measures:
    """SciFact's abstracts and passages, each fold by the heads that never saw it, and made pairs
    that were held back, by the heads that are committed."""
    material = trainer.material
    rows: list[tuple[str, str, int, int, float, bool]] = []
    for pair, fold in zip(material.expert, trainer.fold, strict=True):
        rows.append((pair.claim, _whole(pair.abstract), LABELS.index(pair.label), fold, 1.0, True))
    # A sentence that nobody marked may still support a claim that its abstract supports, so that it
    # is no sure example of "not enough".
    held = {pair.claim_key for pair in material.expert if pair.label == "supported"}
    for made in material.scifact:
        kinds = ("scifact", "scifact/rationale", "scifact/off")[: 2 if made.group in held else 3]
        if made.kind in kinds:
            fold = trainer.of_claim[made.group]
            rows.append((*_texts(made), LABELS.index(made.label), fold, PASSAGE_WEIGHT, False))
    for made in material.held_back:
        rows.append((*_texts(made), LABELS.index(made.label), -1, MADE_WEIGHT, False))
    measured: dict[int, Measured] = {}
    for fold in range(-1, FOLDS):
        here = [i for i, row in enumerate(rows) if row[3] == fold]
        found = trainer.measure(heads[max(fold, LEFT_OUT)], [rows[i][:2] for i in here])
        measured.update(zip(here, found, strict=True))
    order = range(len(rows))
    return Measures(
        np.stack([measured[i].values for i in order]).astype(np.float64),
        np.array([row[2] for row in rows]),
        np.array([row[3] for row in rows]),
        np.array([bool(measured[i].vetoes) for i in order]),
        np.array([row[4] for row in rows]),
        np.array([measured[i].length for i in order]),
        np.array([row[5] for row in rows]),
    )


def _whole(abstract: Abstract) -> str:
    return f"{abstract.title}\n\n{abstract.text}"


def _texts(pair: Pair) -> tuple[str, str]:
    return pair.claim, "\n".join(pair.evidence)


def crossed(found: Measures) -> tuple[Array, Logistic]:
    """Probabilities of every pair by a logistic model that never saw its fold, and the model that
    is committed: the one without the fold left out."""
    shares = np.zeros((len(found.labels), 3))
    committed = Logistic()
    for fold in range(FOLDS):
        seen = found.folds != fold
        model = Logistic().fit(found.values[seen], found.labels[seen], found.weights[seen])
        here = found.folds == fold
        shares[here] = model.shares(found.values[here])
        if fold == LEFT_OUT:
            committed = model
            shares[found.folds < 0] = model.shares(found.values[found.folds < 0])
    return shares, committed


def steps_without(found: Measures, shares: Array, fold: int | None) -> list[tuple[int, float]]:
    """The thresholds by length that SciFact's pairs give, those of one fold left out."""
    z = (found.folds >= 0) & (found.folds != (-1 if fold is None else fold))
    return report.thresholds(
        shares[z, 0], found.labels[z], found.vetoed[z], found.lengths[z], MOST_UNSAFE
    )


def accepted(found: Measures, shares: Array, steps: Sequence[report.Steps]) -> Array:
    """Which pairs are called supported, each fold by its own thresholds; the last are for pairs of
    no fold."""
    least = np.zeros(len(found.labels))
    for fold, own in zip((*range(FOLDS), -1), steps, strict=True):
        here = found.folds == fold
        least[here] = report.needed(own, found.lengths[here])
    passed: Array = (shares[:, 0] >= least) & ~found.vetoed
    return passed


def write(
    folder: Path,
    heads: Sequence[Weights],
    components: Array,
    combiner: Logistic,
    material: Material,
) -> None:
    """The weights as `workers.verify.entailment.model.load` reads them."""
    kept: dict[str, Any] = {
        name: np.stack([weights[name] for weights in heads]).astype(np.float16) for name in heads[0]
    }
    # Compression and projection follow each other, so that one matrix does for both.
    projections = [components @ weights["project"] for weights in heads]
    kept["project"] = np.stack(projections).astype(np.float16)
    np.savez_compressed(folder / "weights.npz", **kept)
    body = {
        "measures": MEASURES,
        "mean": _rounded(combiner.mean),
        "scale": _rounded(combiner.scale),
        "weights": _rounded(combiner.weights),
        "bias": _rounded(combiner.bias),
        "rarity_unknown": material.unknown,
        "rarity": material.rarity,
    }
    text = json.dumps(body, ensure_ascii=False, indent=0).replace(",\n", ", ")
    (folder / "weights.json").write_text(text + "\n", encoding="utf-8")


def _rounded(values: Array) -> Any:
    return np.round(values, 5).tolist()


def finish(trainer: Trainer, cache: Path, folder: Path) -> dict[str, Any]:
    """Tunes the heads, fits the logistic model, writes weights and report; returns the report."""
    heads = [[trainer.tune(seed, fold, cache) for seed in HEAD_SEEDS] for fold in range(FOLDS)]
    found = measures(trainer, heads)
    shares, committed = crossed(found)
    write(folder, heads[LEFT_OUT], trainer.readings.components, committed, trainer.material)
    sets = {
        "scifact_abstracts": found.whole,
        "scifact_abstracts_left_out": found.whole & (found.folds == LEFT_OUT),
        "scifact_passages": ~found.whole & (found.folds >= 0),
        "made_pairs_held_back": found.folds < 0,
    }
    steps = steps_without(found, shares, None)
    chosen = accepted(found, shares, [steps] * (FOLDS + 1))
    each = [steps_without(found, shares, fold) for fold in range(FOLDS)]
    nested = accepted(found, shares, [*each, steps])
    body = {
        "thresholds": steps,
        "policy": {n: report.at(chosen[z], found.labels[z]) for n, z in sets.items()},
        "policy_chosen_without_the_fold": {
            n: report.at(nested[z], found.labels[z]) for n, z in sets.items()
        },
        "data": trainer.material.counts,
        "pairs": {
            "made": dict(Counter(p.kind.split("/")[0] for p in trainer.material.made)),
            "held_back": len(trainer.material.held_back),
            "scifact": len(trainer.material.scifact),
        },
        "left_out_fold": {"fold": LEFT_OUT, "pairs": trainer.fold.count(LEFT_OUT)},
        "crossed": {
            n: report.curve(shares[z, 0], found.labels[z], found.vetoed[z]) for n, z in sets.items()
        },
        "accuracy_scifact_abstracts": round(
            float((shares[found.whole].argmax(1) == found.labels[found.whole]).mean()), 4
        ),
    }
    (folder / "training.json").write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return body


def main() -> None:
    """Reads the options and trains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--scifact", type=Path, required=True)
    parser.add_argument(
        "--corpus", type=Path, required=True, help="SciFact's abstracts, BEIR layout"
    )
    parser.add_argument("--evidence-inference", type=Path, required=True)
    parser.add_argument("--annotations", type=Path, help="the authors' own folder `annotations`")
    parser.add_argument("--cache", type=Path, default=Path(".attest/claims"))
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.cache.mkdir(parents=True, exist_ok=True)
    material = gather(options)
    trainer = Trainer(material, readings_of(material, options.cache))
    print(json.dumps(finish(trainer, options.cache, options.out), indent=1))


if __name__ == "__main__":
    main()
