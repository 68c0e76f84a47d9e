"""Which drugs words name: those of `knowledge.subjects.drugs`, and common ones beside them.
Pure."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from pydantic import BaseModel, ConfigDict

from knowledge.loader import load
from knowledge.matching.words import Mention, Words
from knowledge.subjects.drugs import drugs_at

_SHORT = 200
"""Characters up to which words are the name of a drug, or little more (ours)."""


class _Medicines(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    medicines: Mapping[str, tuple[str, ...]]


@cache
def _common() -> Words:
    """The names of `knowledge/rubrics/medicines.yaml`."""
    listed = _Medicines.model_validate(load("rubrics/medicines")).medicines
    return Words({generic: (generic, *more) for generic, more in listed.items()}, ordinary=())


def drugs_named(text: str) -> Sequence[Mention]:
    """Where words name drugs, by generic name and in order; of names that overlap the longer."""
    if len(text) > _SHORT:
        # a document is looked at once or twice, and not kept
        return _named(text, drugs_at.__wrapped__(text))
    return _named_in_short(text)


@lru_cache(maxsize=4096)  # the names of a document's drugs are asked for by several readers
def _named_in_short(text: str) -> Sequence[Mention]:
    return _named(text, drugs_at(text))


def _named(text: str, listed: Sequence[Mention]) -> Sequence[Mention]:
    known = [*listed]
    ends = [one.end for one in known]
    more = []
    for one in _common().mentions(text):
        at = bisect_right(ends, one.start)
        if at < len(known) and known[at].start < one.end:
            if one.end - one.start > known[at].end - known[at].start:
                known[at] = Mention(known[at].name, one.start, one.end)
                ends[at] = one.end
            continue
        more.append(one)
    return tuple(sorted((*known, *more), key=lambda one: one.start))
