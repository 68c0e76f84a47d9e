"""`attest evaluate quotes DIR`: are true quotations accepted, altered ones refused?"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from cli.evaluate.lines import read_lines, read_text
from clinical_text.quotes import QuoteCheck, Source, check

# Sources kept in memory, as the verify stage keeps those of its answers.
HELD_SOURCES = 256
# An answer has up to ten references (DESIGN section 6). A quotation is looked for in the cited
# source and, to detect a wrong attribution, in the nine others.
OTHER_SOURCES = 9


class Case(BaseModel):
    """One line of `cases.jsonl`."""

    id: str
    quote: str
    source: Annotated[str, Field(pattern=r"^[^/\\]+$", description="file name in sources/")]
    label: Literal["verbatim", "altered"]
    edit: str


def evaluate_quotes(
    directory: Path, progress: Callable[[int, int], None] | None = None
) -> dict[str, object]:
    """Check every quotation of `directory` against the source it cites.

    `directory` holds `cases.jsonl` and `sources/`; `progress` is called with the number of finished
    cases and their total. Returns `true_accepted, true_total, altered_accepted, altered_total,
    by_edit{edit: {accepted, total}}, us_per_check_p50` (microseconds of one check; the first use of
    a source includes its folding).

    The nine sources that follow the cited one by name stand for the other references of an answer.
    They change no count (a wrong attribution is refused either way), only the time.

    Raises ValueError, in one line, for a missing file or folder or an unreadable line.
    """
    cases = _read_cases(directory / "cases.jsonl")
    folder = directory / "sources"
    if not folder.is_dir():
        raise ValueError(f"{folder} is missing; it must hold the source texts")

    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    following = {
        name: [names[(at + step) % len(names)] for step in range(1, OTHER_SOURCES + 1)]
        for at, name in enumerate(names)
    }

    @lru_cache(maxsize=HELD_SOURCES)
    def held(name: str) -> Source:
        return Source(read_text(folder / name))

    accepted: dict[str, int] = {"verbatim": 0, "altered": 0}
    total: dict[str, int] = {"verbatim": 0, "altered": 0}
    by_edit: dict[str, dict[str, int]] = {}
    durations_ns: list[int] = []
    for done, case in enumerate(cases, start=1):
        source = held(case.source)
        others = {name: held(name) for name in following[case.source] if name != case.source}
        started = perf_counter_ns()
        verdict: QuoteCheck = check(case.quote, source, others)
        durations_ns.append(perf_counter_ns() - started)
        edit = by_edit.setdefault(case.edit, {"accepted": 0, "total": 0})
        edit["accepted"] += verdict.accepted
        edit["total"] += 1
        accepted[case.label] += verdict.accepted
        total[case.label] += 1
        if progress is not None:
            progress(done, len(cases))
    return {
        "true_accepted": accepted["verbatim"],
        "true_total": total["verbatim"],
        "altered_accepted": accepted["altered"],
        "altered_total": total["altered"],
        "by_edit": dict(sorted(by_edit.items())),
        "us_per_check_p50": round(median(durations_ns) / 1000, 1),
    }


def _read_cases(path: Path) -> list[Case]:
    cases = [case for _, case in read_lines(path, Case)]
    if not cases:
        raise ValueError(f"{path} holds no case")
    return cases
