"""The API routes of verifications: submit any text to the checks, and get the result."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own, owned
from api_gateway.backpressure.admission import room_for
from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.http.idempotency import IdempotencyKey
from api_gateway.http.waiting import settled
from api_gateway.problems import Problem, documented, erased, given_up, request_id_of
from api_gateway.schemas import MAX_WAIT_SECONDS, POLL_AFTER_MS, Accepted
from api_gateway.state import Gateway, InGateway
from api_gateway.verifications.schemas import VerificationIn, VerificationOut
from store.texts import verifications

router = APIRouter(prefix="/v1/verifications", tags=["verifications"])

RETRY_AFTER_SECONDS = 1
BODY_LIMITS = {("POST", router.prefix): BodyLimit(8 * MIB)}
"""Enough for more sentences than are compared at once."""


@router.post(
    "",
    status_code=202,
    summary="Submit a text to be checked",
    description="An answer of another system, an abstract, a slide: each statement, quotation and "
    "identifier is compared with the documents sent along or, without such, with the evidence that "
    "is held.",
    response_description="Accepted; `Location` says where to look",
    dependencies=[needs(Scope.ASK), room_for(Work.VERIFICATIONS)],
    responses=documented(400, 403, 413, 415, 422, 429, 503),
)
def submit_verification(
    body: VerificationIn,
    request: Request,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    idempotency_key: IdempotencyKey = None,
) -> Accepted:
    """Write the text and promise it to the check stage."""
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        verification = verifications.submit(
            work,
            body.text,
            [document.model_dump() for document in body.documents],
            owner=caller.owner,
            idempotency_key=idempotency_key,
        )
    response.headers["Location"] = f"/v1/verifications/{verification.id}"
    return Accepted.model_validate(
        {"id": verification.id, "status": verification.status, "poll_after_ms": POLL_AFTER_MS}
    )


@router.get(
    "/{verification_id}",
    summary="Get what was found of a text",
    description="With `wait`, answers as soon as the check has ended, at the latest after so many "
    "seconds.",
    response_model=VerificationOut,
    dependencies=[needs_own],
    responses=documented(404, 410, 422, 503),
)
async def get_verification(
    verification_id: UUID,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    wait: Annotated[
        float,
        Query(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="seconds, up to 60"),
    ] = 0,
) -> VerificationOut:
    """The verification, now or once it has ended."""
    current = await settled(
        gateway,
        caller,
        verification_id,
        lambda: _read(gateway, caller, verification_id),
        lambda verification: verification.status != "queued",
        wait,
    )
    if current.status == "queued":
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return current


async def _read(gateway: Gateway, caller: Caller, verification_id: UUID) -> VerificationOut:
    """The verification as it is now.

    Raises:
        Problem: there is no such verification.
    """

    def read() -> VerificationOut:
        with gateway.store.reading() as session:
            row = owned(caller, verifications.get(session, verification_id), "verification")
            if row.status == "erased":
                raise erased("verification", row.erased_at)
            error, refused = None, verifications.refused(session, row)
            if refused is not None:
                problem = Problem(422, f"{refused}: send less at once", kind="verification-failed")
                error = problem.body(row.request_id)
            elif row.status == "failed":
                error = given_up("verification", row.request_id)
            return VerificationOut.model_validate(
                {
                    "id": row.id,
                    "status": row.status,
                    "created_at": row.created_at,
                    "finished_at": row.finished_at,
                    "result": row.result if row.status == "done" else None,
                    "error": error,
                }
            )

    return await run_in_threadpool(read)
