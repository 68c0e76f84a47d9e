"""Suggested watches: each could work at its source, and none is followed by itself."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from knowledge.feeds.sources import connector_policies
from knowledge.feeds.watches import Suggestion, suggestions
from store.core.settings import Settings
from workers.ingest.connectors.registry import connector, is_enricher


def test_every_source_has_a_suggestion_and_none_stands_twice() -> None:
    found = [(one.source, one.query) for one in suggestions()]
    assert {source for source, _ in found} == set(connector_policies())
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    "suggestion", suggestions(), ids=lambda one: f"{one.source}: {one.query[:40]}"
)
def test_a_suggestion_is_spelled_as_its_connector_spells_it(
    suggestion: Suggestion, tmp_path: Path
) -> None:
    if is_enricher(suggestion.source):
        return  # `plain_query`, which the model applies, knows their only query
    source = connector(suggestion.source, Settings(guidelines_dir=tmp_path))
    assert source.check_query(suggestion.query) == suggestion.query


def test_a_suggestion_says_what_it_is_for_in_a_sentence() -> None:
    for one in suggestions():
        assert len(one.reason) > 15
        assert "\n" not in one.reason


def test_the_trials_that_questions_name_are_followed_by_number() -> None:
    """The registry numbers are those of the steering data on ctDNA trials."""
    [numbers] = [one.query.split() for one in suggestions() if one.query.startswith("NCT")]
    assert numbers == sorted(numbers)
    assert {"NCT04264702", "NCT04660344", "NCT05174169"} <= set(numbers)


@pytest.mark.parametrize(
    ("source", "query", "why"),
    [
        ("rumors", "ctDNA", "there is no source 'rumors'"),
        ("pubmed", "(ctDNA", "opens a bracket"),
        ("pubmed", "http://example.org", "an address is no query"),
        ("pubmed", "ctDNA  AND MRD", "write the query as 'ctDNA AND MRD'"),
        ("crossref", "ctDNA", "write \\* for all"),
    ],
)
def test_a_suggestion_that_could_not_work_is_refused(source: str, query: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Suggestion(source=source, query=query, reason="because of this and that")
