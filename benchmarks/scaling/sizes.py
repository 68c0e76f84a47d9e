"""`python -m benchmarks.scaling --abstracts 36000000`: what a corpus of that size takes.

Multiplies what was measured (`measured.json`: by `benchmarks.scaling.measure`, `benchmarks.search`
and `tests.chaos.hosts`; `--measured FILE` takes your own). What lies beyond a million chunks is
extrapolated and says so. `docs/scaling.md` has the formulas in words.
"""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import linear_regression
from typing import Any

MEASURED = Path(__file__).with_name("measured.json")
SEGMENT_CHUNKS = 65_536
"""The largest lexical segment (`store.index.lexical`)."""
EF_SEARCH_GROWS_TO = 9e6
"""Vectors at which a third of their root is 1,000, the largest `hnsw.ef_search` that pgvector knows
(`store.index.dense`): beyond, recall falls."""
GB = 1e9
DAY = 86_400.0


@dataclass(frozen=True)
class Given:
    """What somebody wants to run. All but the first have a default that is ours."""

    abstracts: int
    changed_a_day: int = 5_000
    questions_a_day: int = 20_000
    questions_a_second: float = 2.0
    days: int = 365
    encoder_cores: int = 32
    ingest_cores: int = 8
    database_cores: int = 16
    database_memory_gb: float = 256.0
    maintenance_memory_gb: float = 64.0
    partitions: int = 1
    backlog_messages: int = 1_000_000


@dataclass(frozen=True)
class Point:
    """One size of the measured curve: `benchmarks.search`, no filter."""

    chunks: int
    ms_p50: float
    build_seconds: float
    vector_index_mb: float


@dataclass(frozen=True)
class Measured:
    """Constants, as `measured.json` has them; `source` says where each is from."""

    chunks: float
    windows: float
    text_bytes: float
    chunk_bytes: float
    word_bytes: float
    vector_bytes: float
    index_bytes: float
    graph_bytes: float
    signal_bytes: float
    work_bytes: float
    audit_bytes: float
    question_bytes: float
    question_audit_bytes: float
    message_bytes: float
    process_bytes: float
    windows_a_core_second: float
    ingest_core_seconds: float
    question_core_seconds: float
    build_cores: int
    lexical_ms: Sequence[tuple[int, float]]
    curve: Sequence[Point]
    source: Mapping[str, str] = field(default_factory=dict)


def read(path: Path = MEASURED) -> Measured:
    """The constants of a file.

    Raises:
        TypeError: one is missing, or unknown.
    """
    given = json.loads(path.read_text("utf-8"))
    curve = [Point(**one) for one in given.pop("curve")]
    lexical = [(int(chunks), float(ms)) for chunks, ms in given.pop("lexical_ms")]
    return Measured(curve=curve, lexical_ms=lexical, **given)


@dataclass(frozen=True)
class Fit:
    """A straight line through measured points, and how far off it is where it can be checked."""

    at_zero: float
    slope: float
    worst: float
    """The largest share by which a measured point lies off the line."""

    def at(self, x: float) -> float:
        """The line's value."""
        return self.at_zero + self.slope * x


def fit(points: Sequence[tuple[float, float]]) -> Fit:
    """The line of least squares.

    Raises:
        statistics.StatisticsError: fewer than two points, or all at one place.
    """
    slope, at_zero = linear_regression(*zip(*points, strict=True))
    worst = max(abs(at_zero + slope * x - y) / y for x, y in points)
    return Fit(at_zero, slope, worst)


def search_fit(measured: Measured) -> Fit:
    """Milliseconds of a search (p50, no filter) over the decimal logarithm of the chunks."""
    return fit([(math.log10(one.chunks), one.ms_p50) for one in measured.curve])


@dataclass(frozen=True)
class Words:
    """Milliseconds of CPU of scoring words: at best, and at worst, beyond what was measured.

    At best they go on as a power of the chunks, as they did from one size to the next, because
    what cannot reach the top is skipped; at worst as a straight line from the last two sizes.
    """

    power: Fit
    line: Fit

    def at(self, chunks: float) -> tuple[float, float]:
        """Milliseconds at best and at worst."""
        return 10 ** self.power.at(math.log10(chunks)), self.line.at(chunks)

    def chunks(self, milliseconds: float) -> tuple[float, float]:
        """How many chunks that time is enough for, at worst and at best."""
        at_worst = (milliseconds - self.line.at_zero) / self.line.slope
        return at_worst, 10 ** ((math.log10(milliseconds) - self.power.at_zero) / self.power.slope)


def words_fit(measured: Measured) -> Words:
    """Both ways in which scoring words may go on."""
    logs = [(math.log10(chunks), math.log10(ms)) for chunks, ms in measured.lexical_ms]
    return Words(fit(logs), fit([(float(chunks), ms) for chunks, ms in measured.lexical_ms[-2:]]))


def build_seconds(measured: Measured, windows: float, cores: int) -> float:
    """Seconds of building one HNSW index that fits into memory: n log n from the largest that was
    measured, divided by cores as if each helped alike, which beyond some eight they do not."""
    known = measured.curve[-1]
    grown = windows * math.log(max(windows, 2)) / (known.chunks * math.log(known.chunks))
    return known.build_seconds * grown * measured.build_cores / cores


def storage(given: Given, measured: Measured) -> dict[str, float]:
    """Gigabytes on disk once everything is in, without what questions add."""
    records, chunks, windows = _rows(given, measured)
    parts = {
        "texts": records * measured.text_bytes,
        "chunks": chunks * measured.chunk_bytes,
        "words": chunks * measured.word_bytes,
        "vectors": windows * measured.vector_bytes,
        "vector_index": windows * measured.index_bytes,
        "anchors_and_effects": records * measured.signal_bytes,
        "ledger_outbox_items": records * measured.work_bytes,
        "audit": records * measured.audit_bytes,
    }
    return {name: size / GB for name, size in {**parts, "all": sum(parts.values())}.items()}


def _rows(given: Given, measured: Measured) -> tuple[float, float, float]:
    records = float(given.abstracts)
    return records, records * measured.chunks, records * measured.windows


def estimate(given: Given, measured: Measured) -> dict[str, dict[str, float]]:
    """Everything, by topic; units stand in the names, GB are 10^9 bytes."""
    records, chunks, windows = _rows(given, measured)
    disk = storage(given, measured)
    part_windows, part_chunks = windows / given.partitions, chunks / given.partitions
    by_meaning, by_words = search_fit(measured), words_fit(measured).at(chunks)
    grows_a_day = (
        given.changed_a_day * disk["all"] / records * GB
        + given.questions_a_day * measured.question_bytes
    )
    return {
        "rows": {
            "records": records,
            "chunks": chunks,
            "windows": windows,
            "lexical_segments": math.ceil(chunks / SEGMENT_CHUNKS),
        },
        "disk_gb": disk,
        "memory_gb": {
            "vector_index_to_stay_in_pages": windows * measured.index_bytes / GB,
            "maintenance_work_mem_of_one_build": part_windows * measured.graph_bytes / GB,
            "each_retrieve_process": chunks * measured.process_bytes / GB,
            "redis_for_the_backlog": given.backlog_messages * measured.message_bytes / GB,
        },
        "first_fill_days": {
            "encoding": windows / measured.windows_a_core_second / given.encoder_cores / DAY,
            "ingest_without_encoding": records
            * measured.ingest_core_seconds
            / given.ingest_cores
            / DAY,
            "vector_index_builds": given.partitions
            * build_seconds(measured, part_windows, given.database_cores)
            / DAY,
        },
        "cores": {
            "for_questions": given.questions_a_second * measured.question_core_seconds,
            "for_changes": given.changed_a_day
            / DAY
            * (measured.ingest_core_seconds + measured.windows / measured.windows_a_core_second),
        },
        "growth_gb": {
            "a_day": grows_a_day / GB,
            "in_all_days": grows_a_day * given.days / GB,
            "audit_in_all_days": given.days
            * (
                given.changed_a_day * measured.audit_bytes
                + given.questions_a_day * measured.question_audit_bytes
            )
            / GB,
        },
        "search_ms_extrapolated": {
            "p50_by_the_fit_of_each_partition": by_meaning.at(math.log10(part_chunks)),
            "scoring_words_cpu_at_best": by_words[0],
            "scoring_words_cpu_at_worst": by_words[1],
            "fit_is_off_by_at_most": by_meaning.worst,
            "largest_measured_chunks": float(measured.curve[-1].chunks),
        },
    }


def ends(
    given: Given, measured: Measured, process_gb: float = 4.0, words_ms: float = 100.0
) -> dict[str, float]:
    """At how many abstracts one PostgreSQL with one index stops being a good idea, by what ends.

    Args:
        process_gb: memory that a retrieve process may take for postings; ours.
        words_ms: CPU that scoring words may take of a question; ours.
    """
    at_worst, at_best = words_fit(measured).chunks(words_ms)
    return {
        "ef_search_meets_its_cap": EF_SEARCH_GROWS_TO / measured.windows,
        "vector_index_fills_half_the_memory": given.database_memory_gb
        * GB
        / 2
        / (measured.windows * measured.index_bytes),
        "a_build_needs_more_than_maintenance_memory": given.maintenance_memory_gb
        * GB
        / (measured.windows * measured.graph_bytes),
        "a_retrieve_process_needs_more_than_its_memory": process_gb
        * GB
        / (measured.chunks * measured.process_bytes),
        "scoring_words_takes_too_long_at_worst": at_worst / measured.chunks,
        "scoring_words_takes_too_long_at_best": at_best / measured.chunks,
    }


def lines(given: Given, measured: Measured) -> list[str]:
    """The estimate as lines to read."""
    found = [f"{given.abstracts:,} abstracts, {given.partitions} partitions"]
    for topic, rows in estimate(given, measured).items():
        found.append(f"{topic.replace('_', ' ')}:")
        found += [f"  {name.replace('_', ' ')}: {_short(value)}" for name, value in rows.items()]
    found.append("one PostgreSQL with one index ends at so many abstracts:")
    found += [
        f"  {name.replace('_', ' ')}: {_short(value)}"
        for name, value in sorted(ends(given, measured).items(), key=lambda one: one[1])
    ]
    return found


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def main() -> None:
    """Print the arithmetic."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.scaling", description="What a corpus takes, worked out."
    )
    for name, default in asdict(Given(36_000_000)).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    parser.add_argument("--measured", type=Path, default=MEASURED, help="constants of your own")
    parser.add_argument("--json", action="store_true")
    chosen = vars(parser.parse_args())
    measured, as_json = read(chosen.pop("measured")), chosen.pop("json")
    given = Given(**chosen)
    if as_json:
        body: dict[str, Any] = {
            "given": asdict(given),
            "estimate": estimate(given, measured),
            "one_index_ends_at_abstracts": ends(given, measured),
            "measured": asdict(measured),
        }
        print(json.dumps(body, indent=2))
    else:
        print("\n".join(lines(given, measured)))
