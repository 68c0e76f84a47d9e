"""The truth gate: the only way from a checked claim into an answer (invariant 6). Pure.

The types keep it so: a summary is made of `Verified`, and no other claim can be made one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from store.core.spans import Span
from workers.verify.claims import Basis, Checked, Echo, Rewritten, Verdict

QUOTED = ("verbatim", "normalized")
"""The verdicts on a quotation that let it be shown (invariant 5)."""


S = TypeVar("S", bound="Shown")


class NotVerified(ValueError):
    """A claim that does not hold was about to be shown as one that does."""


@dataclass(frozen=True)
class Shown:
    """A claim as an answer shows it, at `place` of the version it cites."""

    claim_id: str
    text: str
    evidence_id: str
    heading: str
    quote_verdict: str
    place: Span
    basis: str
    rewritten_from: Rewritten | None = None
    also: tuple[Echo, ...] = ()
    repaired_from: Rewritten | None = None

    @property
    def verdict(self) -> Verdict:
        """What is shown beside it."""
        return Verdict.PARTIAL

    @property
    def places(self) -> tuple[Echo, ...]:
        """Where its source says so, and where others do."""
        return (Echo(self.evidence_id, self.place, self.quote_verdict), *self.also)


@dataclass(frozen=True)
class Hedged(Shown):
    """What is left of a claim that did not hold: its source's own words, in a hedging frame."""


@dataclass(frozen=True)
class Verified(Shown):
    """A claim that holds, and nothing contradicts."""

    @property
    def verdict(self) -> Verdict:
        """What is shown beside it."""
        return Verdict.SUPPORTED


@dataclass(frozen=True)
class Contested(Shown):
    """A claim that its source supports and another source contradicts, undecided or decided for the
    other."""

    @property
    def verdict(self) -> Verdict:
        """What is shown beside it."""
        return Verdict.CONFLICTING


@dataclass(frozen=True)
class Passed:
    """What may be shown, in the order of the draft."""

    shown: tuple[Shown, ...]

    @property
    def verified(self) -> tuple[Verified, ...]:
        """What a summary may be made of."""
        return tuple(one for one in self.shown if isinstance(one, Verified))

    @property
    def held(self) -> tuple[Shown, ...]:
        """What its own source supports, contested or not."""
        return tuple(one for one in self.shown if not isinstance(one, Hedged))


def gate(results: Sequence[Checked], contested: Collection[str] = ()) -> Passed:
    """Let through what holds, and what was hedged; the rest stays out.

    Args:
        contested: ids of claims that another source contradicts, and whose side does not stand.
    """
    shown: list[Shown] = []
    for one in results:
        if one.passes:
            shown.append(verified(one, contested=one.claim_id in contested))
        elif one.rewritten_from is not None and one.place is not None:
            shown.append(_as(Hedged, one, one.place))
    return Passed(tuple(shown))


def verified(one: Checked, *, contested: bool = False) -> Verified | Contested:
    """The claim as one that holds.

    Raises:
        NotVerified: it does not: a verdict, a basis or a quotation is missing, or a hard fact
            speaks against it.
    """
    if (
        one.verdict is not Verdict.SUPPORTED
        or one.basis is Basis.NONE
        or one.place is None
        or one.findings
        or one.rewritten_from is not None
        or one.quote_verdict not in QUOTED
    ):
        raise NotVerified(f"claim {one.claim_id} is {one.verdict.value} by {one.basis.value}")
    if contested:
        return _as(Contested, one, one.place)
    return _as(Verified, one, one.place)


def _as(kind: type[S], one: Checked, place: Span) -> S:
    return kind(
        one.claim_id,
        one.text,
        one.evidence_id,
        one.heading,
        one.quote_verdict,
        place,
        one.basis.value,
        one.rewritten_from,
        one.also if one.passes else (),
        one.repaired_from if one.passes else None,
    )
