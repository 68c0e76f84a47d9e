"""The alignment head in torch, for training; `workers.verify.entailment.head` is the same in numpy.

Soft alignment of two texts and comparison of what was aligned: Parikh et al., A Decomposable
Attention Model for Natural Language Inference (EMNLP 2016), over token states of a frozen encoder.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import (
    cross_entropy,
    dropout,
)

from benchmarks.claims.tables import Array, Sample, Table

Weights = dict[str, Any]

WIDTH = 96
HEADS = 4
HIDDEN = 64
_NOTHING = -1e4


@dataclass(frozen=True)
class Side:
    """Tokens of one side of a batch: states (b, n, s), ids (b, n), flags (b, n, f), mask (b, n)."""

    states: Any
    ids: Any
    flags: Any
    mask: Any


def fresh(states: int, flags: int, seed: int) -> Weights:
    """Random weights."""
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> Any:
        return torch.randn(rows, columns, generator=generator) * (1 / rows) ** 0.5

    compared = 4 * WIDTH + 2 * (flags + 1)
    weights = {
        "project": matrix(states, WIDTH),
        "query": matrix(WIDTH, WIDTH),
        "key": matrix(WIDTH, WIDTH),
        "match": torch.full((HEADS,), 2.0),
        "compare_claim": matrix(compared, WIDTH),
        "compare_passage": matrix(compared, WIDTH),
        "bias_claim": torch.zeros(WIDTH),
        "bias_passage": torch.zeros(WIDTH),
        "pool_claim": matrix(WIDTH, 2),
        "pool_passage": matrix(WIDTH, 2),
        "hidden": matrix(6 * WIDTH, HIDDEN),
        "hidden_bias": torch.zeros(HIDDEN),
        "out": matrix(HIDDEN, 3),
        "out_bias": torch.zeros(3),
    }
    return {name: value.requires_grad_() for name, value in weights.items()}


def logits(w: Weights, claim: Side, passage: Side, p: float = 0.0) -> Any:
    """The logits (b, 3) of supported, contradicted, not_enough; `p` is the share dropped out."""
    c = dropout(claim.states @ w["project"], p)
    e = dropout(passage.states @ w["project"], p)
    same = (claim.ids[:, :, None] == passage.ids[:, None, :]).float()
    pools = [
        *_side(w, "claim", (c, e), (claim, passage), same, p),
        *_side(w, "passage", (e, c), (passage, claim), same.transpose(1, 2), p),
    ]
    joined = dropout(torch.cat(pools, -1), p)
    hidden = torch.relu(joined @ w["hidden"] + w["hidden_bias"])
    return hidden @ w["out"] + w["out_bias"]


def _side(
    w: Weights, name: str, tokens: tuple[Any, Any], sides: tuple[Side, Side], same: Any, p: float
) -> list[Any]:
    """What the tokens of one side find in the other, pooled: three tensors (b, WIDTH)."""
    (own, other), (here, there) = tokens, sides
    batch, n, m = same.shape
    first, second = ("query", "key") if name == "claim" else ("key", "query")
    q = (own @ w[first]).view(batch, n, HEADS, -1).transpose(1, 2)
    k = (other @ w[second]).view(batch, m, HEADS, -1).transpose(1, 2)
    scores = q @ k.transpose(2, 3) / (WIDTH / HEADS) ** 0.5
    scores = scores + w["match"][None, :, None, None] * same[:, None]
    scores = scores.masked_fill(~there.mask[:, None, None, :], _NOTHING)
    found = torch.softmax(scores, -1)
    values = other.view(batch, m, HEADS, -1).transpose(1, 2)
    aligned = (found @ values).transpose(1, 2).reshape(batch, n, WIDTH)
    flags = found.mean(1) @ there.flags
    matched = same.max(-1, keepdim=True).values
    nearest = found.amax((1, 3)).unsqueeze(-1)
    parts = (
        own,
        aligned,
        (own - aligned).abs(),
        own * aligned,
        here.flags,
        matched,
        flags,
        nearest,
    )
    compared = torch.relu(torch.cat(parts, -1) @ w["compare_" + name] + w["bias_" + name])
    compared = dropout(compared, p)
    mask = here.mask[..., None]
    share = torch.softmax((compared @ w["pool_" + name]).masked_fill(~mask, _NOTHING), 1)
    pooled = share.transpose(1, 2) @ compared
    largest = compared.masked_fill(~mask, 0.0).amax(1)
    return [pooled[:, 0], pooled[:, 1], largest]


def batches(
    samples: Sequence[Sample], size: int, rng: np.random.Generator | None
) -> Iterator[list[int]]:
    """Indices of samples of like length put together; in random order with `rng`."""
    noise = rng.normal(0, 8, len(samples)) if rng is not None else np.zeros(len(samples))
    lengths = np.array([len(s.passage) + len(s.claim) for s in samples]) + noise
    order = np.argsort(lengths, kind="stable")
    groups = [order[i : i + size].tolist() for i in range(0, len(order), size)]
    if rng is not None:
        rng.shuffle(groups)
    yield from groups


def side(table: Table, rows: Sequence[Array]) -> Side:
    """The tokens of several texts, filled up to the longest."""
    longest = max(1, *(len(r) for r in rows))
    mask = np.zeros((len(rows), longest), bool)
    at = np.zeros((len(rows), longest), np.int64)
    for i, r in enumerate(rows):
        at[i, : len(r)] = r
        mask[i, : len(r)] = True
    ids = np.where(mask, table.ids[at], -1)
    states = torch.from_numpy(table.states[at].astype(np.float32))
    return Side(
        states * torch.from_numpy(mask)[..., None],
        torch.from_numpy(ids.astype(np.int64)),
        torch.from_numpy(table.flags[np.maximum(ids, 0)] * mask[..., None]),
        torch.from_numpy(mask),
    )


def _batch(table: Table, samples: Sequence[Sample], chosen: Sequence[int]) -> tuple[Side, Side]:
    claim = side(table, [samples[i].claim for i in chosen])
    passage = side(table, [samples[i].passage for i in chosen])
    # A padded place of the claim must not match one of the passage.
    claim.ids[~claim.mask] = -2
    return claim, passage


def train(
    weights: Weights,
    table: Table,
    samples: Sequence[Sample],
    *,
    epochs: int,
    rate: float,
    seed: int,
    drop: float = 0.25,
    log: Any = print,
) -> Weights:
    """Trained copies of `weights`; `drop` is the share of values dropped out."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    w = {name: value.detach().clone().requires_grad_() for name, value in weights.items()}
    optimizer = torch.optim.AdamW(w.values(), lr=rate, weight_decay=0.02)
    size = 48
    steps = epochs * -(-len(samples) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps + 1)
    for epoch in range(epochs):
        total = 0.0
        for chosen in batches(samples, size, rng):
            claim, passage = _batch(table, samples, chosen)
            labels = torch.tensor([samples[i].label for i in chosen])
            weight = torch.tensor([samples[i].weight for i in chosen])
            each = cross_entropy(
                logits(w, claim, passage, drop),
                labels,
                reduction="none",
                label_smoothing=0.05,
            )
            loss = (each * weight).sum() / weight.sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(chosen)
        log(f"epoch {epoch + 1}/{epochs}: loss {total / len(samples):.4f}")
    return {name: value.detach() for name, value in w.items()}


def predict(weights: Mapping[str, Any], table: Table, samples: Sequence[Sample]) -> Array:
    """Logits of all samples, shape (n, 3)."""
    found = np.zeros((len(samples), 3), np.float32)
    with torch.no_grad():
        for chosen in batches(samples, 64, None):
            claim, passage = _batch(table, samples, chosen)
            found[chosen] = logits(dict(weights), claim, passage).numpy()
    return found
