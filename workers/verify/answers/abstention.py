"""When an answer must abstain, and what would cure it (invariant 9, SP-6.3). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from contracts.draft import Lacks
from knowledge.loader import load


@dataclass(frozen=True)
class Abstention:
    """Why the question is not answered, and what would cure it (invariant 9)."""

    reason: str
    detail: str
    cure: dict[str, Any]


def abstention(
    reason: str,
    sources: Sequence[str] = (),
    *,
    worded: str | None = None,
    asked: Sequence[str] = (),
) -> Abstention:
    """The abstention for `reason`, in the words of `knowledge/works/trust.yaml` for it or `worded`.

    Args:
        asked: those whom the question asks about and of whom no source speaks.
    """
    trust, words = load("works/trust"), worded or reason
    detail = f"{trust['insufficient']} {trust['details'][words]}"
    cure = {**trust["cures"][words], "sources": list(sources)}
    if asked:
        detail = f"{detail} {trust['asked'].format(names=', '.join(asked))}"
    return Abstention(reason, detail, cure)


@dataclass(frozen=True)
class Standing:
    """What must be known of one verified claim's source, and whether another source contradicts
    the claim; `overruled`: in all such conflicts the other side stands, else nothing decides one.
    `stale` goes by when it was fetched, `dated` by when it was published (invariant 8).
    `covers`: the share of the question that the claim and its source's title hold, 0..1."""

    source_type: str
    tier: str
    stale: bool
    contested: bool = False
    dated: bool = False
    overruled: bool = False
    covers: float = 1.0


def must_abstain(
    *,
    evidence_found: int,
    verified: Sequence[Standing],
    asks_for_today: bool,
    declined: bool = False,
    filtered: bool = False,
    is_clinical: bool = True,
    names_something: bool = True,
    lacks_named: bool = False,
    lacks: Lacks | None = None,
    is_english: bool = True,
    offered: Sequence[str] = (),
    names_nothing_else: bool = False,
    unspoken: Sequence[str] = (),
) -> Abstention | None:
    """Whether the answer must abstain (SP-6.3), and why: by the claims that answer the question
    best, for one on something beside it makes no dispute decided and no source fresh.

    Args:
        evidence_found: how many held sources speak to the question.
        verified: one for each claim that holds.
        declined: whether its drafter said that no source answers it.
        is_clinical: whether a word of the question is of medicine. One that has none and is not
            answered is on something else; where evidence answers it, it is answered.
        names_something: whether it is on anything in particular.
        lacks_named: whether the question names a work by its number that is not held.
        lacks: `who` it asks about of whom no source speaks that speaks to all else, and those
            `asked` about by name (`lacks` of a draft).
        is_english: whether it seems to be in English; what is answered all the same is answered.
        offered: which names may be meant by words that nothing held speaks of, in words.
        names_nothing_else: whether it names nothing but by these: of another drug, test or trial no
            answer is one.
        unspoken: what it asks about by name, where no claim speaks of any of it.
    """
    if evidence_found == 0 and not is_english:
        return abstention("out_of_scope", worded="not_english")
    if offered and (evidence_found == 0 or names_nothing_else):
        told = abstention("no_evidence", worded="misspelt")
        return replace(told, detail=" ".join((told.detail, *offered)))
    if not names_something or (not is_clinical and not _is_answered(evidence_found, verified)):
        return abstention("out_of_scope")
    if evidence_found == 0:
        return _nothing_found(filtered=filtered, lacks_named=lacks_named, lacks=lacks)
    if not verified:
        return abstention("unsupported", worded="declined" if declined else None)
    verified = _answering(verified)
    if all(one.contested for one in verified):
        decided = all(one.overruled for one in verified)
        types = sorted({one.source_type for one in verified})
        return abstention("conflict", types, worded="overruled" if decided else None)
    if all(one.tier in load("works/trust")["low_trust_tiers"] for one in verified):
        return abstention("low_trust_only")
    if asks_for_today and all(one.stale or one.dated for one in verified):
        sources = sorted({one.source_type for one in verified})
        fetched_lately = not any(one.stale for one in verified)
        return abstention("stale", sources, worded="dated" if fetched_lately else None)
    if unspoken:
        return abstention("no_evidence", worded="other_named", asked=unspoken)
    return None


def _nothing_found(*, filtered: bool, lacks_named: bool, lacks: Lacks | None) -> Abstention:
    """Why no stored source answers: what is not held, or that it speaks of others."""
    if lacks_named and not filtered:
        return abstention("no_evidence", worded="not_held")
    if lacks is None:
        return abstention("no_evidence", worded="filtered" if filtered else None)
    told = abstention("no_evidence", worded=f"other_{lacks.who}", asked=lacks.asked)
    return replace(told, cure={**told.cure, "lacks": lacks.as_json()})


def _is_answered(evidence_found: int, verified: Sequence[Standing]) -> bool:
    return evidence_found > 0 and _covered(verified) >= load("questions/answers")["beside_medicine"]


def _covered(verified: Sequence[Standing]) -> float:
    """The share of the question that the claim which holds most of it holds."""
    return max((one.covers for one in verified), default=0.0)


def _answering(verified: Sequence[Standing]) -> list[Standing]:
    """The claims that hold most of the question, and those that hold nearly as much."""
    least = load("questions/answers")["answers_from"] * _covered(verified)
    return [one for one in verified if one.covers >= least]
