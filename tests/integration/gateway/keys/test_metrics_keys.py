"""Metrics are read when they are needed most: while the database that knows the keys is away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.access import keys
from store.access.keys import Issued
from store.core.settings import Settings
from store.embedded import EmbeddedServers
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import bearer, make_key
from tests.integration.gateway.operation.test_silent_database import BOUND_SECONDS, frozen


@pytest.fixture
def gateway(mortal: EmbeddedServers, tmp_path: Path) -> Iterator[Running]:
    """A gateway that asks for keys, over servers that may be stopped."""
    settings = Settings(
        data_dir=tmp_path,
        database_url=mortal.database_url,
        redis_url=mortal.redis_url,
        redis_namespace=tmp_path.name,
        require_keys=True,
        log_format="console",
    )
    with serving(settings.model_copy(update={"port": 0})) as running:
        yield running


def status(running: Running, issued: Issued | None, path: str = "/metrics") -> int:
    headers = bearer(issued) if issued is not None else {}
    return running.client.get(path, headers=headers, timeout=BOUND_SECONDS).status_code


def test_a_key_that_read_metrics_lately_reads_them_while_the_database_is_away(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    scraper, other = make_key(gateway, "operate"), make_key(gateway, "operate")
    reader = make_key(gateway, "read")
    assert status(gateway, scraper) == 200
    assert status(gateway, reader) == 403
    assert status(gateway, other, "/v1/dead-letters") == 200
    mortal.postgres.stop()
    try:
        response = gateway.client.get("/metrics", headers=bearer(scraper), timeout=BOUND_SECONDS)
        assert response.status_code == 200
        assert "attest_database_up 0.0" in response.text
        assert status(gateway, other) == 503, "nobody knows whether this one holds"
        assert status(gateway, reader) in (403, 503)
        assert status(gateway, None) == 401
        altered = scraper.secret[:-1] + ("a" if scraper.secret[-1] != "a" else "b")
        wrong = {"Authorization": f"Bearer {altered}"}
        assert gateway.client.get("/metrics", headers=wrong).status_code == 503
        assert status(gateway, scraper, "/v1/dead-letters") == 503, "metrics only"
    finally:
        mortal.postgres.start()
    assert status(gateway, scraper) == 200


def test_a_key_that_read_metrics_lately_reads_them_while_the_database_hangs(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    scraper = make_key(gateway, "operate")
    assert status(gateway, scraper) == 200
    with frozen(mortal):
        assert status(gateway, scraper) == 200


def test_a_key_that_was_revoked_before_reads_nothing_then(
    gateway: Running, mortal: EmbeddedServers
) -> None:
    scraper = make_key(gateway, "operate")
    assert status(gateway, scraper) == 200
    with gateway.store.unit_of_work("test") as work:
        keys.revoke(work, scraper.key.id)
    assert status(gateway, scraper) == 401
    mortal.postgres.stop()
    try:
        assert status(gateway, scraper) == 503
    finally:
        mortal.postgres.start()
