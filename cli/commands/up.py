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

from api_gateway.auth.access import keys_required
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
"""Reading sentences keeps a core busy: in a process of its own, texts are found meanwhile. The pool
that makes them findable helps once it has nothing else to do, so that no core is idle till then."""
SOURCE_THREADS = 4
"""They mostly wait, for answers and for their turn; in a process of their own, so that an upload
never waits with them."""
TEXT_THREADS = 2
"""For pasted texts, notes and clinical documents, each in a process of its own: whoever sends one
that keeps its reader busy, or stops it, keeps neither questions nor the others waiting. They start
once questions can be asked, so that nobody waits for them at the start."""


def who_may_ask(settings: Settings) -> list[str]:
    """What to tell whoever starts an instance about keys, one line each."""
    if keys_required(settings):
        told = "Callers need a key (attest keys create; the attest command sends ATTEST_KEY)."
        waits = f" On {settings.host} the gateway waits for the first one."
        return [told if is_loopback(settings.host) else told + waits]
    return [
        f"No keys are asked for on {settings.host}: whoever can run programs on this machine may "
        "read and write everything of the owner local. ATTEST_REQUIRE_KEYS=true asks for keys."
    ]


class PortInUse(RuntimeError):
    """The gateway's port is taken, or its address is not of this machine."""


def run(settings: Settings, *, on_event: OnEvent, log_dir: Path | None) -> int:
    """Run everything until SIGTERM or Ctrl-C; returns the exit code.

    Raises:
        EmbeddedError: the data directory cannot be used.
        PortInUse: something else listens on the gateway's port.
    """
    require_free(settings.host, settings.port)
    if log_dir is not None:
        on_event = _with_last_words(on_event, log_dir.resolve())
    with ExitStack() as stack:
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
        return Supervisor(specs, on_event, log_dir, Nursery()).run()


def _publishing(
    on_event: OnEvent, data: DataDir, urls: tuple[str, str], settings: Settings
) -> OnEvent:
    """Tell other commands how to reach this instance once its database is migrated."""

    def tell(name: str, what: str) -> None:
        if name == "migrate" and what.startswith("ready"):
            data.publish(*urls, gateway_url=url_of(settings.host, settings.port))
        on_event(name, what)

    return tell


def _with_last_words(on_event: OnEvent, log_dir: Path) -> OnEvent:
    """Tell of a process that ended by itself what it said last, and where all of it is."""

    def tell(name: str, what: str) -> None:
        if what.startswith("exited") and what != "exited with code 0":
            log = log_dir / f"{name}.log"
            said = _KILLED if "SIGKILL" in what else " / ".join(_complaints(log))
            short = said if len(said) <= _LAST_CHARACTERS else f"…{said[-_LAST_CHARACTERS:]}"
            what = f"{what}: {short} (see {log})" if short else f"{what} (see {log})"
        on_event(name, what)

    return tell


def _complaints(log: Path) -> list[str]:
    """The last lines of a log, without what was said while all was well."""
    try:
        lines = log.read_text("utf-8", errors="replace").splitlines()[-SHOWN_LINES:]
    except OSError:
        return []
    return [words for line in lines if (words := _complaint(line.strip()))]


def _complaint(line: str) -> str:
    try:
        found = json.loads(line)
    except ValueError:
        return line
    if not isinstance(found, dict) or "event" not in found:
        return line
    if found.get("level") in ("info", "debug"):
        return ""
    why = found.get("cause") or found.get("error")
    return f"{found['event']}: {why}" if why else str(found["event"])


_KILLED = "it was killed: by somebody, or by the system where that ran out of memory"
_LAST_CHARACTERS = 400
"""Ours: an error's own line, and the one before it."""

_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""This machine has no such address, or no IPv6 at all."""


def require_free(host: str, port: int) -> None:
    """Raises PortInUse if the gateway cannot listen there: on all addresses of the name that this
    machine has, and on one at least."""
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
                if family == socket.AF_INET6:  # :: takes the same port of IPv4 too, otherwise
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
    """Everything that is ours: the migration, worker pools, scheduler and gateway.

    Questions have a pool of their own, so that a bulk ingest never keeps them waiting.
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
        worker("questions", QUESTION_STAGES, QUESTION_THREADS),
        worker("evidence", EVIDENCE_STAGES, EVIDENCE_THREADS),
        worker("anchors", (Stage.ANCHOR,), ANCHOR_THREADS),
        worker("sources", SOURCE_STAGES + RECALL_STAGES, SOURCE_THREADS),
        spec("scheduler", "scheduler", after=("migrate",)),
        spec("gateway", "gateway", after=("migrate",), ready=_answers(settings)),
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
