"""All errors as RFC 9457 problem details, made in this one place.

A problem names fields and rules. It never repeats a value, as values are questions and documents
(invariant 11). An unknown field, whose name the caller chose, is shown as `?`.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID, uuid4

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException

from api_gateway.http.methods import allow, routes_at
from store.core.cursors import InvalidCursor
from store.texts.idempotency import KeyReused

MEDIA_TYPE = "application/problem+json"
MAX_NAME_CHARS = 60
MAX_ERRORS = 20
UNKNOWN_NAME = "?"
_LIKE_OURS = re.compile(r"[A-Za-z0-9_\[\](),.=\-]{1,60}")

TITLES: Mapping[str, str] = {
    "malformed-request": "The request cannot be read",
    "invalid-request": "The request does not fit what is expected",
    "too-large": "The request is too large",
    "unsupported-media-type": "This kind of content is not accepted",
    "unreadable-file": "The file is not what it claims to be",
    "unauthenticated": "The request needs a key that holds",
    "missing-scope": "The key does not allow this",
    "rate-limited": "The key asks too fast",
    "daily-budget-spent": "The key has used up its day",
    "overloaded": "More is waiting than can be done in time",
    "too-slow": "The request did not arrive in time",
    "not-found": "There is nothing here",
    "method-not-allowed": "This method is not possible here",
    "idempotency-key-reused": "The idempotency key stands for another request",
    "not-replayable": "The dead letter cannot be replayed",
    "foreign-origin": "The request comes from another place",
    "question-failed": "The question could not be answered",
    "verification-failed": "The text could not be checked",
    "note-failed": "The note could not be summarized",
    "extraction-failed": "The document could not be extracted",
    "already-decided": "Somebody has decided this before",
    "under-way": "It is being worked on",
    "erased": "Its words were erased",
    "temporarily-unavailable": "Something that is needed is away",
    "internal-error": "Something went wrong here",
}
"""The problem types: `type` is `urn:attest:problem:` and one of these names."""

_BY_STATUS = {
    400: "malformed-request",
    401: "unauthenticated",
    403: "foreign-origin",
    404: "not-found",
    405: "method-not-allowed",
    408: "too-slow",
    409: "not-replayable",
    410: "erased",
    413: "too-large",
    415: "unsupported-media-type",
    422: "invalid-request",
    429: "rate-limited",
    500: "internal-error",
    503: "temporarily-unavailable",
}


NO_SUCH_PATH = "there is no such path; /openapi.json lists what there is"
NO_SUCH_ID = "thing: an id is a UUID, as it was given out"


class FieldError(BaseModel):
    """One field that does not fit. The value is not repeated."""

    model_config = ConfigDict(frozen=True)

    field: str = Field(description="path of the field, for example `body.max_references`")
    message: str


class ProblemDetails(BaseModel):
    """What every error looks like (RFC 9457), served as `application/problem+json`."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={
            "example": {
                "type": "urn:attest:problem:invalid-request",
                "title": "The request does not fit what is expected",
                "status": 422,
                "detail": "1 field does not fit: body.question",
                "instance": "urn:uuid:5f0f7c8e-0f0e-4a2e-9d39-1c6a6b0f5a10",
                "request_id": "5f0f7c8e-0f0e-4a2e-9d39-1c6a6b0f5a10",
                "errors": [
                    {
                        "field": "body.question",
                        "message": "String should have at least 1 character",
                    }
                ],
            }
        },
    )

    type: str = Field(description="`urn:attest:problem:NAME`; programs decide by this")
    title: str
    status: int
    detail: str = Field(description="what happened this time, and what to do")
    instance: str = Field(description="this occurrence, as a UUID URN of the request id")
    request_id: UUID
    errors: list[FieldError] | None = Field(default=None, description="for 422")


class Problem(HTTPException):
    """Raised anywhere in the gateway to answer with a problem.

    It is an HTTPException because FastAPI turns any other error while reading a body into its own
    400.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        kind: str | None = None,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.kind = kind or _BY_STATUS.get(status, "malformed-request")
        self.errors = list(errors)
        self.extra = dict(extra or {})

    def body(self, request_id: UUID) -> dict[str, Any]:
        """The JSON object of this problem."""
        members: dict[str, Any] = {
            "type": f"urn:attest:problem:{self.kind}",
            "title": TITLES[self.kind],
            "status": self.status_code,
            "detail": self.detail,
            "instance": f"urn:uuid:{request_id}",
            "request_id": str(request_id),
            **self.extra,
        }
        if self.errors:
            members["errors"] = [error.model_dump() for error in self.errors]
        return members

    def response(self, request_id: UUID) -> JSONResponse:
        """The response with this problem."""
        return JSONResponse(
            self.body(request_id), self.status_code, headers=self.headers, media_type=MEDIA_TYPE
        )


def not_found(what: str) -> Problem:
    """The 404 for a missing thing; `what` is our own word for it."""
    return Problem(404, f"there is no such {what}")


def erased(what: str, at: datetime | None) -> Problem:
    """The 410 for a thing whose words were erased; `what` is our own word for it."""
    moment = at.isoformat(timespec="seconds") if at is not None else None
    return Problem(410, f"the words of this {what} were erased", extra={"erased_at": moment})


GIVEN_UP = (
    "A stage gave up on it. Nothing is lost: an operator finds the cause among the dead letters "
    "and can have it done again."
)
"""The text for the owner, to whom `KeyError at workers.summarize.plan:88` is of no use."""


def given_up(what: str, request_id: UUID) -> dict[str, Any]:
    """The problem's body for a question, note, verification or extraction that a stage gave up."""
    return Problem(500, GIVEN_UP, kind=f"{what}-failed").body(request_id)


def invalid(field: str, message: str, **extra: Any) -> Problem:
    """The 422 for one field that does not fit."""
    error = FieldError(field=_name(field), message=message)
    return Problem(422, f"1 field does not fit: {error.field}", errors=[error], extra=extra)


_IN_WORDS = {
    r"String should match pattern '\S'": "holds no words",
    "Input should have timezone info": "needs a time and its zone, as in 2026-01-31T00:00:00Z",
}
"""Messages of pydantic that only its users understand, in plain words."""


def from_validation(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """The 422 for pydantic's errors, without the values that it found."""
    fields = [
        FieldError(
            field=_name(".".join(_parts(error)) or "body"),
            message=_IN_WORDS.get(error["msg"]) or str(error["msg"]).removeprefix("Value error, "),
        )
        for error in errors[:MAX_ERRORS]
    ]
    names = ", ".join(dict.fromkeys(error.field for error in fields[:3]))
    count = f"{len(errors)} fields do" if len(errors) > 1 else "1 field does"
    return Problem(422, f"{count} not fit: {names}", errors=fields)


def from_body(error: ValidationError, place: str) -> Problem:
    """The problem of a body that was read by hand: 400 if it is no JSON, else the 422; `place` is
    what its fields are of, `body` or `form`."""
    errors = error.errors(include_input=False, include_url=False, include_context=False)
    if errors[0]["type"] == "json_invalid":
        return Problem(400, "the body is no valid JSON in UTF-8")
    return from_validation([{**item, "loc": (place, *item["loc"])} for item in errors])


def _parts(error: Mapping[str, Any]) -> list[str]:
    """The path of the field that does not fit. A name that is none of ours is the caller's own word
    and may be a patient's, so it is not repeated."""
    parts = [str(part) for part in error["loc"]]
    if parts and parts[-1] == "[key]":
        parts = [*parts[:-2], UNKNOWN_NAME]
    elif parts and error.get("type") == "extra_forbidden":
        parts[-1] = UNKNOWN_NAME
    return [part if _LIKE_OURS.fullmatch(part) else UNKNOWN_NAME for part in parts]


def _name(field: str) -> str:
    shown = re.sub(r"[^\x20-\x7e]", "?", field)
    return shown if len(shown) <= MAX_NAME_CHARS else shown[: MAX_NAME_CHARS - 1] + "~"


def request_id_of(request: Request) -> UUID:
    """The id that the middleware gave this request."""
    request_id = getattr(request.state, "request_id", None)
    return request_id if isinstance(request_id, UUID) else uuid4()


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses=` of a route that may answer with these problems."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in statuses
    }


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem. The middleware handles unexpected errors."""

    @app.exception_handler(Problem)
    async def _problem(request: Request, error: Problem) -> JSONResponse:
        request.state.problem = error  # the middleware writes refusals to the audit
        return error.response(request_id_of(request))

    @app.exception_handler(InvalidCursor)
    async def _cursor(request: Request, error: InvalidCursor) -> JSONResponse:
        return invalid("query.cursor", str(error)).response(request_id_of(request))

    @app.exception_handler(KeyReused)
    async def _key(request: Request, error: KeyReused) -> JSONResponse:
        reused = Problem(422, str(error), kind="idempotency-key-reused")
        return reused.response(request_id_of(request))

    @app.exception_handler(RequestValidationError)
    async def _validation(request: Request, error: RequestValidationError) -> JSONResponse:
        return _unfit(request, error).response(request_id_of(request))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 405:  # the router names the methods of one route only
            error.headers = {"Allow": allow(routes_at(request.app, request.scope["path"]))}
        return _of_status(error).response(request_id_of(request))


def _unfit(request: Request, error: RequestValidationError) -> Problem:
    errors = error.errors()
    if any(item["type"] == "json_invalid" for item in errors):
        return Problem(400, "the body is no valid JSON")
    if any(item["loc"][:1] == ("path",) for item in errors):
        return not_found(NO_SUCH_ID)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    in_body = any(item["loc"][:1] == ("body",) for item in errors)
    # Only JSON is parsed (a form could be sent from any web page); other bodies arrive as bytes.
    if in_body and kind != "application/json" and not kind.endswith("+json"):
        return Problem(415, "send JSON with Content-Type: application/json")
    return from_validation(errors)


def _of_status(error: HTTPException) -> Problem:
    details = {
        400: "the body cannot be read: it must be valid UTF-8 and match its Content-Type",
        404: NO_SUCH_PATH,
        405: "this path knows other methods, see the Allow header",
    }
    detail = details.get(error.status_code, HTTPStatus(error.status_code).phrase)
    return Problem(error.status_code, detail, headers=error.headers)
