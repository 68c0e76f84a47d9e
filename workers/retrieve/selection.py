"""Which of the found passages become evidence, and why each was kept or dropped. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knowledge.policy import retrieval_policy
from knowledge.tags import tags
from store.index.terms import terms
from workers.retrieve.diversity import KEPT, choose
from workers.retrieve.relevance import coverage, is_relevant
from workers.retrieve.restrictions import demotion
from workers.retrieve.search import Passage
from workers.retrieve.understanding.model import Understanding


@dataclass(frozen=True)
class Judged:
    """A passage with how much of the question it holds and what was decided about it."""

    passage: Passage
    score: float
    covered: float
    decision: str

    @property
    def kept(self) -> bool:
        """Whether it is evidence."""
        return self.decision == KEPT


def select(
    passages: Sequence[Passage],
    understanding: Understanding,
    weighted: Mapping[int, float],
    *,
    documents: int,
) -> list[Judged]:
    """Judge `passages` and keep at most `documents` documents, best first.

    Args:
        weighted: the question's terms with their idf.
    """
    wanted = retrieval_policy().wanted_sources.get(understanding.query_type, {})

    def judge(passage: Passage) -> Judged:
        words = f"{passage.title}\n{passage.section}\n{passage.text}"
        covered = coverage(weighted, terms(words))
        score = passage.fused.score + wanted.get(passage.source_type, 0.0)
        score -= demotion(passage.text, understanding.query_type)
        return Judged(passage, score, covered, _decide(passage, understanding, covered))

    ordered = sorted(map(judge, passages), key=lambda one: (-one.score, one.passage.fused.chunk_id))
    kinds = {one.passage.document_id: one.passage.source_type for one in ordered if one.kept}
    decided = choose(list(kinds.items()), understanding.query_type, most=documents)
    return _limit(ordered, dict(zip(kinds, decided, strict=True)))


def _limit(ordered: Sequence[Judged], decided: Mapping[object, str]) -> list[Judged]:
    """What was decided on each document, and at most a few passages of the kept ones."""
    used: Counter[object] = Counter()
    judged = []
    for one in ordered:
        decision = one.decision
        if one.kept:
            document_id = one.passage.document_id
            decision = decided[document_id]
            used[document_id] += 1
            if decision == KEPT and used[document_id] > retrieval_policy().chunks_per_document:
                decision = "dropped: enough passages of this document"
        judged.append(replace(one, decision=decision))
    return judged


def _decide(passage: Passage, understanding: Understanding, covered: float) -> str:
    """Evidence on another disease (EB-5.1) or another trial than those asked about is none."""
    if not is_relevant(covered, passage.fused.dense):
        return "dropped: does not speak to the question"
    words = f"{passage.title}\n{passage.text}"
    asked = set(understanding.diseases) - {"solid_tumors"}
    if asked and not asked & set(tags("diseases", words)):
        return "dropped: names none of the diseases asked about"
    if understanding.names and not any(_mentions(words, name) for name in understanding.names):
        return "dropped: names none of the trials or bodies asked about"
    return KEPT


def _mentions(words: str, name: str) -> bool:
    """Whether `name` stands in `words` as written: DYNAMIC is not "dynamic"."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) is not None


def explain(judged: Judged) -> dict[str, Any]:
    """Why a passage was kept or dropped, for the stored result. No words of the passage."""
    passage, fused = judged.passage, judged.passage.fused
    return {
        "version_id": str(passage.version_id),
        "chunk_id": passage.chunk_id,
        "source_type": passage.source_type,
        "score": round(judged.score, 4),
        "lexical": None if fused.lexical is None else round(fused.lexical, 4),
        "dense": None if fused.dense is None else round(fused.dense, 4),
        "coverage": round(judged.covered, 4),
        "decision": judged.decision,
    }
