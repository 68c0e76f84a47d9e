"""`attest status`: checks every part. Exit code 0 only if nobody has to do anything."""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import redis
import sqlalchemy as sa
import typer
from rich.text import Text
from sqlmodel import Session

from cli.client.gateway import GatewayRefused, call, client_of
from cli.instance import health_checks
from cli.instance.context import Instance, JsonOption, print_json
from cli.instance.failures import about_servers, is_refusal
from cli.instance.health_checks import Check
from cli.instance.instance import resolve
from cli.instance.model_check import model
from cli.output.printing import Console
from store.audit import audit
from store.core.database import connect
from store.core.schema import SchemaMismatch, require_current_schema
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded.process import processes_in
from store.index.partitions import Servers
from store.models import now
from store.operations import partitions
from store.pipeline import circuits, queue_report
from store.recalls import log as recall_log
from store.sources import source_report
from workers.runtime import liveness
from workers.runtime.redis_client import redis_client

NEWEST = 1000
"""Newest events of the audit to verify, which is quick; `attest audit verify` verifies all."""
LOOK_SECONDS = 5.0
"""Seconds after which a part that does not answer counts as away."""
READY_SECONDS = 20.0
_UNFINISHED = sa.text(
    "SELECT count(*) AS many, coalesce(extract(epoch FROM now() - min(created_at)), 0) AS seconds "
    "FROM question WHERE status IN ('queued', 'running')"
)
_CLOCK = sa.text(
    "SELECT clock_timestamp() AS here, "
    "extract(epoch FROM max(at) - clock_timestamp()) AS ahead FROM audit_event"
)


def status(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Show how every part is and what to do; exit code 1 if anybody has to do anything."""
    instance = Instance.of(ctx)
    settings = resolve(instance.settings)
    own = None if instance.settings.database_url else instance.settings.data_dir.resolve()
    disk = [_disk(own)] if own else []
    asked = [model(settings, LOOK_SECONDS)] if settings.model_url else []
    parts = [*_redis(settings, own), *disk, *_database(settings, own), *asked]
    checks = [_gateway(instance.url), *parts]
    ailing = [check for check in checks if not check.well]
    if as_json:
        listed = [{**asdict(check), "well": check.well} for check in checks]
        print_json({"well": not ailing, "checks": listed})
    else:
        _show(checks, len(ailing))
    if ailing:
        raise typer.Exit(1)


def _show(found: list[Check], ailing: int) -> None:
    console = Console(soft_wrap=True)
    for check in found:
        mark, style = ("✓", "green") if check.well else ("✗", "bold red")
        console.print(Text.assemble((mark, style), f" {check.name:<13}{check.said}"))
        if check.do:
            console.print(Text(f"{'':<15}→ {check.do}", style="yellow"))
    last = f"{ailing} of {len(found)} need somebody" if ailing else "all is well"
    console.print(Text(last, style="bold"))


def _gateway(url: str) -> Check:
    try:
        with client_of(url) as client:
            client.timeout = LOOK_SECONDS
            release = call(client, "GET", "/healthz").get("version")
            client.timeout = READY_SECONDS  # a hanging database is reported a little later
            call(client, "GET", "/readyz")
    except GatewayRefused as error:
        return Check("gateway", str(error), "see its log, and the parts below")
    return Check("gateway", f"{url}, release {release}")


def _database(settings: Settings, own: Path | None) -> list[Check]:
    engine = connect(settings.database_url, pool_size=1, answer_seconds=2 * LOOK_SECONDS)
    try:
        require_current_schema(engine)
        with Session(engine) as session:
            checks = _of_database(session)
        spread = Store(engine, servers=Servers.of(settings))
        checks += health_checks.partitions(partitions.listed(spread))
        spread.servers.dispose()
    except SchemaMismatch as error:
        return [Check("postgresql", str(error), "attest migrate, or the release that it is of")]
    except sa.exc.DBAPIError as error:
        if not is_refusal(error):
            raise
        return [
            _away("postgresql", error, _Own.postgres(own, settings.database_url) if own else None)
        ]
    finally:
        engine.dispose()
    return [Check("postgresql", "answers, with the schema of this release"), *checks]


def _of_database(session: Session) -> list[Check]:
    queues = queue_report.report(session)
    affected = recall_log.counts(session)["affected"]
    return [
        health_checks.stages(circuits.states(session)),
        health_checks.queues(queues, queue_report.outbox_lag(session).seconds),
        health_checks.work(queue_report.under_way(session)),
        health_checks.questions(*session.execute(_UNFINISHED).one()),
        health_checks.dead_letters(queues),
        health_checks.sources(source_report.report(session, now())),
        health_checks.recalls(affected, recall_log.oldest_affected_seconds(session)),
        _clock(session),
        _audit(session),
    ]


@dataclass(frozen=True)
class _Own:
    """An embedded server: its process, its folder, its socket, and its log."""

    process: str
    folder: Path
    socket: Path
    log: Path

    @classmethod
    def postgres(cls, data_dir: Path, url: str) -> "_Own":
        """Return the PostgreSQL of this data directory that is reached at this URL."""
        host = sa.make_url(url).query.get("host", "")
        socket = Path(str(host)) / ".s.PGSQL.5432"
        return cls("postgres", data_dir / "postgres", socket, data_dir / "log" / "postgres.log")

    @classmethod
    def redis(cls, data_dir: Path, url: str) -> "_Own":
        """Return the Redis, as `postgres` does."""
        socket = Path(urlsplit(url).path)
        return cls("valkey-server", data_dir / "redis", socket, data_dir / "log" / "redis.log")

    @property
    def is_cut_off(self) -> bool:
        """True if its socket was removed while it runs, so that `attest up` sees no fault."""
        try:
            if not self.socket.parent.is_dir():
                return True
            return not self.socket.exists() and bool(processes_in(self.folder, self.process))
        except PermissionError:  # it belongs to another account
            return False


def _away(name: str, error: Exception, own: _Own | None) -> Check:
    """Return the check of a server that does not serve; checks that need it are left out.

    Args:
        own: an embedded server, which `attest up` restarts by itself once it has ended.
    """
    text, _, do = about_servers(error).partition(": ")
    if own is not None and "attest up" in do:
        do = f"attest up starts it again; if it does not come, see {own.log}"
        if own.is_cut_off:
            where = own.socket.parent
            do = f"its socket in {where} was removed: stop attest up with Ctrl-C and start it again"
    return Check(name, text, f"{do}; nothing is lost meanwhile")


def _clock(session: Session) -> Check:
    clock = session.execute(_CLOCK).one()
    return health_checks.clock(float(clock.ahead or 0), abs((now() - clock.here).total_seconds()))


def _audit(session: Session) -> Check:
    head = int(session.execute(sa.text("SELECT seq FROM audit_head")).scalar_one_or_none() or 0)
    after = max(0, head - NEWEST)
    begin = audit.Checkpoint(after) if after else None
    return health_checks.audit(audit.verify(session, after=begin), head)


def _redis(settings: Settings, own: Path | None) -> list[Check]:
    try:
        with redis_client(settings.redis_url, timeout_seconds=LOOK_SECONDS, retries=0) as client:
            signs = liveness.look(client, settings.redis_namespace)
        if signs.refusal is not None:
            raise signs.refusal
    except (redis.RedisError, OSError) as error:
        return [_away("redis", error, _Own.redis(own, settings.redis_url) if own else None)]
    return [
        health_checks.redis(signs.policy if signs.evicts else None),
        health_checks.workers(signs.listening, own and own / "log", signs.silent_seconds),
        health_checks.scheduler(signs.scheduler_heard, own and own / "log"),
    ]


def _disk(data_dir: Path) -> Check:
    usage = shutil.disk_usage(data_dir)
    return health_checks.disk(usage.free, usage.total, str(data_dir))
