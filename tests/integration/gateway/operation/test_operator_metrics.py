"""The alarm that a scrape sees when a stage is paused."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from api_gateway.metrics.operator_metrics import operator_gauges
from store.pipeline import circuits
from tests.integration.gateway.conftest import Running


def test_a_paused_stage_is_a_gauge_of_its_own(gateway: Running) -> None:
    class Scrape(Collector):
        def collect(self):  # type: ignore[no-untyped-def]
            with gateway.store.reading() as session:
                yield from operator_gauges(session)

    registry = CollectorRegistry()
    registry.register(Scrape())
    question_id = gateway.ask("Of zebrafishoma?")
    with gateway.store.unit_of_work("operator") as work:
        circuits.pause(work, "retrieve", "zebrafishoma")
        outbox_id = gateway.scalar(
            "SELECT id FROM outbox WHERE payload->>'question_id' = :id", id=question_id
        )
        circuits.admit(work, "retrieve", outbox_id)
    text = generate_latest(registry).decode()
    assert 'attest_stage_paused{stage="retrieve",state="paused"} 1.0' in text
    assert 'attest_stage_paused{stage="retrieve",state="open"} 0.0' in text
    assert 'attest_stage_held{stage="retrieve"} 1.0' in text
    assert 'attest_stage_deaths_recent{stage="verify"} 0.0' in text
    assert "zebrafishoma" not in text
