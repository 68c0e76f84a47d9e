"""What `attest evaluate regression` makes of questions that went well and of those that did not."""

from dataclasses import replace
from typing import Any

from cli.evaluate.regression import Run, report
from contracts import Answer, Retrieval
from knowledge.operation.regression import Asked
from tests.bodies import filled
from tests.grid import grid

TRIALS = Asked(type="clinical_trials", text="Which trials are there?")


def counts(verified: int = 0, partial: int = 0, unverified: int = 0) -> dict[str, int]:
    """What became of the drafted claims."""
    return {
        "verified_count": verified,
        "partial_count": partial,
        "unverified_count": unverified,
        "conflicting_count": 0,
    }


def run(
    *kinds: str, asked: Asked = TRIALS, heading: str = "CLINICAL TRIALS", **changed: Any
) -> Run:
    """A question with evidence of these kinds and one verified claim."""
    answer: dict[str, Any] = {
        "abstained": False,
        "sections": [{"heading": heading, "claim_ids": ["c1"]}],
        "claims": [{"verdict": "supported", "citations": [{"quote_verdict": "verbatim"}]}],
        "references": [{"url": "https://clinicaltrials.gov/study/NCT04264702"}],
        "evidence": [{"source": {"url": None}}],
        "verification_summary": counts(verified=1),
        "quotations": {"inside_claims": 0, "unanchored": 0},
    }
    evidence = [{"source_type": kind} for kind in kinds]
    retrieval = filled(Retrieval, query_type=asked.type, evidence=evidence)
    return Run(asked, retrieval, filled(Answer, **(answer | changed)))


GOOD = run("clinicaltrials", "clinicaltrials", "pubmed", "nccn")


def test_questions_that_keep_every_rule_pass() -> None:
    found = report([GOOD], 600)
    assert found["passed"]
    assert found["failing"] == []
    assert found["nccn_share_trial_queries"]["value"] == 0.25
    assert found["trial_sources_trial_queries"]["value"] == 3
    assert found["routing_compliance"]["value"] == 1
    assert found["quote_anchor_coverage"] == {
        "value": 600.0,
        "target": {"at_least": 500.0},
        "met": True,
    }


@grid(
    ("bad", "why", "missed"),
    [
        (run("nccn", "nccn", "pubmed"), None, "nccn_share_trial_queries"),
        (run("asco", "esmo", "pubmed"), None, "guideline_share_trial_queries"),
        (run("clinicaltrials"), None, "trial_sources_trial_queries"),
        (
            run(*["clinicaltrials"] * 4),
            "over the cap on trial",
            "questions_over_a_cap",
        ),
        (
            run("pubmed", "pubmed", "pubmed", heading="GUIDELINE CONTEXT"),
            "leads with GUIDELINE CONTEXT",
            "routing_compliance",
        ),
        (
            run(
                *["pubmed"] * 3,
                references=[{"url": "https://www.google.com/search?q=ctdna"}],
            ),
            "search page https://www.google.com/search?q=ctdna",
            "search_page_urls",
        ),
        (
            run(
                *["pubmed"] * 3,
                claims=[{"verdict": "partial", "citations": [{"quote_verdict": "altered"}]}],
            ),
            "shows a quotation that is altered",
            "unanchored_quote_rate",
        ),
        (
            run(*["pubmed"] * 3, verification_summary=counts(verified=9, unverified=1)),
            None,
            "supported_claim_rate",
        ),
        (
            run(*["pubmed"] * 3, quotations={"inside_claims": 3, "unanchored": 1}),
            None,
            "unanchored_quote_rate",
        ),
    ],
)
def test_a_question_that_breaks_a_rule_is_named_and_the_target_missed(
    bad: Run, why: str | None, missed: str
) -> None:
    found = report([bad], 0)
    assert not found["passed"]
    assert not found[missed]["met"]
    if why is not None:
        (failing,) = found["failing"]
        assert failing["question"] == bad.asked.text
        assert why in failing["why"]


def test_a_question_taken_for_another_type_is_misrouted() -> None:
    wrong = replace(GOOD, retrieval=GOOD.retrieval.model_copy(update={"query_type": "general"}))
    assert report([wrong], 0)["failing"][0]["why"] == ["taken for general"]


def test_a_general_question_may_be_taken_for_any_type() -> None:
    general = replace(GOOD, asked=Asked(type="general", text="How accurate is it?"))
    assert report([GOOD, general], 0)["routing_compliance"]["value"] == 1
