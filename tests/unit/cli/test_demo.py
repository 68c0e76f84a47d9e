"""What `attest demo` says besides the answers."""

from typing import Any

from cli.commands.demo import about_age


def answer(*stale: str) -> dict[str, Any]:
    fetched = "2026-11-21T00:00:00+00:00" if stale else None
    return {"freshness_summary": {"latest_fetch_at": fetched, "stale_sources": list(stale)}}


def test_a_demo_months_later_says_why_its_sources_are_marked_stale() -> None:
    note = about_age([answer(), answer("pubmed"), answer("pubmed", "payer")])
    assert note is not None
    assert "the samples are as of 2026-11-21" in note


def test_a_demo_with_fresh_samples_says_nothing_of_their_age() -> None:
    assert about_age([answer(), answer()]) is None
