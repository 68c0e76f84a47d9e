"""Arrivals and what became of them, as figures. Pure: no clock, no server.

Questions arrive by a Poisson process whose times are drawn before anything is sent, and each time
is counted from the arrival that was intended. A client that waits for an answer before it asks
again would ask less where the system is slow, and leave out just the waits that people have
("coordinated omission").
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["answered", "refused", "failed", "open"]


@dataclass(frozen=True)
class Asked:
    """One question; all moments in seconds since the step began.

    `ended` is None for one that had not ended when nobody waited for it any longer.
    """

    intended: float
    sent: float
    ended: float | None
    outcome: Outcome


@dataclass(frozen=True)
class Depth:
    """A look at the queue: questions that are accepted and not ended, and how old the oldest is."""

    at: float
    waiting: int
    oldest_seconds: float


@dataclass(frozen=True)
class Step:
    """What one arrival rate gave. Rates in questions a second, times in milliseconds.

    `answered` is how many ended within the step's own seconds, over these: a backlog that is
    worked off later is no throughput. Latencies are those of all that were answered, however late.
    `late_ms_p99`: how late the client itself was in sending.
    """

    offered: float
    answered: float
    p50: float | None
    p95: float | None
    p99: float | None
    refused: float
    failed: int
    waiting_most: int
    oldest_most: float
    late_ms_p99: float


def arrivals(rate: float, seconds: float, seed: int) -> list[float]:
    """When questions arrive: a Poisson process of `rate` a second, the same for the same seed."""
    draw = random.Random(seed)
    found, at = [], draw.expovariate(rate)
    while at < seconds:
        found.append(at)
        at += draw.expovariate(rate)
    return found


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of them do not exceed; None of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def step(asked: Sequence[Asked], depths: Sequence[Depth], seconds: float) -> Step:
    """The figures of one step of `seconds`.

    A question that had not ended counts as slower than all that did: if they are more than five of
    a hundred, there is no p95.
    """
    taken = [
        math.inf if one.ended is None else (one.ended - one.intended) * 1000
        for one in asked
        if one.outcome in ("answered", "open")
    ]
    late = quantile([(one.sent - one.intended) * 1000 for one in asked], 0.99)
    in_time = sum(
        one.outcome == "answered" and one.ended is not None and one.ended <= seconds
        for one in asked
    )
    return Step(
        offered=len(asked) / seconds,
        answered=in_time / seconds,
        p50=_finite(quantile(taken, 0.50)),
        p95=_finite(quantile(taken, 0.95)),
        p99=_finite(quantile(taken, 0.99)),
        refused=sum(one.outcome == "refused" for one in asked) / max(1, len(asked)),
        failed=sum(one.outcome == "failed" for one in asked),
        waiting_most=max((one.waiting for one in depths), default=0),
        oldest_most=max((one.oldest_seconds for one in depths), default=0.0),
        late_ms_p99=late or 0.0,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def table(steps: Sequence[Step]) -> str:
    """The steps as a Markdown table."""
    head = (
        "| asked/s | answered/s | p50 ms | p95 ms | p99 ms | refused (429) | most waiting "
        "| oldest s | sent late p99 ms |\n|" + " ---: |" * 9
    )
    rows = [
        f"| {one.offered:.1f} | {one.answered:.1f} | {_ms(one.p50)} | {_ms(one.p95)} "
        f"| {_ms(one.p99)} | {one.refused:.0%} | {one.waiting_most} | {one.oldest_most:.1f} "
        f"| {one.late_ms_p99:.0f} |"
        for one in steps
    ]
    return "\n".join([head, *rows])


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"
