"""What Prometheus reads of the operators' desk: which stages are paused, what died and waits."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlmodel import Session

from store.pipeline import circuits


def operator_gauges(session: Session) -> Iterator[Metric]:
    """Gauges for each stage, read in the scrape's session."""
    found = circuits.states(session)
    paused = GaugeMetricFamily(
        "attest_stage_paused",
        "1 while a stage does not work: its circuit is open, or an operator paused it",
        labels=["stage", "state"],
    )
    held = GaugeMetricFamily(
        "attest_stage_held", "messages that wait for a paused stage", labels=["stage"]
    )
    deaths = GaugeMetricFamily(
        "attest_stage_deaths_recent",
        "messages that died within the circuit's window, or since the stage last began to work",
        labels=["stage"],
    )
    for one in found:
        for state in ("open", "paused"):
            paused.add_metric([one.stage, state], float(one.state == state))
        held.add_metric([one.stage], one.held)
        deaths.add_metric([one.stage], one.deaths)
    yield from (paused, held, deaths)
