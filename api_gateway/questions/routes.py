"""The API routes of questions: submit, wait, follow, list."""

import hashlib
import time
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID, uuid4

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import AwareDatetime
from sse_starlette import EventSourceResponse, ServerSentEvent

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own, within_budget
from api_gateway.auth.refusals import Refused
from api_gateway.backpressure.admission import room_for
from api_gateway.backpressure.bodies import BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.http.etags import is_known
from api_gateway.http.idempotency import IdempotencyKey
from api_gateway.http.preferences import Prefer, preferred_wait
from api_gateway.http.waiting import heard, settled
from api_gateway.problems import documented, request_id_of
from api_gateway.questions.answers import Snapshot, in_full, snapshot
from api_gateway.questions.question_in import MAX_QUESTION_BODY_BYTES, QuestionIn
from api_gateway.recalls.schemas import RecallFilter
from api_gateway.schemas import (
    MAX_WAIT_SECONDS,
    POLL_AFTER_MS,
    Accepted,
    QuestionLine,
    QuestionOut,
    QuestionPage,
    QuestionStatus,
    StageTiming,
)
from api_gateway.state import Gateway, InGateway
from store.core.database import passes_by_itself
from store.models import Question
from store.questions import questions
from store.recalls import log

router = APIRouter(prefix="/v1/questions", tags=["questions"])

RETRY_AFTER_SECONDS = 1
PING_SECONDS = 15
BODY_LIMITS = {("POST", router.prefix): BodyLimit(MAX_QUESTION_BODY_BYTES)}
LAST_EVENT = "end"
"""The id of a stream's last event. A client that reconnects with it has seen all events."""


@router.post(
    "",
    status_code=202,
    response_model=Accepted,
    summary="Submit a question",
    description="Accepts the question and answers at once. The same `Idempotency-Key` with another "
    "request is a 422, as draft-ietf-httpapi-idempotency-key-header-06 says under Error Scenarios; "
    "its 409 is for a first request still under way, and here a retry simply gets the question. "
    "With `Prefer: wait=N` it is answered with the question itself, as `Location` has it, once "
    "that is finished; if it is not within N seconds, as without.",
    response_description="Accepted; `Location` says where to look",
    dependencies=[needs(Scope.ASK), within_budget, room_for(Work.QUESTIONS)],
    responses={
        200: {"model": QuestionOut, "description": "Finished within the time of `Prefer`"},
        **documented(400, 403, 410, 413, 415, 422, 429, 503),
    },
)
async def submit_question(
    body: QuestionIn,
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Write the question and promise it to the retrieve stage."""
    question_id, request_id = uuid4(), request_id_of(request)

    def submit() -> Question:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id) as work:
            return questions.submit(
                work,
                in_full(work.session, caller, body),
                body.options(),
                idempotency_key,
                question_id=question_id,
                owner=caller.owner,
            )

    wait = preferred_wait(prefer, MAX_WAIT_SECONDS)
    if wait is None:
        return _accepted(await run_in_threadpool(submit))
    deadline = time.monotonic() + wait
    with (
        gateway.notices.subscribe(str(question_id)) as woken,  # before the question exists
        gateway.holding.waiting(caller, woken),
    ):
        question = await run_in_threadpool(submit)
        if question.id == question_id:  # a question accepted before may be finished already
            await heard(woken, deadline - time.monotonic())
    finished = await _kept(gateway, caller, question.id, deadline - time.monotonic())
    response = _accepted(question) if finished is None else _shown(finished)
    response.headers["Location"] = _location(question.id)
    response.headers["Preference-Applied"] = f"wait={wait}"
    return response


async def _kept(
    gateway: Gateway, caller: Caller, question_id: UUID, wait: float
) -> Snapshot | None:
    """The accepted question once it is finished, or None. It is also None if the database goes away
    or the key ends meanwhile: the question is kept, and the client must learn its id."""
    try:
        question = await _ended(gateway, caller, question_id, wait)
    except Refused:
        return None
    except Exception as error:
        if not passes_by_itself(error):
            raise
        return None
    return question if question.finished else None


def _accepted(question: Question) -> Response:
    body = Accepted.model_validate(
        {"id": question.id, "status": question.status, "poll_after_ms": POLL_AFTER_MS}
    )
    headers = {"Location": _location(question.id)}
    return Response(body.model_dump_json(), 202, headers, media_type="application/json")


def _location(question_id: UUID) -> str:
    return f"{router.prefix}/{question_id}"


@router.get(
    "",
    summary="List questions",
    description="Newest first, those of the key's owner. Follow `next_cursor` for older ones.",
    dependencies=[needs(Scope.READ)],
    responses=documented(422, 503),
)
def list_questions(
    gateway: InGateway,
    caller: InCaller,
    status: Annotated[QuestionStatus | None, Query()] = None,
    since: Annotated[AwareDatetime | None, Query(description="accepted at or after this")] = None,
    recall: Annotated[
        RecallFilter | None, Query(description="whose answer is in this state")
    ] = None,
    cursor: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> QuestionPage:
    """A page of questions."""
    with gateway.store.reading() as session:
        page = questions.listing(
            session,
            owner=caller.owner,
            status=status,
            since=since,
            recall=recall,
            cursor=cursor,
            limit=limit,
        )
        states = log.states(session, [question.id for question in page.rows])
        lines = [
            QuestionLine.model_validate(
                {
                    "id": question.id,
                    "status": question.status,
                    "stage": question.stage,
                    "question": question.text,
                    "created_at": question.created_at,
                    "finished_at": question.finished_at,
                    "recall": states.get(question.id, "current"),
                }
            )
            for question in page.rows
        ]
    return QuestionPage(questions=lines, next_cursor=page.next_cursor)


@router.get(
    "/{question_id}",
    summary="Get a question and its answer",
    description="With `wait`, answers as soon as the question is finished, at the latest after so "
    "many seconds. `ETag` and `If-None-Match` save the body of what has not changed.",
    response_model=QuestionOut,
    dependencies=[needs_own],
    responses={304: {"description": "Not changed"}, **documented(404, 410, 422, 503)},
)
async def get_question(
    question_id: UUID,
    gateway: InGateway,
    caller: InCaller,
    wait: Annotated[
        float,
        Query(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="seconds, up to 60"),
    ] = 0,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The question, now or once it is finished."""
    return _shown(await _ended(gateway, caller, question_id, wait), if_none_match)


async def _ended(gateway: Gateway, caller: Caller, question_id: UUID, wait: float) -> Snapshot:
    """The question once it is finished, or after `wait` seconds."""
    return await settled(
        gateway,
        caller,
        question_id,
        lambda: _read(gateway, caller, question_id),
        lambda question: question.finished,
        wait,
    )


def _shown(found: Snapshot, if_none_match: str | None = None) -> Response:
    body = found.resource.model_dump_json().encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": etag}
    if not found.finished:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if is_known(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.get(
    "/{question_id}/events",
    summary="Follow a question",
    description="Server-sent events: `stage` for each change of a stage, then `answered` or "
    "`failed` with the same body as the question itself, then the stream ends. A stream begins "
    "with all that has happened so far; one that is asked for with the last event's id in "
    "`Last-Event-ID` is a 204, which tells an EventSource to stop.",
    response_class=EventSourceResponse,
    dependencies=[needs_own],
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        204: {"description": "All events were seen"},
        **documented(404, 410, 503),
    },
)
async def follow_question(
    question_id: UUID,
    gateway: InGateway,
    caller: InCaller,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """The progress of a question as a stream."""
    await _read(gateway, caller, question_id)  # a missing question gives a 404, not a stream
    if last_event_id == LAST_EVENT:
        return Response(status_code=204)
    return EventSourceResponse(_events(gateway, caller, question_id), ping=PING_SECONDS)


async def _read(gateway: Gateway, caller: Caller, question_id: UUID) -> Snapshot:
    """The question as it is now.

    Raises:
        Problem: there is no such question.
    """

    def read() -> Snapshot:
        with gateway.store.at_once() as session:
            return snapshot(session, caller, question_id)

    return await run_in_threadpool(read)


async def _events(
    gateway: Gateway, caller: Caller, question_id: UUID
) -> AsyncIterator[ServerSentEvent]:
    sent: set[tuple[str, str, int]] = set()
    with (
        gateway.notices.subscribe(str(question_id), each_step=True) as woken,
        gateway.holding.waiting(caller, woken) as held,
    ):
        while True:
            woken.clear()
            if held.ended:
                return  # the client reconnects and is told why
            try:
                question = await _read(gateway, caller, question_id)
            except Exception as error:
                if not passes_by_itself(error):
                    raise
                return  # the client reconnects by itself and starts anew
            for timing in question.resource.timings:
                key = (timing.stage, timing.status, timing.attempts)
                if key not in sent:
                    sent.add(key)
                    yield _stage_event(timing)
            if question.finished:
                yield ServerSentEvent(
                    question.resource.model_dump_json(),
                    event=question.resource.status,
                    id=LAST_EVENT,
                )
                return
            if gateway.notices.closing:
                return
            await woken.wait()


def _stage_event(timing: StageTiming) -> ServerSentEvent:
    return ServerSentEvent(
        timing.model_dump_json(include={"stage", "status", "ms"}),
        event="stage",
        id=f"{timing.stage}.{timing.status}.{timing.attempts}",
    )
