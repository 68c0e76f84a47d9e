"""How each thing goes wrong, and how it ends."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable

import httpx
import redis
import sqlalchemy as sa

from messages import QUESTION_STAGES
from store.core.settings import Settings
from store.core.unit_of_work import Promise
from tests.chaos.storm.schedule import Act
from tests.chaos.storm.standing import MARK
from tests.chaos.storm.system import System
from workers.runtime.broker import WokenBroker

DELAY_SECONDS = 0.15
SKEW_HOURS = (-48.0, -1.0, 1.0, 48.0)
AGAIN = 40
RUNNING_ON_SECONDS = 200.0
"""Longest wait for a worker that is in the midst of a question."""


def begin(system: System, act: Act) -> None:
    """Let it go wrong."""
    verb, thing = act.name.split()
    _BEGIN[verb](system, act, thing)


def end(system: System, act: Act) -> None:
    """Let it be over; what was killed is started again by whoever supervises."""
    verb, thing = act.name.split()
    if verb == "pause":
        _signal(system, _role(act, thing), signal.SIGCONT)
    elif verb in ("cut", "delay"):
        system.proxies[thing].mend()
    elif verb == "fill" and system.disk is not None:
        (system.disk / "ballast").unlink(missing_ok=True)
    elif verb == "skew":
        system.signal(_role(act, thing), signal.SIGKILL)
    system.away.discard(_role(act, thing))


def _role(act: Act, thing: str) -> str:
    return f"worker {act.which % 2}" if thing == "worker" else thing


def _signal(system: System, name: str, number: signal.Signals) -> None:
    servers = {one.name: one for one in (system.servers.postgres, system.servers.redis)}
    if name not in servers:
        system.signal(name, number)
    elif (pid := servers[name].pid) is not None:
        os.kill(pid, number)


_RUNNING_ON = sa.text(
    "SELECT worker FROM stage_run WHERE status = 'running' AND stage = ANY(:stages) "
    "AND started_at < clock_timestamp() - interval '0.2 s' AND lease_until > clock_timestamp()"
)


def _runner(system: System) -> str:
    """Wait for a worker that is for some time in a stage after a question's first; its role."""
    until = time.monotonic() + RUNNING_ON_SECONDS
    while time.monotonic() < until:
        system.supervise()
        with system.store.reading() as session:
            found = session.execute(_RUNNING_ON, {"stages": list(QUESTION_STAGES[1:])}).scalars()
            pids = {int(worker.rpartition(":")[2]) for worker in found}
        for name, process in system.processes.items():
            if process.pid in pids and process.poll() is None:
                return name
        time.sleep(0.1)
    raise TimeoutError("no worker was in the midst of a question")


def _kill(system: System, act: Act, thing: str) -> None:
    name = _role(act, thing)
    system.away.add(name)
    if thing == "postgres":
        system.servers.postgres.kill()
    elif thing == "redis":
        system.servers.redis.kill()
    else:
        system.signal(_runner(system) if thing == "runner" else name, signal.SIGKILL)


def _pause(system: System, act: Act, thing: str) -> None:
    _signal(system, _role(act, thing), signal.SIGSTOP)


def _cut(system: System, act: Act, thing: str) -> None:
    system.proxies[thing].cut()


def _delay(system: System, act: Act, thing: str) -> None:
    system.proxies[thing].delay(DELAY_SECONDS)


def _fill(system: System, act: Act, thing: str) -> None:
    """Leave no byte free, until the end of the act."""
    if system.disk is None:
        return
    with contextlib.suppress(OSError), (system.disk / "ballast").open("wb", 0) as ballast:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while ballast.write(bytes(size)) == size:
                    pass


def _skew(system: System, act: Act, thing: str) -> None:
    name = _role(act, thing)
    system.signal(name, signal.SIGKILL)
    system.start(name, SKEW_HOURS[act.which % len(SKEW_HOURS)])


def _flush(system: System, act: Act, thing: str) -> None:
    with contextlib.suppress(redis.RedisError):
        redis.Redis.from_url(system.servers.redis_url, socket_timeout=2).flushall()


def _deliver(system: System, act: Act, thing: str) -> None:
    """Send again what was sent, done or not, in any order."""
    with contextlib.suppress(sa.exc.SQLAlchemyError, redis.RedisError, ConnectionError):
        with system.store.reading() as session:
            rows = session.execute(
                sa.text("SELECT id, stage, payload FROM outbox ORDER BY created_at DESC LIMIT 200")
            ).all()
        draw = random.Random(act.which)
        chosen = draw.sample(rows, min(AGAIN, len(rows)))
        settings: Settings = system.settings.model_copy(
            update={"redis_url": system.servers.redis_url}
        )
        broker = WokenBroker(settings)
        try:
            broker.publish([Promise(row.id, row.stage, row.payload) for row in chosen])
        finally:
            broker.close()


def _expire(system: System, act: Act, thing: str) -> None:
    """All work under way counts as abandoned, though it goes on."""
    with contextlib.suppress(sa.exc.SQLAlchemyError), system.store.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE stage_run SET lease_until = clock_timestamp() - interval '1 second' "
                "WHERE status = 'running'"
            )
        )


def _stop(system: System, act: Act, thing: str) -> None:
    """Send a note on which its reader stands still; where the gateway is away nobody can."""
    text = f"PLAN:\n{MARK} {act.which}. Follow up in 2 weeks.\n"
    with contextlib.suppress(httpx.TransportError):
        httpx.post(f"{system.url}/v1/notes", json={"text": text}, timeout=2)


_BEGIN: dict[str, Callable[[System, Act, str], None]] = {
    "kill": _kill,
    "pause": _pause,
    "cut": _cut,
    "delay": _delay,
    "fill": _fill,
    "skew": _skew,
    "flush": _flush,
    "deliver": _deliver,
    "expire": _expire,
    "stop": _stop,
}
