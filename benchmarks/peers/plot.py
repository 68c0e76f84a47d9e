"""The plot of the page: how long a question takes as the texts grow."""

from collections.abc import Mapping
from typing import Any

from benchmarks.load.page import lines
from benchmarks.peers.report import NAMES


def plot(result: Mapping[str, Any]) -> str:
    """Milliseconds a question (median) by texts held, as SVG; the axis of time is logarithmic."""
    series = {
        NAMES[name]: [(int(size), float(one["p50"])) for size, one in system["questions"].items()]
        for name, system in result["systems"].items()
    }
    title = "Milliseconds a question, median, by texts held"
    return lines(title, "texts held", series, logarithmic=True).decode() + "\n"
