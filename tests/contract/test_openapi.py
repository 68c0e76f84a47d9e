"""The HTTP interface as it is promised: paths, schemas, problems (DESIGN section 5)."""

import json
import re
from datetime import UTC, datetime
from typing import Any, get_args
from uuid import uuid4

import pytest

import contracts
from api_gateway.app import create_app
from api_gateway.questions import answer_schemas
from api_gateway.questions.question_in import QuestionIn
from api_gateway.schemas import QuestionOut
from knowledge.loader import load
from knowledge.operation.retention import TextKind
from store.core.settings import Settings
from store.documents.records import SourceRecord, SourceType
from workers.verify.answers.bibliography import Reference

STABLE = {
    ("post", "/v1/questions"),
    ("get", "/v1/questions"),
    ("get", "/v1/questions/recalls"),
    ("get", "/v1/questions/{question_id}"),
    ("get", "/v1/questions/{question_id}/events"),
    ("get", "/v1/questions/{question_id}/trail"),
    ("post", "/v1/verifications"),
    ("get", "/v1/verifications/{verification_id}"),
    *(("delete", f"/v1/{kind}s/{{{kind}_id}}") for kind in get_args(TextKind)),
    ("post", "/v1/notes"),
    ("get", "/v1/notes/{note_id}"),
    ("post", "/v1/extractions"),
    ("get", "/v1/extractions"),
    ("get", "/v1/extractions/{extraction_id}"),
    ("get", "/v1/extractions/{extraction_id}/text"),
    ("get", "/v1/reviews"),
    ("get", "/v1/reviews/{review_id}"),
    ("post", "/v1/reviews/{review_id}/accept"),
    ("post", "/v1/reviews/{review_id}/correct"),
    ("post", "/v1/documents"),
    ("get", "/v1/documents/{document_id}"),
    ("get", "/v1/documents/{document_id}/versions"),
    ("get", "/v1/documents/{document_id}/versions/{n}/text"),
    ("get", "/v1/sources"),
    ("post", "/v1/sources/{name}/refresh"),
    ("get", "/v1/refreshes/{refresh_id}"),
    ("get", "/v1/findings"),
    ("get", "/v1/dead-letters"),
    ("get", "/v1/dead-letters/{letter_id}"),
    ("get", "/v1/dead-letters/groups"),
    ("post", "/v1/dead-letters/replay"),
    ("post", "/v1/dead-letters/{letter_id}/replay"),
    ("delete", "/v1/dead-letters/{letter_id}"),
    ("get", "/v1/stages"),
    ("post", "/v1/stages/{stage}/pause"),
    ("post", "/v1/stages/{stage}/resume"),
    ("get", "/v1/audit"),
    ("get", "/v1/audit/verify"),
    ("post", "/v1/rechecks"),
    ("get", "/v1/rechecks/{recheck_id}"),
    ("get", "/v1/rechecks/{recheck_id}/answers"),
    ("delete", "/v1/watches/{watch_id}"),
    ("get", "/v1/documents"),
    ("get", "/v1/documents/{document_id}/answers"),
    ("get", "/v1/search"),
    ("get", "/v1/watches"),
    ("get", "/v1/watches/{watch_id}"),
    ("post", "/v1/questions/{question_id}/judgments"),
    ("post", "/v1/questions/{question_id}/shares"),
    ("post", "/v1/watches"),
    ("get", "/v1/quality"),
    ("get", "/healthz"),
    ("get", "/readyz"),
    ("get", "/metrics"),
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document, as it is served; nothing needs to run for it."""
    settings = Settings(
        database_url="postgresql://127.0.0.1:1/none", redis_url="redis://127.0.0.1:1/0"
    )
    served: dict[str, Any] = json.loads(json.dumps(create_app(settings).openapi()))
    return served


def _operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


@pytest.mark.requirement("DC-3")
def test_the_stable_paths_are_there_and_no_others(document: dict[str, Any]) -> None:
    assert set(_operations(document)) == STABLE


def test_it_is_an_openapi_3_1_document_with_a_title_and_a_version(document: dict[str, Any]) -> None:
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    assert document["info"]["title"] == "Attest"
    assert document["info"]["version"]


def test_every_reference_leads_to_a_schema(document: dict[str, Any]) -> None:
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))
    assert references
    for reference in references:
        root, *path = reference.split("/")
        assert root == "#"
        node: Any = document
        for part in path:
            node = node[part]
        assert node


def test_path_parameters_are_declared_and_operation_ids_differ(document: dict[str, Any]) -> None:
    operations = _operations(document)
    for (_, path), operation in operations.items():
        declared = {
            parameter["name"]
            for parameter in operation.get("parameters", [])
            if parameter["in"] == "path"
        }
        assert declared == set(re.findall(r"{(\w+)}", path))
    ids = [operation["operationId"] for operation in operations.values()]
    assert len(ids) == len(set(ids))


def test_every_operation_says_what_it_does_and_what_its_problems_look_like(
    document: dict[str, Any],
) -> None:
    for key, operation in _operations(document).items():
        assert operation["summary"], key
        assert operation["description"], key
        assert operation["tags"], key
        for status, response in operation["responses"].items():
            if status.startswith(("4", "5")):
                [(media_type, content)] = response["content"].items()
                assert media_type == "application/problem+json", key
                assert content["schema"]["$ref"].endswith("/ProblemDetails")
    for key in STABLE - {("get", "/healthz"), ("get", "/metrics")}:
        responses = _operations(document)[key]["responses"]
        assert any(status.startswith(("4", "5")) for status in responses), key


def test_its_examples_are_valid(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for example in schemas["QuestionIn"]["examples"]:
        QuestionIn.model_validate(example)
    body = _operations(document)["post", "/v1/documents"]["requestBody"]["content"]
    SourceRecord.model_validate_json(json.dumps(body["application/json"]["example"]))
    assert set(body) == {"application/json", "multipart/form-data"}


@pytest.mark.requirement("EB-8.1")
def test_eb_8_1_an_answer_shows_references_with_title_authors_source_year_badges_and_link(
    document: dict[str, Any],
) -> None:
    schemas = document["components"]["schemas"]
    answer, nothing = schemas["QuestionOut"]["properties"]["answer"]["anyOf"]
    assert (answer, nothing) == ({"$ref": "#/components/schemas/AnswerOut"}, {"type": "null"})
    parts = schemas["AnswerOut"]["properties"]
    assert parts["claims"]["items"] == {"$ref": "#/components/schemas/ClaimOut"}
    assert parts["references"]["items"] == {"$ref": "#/components/schemas/ReferenceOut"}
    assert parts["images"]["items"] == {"$ref": "#/components/schemas/ImageOut"}
    reference = schemas["ReferenceOut"]
    assert set(reference["properties"]) == set(Reference.model_fields)
    assert {"title", "authors", "source", "year", "badges", "url"} <= set(reference["required"])
    assert reference["properties"]["url"]["format"] == "uri"
    assert schemas["ImageOut"]["properties"]["url"]["format"] == "uri"


def test_openapi_names_no_field_that_an_answer_has_not() -> None:
    assert set(answer_schemas.AnswerOut.model_fields) <= set(contracts.Answer.model_fields)


@pytest.mark.requirement("EB-9.3")
def test_eb_9_3_a_search_page_in_a_sealed_answer_is_not_handed_out() -> None:
    pages = ["https://doi.org/10.5555/x", "https://www.google.com/search?q=x"]
    listed = [{"n": n, "url": url} for n, url in enumerate(pages, 1)]
    sealed = {"abstained": False, "references": listed, "images": listed[1:], "claims": []}
    assert handed_out(sealed) == {**sealed, "references": listed[:1], "images": []}
    assert handed_out({"abstained": True}) == {"abstained": True}
    assert handed_out(None) is None


def handed_out(answer: dict[str, Any] | None) -> Any:
    """The answer of a question as it is served."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    question = QuestionOut(
        id=uuid4(),
        status="answered",
        stage="audit",
        question="Why?",
        created_at=at,
        finished_at=at,
        answer=answer,
        error=None,
        timings=[],
    )
    return json.loads(question.model_dump_json())["answer"]


def test_a_question_takes_no_other_fields(document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["QuestionIn"]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {
        "question",
        "as_of",
        "patient_context",
        "max_references",
        "filters",
        "after",
    }
    assert schema["required"] == ["question"]


def test_filters_take_no_other_fields_and_name_every_source_type_and_tag(
    document: dict[str, Any],
) -> None:
    schema = document["components"]["schemas"]["Filters"]
    assert schema["additionalProperties"] is False
    assert schema["minProperties"] == 1
    parts = schema["properties"]
    assert set(parts) == {
        *("source_types", "diseases", "decisions", "published_from", "published_to"),
    }
    vocabulary = load("subjects/vocabulary")
    names = {
        "source_types": list(get_args(SourceType)),
        "diseases": list(vocabulary["diseases"]),
        "decisions": list(vocabulary["decisions"]),
    }
    for name, existing in names.items():
        some, nothing = parts[name]["anyOf"]
        assert (some["type"], some["minItems"], nothing) == ("array", 1, {"type": "null"})
        assert some["items"] == {"type": "string", "enum": existing}
    for name in ("published_from", "published_to"):
        forms = {one.get("format") for one in parts[name]["anyOf"]}
        assert forms == {"date", "date-time", None}
    examples = document["components"]["schemas"]["QuestionIn"]["examples"]
    assert any("filters" in example for example in examples)
