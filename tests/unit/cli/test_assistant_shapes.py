"""What an assistant is given of answers and verifications."""

import json
from typing import Any

from api_gateway.problems import GIVEN_UP
from api_gateway.questions.answers import failed_answer
from cli.assistant.shapes import ADVICE, question_shape, verification_shape

ID = "6f1ed002-ab5b-4a7c-9d5e-000000000001"
CITATION = {
    "evidence_id": "E1",
    "document_id": ID,
    "version": 2,
    "chunk_id": "chunk_0",
    "section": "RESULTS",
    "start": 3,
    "end": 9,
    "quote": "lorem",
    "quote_verdict": "verbatim",
    "citation": "RESULTS section, chunk_0:3-9",
}


def answered(**changes: Any) -> dict[str, Any]:
    answer = failed_answer() | {
        "abstained": False,
        "abstain_reason": None,
        "summary": {"text": "Lorem.", "supported_claim_ids": ["c1"]},
        "claims": [{"claim_id": "c1", "text": "Lorem.", "verdict": "supported",
                    "citations": [CITATION], "rewritten_from": "secret"}],
        "references": [{"n": 1, "title": "T", "authors": [], "pmid": "1", "doi": None, "url": "u"}],
    }  # fmt: skip
    return {"id": ID, "status": "answered", "question": "Q?", "stage": "audit"} | {
        "answer": answer | changes
    }


def test_8_mcp_a_claim_comes_with_its_verdict_and_the_exact_place_of_its_words() -> None:
    shape = question_shape(answered())
    (claim,) = shape["claims"]
    assert claim["verdict"] == "supported"
    assert claim["citations"] == [
        {name: CITATION[name] for name in CITATION if name not in ("evidence_id", "chunk_id",
                                                                  "section")}
    ]  # fmt: skip
    assert shape["advice"] == ADVICE
    assert shape["references"] == [{"n": 1, "title": "T", "url": "u", "pmid": "1"}]
    assert "secret" not in json.dumps(shape)


def test_8_mcp_an_abstention_says_why_and_what_would_cure_it() -> None:
    found = {**answered(), "answer": failed_answer()}
    shape = question_shape(found)
    assert shape["abstained"] is True
    assert shape["abstain_reason"] == "unchecked"
    assert shape["cure"]
    assert shape["claims"] == []


def test_8_mcp_a_question_under_way_says_how_to_go_on() -> None:
    shape = question_shape({**answered(), "status": "running", "answer": None, "stage": "verify"})
    assert shape["status"] == "running"
    assert "get_answer" in shape["next"]
    assert "summary" not in shape


def test_8_mcp_a_verification_under_way_has_no_verdicts() -> None:
    shape = verification_shape({"id": ID, "status": "queued", "result": None})
    assert shape == {
        "verification_id": ID,
        "status": "queued",
        "next": "not finished: call get_verification with this id",
    }


def test_8_mcp_a_verification_that_failed_says_why_and_is_not_asked_for_again() -> None:
    error = {"title": "Verification failed", "status": 500, "detail": "the check gave up on it"}
    shape = verification_shape({"id": ID, "status": "failed", "result": None, "error": error})
    assert shape == {
        "verification_id": ID,
        "status": "failed",
        "error": "the check gave up on it",
        "next": "it ended without a result: send the text again",
    }


def test_8_mcp_a_question_that_failed_says_why() -> None:
    error = {"title": "Question failed", "status": 500, "detail": "a stage gave up"}
    failed = {**answered(), "status": "failed", "error": error}
    shape = question_shape({**failed, "answer": failed_answer()})
    assert shape["abstained"] is True
    assert GIVEN_UP in shape["abstain_detail"]
    bare = question_shape({**failed, "answer": None})
    assert bare["error"] == "a stage gave up"
    assert "not finished" not in bare["next"]
