"""Whatever a form of the pages sends is sent once, however often the form is.

The key of a form stands in the address of its page: who goes back to it, or loads it again, has the
same form before him, with scripts or without. What it sent is found under that key for a day: who
keeps a form open or bookmarked for longer means to send it anew.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from fastapi import Request
from fastapi.responses import RedirectResponse

from api_gateway.auth.access import Caller, require_budget
from api_gateway.auth.refusals import Refused
from api_gateway.backpressure.admission import require_room
from api_gateway.backpressure.load import Work
from api_gateway.http.idempotency import ROWS, form_key, form_prefix
from api_gateway.state import Gateway
from store.models import ExtractionRow, Note, Question, Verification, now
from store.texts.idempotency import newest_under, was_accepted

KEPT = timedelta(days=1)
"""Ours: no double click, and nobody who reloads a page, comes so late."""

R = TypeVar("R", bound=Question | Verification | Note | ExtractionRow)


def keyed(request: Request) -> RedirectResponse:
    """To the same page, with the key of a new form in its address."""
    address = request.url.include_query_params(form=str(uuid4()))
    return RedirectResponse(f"{address.path}?{address.query}", 303)


def key_of(fields: Mapping[str, str]) -> UUID:
    """The key that a form carries; a new one, if it carries none."""
    try:
        return UUID(fields.get("key", ""))
    except ValueError:
        return uuid4()


def sent_before(gateway: Gateway, caller: Caller, work: Work, form: UUID) -> UUID | None:
    """The newest that this form sent, if it did lately."""
    with gateway.store.reading() as session:
        prefix = form_prefix(form)
        return newest_under(session, ROWS[work], caller.owner, prefix, since=now() - KEPT)


def admit(
    request: Request, caller: Caller, work: Work, form: UUID, content: Mapping[str, Any]
) -> None:
    """Let in what a form sends, if there is room for it and, where language models are asked for
    it, the owner's day is not spent. What was sent before is let in: it is no new work.

    Raises:
        Problem: 429 with `Retry-After`.
    """
    gateway: Gateway = request.app.state.gateway
    key = form_key(form, content)
    try:
        if work is not Work.VERIFICATIONS:
            require_budget(gateway, caller)
    except Refused as refused:
        with gateway.store.reading() as session:
            if was_accepted(session, ROWS[work], caller.owner, key):
                return
        request.state.problem = refused  # the middleware writes refusals down
        raise
    require_room(gateway, work, caller, key)


def once(form: UUID, content: Mapping[str, Any], submit: Callable[[str], R]) -> R:
    """What the form sent with this content; sends it where it did not lately.

    Args:
        submit: keeps it under an idempotency key, or gives what was kept under that before.
    """
    kept = submit(form_key(form, content))
    if now() - kept.created_at < KEPT:
        return kept
    return submit(form_key(uuid4(), content))
