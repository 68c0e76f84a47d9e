"""Settings of operators' tools and of circuits (`operating.yaml`)."""

from functools import cache
from typing import Annotated

from pydantic import Field

from knowledge.loader import Policy, load


class ReplayPolicy(Policy):
    """How fast dead letters are replayed, and how many at once."""

    per_second: Annotated[float, Field(gt=0)]
    batch: Annotated[int, Field(ge=1)]
    limit: Annotated[int, Field(ge=1)]


class CircuitPolicy(Policy):
    """When the circuit of a stage opens by itself, and when it is probed."""

    window_seconds: Annotated[float, Field(gt=0)]
    least_deaths: Annotated[int, Field(ge=1)]
    share: Annotated[float, Field(gt=0, lt=1)]
    probe_seconds: Annotated[float, Field(gt=0)]
    probe_cap_seconds: Annotated[float, Field(gt=0)]

    def opens(self, deaths: int, done: int) -> bool:
        """True if so many dead letters and successes in the window open the circuit."""
        return deaths >= self.least_deaths and deaths > self.share * (deaths + done)

    def wait_seconds(self, failed_probes: int) -> float:
        """The time from the opening, or from the last of `failed_probes`, to the next probe."""
        wait: float = self.probe_seconds * 2.0 ** min(failed_probes, 20)
        return min(self.probe_cap_seconds, wait)


class _File(Policy):
    replay: ReplayPolicy
    circuit: CircuitPolicy


@cache
def _file() -> _File:
    return _File.model_validate(load("operation/operating"))


def replay_policy() -> ReplayPolicy:
    """How dead letters are replayed."""
    return _file().replay


def circuit_policy() -> CircuitPolicy:
    """When stages pause."""
    return _file().circuit
