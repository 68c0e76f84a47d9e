"""The system under the storm: servers behind proxies, real processes, and what keeps them up."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import httpx
import sqlalchemy as sa

from cli.commands.demo import free_port
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import EmbeddedError, EmbeddedServers, embedded
from tests.chaos.storm.proxy import Proxy
from tests.servers import wait_until

QUOTA_MB = 700
ROLES: dict[str, tuple[str, ...]] = {
    "worker 0": ("worker", "--threads=2"),
    "worker 1": ("worker", "--threads=2"),
    "scheduler": ("scheduler",),
    "gateway": ("gateway",),
}


def environment(settings: Settings) -> dict[str, str]:
    """What a process is started with, so that it has these settings."""
    env = {**os.environ}
    for key, value in settings.model_dump(exclude_none=True).items():
        env[f"ATTEST_{key.upper()}"] = json.dumps(value) if isinstance(value, dict) else str(value)
    return env


class Supervised(Protocol):
    """A system whose processes are started again when they die."""

    @property
    def store(self) -> Store: ...

    def supervise(self) -> None: ...


@dataclass
class System:
    """What runs, and what is away on purpose: its names stand in `away`."""

    servers: EmbeddedServers
    proxies: dict[str, Proxy]
    settings: Settings
    store: Store
    disk: Path | None
    log: Path
    sabotages: Sequence[str]
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)
    starts: int = 0

    @property
    def url(self) -> str:
        """The gateway's."""
        return f"http://127.0.0.1:{self.settings.port}"

    def start(self, name: str, skew: float = 0.0) -> None:
        """Start a process, with a wrong clock if told to."""
        options = ["--skew", str(skew)] if skew else []
        for one in self.sabotages:
            options += ["--sabotage", one]
        with self.log.open("ab") as output:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.storm.launch", *options, *ROLES[name]],
                env=environment(self.settings),
                stdout=output,
                stderr=output,
            )
        self.starts += 1

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal, if it lives."""
        process = self.processes.get(name)
        if process is not None and process.poll() is None:
            process.send_signal(number)
            if number is signal.SIGKILL:
                process.wait()

    def supervise(self) -> None:
        """Start again what is not there and not away on purpose, as an init would."""
        for name in ROLES:
            process = self.processes.get(name)
            if name not in self.away and (process is None or process.poll() is not None):
                self.start(name)
        for server in (self.servers.postgres, self.servers.redis):
            if server.name not in self.away and server.pid is None:
                server.kill()  # takes note of its end
                with contextlib.suppress(EmbeddedError, OSError):
                    server.start(20)

    def calm(self) -> None:
        """Everything is there again, and its clocks are right."""
        self.away.clear()
        for proxy in self.proxies.values():
            proxy.mend()
        for name in ROLES:
            self.signal(name, signal.SIGKILL)
        self.supervise()

    def stop(self) -> None:
        """Kill the processes."""
        for name in list(self.processes):
            self.signal(name, signal.SIGKILL)


@contextmanager
def quota(directory: Path) -> Iterator[Path | None]:
    """A disk of `QUOTA_MB` at `directory`; None where this user may not mount one."""
    directory.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={QUOTA_MB}m,mode=755", "tmpfs", str(directory)]
    mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield directory if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(directory)], capture_output=True, check=False)


def _through(servers: EmbeddedServers) -> dict[str, Proxy]:
    host = sa.make_url(servers.database_url).query["host"]
    path = servers.redis_url.removeprefix("unix://").partition("?")[0]
    return {"postgres": Proxy(f"{host}/.s.PGSQL.5432"), "redis": Proxy(path)}


@contextmanager
def running(mirrors: dict[str, str], sabotages: Sequence[str] = ()) -> Iterator[System]:
    """A system with all its processes, ready to answer."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attest-storm-")))
        disk = stack.enter_context(quota(directory / "disk"))
        servers = stack.enter_context(embedded(directory / "disk" / "data"))
        proxies = _through(servers)
        for proxy in proxies.values():
            stack.callback(proxy.close)
        url = sa.make_url(servers.database_url)
        direct = connect(servers.database_url)
        stack.callback(direct.dispose)
        migrate(direct)
        proxied = url.set(host="127.0.0.1", port=proxies["postgres"].port, query={})
        settings = Settings(
            data_dir=directory / "processes",
            database_url=proxied.render_as_string(False),
            redis_url=f"redis://127.0.0.1:{proxies['redis'].port}/0",
            port=free_port(),
            encoder="hash",
            lease_seconds=1.5,
            watchdog_seconds=6.0,  # longer than anything is paused
            relay_seconds=0.2,
            lost_after_seconds=1.0,
            idle_wait_ms=200,
            shutdown_seconds=3.0,
            log_format="console",
            source_mirrors=mirrors,
        )
        log = directory / "processes.log"
        found = System(servers, proxies, settings, Store(direct), disk, log, sabotages)
        stack.callback(found.stop)
        wait_until(lambda: ready(found), 180, "the gateway answers")
        yield found


def ready(system: System) -> bool:
    """Whether the gateway answers; what is not there is started."""
    system.supervise()
    try:
        return httpx.get(f"{system.url}/readyz", timeout=2).status_code == 200
    except httpx.TransportError:
        return False


def quiet(system: Supervised, seconds: float) -> bool:
    """Wait, supervising, until every promise is kept or dead; whether that came in time."""
    until = time.monotonic() + seconds
    query = sa.text(
        "SELECT (SELECT count(*) FROM outbox WHERE status IN ('pending', 'published')) + "
        "(SELECT count(*) FROM question WHERE status IN ('queued', 'running')) + "
        "(SELECT count(*) FROM stage_run WHERE status IN ('running', 'waiting'))"
    )
    calm = 0
    while time.monotonic() < until:
        system.supervise()
        with contextlib.suppress(sa.exc.SQLAlchemyError), system.store.reading() as session:
            calm = calm + 1 if session.execute(query).scalar_one() == 0 else 0
        if calm >= 3:
            return True
        time.sleep(0.3)
    return False
