"""OpenAlex's record of a work says whether it is retracted, and never what its abstract says."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openalex import OpenAlex
from tests.fakes.web import Clock
from workers.http.errors import Malformed
from workers.ingest.enrichment import Statement
from workers.ingest.parsers.openalex import openalex_statement

SHARED = Path(__file__).resolve().parents[4].parent / "shared"


def _statement(**fields: Any) -> Statement:
    work = OpenAlex(Clock(datetime(2026, 3, 1, tzinfo=UTC))).put("10.5555/Made.Up", **fields)
    return openalex_statement(json.dumps(work).encode(), "pmid:1")


def test_a_work_is_told_by_its_identifiers_title_and_year() -> None:
    said = _statement(
        ids={
            "pmid": "https://pubmed.ncbi.nlm.nih.gov/90000001",
            "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/9000001",
        }
    )
    assert (said.key, said.source, said.known) == ("pmid:1", "openalex", True)
    assert (said.doi, said.pmid, said.pmcid) == ("10.5555/made.up", "90000001", "PMC9000001")
    assert (said.title, said.year) == ("A made-up article at 10.5555/Made.Up", 2026)
    assert said.facts["openalex_id"].startswith("W")


@pytest.mark.parametrize(
    ("retracted", "kinds"), [(True, ["retraction"]), (False, []), (None, []), ("true", [])]
)
def test_a_retracted_work_has_a_notice(retracted: Any, kinds: list[str]) -> None:
    assert [one.kind for one in _statement(is_retracted=retracted).notices] == kinds


@pytest.mark.requirement("EB-8.4")
@pytest.mark.parametrize(
    ("told", "cited_by"), [(0, 0), (7, 7), (None, None), (-1, None), ("many", None), (True, None)]
)
def test_eb_8_4_how_many_works_cite_it_is_told_where_it_is_a_count(
    told: Any, cited_by: int | None
) -> None:
    assert _statement(cited_by_count=told).cited_by == cited_by


@pytest.mark.parametrize("index", [{"rebuilt": [1], "Badly": [0]}, None])
def test_an_abstract_is_never_rebuilt(index: dict[str, list[int]] | None) -> None:
    assert "adly" not in str(_statement(abstract_inverted_index=index))


def test_identifiers_that_cannot_be_ones_are_left_out() -> None:
    said = _statement(doi="10.5555", ids={"pmid": "https://elsewhere.example/1", "pmcid": "x"})
    assert (said.doi, said.pmid, said.pmcid) == (None, None, None)


@pytest.mark.parametrize("payload", [b"", b"<html>", b"[]", b'{"meta": {}, "results": []}'])
def test_what_is_no_work_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        openalex_statement(payload, "pmid:1")


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared data beside the repository")
def test_a_recorded_work_is_read() -> None:
    sample = json.loads((SHARED / "data/wire_samples/openalex_works.json").read_text())
    said = openalex_statement(json.dumps(sample["body"]["results"][0]).encode(), "pmid:1")
    assert (said.doi, said.year) == ("10.1056/nejmoa2300709", 2023)
