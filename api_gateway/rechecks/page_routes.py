"""The pages of rechecks: verify held answers again, and see what no longer stands."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Form
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import Badge, badge
from api_gateway.problems import not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from store.models import Recheck
from store.recalls import rechecks
from store.recalls.rechecks import AnotherRuns, Progress

router = APIRouter(
    prefix="/operate/rechecks", include_in_schema=False, dependencies=[needs(Scope.OPERATE)]
)

PAGE = 50
LATELY = 10
RUN: Mapping[str, Badge] = {
    "running": Badge("Under way", "quiet", "clock", "It looks at one answer after the other"),
    "done": Badge("Done", "good", "check", "It looked at all of them"),
    "failed": Badge("Ended early", "bad", "cross", "Another run goes on from there"),
}
OUTCOME: Mapping[str, Badge] = {
    "stands": Badge("Stands", "good", "check", "It passes the checks of today"),
    "falls": Badge("Falls", "bad", "cross", "It does not pass the checks of today"),
    "needs_judge": Badge(
        "Not decided", "quiet", "question", "What was kept does not say what the checks ask"
    ),
    "unreadable": Badge("Unreadable", "warn", "half", "This release does not read its form"),
}


@router.get("")
def rechecks_page(request: Request, gateway: InGateway) -> HTMLResponse:
    """The form that begins a run, and the last runs."""
    return _overview(request, gateway)


def _overview(request: Request, gateway: Gateway, refused: str = "") -> HTMLResponse:
    with gateway.store.reading() as session:
        runs = [_run(run) for run in rechecks.lately(session, LATELY)]
    return page(
        request,
        "operate/rechecks.html",
        status=409 if refused else 200,
        runs=runs,
        refused=refused,
    )


def _run(run: Recheck, found: Progress | None = None) -> dict[str, Any]:
    """A run, with what it found if that is known."""
    return {
        "id": str(run.id),
        "badge": badge(RUN, run.status),
        "open": run.status == "running",
        "begun": moment(run.created_at),
        "kind": "Only told" if run.dry_run else "Recalled what falls",
        "error": run.error or "",
        "answers": run.answers,
        "done": found.done if found else None,
        "outcomes": [(shown, found.outcomes.get(name, 0)) for name, shown in OUTCOME.items()]
        if found
        else [],
        "checks": sorted(found.checks.items(), key=lambda one: -one[1]) if found else [],
    }


@router.post("")
def start(request: Request, form: Form, gateway: InGateway, caller: InCaller) -> Response:
    """Begin a run, or follow the one with the same options that is under way."""
    options = {name: form.get(name) == "yes" for name in ("everything", "ask")}
    try:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            run_id = rechecks.start(work, dry_run=form.get("apply") != "yes", **options).id
    except AnotherRuns as error:
        return _overview(request, gateway, str(error))
    return RedirectResponse(f"{router.prefix}/{run_id}", 303)


@router.get("/{recheck_id}")
def run_page(
    request: Request,
    recheck_id: UUID,
    gateway: InGateway,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> HTMLResponse:
    """How far a run is, and the answers that do not stand as they are."""
    with gateway.store.reading() as session:
        run = rechecks.get(session, recheck_id)
        if run is None:
            raise not_found("recheck")
        shown = _run(run, rechecks.progress(session, run))
        changed = rechecks.changes(session, recheck_id, cursor=cursor, limit=PAGE)
        answers = [
            {
                "id": str(one.question_id),
                "badge": badge(OUTCOME, one.outcome),
                "claims": len(one.findings),
                "checks": sorted({check for found in one.findings for check in found["checks"]}),
            }
            for one in changed.answers
        ]
    return page(
        request,
        "operate/recheck.html",
        run=shown,
        state=f"{shown['done']}/{run.status}",
        answers=answers,
        cursor=cursor,
        next_cursor=changed.next_cursor,
    )


@router.get("/{recheck_id}/state")
def run_state(recheck_id: UUID, gateway: InGateway) -> dict[str, str]:
    """What the page of a run asks for, to know when to show itself anew."""
    with gateway.store.reading() as session:
        run = rechecks.get(session, recheck_id)
        if run is None:
            raise not_found("recheck")
        return {"state": f"{rechecks.progress(session, run).done}/{run.status}"}
