"""Which identifiers a question names."""

import pytest

from workers.retrieve.named import identifiers
from workers.retrieve.understanding.read import names


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What does PMID 101 report?", {"pmid": {"101"}}),
        ("what did pmid: 101 find on stroke", {"pmid": {"101"}}),
        ("Summarize PMC202 and PMID 101.", {"pmid": {"101"}, "pmcid": {"PMC202"}}),
        ("What is the status of NCT00000303?", {"nct_id": {"NCT00000303"}}),
        ("Results of 10.5555/Made-Up.404?", {"doi": {"10.5555/made-up.404"}}),
        ("What does DYNAMIC report on ctDNA in 2022?", {}),
    ],
)
def test_identifiers_are_read_as_people_write_them(
    question: str, found: dict[str, set[str]]
) -> None:
    assert identifiers(names(question)) == found
