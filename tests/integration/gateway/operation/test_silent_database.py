"""A PostgreSQL that hangs: it is there, keeps its connections open and says nothing (SIGSTOP).

Time-outs of the client below are the bounds: what takes longer fails.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import psycopg
import pytest

from api_gateway.app import POOL_SIZE
from store.core.database import RESTED_SECONDS
from store.core.settings import Settings
from store.embedded import EmbeddedServers
from tests.integration.gateway.conftest import Running, serving
from tests.servers import wait_until

BOUND_SECONDS = 14
"""What `ops/prometheus.yml` lets a scrape take."""
QUESTION = {"question": "Does ctDNA predict recurrence?"}


@pytest.fixture
def gateway(mortal: EmbeddedServers, tmp_path: Path) -> Iterator[Running]:
    """A gateway over them."""
    settings = Settings(
        data_dir=tmp_path,
        database_url=mortal.database_url,
        redis_url=mortal.redis_url,
        redis_namespace=tmp_path.name,
        log_format="console",
    )
    with serving(settings.model_copy(update={"port": 0})) as running:
        yield running


@contextlib.contextmanager
def frozen(servers: EmbeddedServers, *, with_backends: bool = True) -> Iterator[None]:
    """PostgreSQL stopped: all of it, or only the process that takes new connections."""
    pid = servers.postgres.pid
    assert pid is not None
    first = psutil.Process(pid)
    processes = [first, *(first.children(recursive=True) if with_backends else [])]
    for one in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            os.kill(one.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in reversed(processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGCONT)


def ready(running: Running) -> bool:
    return running.client.get("/readyz", timeout=BOUND_SECONDS).status_code == 200


def warm(running: Running) -> str:
    """Fill the pool of the gateway with connections; gives the id of a question."""
    asked = running.ask()
    with ThreadPoolExecutor(POOL_SIZE) as pool:
        for response in pool.map(
            lambda _: running.client.get(f"/v1/questions/{asked}"), range(3 * POOL_SIZE)
        ):
            assert response.status_code == 200
    return asked


def test_whoever_asks_a_gateway_whose_database_hangs_is_told_so_in_time(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    asked = warm(gateway)
    with frozen(mortal):
        for method, path, body in (
            ("POST", "/v1/questions", QUESTION),
            ("GET", f"/v1/questions/{asked}", None),
            ("GET", f"/v1/questions/{asked}?wait=5", None),
            ("GET", "/v1/questions", None),
            ("GET", "/readyz", None),
        ):
            response = gateway.client.request(method, path, json=body, timeout=BOUND_SECONDS)
            assert response.status_code == 503, path
            assert int(response.headers["retry-after"]) >= 1
            told = response.json()
            if path == "/readyz":
                assert told["checks"]["postgresql"] == "hangs: it says nothing"
                assert told["checks"]["redis"] == "ok"
            else:
                assert "the database does not answer" in told["detail"]
                assert "attest status" in told["detail"]
            assert ("Idempotency-Key" in told["detail"]) is (method == "POST")
        found = gateway.client.get("/metrics", timeout=BOUND_SECONDS).text
        assert "attest_database_up 0.0" in found
        assert "attest_redis_up 1.0" in found
        assert gateway.client.get("/healthz", timeout=BOUND_SECONDS).status_code == 200
    wait_until(lambda: ready(gateway), 60, "it recovers by itself")
    assert gateway.client.get(f"/v1/questions/{asked}").status_code == 200


def test_more_callers_than_threads_are_told_in_time_too(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    asked = warm(gateway)

    def poll(_: int) -> int:
        with httpx.Client(base_url=gateway.url, timeout=2 * BOUND_SECONDS) as client:
            return client.get(f"/v1/questions/{asked}").status_code

    with frozen(mortal), ThreadPoolExecutor(60) as pool:
        assert set(pool.map(poll, range(60))) == {503}
    wait_until(lambda: ready(gateway), 60, "it recovers by itself")


def test_submissions_before_during_and_after_a_hang_are_kept_once_each(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    """Frozen again and again while callers submit, each until it is told that it was accepted."""
    before, over = gateway.count("question"), threading.Event()
    accepted: dict[str, str] = {}

    def submit_some(_: int) -> None:
        with httpx.Client(base_url=gateway.url, timeout=2 * BOUND_SECONDS) as client:
            while not over.is_set():
                key = uuid4().hex
                while True:
                    response = client.post(
                        "/v1/questions", json=QUESTION, headers={"Idempotency-Key": key}
                    )
                    if response.status_code == 202:
                        break
                    assert response.status_code in (429, 503), response.text
                    over.wait(0.2)
                accepted[key] = response.json()["id"]

    with ThreadPoolExecutor(4) as pool:
        submitting = [pool.submit(submit_some, n) for n in range(4)]
        for seconds in (0.3, 12.0, 0.5):
            held = len(accepted)
            wait_until(lambda held=held: len(accepted) > held + 10, 60, "submissions go through")
            with frozen(mortal):
                threading.Event().wait(seconds)
        over.set()
        for one in submitting:
            one.result(60)
    assert gateway.count("question") - before == len(accepted) == len(set(accepted.values()))
    for key, asked in accepted.items():
        assert gateway.scalar("SELECT id FROM question WHERE idempotency_key = :k", k=key).hex == (
            asked.replace("-", "")
        )
    assert gateway.client.get("/v1/audit/verify").json()["whole"] is True


def test_connections_that_are_there_serve_while_no_new_one_is_let_in(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    asked = warm(gateway)
    with frozen(mortal, with_backends=False):
        for _ in range(5):
            response = gateway.client.get(f"/v1/questions/{asked}", timeout=BOUND_SECONDS)
            assert response.status_code == 200


def test_backends_that_hang_are_replaced_where_the_server_lets_new_ones_in(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    asked = warm(gateway)
    with psycopg.connect(mortal.conninfo) as other:
        rows = other.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'attest' "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        ).fetchall()
    for (pid,) in rows:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(2 * RESTED_SECONDS)
    try:
        response = gateway.client.get(f"/v1/questions/{asked}", timeout=BOUND_SECONDS)
        assert response.status_code == 200
    finally:
        for (pid,) in rows:
            os.kill(pid, signal.SIGCONT)


def test_a_statement_that_a_living_server_cannot_finish_is_ended_there(gateway: Running) -> None:
    """A caller that gave up must leave nothing at work in the database."""
    with gateway.store.engine.begin() as holder:
        holder.exec_driver_sql("LOCK TABLE question IN ACCESS EXCLUSIVE MODE")
        response = gateway.client.get("/v1/questions", timeout=BOUND_SECONDS)
        assert response.status_code == 503
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        wait_until(lambda: gateway.scalar(waiting) == 0, what="nobody waits")
    assert gateway.client.get("/v1/questions").status_code == 200
