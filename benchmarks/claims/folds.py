"""Folds that share no claim and no abstract."""

from collections.abc import Sequence

import numpy as np

from benchmarks.claims.sources import SciFactPair


def folds(pairs: Sequence[SciFactPair], count: int, seed: int) -> list[int]:
    """The fold of each pair; pairs of one claim or one abstract always share it."""
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for pair in pairs:
        parent[root("claim " + pair.claim_key)] = root("abstract " + pair.abstract.key)
    members: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        members.setdefault(root("claim " + pair.claim_key), []).append(i)
    groups = list(members.values())
    np.random.default_rng(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)
    sizes, found = [0] * count, [0] * len(pairs)
    for group in groups:
        fold = int(np.argmin(sizes))
        sizes[fold] += len(group)
        for i in group:
            found[i] = fold
    return found
