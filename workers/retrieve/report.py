"""What is told of each retrieval: kinds of source, shares, routing, times (MRD 4.2). Pure.

Figures and names of our own only: nothing of the question's words (invariant 11).
"""

import time
from collections import Counter
from typing import Any

from knowledge.answering.policy import retrieval_policy
from workers.retrieve.ranking.candidates import Ranked
from workers.retrieve.understanding.model import Understanding


class Timings:
    """How long each part took, in milliseconds, in order."""

    def __init__(self) -> None:
        """The first part begins now."""
        self.ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """`part` ends here, and the next begins."""
        now = time.perf_counter()
        self.ms[part] = round((now - self._last) * 1000, 1)
        self._last = now


def measure(understanding: Understanding, ranked: Ranked, timings: Timings) -> dict[str, Any]:
    """Query type, candidates and evidence by kind of source, guideline share, trial count, whether
    the kinds that the question needs are there, and times."""
    policy = retrieval_policy()
    found = Counter(one.candidate.source_type for one in ranked.decisions)
    kept = Counter(one.candidate.source_type for one in ranked.kept)
    need = policy.needs.get(understanding.query_type)
    guidelines = sum(kept[kind] for kind in policy.caps["guideline"].of)
    return {
        "query_type": understanding.query_type,
        "classification": understanding.classification,
        "sub_queries": len(understanding.sub_queries),
        "candidates": dict(sorted(found.items())),
        "evidence": dict(sorted(kept.items())),
        "guideline_share": round(guidelines / max(1, kept.total()), 3),
        "nccn_count": kept["nccn"],
        "trial_count": kept["clinicaltrials"],
        "routing_compliant": need is None or sum(kept[kind] for kind in need.of) >= need.least,
        "relaxations": len(ranked.relaxations),
        "timings_ms": timings.ms,
    }
