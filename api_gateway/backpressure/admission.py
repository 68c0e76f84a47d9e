"""Admission control: a route's dependency that answers 429 before the queue grows too long.

The 429 is no `Refused`, since the caller lacks no permission: it is counted in a metric and not
written to the audit, which would itself be overloaded.
"""

from typing import Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from api_gateway.auth.access import Caller, caller_of
from api_gateway.backpressure.load import Overload, Work
from api_gateway.http.idempotency import ROWS
from api_gateway.problems import Problem
from api_gateway.state import Gateway
from store.texts.idempotency import was_accepted

KIND = "overloaded"


def room_for(work: Work) -> Any:
    """The dependency of a route that accepts `work`. Place it after `needs(...)`."""

    async def check(request: Request) -> None:
        gateway: Gateway = request.app.state.gateway
        if not gateway.load.admit_known(work):
            caller, key = await caller_of(request), request.headers.get("idempotency-key")
            await run_in_threadpool(require_room, gateway, work, caller, key)

    check.work = work  # type: ignore[attr-defined]
    return Depends(check)


def require_room(
    gateway: Gateway, work: Work, caller: Caller, idempotency_key: str | None = None
) -> None:
    """Admit a piece of work. A repeat of one that was accepted under the same idempotency key is
    always admitted, as it is no new work. May query PostgreSQL.

    Raises:
        Problem: 429 with `Retry-After`.
    """
    refused = gateway.load.admit(work)
    if refused is None:
        return
    if idempotency_key is not None:
        with gateway.store.reading() as session:
            if was_accepted(session, ROWS[work], caller.owner, idempotency_key):
                return
    gateway.metrics.refused_by_load(work)
    raise Problem(
        429,
        _detail(refused),
        kind=KIND,
        headers={"Retry-After": str(refused.retry_seconds)},
    )


def _detail(refused: Overload) -> str:
    if refused.rule == "slow" and refused.wait_seconds is not None:
        why = (
            f"{refused.waiting} {refused.work} wait already and a new one would wait for about "
            f"{refused.wait_seconds:.0f} seconds"
        )
    else:
        why = f"{refused.waiting} {refused.work} wait already, which is as many as are accepted"
    return f"{why}: nothing was kept of this one, send it again in {refused.retry_seconds} seconds"
