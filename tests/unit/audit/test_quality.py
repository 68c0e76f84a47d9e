"""What is measured of an answer: one set of rules for the service and `attest evaluate`."""

from typing import Any

import pytest

from contracts import Answer, Retrieval
from knowledge.loader import load
from tests.bodies import filled
from workers.audit.quality import leads, measure


def answer(**changed: Any) -> Answer:
    """An answer with one claim, which has one citation."""
    body = {
        "sections": [{"heading": "CLINICAL TRIALS"}, {"heading": "LIMITATIONS"}],
        "claims": [{"citations": [{"quote_verdict": "verbatim"}]}],
        "quotations": {"inside_claims": 0, "unanchored": 0},
        "verification_summary": {
            "verified_count": 4,
            "partial_count": 3,
            "unverified_count": 2,
            "conflicting_count": 1,
        },
        **changed,
    }
    return filled(Answer, **body)


def retrieval(*kinds: str, query_type: str = "clinical_trials") -> Retrieval:
    """What was retrieved, by kind."""
    evidence = [{"source_type": kind} for kind in kinds]
    return filled(Retrieval, query_type=query_type, evidence=evidence)


@pytest.mark.requirement("MC-4.2a")
def test_mc_4_2a_sources_are_counted_by_kind() -> None:
    found = measure(retrieval("pubmed", "nccn", "clinicaltrials", "pubmed", "asco"), answer())
    assert found.source_types == {"asco": 1, "clinicaltrials": 1, "nccn": 1, "pubmed": 2}
    assert (found.sources, found.nccn, found.trials) == (5, 1, 1)
    assert found.trial_sources == 3, "registry records and publications"
    assert found.guidelines == 2
    assert found.share(found.nccn) == 0.2
    assert found.claims.drafted == 10


def test_of_nothing_the_share_is_zero() -> None:
    found = measure(retrieval(), answer())
    assert found.share(found.nccn) == 0


@pytest.mark.requirement("MC-4.2b")
@pytest.mark.parametrize(
    ("query_type", "first", "compliant"),
    [
        ("clinical_trials", "CLINICAL TRIALS", True),
        ("clinical_trials", "GUIDELINE CONTEXT", False),
        ("guidelines", "GUIDELINE RECOMMENDATIONS", True),
        ("guidelines", "EMERGING EVIDENCE", False),
        ("coverage_policy", "COVERAGE POLICY", True),
        ("general", "GUIDELINES AND POLICY", True),
        ("comparison", "CLINICAL TRIALS", True),
    ],
)
def test_mc_4_2b_an_answer_leads_with_the_section_of_its_type(
    query_type: str, first: str, compliant: bool
) -> None:
    body = answer(sections=[{"heading": first}, {"heading": "LIMITATIONS"}])
    found = measure(retrieval("pubmed", query_type=query_type), body)
    assert found.first_section == first
    assert found.routing_compliant is compliant
    assert leads(query_type, first) is compliant


@pytest.mark.requirement("MC-4.2b")
def test_mc_4_2b_where_nothing_is_shown_nothing_can_lead() -> None:
    found = measure(retrieval("pubmed"), answer(sections=[], claims=[]))
    assert (found.first_section, found.routing_compliant) == (None, None)


def test_quotations_are_citations_and_marks_inside_claims() -> None:
    places = [{"quote_verdict": one} for one in ("verbatim", "normalized", "altered")]
    body = answer(
        claims=[{"citations": places[:1]}, {"citations": places[1:]}],
        quotations={"inside_claims": 4, "unanchored": 2},
    )
    found = measure(retrieval("pubmed"), body)
    assert (found.citations, found.quotations, found.unanchored) == (3, 7, 3)


def test_a_cap_that_was_exceeded_is_named_unless_the_question_is_about_the_kind() -> None:
    kinds = ["asco"] * 4
    assert measure(retrieval(*kinds), answer()).over_caps == ("guideline",)
    assert measure(retrieval(*kinds, query_type="guidelines"), answer()).over_caps == ()


def test_a_cap_that_gave_way_was_not_broken_unless_it_is_hard() -> None:
    for kind, gave_way, broken in (
        ("pubmed", "cap on PubMed: 5 references; no other", ()),
        ("pubmed", "cap on guideline: 5 references; no other", ("PubMed",)),
        ("nccn", "cap on nccn: 5 references; no other", ("nccn", "guideline")),
    ):
        body = retrieval(*[kind] * 5).model_copy(update={"relaxations": (gave_way,)})
        assert measure(body, answer()).over_caps == broken, gave_way


@pytest.mark.parametrize(
    "query_type", [one["type"] for one in load("questions/questions")["query_types"]]
)
def test_an_answer_to_any_type_of_question_can_be_measured(query_type: str) -> None:
    found = measure(retrieval("pubmed", query_type=query_type), answer())
    assert found.query_type == query_type
    assert found.routing_compliant is not None
