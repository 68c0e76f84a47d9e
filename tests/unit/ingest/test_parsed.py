"""What a parser says about a record it cannot read is itself storable."""

import pytest

from workers.ingest.parsers.base import Doubt, Problem


@pytest.mark.parametrize("sent", ["a\x00b", "a\ud800b"])
def test_what_postgresql_cannot_hold_is_marked_in_problems_and_doubts(sent: str) -> None:
    """One NUL in an identifier would else end every refresh that brings it."""
    problem, doubt = Problem(sent, sent), Doubt(sent, "doi", sent)
    assert (problem.source_id, problem.reason) == ("a\ufffdb", "a\ufffdb")
    assert (doubt.source_id, doubt.value) == ("a\ufffdb", "a\ufffdb")
    assert Problem(None, "why").source_id is None
