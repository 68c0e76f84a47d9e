"""Prometheus metrics for operators: paused stages, messages that died, messages that wait."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlmodel import Session

from store.pipeline import circuits


def operator_gauges(session: Session) -> Iterator[Metric]:
    """The gauges of each stage, read in the scrape's session."""
    states = circuits.states(session)
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
    for circuit in states:
        for state in ("open", "paused"):
            paused.add_metric([circuit.stage, state], float(circuit.state == state))
        held.add_metric([circuit.stage], circuit.held)
        deaths.add_metric([circuit.stage], circuit.deaths)
    yield from (paused, held, deaths)
