"""Policies of sources: every source type has one, with the numbers of the seeds."""

from typing import get_args

import pytest

from knowledge.feeds.sources import source_policies, source_policy
from store.documents.records import SourceType


def test_every_source_type_has_a_policy_and_no_policy_is_without_one() -> None:
    assert set(source_policies()) == set(get_args(SourceType))


@pytest.mark.parametrize(
    ("source_type", "hours"),
    [("regulator", 24), ("news", 24), ("pubmed", 168), ("clinicaltrials", 168)],
)
def test_the_sla_is_a_day_for_alerts_and_a_week_for_publications_and_trials(
    source_type: str, hours: float
) -> None:
    policy = source_policy(source_type)
    assert policy.sla_hours == hours
    assert not policy.is_stale(hours)
    assert policy.is_stale(hours + 0.01)


@pytest.mark.parametrize("source_type", ["nccn", "asco", "esmo", "guideline"])
def test_guidelines_age_by_version_and_not_by_the_clock(source_type: str) -> None:
    assert source_policy(source_type).sla_hours is None
    assert not source_policy(source_type).is_stale(1e6)


def test_regulator_and_registry_are_official_publications_are_peer_reviewed() -> None:
    tiers = {name: source_policy(name).tier for name in ("regulator", "clinicaltrials", "pubmed")}
    assert tiers == {
        "regulator": "official",
        "clinicaltrials": "official",
        "pubmed": "peer-reviewed",
    }
    assert source_policy("news").tier == "news"
    assert source_policy("document").tier == "other"


def test_an_unknown_source_type_is_a_lookup_error_that_names_the_file() -> None:
    with pytest.raises(LookupError, match=r"sources\.yaml has no source type 'rumor'"):
        source_policy("rumor")
