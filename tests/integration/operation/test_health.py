"""The container's health check against real servers and a real worker."""

from pathlib import Path

from messages import Stage
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.embedded import embedded
from tests.servers import Fleet
from workers.health import ailment


def test_a_worker_is_well_while_it_runs_and_both_servers_answer(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as servers:
        settings = Settings(
            database_url=servers.database_url, redis_url=servers.redis_url, encoder="hash"
        )
        assert "run `attest migrate`" in str(ailment(settings))
        engine = connect(settings.database_url)
        migrate(engine)
        engine.dispose()
        assert "no process of this machine" in str(ailment(settings))
        fleet = Fleet(settings, tmp_path / "fleet.log")
        try:
            fleet.worker(Stage.AUDIT, threads=1)
            assert ailment(settings) is None
        finally:
            fleet.stop()
        assert "no process of this machine" in str(ailment(settings))
        servers.redis.stop()
        assert "Redis does not answer" in str(ailment(settings))
        servers.postgres.stop()
        assert "the database does not answer" in str(ailment(settings))


def test_without_addresses_it_says_what_looks_at_an_embedded_instance(settings: Settings) -> None:
    for name in ("database_url", "redis_url"):
        told = ailment(settings.model_copy(update={name: ""}))
        assert told is not None
        assert "`attest status`" in told
