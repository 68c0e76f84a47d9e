"""The form of an answer for an assistant: each quotable text with its exact place.

It is short because an assistant reads all of it. The whole answer: `GET /v1/questions/{id}`.
"""

from collections.abc import Mapping
from typing import Any

Body = Mapping[str, Any]

ADVICE = (
    "Begin with `lead`. Repeat claims only with their verdict and citation. Where it abstained, "
    "say so and why, and do not answer from memory instead. Quote only what stands in `quote`."
)


def question_shape(question: Body) -> dict[str, Any]:
    """Return a question and, once there is one, its answer."""
    shape: dict[str, Any] = {
        "question_id": question["id"],
        "status": question["status"],
        "question": question["question"],
    }
    answer = question.get("answer")
    if not answer and question["status"] == "failed":
        return _ended({**shape, "error": question["error"]["detail"]}, "question")
    if not answer:
        stage = question.get("stage") or "queued"
        return {**shape, "next": f"not finished (at {stage}): call get_answer with this id"}
    return {**shape, **answer_shape(answer)}


def answer_shape(answer: Body) -> dict[str, Any]:
    """Return an answer: what is attested, what is not, and how fresh it is."""
    shape: dict[str, Any] = {
        "abstained": answer["abstained"],
        "asked": answer.get("asked"),
        "lead": answer.get("lead"),
        "strength": answer["sufficiency"],
        "claims": [_claim(claim) for claim in answer["claims"]],
        "references": [_reference(reference) for reference in answer["references"]],
        "remarks": [dict(remark) for remark in answer.get("remarks", ())],
        "conflicts": [dict(conflict) for conflict in answer["conflicts"]],
        "freshness": dict(answer["freshness_summary"]),
        "verification": dict(answer["verification_summary"]),
        "recall": dict(answer["recall"]),
        "advice": ADVICE,
    }
    if answer["abstained"]:
        shape["abstain_reason"] = answer["abstain_reason"]
        shape["abstain_detail"] = answer["abstain_detail"]
        shape["cure"] = answer.get("cure")
    return shape


def _claim(claim: Body) -> dict[str, Any]:
    return {
        "claim_id": claim["claim_id"],
        "text": claim["text"],
        "verdict": claim["verdict"],
        "citations": [_citation(cited) for cited in claim["citations"]],
    }


def _citation(citation: Body) -> dict[str, Any]:
    kept = ("document_id", "version", "start", "end", "quote", "quote_verdict", "citation")
    return {name: citation[name] for name in kept}


def _reference(reference: Body) -> dict[str, Any]:
    kept = ("n", "title", "authors", "source", "year", "url", "pmid", "doi", "nct_id", "badges")
    return {name: reference[name] for name in kept if reference.get(name) not in (None, [], "")}


def verification_shape(verification: Body) -> dict[str, Any]:
    """Return the verdicts on a pasted text."""
    shape: dict[str, Any] = {
        "verification_id": verification["id"],
        "status": verification["status"],
    }
    if verification["status"] == "done":
        return {**shape, **verification["result"]}
    if verification["status"] == "failed":
        return _ended({**shape, "error": verification["error"]["detail"]}, "text")
    return {**shape, "next": "not finished: call get_verification with this id"}


def _ended(shape: dict[str, Any], what: str) -> dict[str, Any]:
    return {**shape, "next": f"it ended without a result: send the {what} again"}
