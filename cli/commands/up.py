"""`attest up`: PostgreSQL, Redis, workers, scheduler and gateway as supervised processes."""

import errno
import json
import os
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from api_gateway.auth.requirement import keys_required
from api_gateway.http.host_names import is_loopback, url_of
from cli.supervise import Nursery, ProcessSpec, Supervisor, server_spec
from messages import (
    EVIDENCE_STAGES,
    QUESTION_STAGES,
    RECALL_STAGES,
    SOURCE_STAGES,
    Stage,
)
from store.core.settings import Settings
from store.embedded import DataDir, EmbeddedPostgres, EmbeddedRedis
from store.embedded.process import SHOWN_LINES

OnEvent = Callable[[str, str], None]

QUESTION_THREADS = 4
EVIDENCE_THREADS = 2
ANCHOR_THREADS = 1
"""Anchoring keeps a core busy. In a process of its own it does not delay the evidence stages; their
pool helps with anchors when it has nothing else to do, so that no core is idle until then."""
SOURCE_THREADS = 4
"""These threads mostly wait, for responses and for their turn. They have a process of their own, so
that an upload never waits for them."""
TEXT_THREADS = 2
"""For pasted texts, notes and clinical documents, each in a process of its own: a text that keeps
its worker busy, or stops it, delays neither questions nor the others. They start once questions can
be asked, so that they do not delay the start."""


def who_may_ask(settings: Settings) -> list[str]:
    """Return what to say about keys to the person who starts an instance, one line each."""
    if keys_required(settings):
        text = "Callers need a key (attest keys create; the attest command sends ATTEST_KEY)."
        first_key = f" On {settings.host} the gateway waits for the first one."
        return [text if is_loopback(settings.host) else text + first_key]
    return [
        f"No keys are asked for on {settings.host}: whoever can run programs on this machine may "
        "read and write everything of the owner local. ATTEST_REQUIRE_KEYS=true asks for keys."
    ]


class PortInUse(RuntimeError):
    """The gateway's port is taken, or its address is not of this machine."""


def run(settings: Settings, *, on_event: OnEvent, log_dir: Path | None) -> int:
    """Run everything until SIGTERM or Ctrl-C; return the exit code.

    Raises:
        EmbeddedError: the data directory cannot be used.
        PortInUse: something else listens on the gateway's port.
    """
    require_free(settings.host, settings.port)
    if log_dir is not None:
        on_event = _with_last_words(on_event, log_dir.resolve())
    with ExitStack() as stack:
        nursery = stack.enter_context(Nursery())  # it imports while the servers start
        if settings.database_url and settings.redis_url:
            servers: list[ProcessSpec] = []
            urls = (settings.database_url, settings.redis_url)
        else:
            data = stack.enter_context(DataDir(settings.data_dir))
            postgres, redis = EmbeddedPostgres(data), EmbeddedRedis(data)
            for server in (postgres, redis):
                server.initialize()
            servers = [server_spec(postgres), server_spec(redis)]
            urls = (postgres.database_url, redis.redis_url)
            on_event = _publishing(on_event, data, urls, settings)
        specs = [*servers, *processes(settings, urls, tuple(spec.name for spec in servers))]
        return Supervisor(specs, on_event, log_dir, nursery).run()


def _publishing(
    on_event: OnEvent, data: DataDir, urls: tuple[str, str], settings: Settings
) -> OnEvent:
    """Publish the addresses of this instance to other commands once its database is migrated."""

    def tell(name: str, what: str) -> None:
        if name == "migrate" and what.startswith("ready"):
            data.publish(*urls, gateway_url=url_of(settings.host, settings.port))
        on_event(name, what)

    return tell


def _with_last_words(on_event: OnEvent, log_dir: Path) -> OnEvent:
    """Add the last log lines, and the path of the log, to the event of a process that failed."""

    def tell(name: str, what: str) -> None:
        if what.startswith("exited") and what != "exited with code 0":
            log = log_dir / f"{name}.log"
            words = _KILLED if "SIGKILL" in what else " / ".join(_complaints(log))
            short = words if len(words) <= _LAST_CHARACTERS else f"…{words[-_LAST_CHARACTERS:]}"
            what = f"{what}: {short} (see {log})" if short else f"{what} (see {log})"
        on_event(name, what)

    return tell


def _complaints(log: Path) -> list[str]:
    """Return the last lines of a log, without entries of level info and debug."""
    try:
        lines = log.read_text("utf-8", errors="replace").splitlines()[-SHOWN_LINES:]
    except OSError:
        return []
    return [words for line in lines if (words := _complaint(line.strip()))]


def _complaint(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict) or "event" not in entry:
        return line
    if entry.get("level") in ("info", "debug"):
        return ""
    cause = entry.get("cause") or entry.get("error")
    return f"{entry['event']}: {cause}" if cause else str(entry["event"])


_KILLED = "it was killed: by somebody, or by the system where that ran out of memory"
_LAST_CHARACTERS = 400
"""Our choice: enough for an error's own line, and the one before it."""

_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""The errors if this machine has no such address, or no IPv6 at all."""


def require_free(host: str, port: int) -> None:
    """Raises PortInUse unless the gateway can listen: on every address of the name that this
    machine has, and on at least one."""
    try:
        places = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise _in_use(host, port, error) from None
    missing: list[OSError] = []
    for family, kind, protocol, _, place in places:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:  # otherwise :: takes the same port of IPv4 too
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(place)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise _in_use(host, port, error) from None
            missing.append(error)
    if len(missing) == len(places):
        raise _in_use(host, port, missing[0])


def _in_use(host: str, port: int, error: OSError) -> PortInUse:
    if isinstance(error, socket.gaierror) or error.errno in _NOT_HERE:
        return PortInUse(
            f"{host} is no address of this machine ({error.strerror}): choose one with --host"
        )
    return PortInUse(
        f"port {port} of {host} cannot be used ({error.strerror}): choose another one with --port"
    )


def processes(
    settings: Settings, urls: tuple[str, str], servers: tuple[str, ...]
) -> list[ProcessSpec]:
    """Return this program's processes: the migration, worker pools, scheduler and gateway.

    Questions have a pool of their own, so that a bulk ingest never delays them.
    """
    kept = os.environ.keys() - {"ATTEST_DATABASE_URL_FILE", "ATTEST_REDIS_URL_FILE"}
    env = {
        **{name: os.environ[name] for name in kept},
        "ATTEST_DATABASE_URL": urls[0],
        "ATTEST_REDIS_URL": urls[1],
        "ATTEST_DATA_DIR": str(settings.data_dir.resolve()),
        "ATTEST_HOST": settings.host,
        "ATTEST_PORT": str(settings.port),
        "ATTEST_REQUIRE_KEYS": str(settings.require_keys).lower(),
        "OMP_NUM_THREADS": "1",  # the encoder has threads of its own
    }
    grace = settings.shutdown_seconds + 5.0

    def spec(name: str, *argv: str, **options: object) -> ProcessSpec:
        return ProcessSpec(
            name=name,
            argv=(sys.executable, "-m", "cli.main", *argv),
            env=env,
            stop_timeout_seconds=grace,
            **options,  # type: ignore[arg-type]
        )

    def worker(
        name: str, stages: tuple[Stage, ...], threads: int, after: str = "migrate"
    ) -> ProcessSpec:
        wanted = [f"--stage={stage.value}" for stage in stages]
        return spec(name, "worker", *wanted, f"--threads={threads}", after=(after,))

    return [
        spec("migrate", "migrate", after=servers, restart=False),
        spec("gateway", "gateway", after=("migrate",), ready=_answers(settings)),
        worker("questions", QUESTION_STAGES, QUESTION_THREADS),
        worker("evidence", EVIDENCE_STAGES, EVIDENCE_THREADS),
        worker("anchors", (Stage.ANCHOR,), ANCHOR_THREADS),
        worker("sources", SOURCE_STAGES + RECALL_STAGES, SOURCE_THREADS),
        spec("scheduler", "scheduler", after=("migrate",)),
        worker("checks", (Stage.CHECK,), TEXT_THREADS, after="gateway"),
        worker("notes", (Stage.SUMMARIZE,), TEXT_THREADS, after="gateway"),
        worker("extractions", (Stage.EXTRACT,), TEXT_THREADS, after="gateway"),
    ]


def _answers(settings: Settings) -> Callable[[], bool]:
    url = f"{url_of(settings.host, settings.port)}/readyz"

    def ready() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=1) as response:  # noqa: S310  our own gateway
                return int(response.status) == 200
        except (urllib.error.URLError, OSError):
            return False

    return ready
