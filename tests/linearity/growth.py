"""How the time of reading grows with the text: at twice the length less than 2.5 times as much."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.linearity.texts import Family

LIMIT = 2.5
"""A linear reader takes twice the time at twice the length, a quadratic one four times."""
TRIES = 4
HOPELESS_SECONDS = 0.4
"""What takes that long for the first few thousand characters is not read twice as long."""
SURE_SECONDS, SURE_RATIO = 0.2, 3.5
"""What takes that long is measured once: a neighbour can make little of it."""


@dataclass(frozen=True)
class Growth:
    """CPU seconds of this thread at a length and at twice it, the least of several tries."""

    length: int
    once: float
    twice: float

    @property
    def ratio(self) -> float:
        """How many times as long twice the length takes."""
        return self.twice / self.once

    @property
    def linear(self) -> bool:
        """Whether it grows no faster than the limit says."""
        return self.ratio < LIMIT

    @property
    def sure(self) -> bool:
        """Whether it grows so fast, and takes so long, that no neighbour can be the cause."""
        return self.ratio > SURE_RATIO and self.twice > SURE_SECONDS


def seconds(read: Callable[[str], object], text: str, tries: int = 1) -> float:
    """CPU seconds that reading `text` takes, the least of several tries."""
    least = float("inf")
    collects = gc.isenabled()
    gc.disable()  # as timeit does: it takes more time the more objects the process holds
    try:
        for _ in range(tries):
            started = time.thread_time()
            read(text)
            least = min(least, time.thread_time() - started)
            if least > SURE_SECONDS:
                break
    finally:
        if collects:
            gc.enable()
    return least


def growth(
    read: Callable[[str], object],
    family: Family,
    *,
    start: int,
    most: int,
    least_seconds: float,
) -> Growth | None:
    """How `read` grows on a family; None: it was too quick to tell at any length up to `most`.

    Lengths are doubled until reading takes `least_seconds`: below that a clock tells nothing. What
    looks too steep is measured again, at the next length too, and both once more, so that neither a
    neighbour who takes the processor's cache nor what is loaded at first use accuses anybody.
    """
    length = start
    while length <= most:
        once = seconds(read, family(length))
        if once > HOPELESS_SECONDS and length == start:
            once = seconds(read, family(length))
            if once > HOPELESS_SECONDS:
                return Growth(length, once, float("inf"))
        if once >= least_seconds:
            break
        length *= 2
    else:
        return None
    found = Growth(length, once, seconds(read, family(2 * length)))
    if found.linear:
        return found
    for factor in (1, 2, 1, 2):
        at = length * factor
        found = Growth(at, seconds(read, family(at), TRIES), seconds(read, family(2 * at), TRIES))
        if found.linear or found.sure:
            return found
    return found
