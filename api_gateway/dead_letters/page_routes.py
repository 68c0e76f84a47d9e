"""The pages of dead letters: by fault and one by one, with replay and discard.

A replay starts with a dry run on a page that changes nothing; the form on that page then does it.
"""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import TypeAdapter, ValidationError
from sqlmodel import Session

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.dead_letters import routes
from api_gateway.dead_letters.routes import ACTOR
from api_gateway.dead_letters.view import LETTER, ROOT, end, facts
from api_gateway.operations.schemas import REPLAY_LIMIT, Fingerprint, Reason, Status
from api_gateway.pages.forms import Form
from api_gateway.pages.rendering import page
from api_gateway.problems import not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from messages import Stage
from store.core.cursors import position
from store.dead_letters import dead_letters, listing, replay
from store.dead_letters.listing import Chosen
from store.dead_letters.replay import Operator, Report
from store.models import DeadLetter

router = APIRouter(prefix=ROOT, include_in_schema=False, dependencies=[needs(Scope.OPERATE)])

PAGE = 50
InFingerprint = Annotated[Fingerprint, Path()]
Cursor = Annotated[str | None, Query(max_length=500)]
_REASON: TypeAdapter[str] = TypeAdapter(Reason)


@router.get("")
def faults_page(
    request: Request,
    gateway: InGateway,
    status: Status = "open",
    stage: Stage | None = None,
    cursor: Cursor = None,
    words: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """Dead letters by fault, the one that was seen last first."""
    words = words.strip().replace("\0", "")
    name = stage.value if stage else None
    chosen = Chosen(_stored(status), stage=name, words=words or None)
    with gateway.store.reading() as session:
        listed = listing.groups(session, chosen, cursor=cursor, limit=PAGE)
    return page(
        request,
        "operate/letters.html",
        faults=listed.groups,
        chosen=status,
        statuses=LETTER,
        stage=name or "",
        words=words,
        cursor=cursor,
        next_cursor=listed.next_cursor,
    )


def _stored(status: Status) -> str | None:
    return None if status == "all" else status


@router.get("/faults/{fingerprint}")
def fault_page(
    request: Request,
    fingerprint: InFingerprint,
    gateway: InGateway,
    cursor: Cursor = None,
) -> HTMLResponse:
    """One fault and all its letters, newest first."""
    chosen = Chosen(None, fingerprint=fingerprint)
    with gateway.store.reading() as session:
        groups = listing.groups(session, chosen, limit=1).groups
        if not groups:
            raise not_found("fault")
        listed = listing.page(session, chosen, cursor=cursor, limit=PAGE)
        session.expunge_all()
    return page(
        request,
        "operate/fault.html",
        fault=groups[0],
        lines=listed.letters,
        statuses=LETTER,
        cursor=cursor,
        next_cursor=listed.next_cursor,
    )


@router.get("/faults/{fingerprint}/replay")
def try_fault(
    request: Request,
    fingerprint: InFingerprint,
    gateway: InGateway,
    force: bool = False,
    cursor: Cursor = None,
) -> HTMLResponse:
    """What a replay of the open letters of a fault would do, of those behind `cursor`."""
    report = _replay(gateway, Operator(ACTOR), fingerprint, cursor, force=force, dry_run=True)
    title = f"Fault {fingerprint}"
    of = f"{ROOT}/faults/{fingerprint}"
    return _dry_run(request, report, title, of, forced=force, cursor=cursor)


@router.post("/faults/{fingerprint}/replay")
def replay_fault(
    request: Request, fingerprint: InFingerprint, form: Form, gateway: InGateway, caller: InCaller
) -> Response:
    """Make the work of the letters that were shown pending again, at the pace that stages can
    bear."""
    operator = Operator(caller.actor(ACTOR), request_id_of(request))
    cursor = form.get("cursor") or None
    _replay(gateway, operator, fingerprint, cursor, force=_forced(form), dry_run=False)
    return RedirectResponse(f"{ROOT}/faults/{fingerprint}", 303)


def _replay(
    gateway: Gateway,
    operator: Operator,
    fingerprint: str,
    cursor: str | None,
    *,
    force: bool,
    dry_run: bool,
) -> Report:
    return replay.replay_matching(
        gateway.store,
        operator,
        Chosen(fingerprint=fingerprint),
        dry_run=dry_run,
        force=force,
        limit=REPLAY_LIMIT,
        after=None if cursor is None else position(cursor),
    )


def _forced(form: Mapping[str, str]) -> bool:
    return form.get("force") == "true"


def _dry_run(
    request: Request,
    report: Report,
    title: str,
    of: str,
    *,
    forced: bool,
    cursor: str | None = None,
) -> HTMLResponse:
    return page(
        request,
        "operate/replay.html",
        report=report,
        title=title,
        back=of,
        forced=forced,
        cursor=cursor,
    )


@router.get("/{letter_id}")
def letter_page(request: Request, letter_id: UUID, gateway: InGateway) -> HTMLResponse:
    """One dead letter with its cause and traceback."""
    return _letter_page(request, letter_id, gateway)


def _letter_page(
    request: Request,
    letter_id: UUID,
    gateway: Gateway,
    reason: str = "",
    error: str = "",
) -> HTMLResponse:
    with gateway.store.reading() as session:
        letter, resolution = _letter(session, letter_id), listing.resolution(session, letter_id)
        session.expunge_all()
    return page(
        request,
        "operate/letter.html",
        status=422 if error else 200,
        letter=letter,
        state=LETTER[letter.status],
        facts=facts(letter),
        end=end(resolution),
        reason=reason,
        error=error,
    )


def _letter(session: Session, letter_id: UUID) -> DeadLetter:
    """Raises Problem: there is no such dead letter."""
    letter = session.get(DeadLetter, letter_id)
    if letter is None:
        raise not_found("dead letter")
    return letter


@router.get("/{letter_id}/replay")
def try_letter(
    request: Request,
    letter_id: UUID,
    gateway: InGateway,
    force: bool = False,
) -> HTMLResponse:
    """What a replay of this letter would do."""
    report = Report(dry_run=True, matched=1, total=1)
    with gateway.store.reading() as session:
        letter = _letter(session, letter_id)
        try:
            planned = dead_letters.plan(session, letter, force=force)
        except dead_letters.NotReplayable as error:
            report.refuse(letter_id, str(error))
        else:
            report.resolved = 1
            report.upgraded = int(planned.upgraded_from is not None)
    title = f"Dead letter {letter_id}"
    return _dry_run(request, report, title, f"{ROOT}/{letter_id}", forced=force)


@router.post("/{letter_id}/replay")
def replay_letter(
    request: Request, letter_id: UUID, form: Form, gateway: InGateway, caller: InCaller
) -> Response:
    """Make its work pending again."""
    routes.replay_dead_letter(letter_id, request, gateway, caller, _forced(form))
    return RedirectResponse(f"{ROOT}/{letter_id}", 303)


@router.post("/{letter_id}/discard")
def discard_letter(
    request: Request, letter_id: UUID, form: Form, gateway: InGateway, caller: InCaller
) -> Response:
    """Give it up, for the reason given."""
    text = form.get("reason", "")
    try:
        reason = _REASON.validate_python(text)
    except ValidationError:
        message = "Write a reason in plain text, up to 500 characters."
        return _letter_page(request, letter_id, gateway, text, message)
    routes.discard_dead_letter(letter_id, request, gateway, caller, reason)
    return RedirectResponse(f"{ROOT}/{letter_id}", 303)
