"""What reads foreign text in the product, each as a function of a text; by area in `readers_*`.

    python -m tests.linearity.readers [NAME_PREFIX ...]

lists the readers that take more than linear time, on longer texts than the test has time for.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count

import tests.linearity
from tests.linearity.growth import Growth, growth, seconds
from tests.linearity.texts import Family, families, growing

AREAS = ("verify", "extract_and_notes", "reading_and_ingest")
SHORT, SHORTEST, LONG = 450, 112, 3_000
"""Lengths at which all families are read once: in the test, where it is slow, by the command."""
SUSPECTS = 4
START, MOST = 1_000, 64_000
SLOW_SECONDS = 0.004
"""What takes that long for a real text shows its growth on shorter ones."""
LEAST_SECONDS = 0.01

Reader = Callable[[str], object]

REAL = (
    "Background: aspirin (100 mg daily) was compared with placebo in 1,250 patients with stage "
    "IIIA disease.\n\nRESULTS: Mortality was lower with aspirin (HR 0.80; 95% CI 0.70 to 0.92; "
    "P = 0.002), 12.1% versus 15.0% [1, 2]. HER2-positive tumors did not respond.\n"
    "- Metoprolol 25 mg b.i.d. (stopped)\n- WBC 5.0 (4.0-10.0)\nMetastases: none.\n"
)


@cache
def all_readers() -> Mapping[str, Reader]:
    """The readers of all areas, each named `area: what it reads`."""
    found: dict[str, Reader] = {}
    for module in pkgutil.iter_modules(tests.linearity.__path__):
        area = module.name.removeprefix("readers_")
        if area != module.name:
            registry = importlib.import_module(f"tests.linearity.{module.name}").READERS
            found |= {f"{area}: {name}": read for name, read in registry.items()}
    return found


def use_all() -> None:
    """Have every reader read something, so that what it compiles late is compiled."""
    for read in all_readers().values():
        read(REAL)


@dataclass(frozen=True)
class Steep:
    """A reader that takes more than linear time, and on what."""

    name: str
    family: str
    growth: Growth

    def told(self) -> str:
        """In one line."""
        at, ratio = self.growth.length, self.growth.ratio
        return f"{self.name}: x{ratio:.1f} at {at} ({self.growth.once:.2f} s) on {self.family}"


def steep(name: str, read: Reader, short: int = SHORT) -> Steep | None:
    """The first family on which a reader is too slow.

    All families are read once, short; how the time grows is measured on the slowest. No text is
    read twice: a reader that remembers what it read would tell nothing.
    """
    read(REAL)  # what is built at the first call is no matter of length
    numbers = count()

    def anew(text: str) -> object:
        return read(f"{text}\n{next(numbers)}")

    while short > SHORTEST and seconds(anew, growing(REAL[1:])(short)) > SLOW_SECONDS:
        short //= 2
    tried = sorted(_short(short), key=lambda one: seconds(anew, one[2]), reverse=True)
    for what, family, _ in tried[:SUSPECTS]:
        found = growth(
            anew, family, start=max(START, short), most=MOST, least_seconds=LEAST_SECONDS
        )
        if found is not None and not found.linear:
            return Steep(name, what, found)
    return None


@cache
def _short(length: int) -> tuple[tuple[str, Family, str], ...]:
    named = (*families(), ("a real text", growing(REAL)))
    return tuple((name, family, family(length)) for name, family in named)


def main(prefixes: list[str]) -> int:
    """Print what is too slow, one line each, and last how many were tried."""
    tried = {
        name: read
        for name, read in all_readers().items()
        if not prefixes or name.startswith(tuple(prefixes))
    }
    found = 0
    for name, read in tried.items():
        if (told := steep(name, read, LONG)) is not None:
            found += 1
            sys.stdout.write(f"{told.told()}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(tried)} readers, {found} steep\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
