"""Attest's MiniLM beside sentence-transformers on torch: the same weights, cores and texts."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.encoder import sample_texts
from benchmarks.peers.children import Child, child
from benchmarks.peers.venvs import python_of

MODULE = "benchmarks.peers.encoders"
COMPARED = 8
"""Texts whose vectors are compared."""


def texts() -> dict[str, list[str]]:
    """Texts by kind; every word is one token of the model."""
    drawn = np.random.default_rng(1)
    mixed = np.clip(drawn.normal(150, 70, 32), 8, 256).astype(int).tolist()
    return {"158 tokens": sample_texts([158] * 32), "8 to 256 tokens": sample_texts(mixed)}


def measure(rounds: int, threads: int = 0) -> dict[str, Any]:
    """Texts a second of both by kind of text: the median of the rounds, in turns.

    Args:
        threads: that each may use; all cores if 0.

    Raises:
        NotInstalled, ChildFailed: there is no torch to compare with.
    """
    threads = threads or os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as cache, ExitStack() as stack:
        both = {
            "attest": stack.enter_context(
                child(
                    Path(sys.executable),
                    MODULE,
                    ["attest", str(threads)],
                    ATTEST_PEERS_CACHE=cache,
                )
            ),
            "torch": stack.enter_context(
                child(python_of("encoder"), MODULE, ["torch", str(threads)])
            ),
        }
        kinds = {kind: _turns(both, batch, rounds) for kind, batch in texts().items()}
        return {
            "threads": threads,
            "rounds": rounds,
            "versions": both["attest"].versions | both["torch"].versions,
            "texts_per_second": kinds,
            "largest_difference": _difference(both),
            "memory_mb": {name: round(one.do("memory")["pss"]) for name, one in both.items()},
        }


def _turns(both: Mapping[str, Child], batch: Sequence[str], rounds: int) -> dict[str, Any]:
    rates: dict[str, list[float]] = {name: [] for name in both}
    for number in range(rounds + 1):
        for name, one in both.items():
            taken = one.do("encode", texts=list(batch))
            if number:  # the first round warms up
                rates[name].append(len(batch) / taken["seconds"])
    ratios = [ours / theirs for ours, theirs in zip(rates["attest"], rates["torch"], strict=True)]
    return {
        **{name: round(median(found), 1) for name, found in rates.items()},
        "ratio": round(median(ratios), 2),
    }


def _difference(both: Mapping[str, Child]) -> float:
    """Between components of the two vectors of a text, the largest that was seen."""
    batch = texts()["8 to 256 tokens"][:COMPARED]
    ours, theirs = (
        np.array(one.do("encode", texts=batch, rows=COMPARED)["vectors"]) for one in both.values()
    )
    return float(np.abs(ours - theirs).max())
