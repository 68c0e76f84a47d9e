"""What happens to the hosts while people ask, and what is measured meanwhile."""

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import sqlalchemy as sa

from messages import Stage
from store.core.database import connect
from store.core.unit_of_work import Store
from store.embedded.process import Command, spawn
from store.models import now
from tests import standby
from tests.chaos.checker import broken_rules
from tests.chaos.hosts.network import inside, run
from tests.chaos.hosts.servers import BROKER, DATA
from tests.chaos.hosts.system import WORKERS, System, count, running
from tests.chaos.storm.clients import Clients
from tests.chaos.storm.history import History
from tests.chaos.storm.launch import SEAL_IS_READY, SEALS_WAIT
from tests.chaos.storm.system import environment, quiet
from tests.servers import TRIAL, ingest

LOST = "a worker host is lost"
CUT = "a worker host is cut from the data"
SCHEDULER = "a scheduler's host is lost, and every message"
COMMIT = "a host is lost in the middle of a commit"
DATABASE = "the database's host is lost for good, and its standby promoted"
CALM = "all is well"
LASTING = {
    CALM: (4.0, 6.0),
    LOST: (5.0, 9.0),
    CUT: (9.0, 12.0),
    SCHEDULER: (5.0, 8.0),
    COMMIT: (2.0, 4.0),
    DATABASE: (2.0, 4.0),
}
"""Seconds from, to. A cut is longer than the lease (1.5 s) and than the server takes to notice."""
SETTLE_SECONDS = PATIENCE_SECONDS = 120.0
"""How long all may take to be done, and what a scene waits for to come about, on a busy machine."""
BURST = 20
UPLOAD_SECONDS = 4.0
_HOLDS = (
    "import sys, time, sqlalchemy as sa; from store.core.database import connect; "
    "from store.core.settings import Settings; "
    "c = connect(Settings().database_url).connect(); "
    "c.execute(sa.text('SELECT 1 FROM audit_head FOR UPDATE')); print('held', flush=True); "
    "time.sleep(600)"
)
"""A commit up to its last statement: it has the head of the audit chain, which all others want."""
_REFUSED = ("lease_lost ", "stage=audit", "attempts=")
"""What a worker says of a seal that came late."""
_NOTICED = "lease_lost_while_working"
"""What it says when it is at the database again."""


@dataclass(frozen=True)
class Scene:
    """One thing that happens, to which host, for how long."""

    what: str
    host: str
    seconds: float


@dataclass
class Seen:
    """What a scene showed. `pause` is the longest time without an answer, in seconds."""

    scene: Scene
    accepted: int = 0
    answered: int = 0
    taken_over: int = 0
    fenced: int = 0
    pause: float = 0.0
    settled: float = 0.0
    notes: str = ""


@dataclass
class Outcome:
    """A whole run; `found` is empty if everything that was promised was kept."""

    seed: int
    scenes: list[Seen] = field(default_factory=list)
    uploads: int = 0
    found: list[str] = field(default_factory=list)


def script(seed: int) -> list[Scene]:
    """All scenes, the calm one first, the one without return last, with hosts and times drawn from
    the seed."""
    draw = random.Random(seed)
    others = [LOST, CUT, SCHEDULER, COMMIT]
    draw.shuffle(others)
    return [
        Scene(what, host, round(draw.uniform(*LASTING[what]), 1))
        for what, host in (
            (CALM, draw.choice(WORKERS)),
            *((what, draw.choice(WORKERS)) for what in others),
            (DATABASE, DATA),
        )
    ]


def longest_pause(begin: datetime, end: datetime, moments: Sequence[datetime]) -> float:
    """The longest time between two moments of a span, its ends included, in seconds."""
    inner = sorted(one for one in moments if begin < one < end)
    return max((after - one).total_seconds() for one, after in pairwise([begin, *inner, end]))


def play(
    seed: int,
    scenes: Sequence[Scene] | None = None,
    sabotages: Sequence[str] = (),
    told: Callable[[Seen], None] = lambda seen: None,
) -> Outcome:
    """Set the hosts up, let the scenes happen one after the other, and look at what is left.

    Args:
        scenes: instead of what the seed draws.
        sabotages: names of `launch.SABOTAGES`, for every process.
        told: is shown each scene when it is over.
    """
    outcome, history = Outcome(seed), History()
    with running(sabotages=sabotages) as system:
        ingest(system.store, TRIAL)
        quiet(system, SETTLE_SECONDS)
        for number, scene in enumerate(script(seed) if scenes is None else scenes):
            seen = _one(system, history, scene, seed * 100 + number, outcome.found)
            outcome.scenes.append(seen)
            told(seen)
        readers = Clients(system.url, history, seed, key=system.key, refreshing=False)
        readers.read_all()
        with system.store.reading() as session:
            outcome.found += [*broken_rules(session), *history.contradictions(session)]
    outcome.uploads = len(history.uploads)
    return outcome


def _one(system: System, history: History, scene: Scene, seed: int, found: list[str]) -> Seen:
    """People ask all the time; two seconds in it happens, and when it is over all must settle."""
    seen, before = Seen(scene), len(history.accepted)
    taken, fenced, answered = _taken_over(system), _fenced(system), _answered(system)
    people = Clients(
        system.url, history, seed, key=system.key, refreshing=False, upload_seconds=UPLOAD_SECONDS
    )
    begin = now()
    people.start()
    try:
        _live(system, 2.0)
        _HAPPENS[scene.what](system, scene, seen, people, found)
        _live(system, 2.0)
    finally:
        people.stop()
    seen.pause = round(longest_pause(begin, now(), _sealed(system)), 1)
    over = time.monotonic()
    if not quiet(system, SETTLE_SECONDS):
        found.append(f"{scene.what}: not quiet after {SETTLE_SECONDS:.0f} s")
    seen.settled = round(time.monotonic() - over, 1)
    seen.accepted = len(history.accepted) - before
    seen.answered = _answered(system) - answered
    seen.taken_over = _taken_over(system) - taken
    seen.fenced = _fenced(system) - fenced
    return seen


def _live(system: System, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        system.supervise()
        time.sleep(0.05)


def _calm(system: System, scene: Scene, seen: Seen, people: Clients, found: list[str]) -> None:
    _live(system, scene.seconds)


def _lost(system: System, scene: Scene, seen: Seen, people: Clients, found: list[str]) -> None:
    system.switch_off(scene.host)
    _live(system, scene.seconds)
    system.switch_on(scene.host)


def _cut(system: System, scene: Scene, seen: Seen, people: Clients, found: list[str]) -> None:
    """Cut while a worker there is about to seal an answer; the seal that comes late is refused.

    The worker serves all stages: a question comes to its seal in the thread that began with it
    (ADR 0048), and one that serves audit alone is sent next to nothing. The cut comes when all that
    the seal needs has been read: a worker that still reads fails, and seals nothing. The seal is
    held back until somebody else has the work and the worker is at the database again.
    """
    name, data = f"slow worker of {scene.host}", (DATA, BROKER)
    held = Path(system.settings.data_dir, SEALS_WAIT)
    ready = held.with_name(SEAL_IS_READY)
    held.parent.mkdir(parents=True, exist_ok=True)
    ready.unlink(missing_ok=True)
    held.touch()
    like = system.roles[f"worker of {scene.host}"]
    system.roles[name] = replace(like, sabotages=(*like.sabotages, "seals wait"))
    try:
        _until(system, lambda: system.said(name, "worker_ready") > 0, PATIENCE_SECONDS)
        ours = f"%:{system.processes[name].pid}"
        if not _until(system, ready.exists, PATIENCE_SECONDS):
            found.append(f"{CUT}: the slow worker got nothing to seal")
        run([one for host in data for one in system.plan.cut(scene.host, host)])
        sealing = _sealing(system, ours)
        _live(system, scene.seconds)
        if not _until(system, lambda: _sealing(system, ours).isdisjoint(sealing), PATIENCE_SECONDS):
            found.append(f"{CUT}: nobody took over what the slow worker was to seal")
        noticed = system.said(name, _NOTICED)
        run([one for host in data for one in system.plan.heal(scene.host, host)])
        healed = time.monotonic()
        _until(system, lambda: system.said(name, _NOTICED) > noticed, PATIENCE_SECONDS)
    finally:
        held.unlink()
    if _until(system, lambda: system.said(name, *_REFUSED) > 0, 60):
        seen.notes = f"refused {time.monotonic() - healed:.1f} s after the cut was healed"
    else:
        found.append(f"{CUT}: no seal was refused for a lease that was lost")
    del system.roles[name]
    system.kill(name)


def _sealing(system: System, worker: str) -> set[int]:
    """What a worker is about to seal, as rows of the ledger."""
    query = sa.text(
        "SELECT id FROM stage_run WHERE stage = 'audit' AND status = 'running' "
        "AND worker LIKE :worker"
    )
    with system.store.reading() as session:
        return set(session.execute(query, {"worker": worker}).scalars())


def _scheduler(system: System, scene: Scene, seen: Seen, people: Clients, found: list[str]) -> None:
    """Only the other host's scheduler can send again what Redis has forgotten."""
    (other,) = set(WORKERS) - {scene.host}
    asked = people.burst(BURST)
    sent = system.said(f"scheduler of {other}", "relay_published")
    system.switch_off(scene.host)
    forgotten = _forget(system)
    begun = time.monotonic()
    _until(system, lambda: _open(system, asked) == 0, 60)
    took = time.monotonic() - begun
    _live(system, max(0.0, scene.seconds - took))
    sent = system.said(f"scheduler of {other}", "relay_published") - sent
    if forgotten and not sent:
        found.append(f"{SCHEDULER}: the second scheduler sent nothing")
    left = _open(system, asked)
    seen.notes = (
        f"{len(asked)} asked at once, {forgotten} messages forgotten; "
        f"{'all answered' if not left else f'{left} open'} after {took:.1f} s"
    )
    system.switch_on(scene.host)


def _commit(system: System, scene: Scene, seen: Seen, people: Clients, found: list[str]) -> None:
    """Its locks are free when the server has noticed that nobody is there any more."""
    with _holding(system, scene.host):
        system.switch_off(scene.host)
    off, begun = now(), time.monotonic()
    _until(system, lambda: any(one > off for one in _sealed(system)), 100)
    seen.notes = f"the first answer after {time.monotonic() - begun:.1f} s"
    _live(system, scene.seconds)
    system.switch_on(scene.host)


def _database(system: System, scene: Scene, seen: Seen, people: Clients, found: list[str]) -> None:
    """The standby is made while people ask. Nobody is told the new address: the URL has both."""
    servers = system.servers
    begun = time.monotonic()
    servers.stand_by()
    made = time.monotonic() - begun
    _live(system, scene.seconds)
    off, begun = now(), time.monotonic()
    system.switch_off(scene.host)
    servers.postgres.kill()
    _live(system, scene.seconds)
    standby.promote(servers.standby.conninfo())
    promoted = time.monotonic() - begun
    system.store.engine.dispose()
    system.store = Store(connect(servers.standby.database_url))
    _until(system, lambda: any(one > off for one in _sealed(system)), 100)
    seen.notes = (
        f"the standby was made in {made:.1f} s, promoted {promoted:.1f} s after the loss; "
        f"the first answer {time.monotonic() - begun - promoted:.1f} s after that"
    )


@contextmanager
def _holding(system: System, host: str) -> Iterator[None]:
    """A process on a host that is about to commit; killed at the end."""
    log = system.logs / "holder.log"
    with log.open("wb") as output, inside(system.plan.namespace(host)):
        holder = spawn(
            Command((sys.executable, "-c", _HOLDS), environment(system.settings)), output
        )
    try:
        _until(system, lambda: b"held" in log.read_bytes(), 20)
        yield
    finally:
        holder.kill()
        holder.wait()


_HAPPENS: dict[str, Callable[[System, Scene, Seen, Clients, list[str]], None]] = {
    CALM: _calm,
    LOST: _lost,
    CUT: _cut,
    SCHEDULER: _scheduler,
    COMMIT: _commit,
    DATABASE: _database,
}


def _until(system: System, condition: Callable[[], bool], seconds: float) -> bool:
    """Wait, supervising; whether it came to be."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        system.supervise()
        time.sleep(0.05)
    return True


def _forget(system: System) -> int:
    """Empty Redis; how many messages it held, waiting or fetched."""
    client = system.servers.redis.client()
    held = [f"{system.settings.redis_namespace}:{stage.value}.msgs" for stage in Stage]
    with client.pipeline() as pipe:
        for name in held:
            pipe.hlen(name)
        pipe.flushall()
        *counts, _ = pipe.execute()
    return sum(counts)


def _open(system: System, asked: Sequence[object]) -> int:
    return count(
        system.store,
        "SELECT count(*) FROM question WHERE id = ANY(:ids) AND status IN ('queued', 'running')",
        ids=list(asked),
    )


def _sealed(system: System) -> list[datetime]:
    with system.store.reading() as session:
        rows = session.execute(sa.text("SELECT sealed_at FROM answer WHERE sealed_at IS NOT NULL"))
        return [row.sealed_at for row in rows]


def _answered(system: System) -> int:
    return count(system.store, "SELECT count(*) FROM question WHERE status = 'answered'")


def _taken_over(system: System) -> int:
    return count(system.store, "SELECT count(*) FROM stage_run WHERE attempts > 1")


def _fenced(system: System) -> int:
    return sum(
        one.read_text("utf-8", errors="replace").count("lease_lost ")
        for one in system.logs.glob("*worker*.log")
    )
