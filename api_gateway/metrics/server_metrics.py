"""Prometheus metrics from outside PostgreSQL: Redis, the processes that report to it, the disk.

They match the output of `attest status`. An unknown value has no sample, such as which processes
are alive while Redis is away.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import redis
import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from workers.runtime import liveness
from workers.runtime.liveness import Seen

log = structlog.get_logger(__name__)


class ServerState(Collector):
    """Gauges read at each scrape.

    Args:
        client: a client with short timeouts, as a scrape must not hang.
        data_dir: the directory of the embedded servers, if they are embedded.
    """

    def __init__(self, client: "redis.Redis", namespace: str, data_dir: Path) -> None:
        self._client = client
        self._namespace = namespace
        self._data_dir = data_dir

    def describe(self) -> list[Metric]:
        """No metrics before the first scrape: registering must not need a server."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The gauges; while Redis is away, `attest_redis_up` is the only one of Redis."""
        yield from _disk(self._data_dir)
        try:
            seen = liveness.look(self._client, self._namespace)
        except (redis.RedisError, OSError) as error:
            log.warning("metrics_without_redis", error=type(error).__name__)
            yield _redis_up(up=False)
            return
        yield _redis_up(up=True)
        yield from _redis(seen)


def _redis_up(*, up: bool) -> Metric:
    return GaugeMetricFamily("attest_redis_up", "whether Redis answered this scrape", float(up))


def _redis(seen: Seen) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "attest_redis_writable",
        "whether it took something new: one that is full, or a replica, answers and does not",
        float(seen.refusal is None),
    )
    yield GaugeMetricFamily(
        "attest_redis_evicts", "1 if it drops messages where it is full", float(seen.evicts)
    )
    workers = GaugeMetricFamily(
        "attest_workers", "processes that listen for a stage's messages", labels=["stage"]
    )
    for stage, processes in seen.listening.items():
        workers.add_metric([stage], processes)
    yield workers
    yield GaugeMetricFamily(
        "attest_scheduler_up",
        f"whether a scheduler said within {liveness.HEARD_SECONDS} seconds that it lives",
        float(seen.scheduler_heard),
    )
    yield GaugeMetricFamily(
        "attest_scheduler_last_beat_timestamp_seconds",
        "when a scheduler last said that it lives; missing if none did for a day",
        None if seen.beat_seconds is None else time.time() - seen.beat_seconds,
    )


def _disk(data_dir: Path) -> Iterator[Metric]:
    try:
        usage = shutil.disk_usage(data_dir)
    except OSError:  # the directory does not exist if the servers are not embedded
        return
    where = "of the file system with the data directory, in which the embedded servers write"
    yield GaugeMetricFamily("attest_disk_free_bytes", f"room {where}", usage.free)
    yield GaugeMetricFamily("attest_disk_size_bytes", f"size {where}", usage.total)
