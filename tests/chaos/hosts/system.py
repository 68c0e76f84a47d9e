"""The system spread over hosts: what runs where, switched off, started again, cut and healed."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from subprocess import Popen

import httpx
import sqlalchemy as sa

from store.access import keys
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded.process import Command, spawn
from store.models import now
from tests.chaos.hosts.network import Plan, inside, network, run
from tests.chaos.hosts.servers import BROKER, DATA, NOTICED, STANDBY, Servers, servers
from tests.chaos.storm.system import environment
from tests.servers import wait_until

GATEWAY, PEOPLE = "gateway", "people"
WORKERS = ("workers-a", "workers-b")
HOSTS = (DATA, STANDBY, BROKER, *WORKERS, GATEWAY, PEOPLE)
PORT = 8321


@dataclass(frozen=True)
class Role:
    """A process: on which host, and which `attest` it is."""

    host: str
    arguments: tuple[str, ...]
    sabotages: tuple[str, ...] = ()


ROLES: Mapping[str, Role] = {
    "gateway": Role(GATEWAY, ("gateway",)),
    **{f"worker of {host}": Role(host, ("worker", "--threads=2")) for host in WORKERS},
    **{f"scheduler of {host}": Role(host, ("scheduler",)) for host in WORKERS},
}


@dataclass
class System:
    """All hosts and processes. Hosts in `off` are switched off on purpose."""

    plan: Plan
    servers: Servers
    settings: Settings
    store: Store
    key: str
    logs: Path
    roles: dict[str, Role]
    processes: dict[str, "Popen[bytes]"] = field(default_factory=dict)
    off: set[str] = field(default_factory=set)

    @property
    def url(self) -> str:
        """The gateway's, for people on any host."""
        return f"http://{self.plan.address(GATEWAY)}:{PORT}"

    def start(self, name: str) -> None:
        """Start a process on its host. Only the main thread may: the kernel ends it with us."""
        role = self.roles[name]
        options = [word for one in role.sabotages for word in ("--sabotage", one)]
        argv = (sys.executable, "-m", "tests.chaos.storm.launch", *options, *role.arguments)
        settings = self.settings.model_copy(update={"host": self.plan.address(role.host)})
        with self.log(name).open("ab") as output, inside(self.plan.namespace(role.host)):
            self.processes[name] = spawn(
                Command(argv, environment(settings), stop_signal=signal.SIGKILL), output
            )

    def log(self, name: str) -> Path:
        """Where a process writes."""
        return self.logs / f"{name.replace(' ', '-')}.log"

    def said(self, name: str, *words: str) -> int:
        """How many lines of a process have all these words."""
        try:
            lines = self.log(name).read_text("utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return 0
        return sum(all(one in line for one in words) for line in lines)

    def kill(self, name: str) -> None:
        """kill -9."""
        process = self.processes.pop(name, None)
        if process is not None:
            process.kill()
            process.wait()

    def supervise(self) -> None:
        """Start what is not there, on every host that is on, as each host's init would."""
        for name, role in self.roles.items():
            process = self.processes.get(name)
            if role.host not in self.off and (process is None or process.poll() is not None):
                self.start(name)

    def switch_off(self, host: str) -> None:
        """Its cable first, as with a power cut: nobody is told that its processes end."""
        self.off.add(host)
        run(self.plan.plug(host, "down"))
        for name, role in self.roles.items():
            if role.host == host:
                self.kill(name)

    def switch_on(self, host: str) -> None:
        """With its cable; its processes come with the next look of the supervisor."""
        run(self.plan.plug(host, "up"))
        self.off.discard(host)

    def stop(self) -> None:
        """Kill all processes, and look on no longer."""
        for name in list(self.processes):
            self.kill(name)
        self.store.engine.dispose()


def make_key(store: Store) -> str:
    """A key for everything that people do, with room for as many requests as they like."""
    with store.unit_of_work("test") as work:
        return keys.create(
            work,
            name="people of the hosts",
            owner="people",
            scopes=keys.SCOPES,
            expires_at=now() + timedelta(days=1),
            limits=keys.Limits(rate_per_minute=100_000, requests_a_day=10_000_000),
        ).secret


@contextmanager
def running(
    *,
    roles: Mapping[str, Role] = ROLES,
    sabotages: Sequence[str] = (),
    noticed: dict[str, str] = NOTICED,
    lease_seconds: float = 1.5,
) -> Iterator[System]:
    """The whole system, ready to answer; this thread is on the host of the people meanwhile.

    Args:
        sabotages: names of `launch.SABOTAGES`, for every process.
        noticed: see `servers.url_of`.

    Raises NoHosts.
    """
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attest-hosts-")))
        plan = stack.enter_context(network(HOSTS))
        stack.enter_context(inside(plan.namespace(PEOPLE)))
        all_servers = stack.enter_context(servers(directory, plan, noticed))
        engine = connect(all_servers.postgres.database_url)
        stack.callback(engine.dispose)
        migrate(engine)
        settings = Settings(
            data_dir=directory / "processes",
            database_url=all_servers.database_url,
            redis_url=all_servers.redis_url,
            port=PORT,
            encoder="hash",
            lease_seconds=lease_seconds,
            relay_seconds=0.2,
            lost_after_seconds=1.0,
            idle_wait_ms=200,
            shutdown_seconds=3.0,
            log_format="console",
        )
        store = Store(engine)
        spread = {
            name: Role(role.host, role.arguments, (*role.sabotages, *sabotages))
            for name, role in roles.items()
        }
        logs = directory / "logs"
        logs.mkdir()
        found = System(plan, all_servers, settings, store, make_key(store), logs, spread)
        stack.callback(found.stop)
        wait_until(lambda: _ready(found), 180, "the gateway answers")
        yield found


def _ready(system: System) -> bool:
    system.supervise()
    try:
        answer = httpx.get(f"{system.url}/readyz", timeout=2, trust_env=False)
    except httpx.TransportError:
        return False
    return answer.status_code == 200


def count(store: Store, query: str, **values: object) -> int:
    """One number from the database."""
    with store.reading() as session:
        return int(session.execute(sa.text(query), values).scalar_one())


def describe_machine() -> str:
    """Cores and load, for who reads the figures."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
