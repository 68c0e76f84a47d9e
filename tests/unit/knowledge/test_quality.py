"""When a metric meets its target, and when it wakes somebody."""

import pytest
from pydantic import ValidationError

from knowledge.operation.quality import UNKNOWN, Bound, Figure, quality_metrics
from knowledge.operation.regression import regression
from tests.grid import grid


def test_every_metric_of_the_plans_is_there() -> None:
    assert {name: one.group for name, one in quality_metrics().items()} == {
        "avg_nccn_share_trial_queries": "retrieval_quality",
        "avg_trial_sources_trial_queries": "retrieval_quality",
        "routing_compliance_rate": "retrieval_quality",
        "supported_claim_rate": "grounding_quality",
        "unanchored_quote_rate": "grounding_quality",
        "citations_per_response": "grounding_quality",
        "quote_anchor_coverage": "grounding_quality",
        "own_words_rate": "gate_quality",
        "source_words_rate": "gate_quality",
        "repair_success_rate": "gate_quality",
        "doubts_answered_rate": "gate_quality",
        "doubts_standing_rate": "gate_quality",
        "judges_disagree_rate": "gate_quality",
        "judge_not_believed_rate": "gate_quality",
        "marc.iteration_count": "extraction_quality",
        "marc.final_score": "extraction_quality",
        "marc.threshold_met_rate": "extraction_quality",
        "marc.processing_time_ms": "extraction_quality",
        "marc.improvement_per_iteration": "extraction_quality",
    }


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("avg_nccn_share_trial_queries", "nccn_share_trial_queries"),
        ("avg_trial_sources_trial_queries", "trial_sources_trial_queries"),
        ("supported_claim_rate", "supported_claim_rate"),
        ("unanchored_quote_rate", "unanchored_quote_rate"),
        ("quote_anchor_coverage", "quote_anchor_coverage"),
    ],
)
def test_the_targets_are_those_that_the_regression_holds(here: str, there: str) -> None:
    target = quality_metrics()[here].target
    assert target is not None
    assert target.body() == regression().targets[there].model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("bound", "holds", "holds_not"),
    [
        (Bound(below=3), 2.9, 3),
        (Bound(at_most=3), 3, 3.1),
        (Bound(at_least=3), 3, 2.9),
        (Bound(above=3), 3.1, 3),
    ],
)
def test_a_bound_is_exact_at_its_limit(bound: Bound, holds: float, holds_not: float) -> None:
    assert bound.holds(holds)
    assert not bound.holds(holds_not)


@pytest.mark.parametrize("given", [{}, {"below": 1, "above": 0}])
def test_a_bound_is_one_comparison(given: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Bound(**given)


@grid("name", list(quality_metrics()))
def test_nothing_neither_meets_nor_misses_nor_wakes(name: str) -> None:
    metric = quality_metrics()[name]
    assert metric.met(UNKNOWN) is None
    assert metric.alerts(UNKNOWN) is None


def test_too_little_misses_a_target_and_wakes_nobody() -> None:
    metric = quality_metrics()["routing_compliance_rate"]
    assert metric.met(Figure(0.0, metric.least - 1)) is False
    assert metric.alerts(Figure(0.0, metric.least - 1)) is None
    assert metric.alerts(Figure(0.0, metric.least)) is True
    assert metric.alerts(Figure(1.0, metric.least)) is False


@grid("name", list(quality_metrics()))
def test_what_wakes_somebody_has_missed_its_target(name: str) -> None:
    metric = quality_metrics()[name]
    if metric.alert is None or metric.target is None:
        return
    for value in (0.0, 0.01, 0.02, 0.05, 0.3, 0.5, 0.8, 0.9, 0.95, 1, 3, 4, 30000, 45001, 60000):
        figure = Figure(value, metric.least)
        assert not (metric.alerts(figure) and metric.met(figure))
