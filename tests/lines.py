"""Which lines of the product does each test execute?

    python -m tests.lines FILE [PYTEST_ARGUMENT ...]

Runs tests in one process and writes `FILE`, data of coverage.py with branches and with one context
for each test function, and `FILE-seconds.json`, the seconds of each function.
`coverage report --data-file FILE` tells the share of lines and branches.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import coverage
import pytest


class Contexts:
    """The plugin of pytest that tells coverage.py which test runs, and how long it took."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Count what runs meanwhile as this function's, whatever its parameters."""
        name, began = function_of(item), time.monotonic()
        self.measured.switch_context(name)
        try:
            return (yield)
        finally:
            self.measured.switch_context("")
            self.seconds[name] += time.monotonic() - began


def function_of(item: pytest.Item) -> str:
    """A test's name without its parameters."""
    return item.nodeid.partition("[")[0]


def main(arguments: Sequence[str]) -> int:
    """Run the tests; gives pytest's exit status."""
    file, *asked = arguments
    measured = coverage.Coverage(data_file=file)
    contexts = Contexts(measured)
    measured.start()
    status = pytest.main(["-q", "-p", "no:cacheprovider", *asked], plugins=[contexts])
    measured.stop()
    measured.save()
    Path(f"{file}-seconds.json").write_text(json.dumps(contexts.seconds), "utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
