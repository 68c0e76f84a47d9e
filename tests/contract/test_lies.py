"""A model that lies on purpose: real adapter over real HTTP, real prompts, guards and gate.

The measure is that of `benchmarks/lies`; the sources are the sample records.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.lies.library import Abstract, cases
from benchmarks.lies.measure import LEAST_SURVIVING, Measured, measure
from benchmarks.lies.report import rows
from benchmarks.lies.trial import PASSED, Fate
from tests.fakes.lies import KINDS

RECORDS = Path(__file__).resolve().parents[2] / "samples" / "records"
ANSWERS = 60
OF_THE_ISSUE, OUR_OWN = 12, 1


def _abstracts(*names: str) -> list[Abstract]:
    texts = [(RECORDS / f"{name}.jsonl").read_text("utf-8") for name in names]
    found = [json.loads(line) for text in texts for line in text.splitlines()]
    return [
        Abstract(one["title"], one["text"], one.get("identifiers", {}))
        for one in found
        if len(one["text"]) > 700
    ]


@pytest.fixture(scope="module")
def measured() -> Measured:
    """Sixty answers with some 360 lies, judged by the liar and by an honest judge."""
    records = [one for one in _abstracts("publications") if one.identifiers.get("pmid")]
    papers = _abstracts("trials", "guidelines", "coverage", "regulator")
    return measure(ANSWERS, cases(records, papers, random.Random(5)), seed=5)


def _told(fates: Sequence[Fate]) -> list[str]:
    return [f"{one.told.kind}, {one.told.variant}: {one.told.text}" for one in fates]


def test_every_kind_of_lie_in_every_variant_is_planted(measured: Measured) -> None:
    planted = rows(measured.fates(measured.lying, true=False))
    assert len(KINDS) == OF_THE_ISSUE + OUR_OWN
    assert planted.keys() == {*KINDS, "all"}
    assert min(row.told for row in planted.values()) >= ANSWERS // (OF_THE_ISSUE + OUR_OWN)


def test_with_a_lying_judge_no_lie_is_supported_and_none_is_in_a_summary(
    measured: Measured,
) -> None:
    lies = measured.fates(measured.lying, true=False)
    assert _told([one for one in lies if one.stopped_at == PASSED]) == []
    assert [lie.text for one in measured.lying for lie in one.in_summary] == []


def test_with_an_honest_judge_nearly_all_true_claims_survive(measured: Measured) -> None:
    lost = [one for one in measured.fates(measured.honest, true=True) if one.stopped_at != PASSED]
    assert measured.surviving >= LEAST_SURVIVING, _told(lost)
    verbatim = rows(measured.fates(measured.honest, true=True))["verbatim"]
    assert verbatim.ended[PASSED] >= LEAST_SURVIVING * verbatim.told


def test_what_is_left_of_a_lie_is_its_source_s_own_words(measured: Measured) -> None:
    outcomes = [*measured.lying, *measured.honest]
    assert sum(fate.hedged for one in outcomes for fate in one.fates) > ANSWERS
    assert [words for one in outcomes for words in one.bad_hedges] == []
