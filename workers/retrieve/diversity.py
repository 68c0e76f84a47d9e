"""Which found documents make the list: kinds of source have caps, questions need kinds. Pure."""

from collections import Counter
from collections.abc import Hashable, Sequence

from knowledge.policy import retrieval_policy

KEPT = "kept"


def choose(found: Sequence[tuple[Hashable, str]], query_type: str, *, most: int) -> list[str]:
    """Decide on each document: `kept`, or why it was dropped.

    The kinds of source that the question needs come first, as far as they were found (MC-1.3); no
    kind of source gets more than its cap (MC-1.2).

    Args:
        found: (document, source type), best first; each document once.
        most: how many may be kept.
    """
    needed = _needed(found, query_type, most)
    counts: Counter[str] = Counter()
    kept: set[Hashable] = set()

    def take(document: Hashable, source_type: str) -> str:
        full = _full(source_type, query_type, counts)
        if full is not None:
            return f"dropped: enough sources of the kind {full}"
        if len(kept) >= most:
            return "dropped: enough documents"
        kept.add(document)
        counts.update(_groups(source_type, query_type))
        return KEPT

    for document, source_type in found:
        if document in needed:
            take(document, source_type)
    return [
        KEPT if document in kept else take(document, source_type) for document, source_type in found
    ]


def _needed(found: Sequence[tuple[Hashable, str]], query_type: str, most: int) -> set[Hashable]:
    need = retrieval_policy().needs.get(query_type)
    if need is None:
        return set()
    able = [document for document, source_type in found if source_type in need.of]
    return set(able[: min(need.least, most)])


def _groups(source_type: str, query_type: str) -> list[str]:
    """The caps that a source of this type counts against."""
    return [
        name
        for name, cap in retrieval_policy().caps.items()
        if source_type in cap.of and query_type not in cap.not_for
    ]


def _full(source_type: str, query_type: str, counts: Counter[str]) -> str | None:
    caps = retrieval_policy().caps
    groups = _groups(source_type, query_type)
    return next((name for name in groups if counts[name] >= caps[name].most), None)
