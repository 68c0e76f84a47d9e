"""Looks at everything of a running system that may grow: processes, PostgreSQL, Redis, queues."""

import contextlib
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psutil
import redis
import sqlalchemy as sa

from benchmarks.soak.verdict import Series
from messages import Stage
from workers.runtime.dramatiq_keys import Keys

ROLES = ("gateway", "scheduler", "worker")
_DATABASE = sa.text(
    """
    SELECT (SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database()) AS connections,
           (SELECT count(*) FROM outbox WHERE status IN ('pending', 'published')) AS open_messages,
           (SELECT coalesce(extract(epoch FROM now() - min(not_before)), 0) FROM outbox
            WHERE status = 'pending' AND not_before <= now()) AS outbox_lag,
           (SELECT count(*) FROM dead_letter WHERE status = 'open') AS dead_letters,
           (SELECT 100.0 * sum(n_dead_tup) / greatest(sum(n_live_tup + n_dead_tup), 1)
            FROM pg_stat_user_tables
            WHERE relname IN ('outbox', 'stage_run', 'question')) AS dead_tuples,
           pg_database_size(current_database()) / 1048576.0 AS megabytes,
           (SELECT count(*) FROM outbox WHERE status = 'done') AS messages
    """
)


@dataclass(frozen=True)
class Kind:
    """How a measure is judged: tolerated growth, see `Series`."""

    unit: str
    absolute: float
    share: float = 0.0
    judged: bool = True


KINDS: Mapping[str, Kind] = {
    # Ours. A kilobyte that every message leaves behind is some ten MiB over the whole soak.
    "memory": Kind("MiB", 6.0, 0.04),
    "open files": Kind("", 2.0, 0.03),
    "threads": Kind("", 1.5),
    "PostgreSQL connections": Kind("", 1.5),
    # A connection is a process there: how many there are is judged by itself, and so is what one
    # of them takes. A pool that opens its last connection late is no leak.
    "PostgreSQL memory, the largest process": Kind("MiB", 3.0, 0.04),
    "PostgreSQL memory, the median process": Kind("MiB", 0.5, 0.04),
    "PostgreSQL memory, all processes": Kind("MiB", 0.0, judged=False),
    "PostgreSQL database": Kind("MiB", 0.0, judged=False),
    "dead row versions of outbox, ledger, questions": Kind("%", 15.0),
    "Redis memory": Kind("MiB", 1.0, 0.05),
    "Redis connections": Kind("", 1.5),
    "Redis keys": Kind("", 3.0),
    "messages fetched and not acknowledged": Kind("", 4.0),
    "sets of such messages": Kind("", 3.0),
    "heartbeats": Kind("", 1.0),
    "messages at the broker": Kind("", 8.0),
    "dead messages at the broker": Kind("", 0.5),
    "messages promised and not done": Kind("", 10.0),
    "outbox lag": Kind("s", 1.0),
    "open dead letters": Kind("", 0.5),
}


def role_of(command: list[str]) -> str | None:
    """Which of our processes this command line is; None: none of those that are followed."""
    if command and "postgres" in command[0]:
        return "postgres"
    if command and command[0].split(" ")[0].endswith("/valkey-server"):
        return "redis"
    role = next((one for one in ROLES if one in command), None)
    stages = [one.removeprefix("--stage=") for one in command if one.startswith("--stage=")]
    return f"worker {stages[0]}" if role == "worker" and stages else role


@dataclass
class Sampler:
    """Takes samples; `series` gives them. Processes are those below `root`."""

    root: psutil.Process
    engine: sa.Engine
    client: "redis.Redis"
    namespace: str
    taken: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    begun: float = field(default_factory=time.monotonic)
    messages: int = 0

    def take(self) -> None:
        """One sample of everything."""
        at = time.monotonic() - self.begun
        found = self._processes() | self._database() | self._redis()
        for name, value in found.items():
            self.taken[name].append((at, value))

    def series(self) -> list[Series]:
        """Everything that was sampled."""
        found = []
        for name, points in sorted(self.taken.items()):
            kind = KINDS[name.partition(": ")[0]]
            found.append(Series(name, kind.unit, points, kind.absolute, kind.share, kind.judged))
        return found

    def _processes(self) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        servers: list[float] = []
        for process in self.root.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                role = role_of(" ".join(process.cmdline()).split())
                if role == "postgres":  # what they share, RSS would count in each of them
                    servers.append(process.memory_full_info().uss / 2**20)
                elif role is not None:
                    found[f"memory: {role}"] += process.memory_info().rss / 2**20
                    found[f"open files: {role}"] += process.num_fds()
                    found[f"threads: {role}"] += process.num_threads()
        if servers:
            found["PostgreSQL memory, the largest process"] = max(servers)
            found["PostgreSQL memory, the median process"] = statistics.median(servers)
            found["PostgreSQL memory, all processes"] = sum(servers)
        return dict(found)

    def _database(self) -> dict[str, float]:
        with self.engine.connect() as connection:
            row = connection.execute(_DATABASE).one()
        self.messages = row.messages
        return {
            "PostgreSQL connections": row.connections,
            "PostgreSQL database": float(row.megabytes),
            "dead row versions of outbox, ledger, questions": float(row.dead_tuples or 0),
            "messages promised and not done": row.open_messages,
            "outbox lag": float(row.outbox_lag),
            "open dead letters": row.dead_letters,
        }

    def _redis(self) -> dict[str, float]:
        info: Any = self.client.info()
        acks = list(self.client.scan_iter(Keys(self.namespace, "*").fetched("*"), count=1000))
        with self.client.pipeline(transaction=False) as pipe:
            for key in acks:
                pipe.scard(key)
            for stage in Stage:
                pipe.hlen(Keys(self.namespace, stage.value).bodies)
            for stage in Stage:
                pipe.zcard(Keys(self.namespace, stage.value).dead)
            pipe.zcard(Keys(self.namespace, "").heartbeats)
            pipe.dbsize()
            found: list[Any] = pipe.execute()
        fetched, rest = found[: len(acks)], found[len(acks) :]
        stages = len(Stage)
        return {
            "Redis memory": info["used_memory"] / 2**20,
            "Redis connections": info["connected_clients"],
            "Redis keys": rest[-1],
            "messages fetched and not acknowledged": sum(fetched),
            "sets of such messages": len(acks),
            "heartbeats": rest[-2],
            "messages at the broker": sum(rest[:stages]),
            "dead messages at the broker": sum(rest[stages : 2 * stages]),
        }
