"""Which passages become evidence, and in which order."""

from uuid import uuid4

import pytest

from store.index.terms import terms
from workers.retrieve.fusion import Fused
from workers.retrieve.search import Passage
from workers.retrieve.selection import select
from workers.retrieve.understanding.read import understand

TRIAL = "A randomized trial of de-escalation of adjuvant therapy guided by ctDNA and MRD."
CAUTION = "De-escalation guided by ctDNA or MRD is advised only within a clinical trial."


def passage(number: int, source_type: str, text: str, score: float) -> Passage:
    """A found passage of a document of its own."""
    return Passage(
        fused=Fused(number, score, 1.0, score),
        document_id=uuid4(),
        version_id=uuid4(),
        n=1,
        chunk_id="chunk_0",
        section="",
        start=0,
        end=len(text),
        text=text,
        title="De-escalation",
        source_type=source_type,
    )


@pytest.mark.requirement("MC-1.4b")
def test_mc_1_4b_restriction_language_sinks_below_a_trial_that_matches_a_little_less() -> None:
    question = "What clinical trials are studying MRD de-escalation"
    found = [passage(1, "label", CAUTION, 0.8), passage(2, "label", TRIAL, 0.75)]
    weighted = dict.fromkeys(terms(question), 1.0)
    judged = select(found, understand(question), weighted, documents=8)
    assert [one.passage.text for one in judged] == [TRIAL, CAUTION]
    assert [one.decision for one in judged] == ["kept", "kept"]
    other = understand("Is MRD de-escalation recommended?")
    kept = select(found, other, weighted, documents=8)
    assert [one.passage.text for one in kept] == [CAUTION, TRIAL]


def test_a_document_gives_two_passages_and_the_next_ones_say_why_not() -> None:
    first = passage(1, "label", TRIAL, 0.9)
    same = [
        Passage(**{**vars(first), "fused": Fused(number, 0.9 - number / 100, 1.0, 0.9)})
        for number in range(3)
    ]
    question = "MRD de-escalation trial"
    judged = select(same, understand(question), dict.fromkeys(terms(question), 1.0), documents=8)
    assert [one.decision for one in judged] == [
        "kept",
        "kept",
        "dropped: enough passages of this document",
    ]
