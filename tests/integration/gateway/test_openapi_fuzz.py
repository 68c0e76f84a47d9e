"""Generated requests, good and bad, against a real gateway: it answers as its document says.

No 5xx, no status and no content that the OpenAPI document does not name, nothing for a stranger,
and nothing beyond the scopes of a key.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api_gateway.auth.access import Scope
from store.texts.notes import NOTES
from store.texts.verifications import VERIFICATIONS
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import bearer, make_key

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 4
"""For each operation; sixty operations, a few milliseconds a request."""
LONGEST = 10_000
"""Characters; Hypothesis draws no more than 8 kB for an example."""
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],  # shrinking a failure is for who looks into it
    suppress_health_check=list(HealthCheck),
)


# Its generators draw on `random` themselves; the seed below makes them repeatable enough.
pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")


@dataclass
class Fuzzed:
    """A gateway that asks for keys, its document, and rows that requests can name."""

    running: Running
    schema: Any
    known: dict[str, str]
    everything: dict[str, str]
    session: requests.Session

    def operations(self) -> list[Any]:
        return [found.ok() for found in self.schema.get_all_operations()]

    def send(self, case: "Case[Any]", headers: dict[str, str]) -> requests.Response:
        """Send a generated request with these headers and no other key; check the answer."""
        request = case.as_transport_kwargs(base_url=self.running.url)
        sent = {
            name: value
            for name, value in request.pop("headers").items()
            if name.lower() not in {"authorization", "host"}
        }
        response = self.session.request(**request, headers={**sent, **headers}, timeout=30)
        checks = list(CHECKS)
        if case.path.endswith("/events"):
            # OpenAPI 3.1 describes a stream as one string; the check takes it for its events.
            checks.remove(response_schema_conformance)
        case.validate_response(response, checks=checks)
        return response


def _shortened(document: dict[str, Any]) -> dict[str, Any]:
    """The document, in which no text that has a pattern may be longer than any that is generated:
    to compile `\\S` for up to 300,000 characters takes a second, and nobody draws so many."""
    for schema in document["components"]["schemas"].values():
        for one in schema.get("properties", {}).values():
            if "pattern" in one and one.get("maxLength", 0) > LONGEST:
                one["maxLength"] = LONGEST
    return document


@pytest.fixture(scope="module")
def fuzzed(new_database: Callable[[], str], settings_for: Any) -> Iterator[Fuzzed]:
    """The gateway."""
    given_settings = settings_for(new_database(), require_keys=True, max_body_bytes=100_000)
    with serving(given_settings) as running:
        limits = {"rate_per_minute": 100_000, "requests_a_day": 1_000_000}
        everything = bearer(make_key(running, owner="fuzz", limits=limits))
        document = _shortened(running.client.get("/openapi.json").json())
        schema = schemathesis.openapi.from_dict(document)
        post = running.client.post
        known = {
            f"{kind}_id": post(f"/v1/{kind}s", json=body, headers=everything).json()["id"]
            for kind, body in (
                ("question", {"question": "Why?"}),
                ("note", {"text": "A note."}),
                ("verification", {"text": "A text."}),
                ("document", {"title": "A title", "text": "A text.", "source_type": "guideline"}),
            )
        }
        # All have ended, so neither a long poll nor an event stream of them waits.
        running.fail(known["question_id"], "a test")
        with running.store.unit_of_work("test") as work:
            NOTES.failed(work, UUID(known["note_id"]), "a test")
            VERIFICATIONS.failed(work, UUID(known["verification_id"]), "a test")
        with requests.Session() as session:
            session.trust_env = False
            yield Fuzzed(running, schema, known, everything, session)


def _told(response: Any) -> str:
    """What was asked and answered, for who looks into a failure."""
    sent = response.request
    return f"{sent.method} {sent.url} {dict(sent.headers)} {sent.body!r}: {response.text}"


def _named(case: "Case[Any]", known: dict[str, str], really: bool) -> "Case[Any]":
    """The case, naming rows that are there."""
    if really:
        given_path = case.path_parameters or {}
        case.path_parameters = {name: known.get(name, one) for name, one in given_path.items()}
    return case


@pytest.mark.requirement("OP-3.2")
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_op_3_2_with_a_key_every_answer_is_one_that_is_documented(
    fuzzed: Fuzzed, mode: GenerationMode
) -> None:
    seen: set[int] = set()
    for operation in fuzzed.operations():

        @seed(20261122)
        @BOUNDED
        @given(case=operation.as_strategy(generation_mode=mode), really=st.booleans())
        def answers(case: "Case[Any]", really: bool) -> None:
            response = fuzzed.send(_named(case, fuzzed.known, really), fuzzed.everything)
            seen.add(response.status_code)
            assert response.status_code not in {401, 403, 429}, _told(response)

        with contextlib.suppress(Unsatisfiable):  # what takes nothing has nothing to get wrong
            answers()
    assert {200, 202, 404, 422} <= seen if mode is GenerationMode.POSITIVE else {404, 422} <= seen


@pytest.mark.requirement("OP-3.2")
def test_op_3_2_a_stranger_gets_nothing_whatever_he_sends(fuzzed: Fuzzed) -> None:
    open_to_all = {"/healthz", "/readyz"}
    for operation in fuzzed.operations():
        modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
        strategy = st.one_of(*(operation.as_strategy(generation_mode=one) for one in modes))

        @seed(20261122)
        @BOUNDED
        @given(case=strategy, wrong=st.booleans())
        def refuses(case: "Case[Any]", wrong: bool) -> None:
            headers = bearer("attest_0000000000_" + "A" * 43) if wrong else {}
            response = fuzzed.send(case, headers)
            expected = {200, 400} if case.path in open_to_all else {400, 401, 404}
            assert response.status_code in expected, _told(response)
            if response.status_code == 401:
                assert response.headers["WWW-Authenticate"].startswith("Bearer")

        refuses()


@pytest.mark.requirement("OP-3.2")
@pytest.mark.parametrize("scope", [Scope.READ, Scope.DOCUMENTS])
def test_op_3_2_a_key_gets_no_further_than_its_scope(fuzzed: Fuzzed, scope: Scope) -> None:
    limits = {"rate_per_minute": 100_000, "requests_a_day": 1_000_000}
    headers = bearer(make_key(fuzzed.running, scope, owner="fuzz", limits=limits))
    for operation in fuzzed.operations():
        asked = [one.get("key", []) for one in operation.definition.raw.get("security", [])]
        if not asked or [scope.value] in asked:
            continue

        @seed(20261122)
        @settings(BOUNDED, max_examples=2)
        @given(case=operation.as_strategy())
        def refuses(case: "Case[Any]") -> None:
            assert fuzzed.send(_named(case, fuzzed.known, True), headers).status_code in {403, 404}

        refuses()
