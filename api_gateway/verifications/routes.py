"""The API routes of verifications: submit any text to the checks, and get the result."""

from sqlmodel import Session

from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.problems import Problem, given_up
from api_gateway.resources.resource import Api, Resource
from api_gateway.resources.routes import api_router
from api_gateway.verifications.schemas import VerificationIn, VerificationOut
from store.core.unit_of_work import UnitOfWork
from store.models import Verification
from store.texts import verifications

BODY_LIMITS = {("POST", "/v1/verifications"): BodyLimit(8 * MIB)}
"""Enough for more sentences than are compared at once."""


def _submit(
    work: UnitOfWork, given: VerificationIn, *, owner: str, idempotency_key: str | None
) -> Verification:
    documents = [document.model_dump() for document in given.documents]
    return verifications.submit(
        work, given.text, documents, owner=owner, idempotency_key=idempotency_key
    )


async def _given(body: VerificationIn) -> VerificationIn:
    return body


def _out(session: Session, row: Verification) -> VerificationOut:
    error, refused = None, verifications.refused(session, row)
    if refused is not None:
        problem = Problem(422, f"{refused}: send less at once", kind="verification-failed")
        error = problem.body(row.request_id)
    elif row.status == "failed":
        error = given_up("verification", row.request_id)
    return VerificationOut(
        id=row.id,
        status=row.status,
        created_at=row.created_at,
        finished_at=row.finished_at,
        result=row.result if row.status == "done" else None,
        error=error,
    )


VERIFICATION = Resource(verifications.VERIFICATIONS, Work.VERIFICATIONS, _submit)

router = api_router(
    Api(
        VERIFICATION,
        given=_given,
        out=_out,
        out_model=VerificationOut,
        submitting=(
            "Submit a text to be checked",
            "An answer of another system, an abstract, a slide: each statement, quotation and "
            "identifier is compared with the documents sent along or, without such, with the "
            "evidence that is held.",
        ),
        getting=(
            "Get what was found of a text",
            "With `wait`, answers as soon as the check has ended, at the latest after so many "
            "seconds.",
        ),
        asks_models=False,
    )
)
