"""The rate limit of a source at a host, shared by all that ask the same host."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from workers.http.errors import NotOurTurn

LONGEST_WAIT_SECONDS = 30.0
"""Our choice: a turn that comes later is not waited for."""


class Limiter(Protocol):
    """Reserves turns at hosts; `store.sources.rate_limits.RateLimits` does so for all processes."""

    def reserve(
        self, host: str, per_second: float, burst: int, at: datetime, *, longest: float
    ) -> float: ...

    def hold(self, host: str, until: datetime, at: datetime) -> None: ...


@dataclass(frozen=True)
class Turns:
    """The turns of one source; `source` is its name in errors."""

    source: str
    limiter: Limiter
    per_second: float
    burst: int
    now: Callable[[], datetime]
    sleep: Callable[[float], None]

    def wait(self, host: str) -> None:
        """Sleep until it is our turn at `host`.

        Raises:
            NotOurTurn: our turn is more than 30 seconds away; none was taken.
        """
        seconds = self.limiter.reserve(
            host, self.per_second, self.burst, self.now(), longest=LONGEST_WAIT_SECONDS
        )
        if seconds > LONGEST_WAIT_SECONDS:
            raise NotOurTurn(
                f"{self.source}: {host} is left alone for another {seconds:.0f} s: it asked for a "
                "pause, or too many of our requests wait already",
                seconds,
            )
        if seconds > 0:
            self.sleep(seconds)

    def hold(self, host: str, seconds: float) -> None:
        """Stop all requests to `host` for `seconds`, bursts included."""
        at = self.now()
        allowance = (self.burst - 1) / self.per_second
        self.limiter.hold(host, at + timedelta(seconds=seconds + allowance), at)
