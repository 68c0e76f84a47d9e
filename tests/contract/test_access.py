"""Who may call what, from the routes themselves and from the OpenAPI document."""

import json
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from api_gateway.app import create_app
from api_gateway.auth.access import Scope, scopes_of
from api_gateway.problems import TITLES
from store.core.settings import Settings

OPEN = {"/openapi.json", "/healthz", "/readyz", "/static/{name:path}", "/signin", "/signout"}
"""What anybody may call: nothing of it shows a row."""
SHARED = "/shared/{question_id}/{until}/{proof}"
"""Shows one answer to whoever has the link that its owner made (ADR 0045)."""
FEED = "/feeds/{key}"
"""Shows what became of answers to whoever has the link, whose key has the scope `feed` alone."""

EXPECTED = {
    ("POST", "/v1/questions"): "ask",
    ("GET", "/v1/questions"): "read",
    ("GET", "/v1/questions/{question_id}"): "read ask",
    ("GET", "/v1/questions/{question_id}/events"): "read ask",
    ("GET", "/v1/questions/recalls"): "read",
    ("POST", "/v1/questions/{question_id}/judgments"): "ask",
    ("POST", "/v1/questions/{question_id}/shares"): "ask",
    ("POST", "/v1/notes"): "ask",
    ("GET", "/v1/notes/{note_id}"): "read ask",
    ("POST", "/v1/verifications"): "ask",
    ("GET", "/v1/verifications/{verification_id}"): "read ask",
    ("POST", "/v1/extractions"): "ask",
    ("GET", "/v1/extractions"): "read",
    ("GET", "/v1/extractions/{extraction_id}"): "read ask",
    ("GET", "/v1/extractions/{extraction_id}/text"): "read ask",
    ("GET", "/v1/documents"): "read",
    ("GET", "/v1/search"): "read",
    ("GET", "/v1/documents/{document_id}/answers"): "read",
    ("GET", "/v1/watches"): "read",
    ("POST", "/v1/watches"): "operate",
    ("DELETE", "/v1/watches/{watch_id}"): "operate",
    ("POST", "/v1/documents"): "documents",
    ("GET", "/v1/documents/{document_id}"): "read documents",
    ("GET", "/v1/documents/{document_id}/versions"): "read",
    ("POST", "/v1/sources/{name}/refresh"): "operate",
    ("GET", "/v1/dead-letters"): "operate",
    ("POST", "/v1/stages/{stage}/pause"): "operate",
    ("POST", "/v1/rechecks"): "operate",
    ("GET", "/v1/rechecks/{recheck_id}"): "operate",
    ("GET", "/v1/rechecks/{recheck_id}/answers"): "operate",
    ("GET", "/v1/quality"): "operate",
    ("GET", "/metrics"): "operate",
    ("GET", "/v1/audit"): "audit",
    ("GET", "/v1/audit/verify"): "audit",
}
"""Method and path → the scopes of which one is enough."""


def _app(**settings: Any) -> FastAPI:
    return create_app(
        Settings(
            database_url="postgresql://127.0.0.1:1/none",
            redis_url="redis://127.0.0.1:1/0",
            **settings,
        )
    )


@pytest.fixture(scope="module")
def scopes() -> dict[tuple[str, str], list[str]]:
    """The scopes of each method and path."""
    return {
        (method, str(route.path)): [scope.value for scope in scopes_of(route)]
        for route in iter_route_contexts(_app().routes)
        for method in route.methods or ()
    }


@pytest.mark.requirement("OP-3.2")
def test_op_3_2_every_route_names_a_scope_but_those_that_anybody_may_call(
    scopes: dict[tuple[str, str], list[str]],
) -> None:
    assert {path for (_, path), found in scopes.items() if not found} <= {*OPEN, SHARED, FEED}
    assert not [path for path in OPEN if path.startswith("/v1")]
    assert sum(path.startswith("/v1/") for _, path in scopes) >= 40


@pytest.mark.requirement("OP-3.2")
def test_op_3_2_the_scopes_are_the_ones_that_are_promised(
    scopes: dict[tuple[str, str], list[str]],
) -> None:
    promised = {key: one.split() for key, one in EXPECTED.items()}
    assert {key: scopes[key] for key in EXPECTED} == promised
    changing = {key: found for key, found in scopes.items() if key[0] not in {"GET", "HEAD"}}
    # Verifying the whole chain reads much and changes nothing: it is a POST so that nothing but a
    # person starts it.
    changing.pop(("POST", "/operate/audit/verify"))
    assert not [key for key, found in changing.items() if "read" in found or "audit" in found]


@pytest.mark.requirement("OP-3.2")
@pytest.mark.parametrize("required", [True, False])
def test_op_3_2_the_openapi_document_says_which_key_is_needed(
    scopes: dict[tuple[str, str], list[str]], required: bool
) -> None:
    document = json.loads(json.dumps(_app(require_keys=required).openapi()))
    scheme = document["components"]["securitySchemes"]["key"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            wanted = scopes[method.upper(), path]
            asked = [{"key": [one]} for one in wanted]
            if wanted and not required:
                asked.append({})
            assert operation.get("security", []) == asked
            statuses = set(operation["responses"])
            assert {"400", "403"} <= statuses
            assert bool(wanted) is ({"401", "429"} <= statuses)
            assert {"408", "413"} <= statuses or "requestBody" not in operation


def test_a_scope_is_used_by_some_route(scopes: dict[tuple[str, str], list[str]]) -> None:
    assert {one for found in scopes.values() for one in found} == set(Scope) - {Scope.FEED}


def test_kinds_of_refusals_are_problems_with_titles() -> None:
    kinds = {"unauthenticated", "missing-scope", "rate-limited", "daily-budget-spent", "too-slow"}
    assert kinds <= set(TITLES)
