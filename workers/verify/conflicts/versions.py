"""What the current version of a document says otherwise than an earlier one. Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from clinical_text.doc import doc
from clinical_text.quantities import quantities
from knowledge.works.conflicts import conflict_policy
from store.core.spans import Span
from workers.verify.conflicts import subjects
from workers.verify.conflicts.stances import stances
from workers.verify.conflicts.types import Conflict, Side, Witness

MOST = 400
"""Sentences of a version that may be looked for in the other one."""
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")


def contradictions(witnesses: Sequence[Witness], question: str) -> Iterator[Conflict]:
    """The conflicts between versions of one document, unresolved as yet.

    A sentence of the earlier version is set against the one of the later version that has most of
    its words, where numbers or a negation differ, or the side that it takes.
    """
    by_document: dict[str, list[Witness]] = {}
    for witness in witnesses:
        by_document.setdefault(witness.document_id, []).append(witness)
    for versions in by_document.values():
        ordered = sorted({one.version_id: one for one in versions}.values(), key=lambda one: one.n)
        for older, newer in pairwise(ordered):
            yield from _between(older, newer, question)


def _between(older: Witness, newer: Witness, question: str) -> Iterator[Conflict]:
    before, now = _own(older, newer, question), _own(newer, older, question)
    sides = {one.sentence: one.supports for one in stances(older, "")}
    later = {one.sentence: one.supports for one in stances(newer, "")}
    share = conflict_policy().same_sentence
    for span in before:
        words = _words(span.of(older.text))
        best = max(now, key=lambda other: _alike(words, _words(other.of(newer.text))), default=None)
        if best is None or _alike(words, _words(best.of(newer.text))) < share:
            continue
        flipped = span in sides and best in later and sides[span] != later[best]
        if flipped or _says_otherwise(span.of(older.text), best.of(newer.text)):
            yield Conflict(
                "superseded",
                "changed",
                newer.title,
                None,
                (
                    Side(newer, best.start, best.end, f"version {newer.n}"),
                    Side(older, span.start, span.end, f"version {older.n}"),
                ),
            )


def _own(witness: Witness, other: Witness, question: str) -> list[Span]:
    """The sentences on what is asked that the other version has not word for word."""
    known = {" ".join(span.of(other.text).split()) for span in other.sentences}
    found = (
        span
        for span in witness.sentences
        if " ".join(span.of(witness.text).split()) not in known
        and subjects.is_asked(f"{span.of(witness.text)}\n{witness.title}", question)
    )
    return [span for span, _ in zip(found, range(MOST), strict=False)]


def _words(sentence: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(sentence))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _says_otherwise(one: str, other: str) -> bool:
    """Whether numbers or negations differ, not only the wording."""
    return _numbers(one) != _numbers(other) or _negations(one) != _negations(other)


def _numbers(sentence: str) -> frozenset[tuple[object, ...]]:
    return frozenset((one.value, one.unit, one.comparator) for one in quantities(sentence))


def _negations(sentence: str) -> int:
    return sum(1 for _ in doc(sentence).denials)
