"""A form of the pages is accepted once, however often the browser sends it.

The key of a form is in the address of its page, so going back or reloading shows the same form,
with scripts or without. Its submission is found under that key for a day; a form that was kept open
or bookmarked for longer is taken as a new submission.
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
"""Our choice: no double click and no reload comes so late."""

R = TypeVar("R", bound=Question | Verification | Note | ExtractionRow)


def keyed(request: Request) -> RedirectResponse:
    """A redirect to the same page, with the key of a new form in its address."""
    address = request.url.include_query_params(form=str(uuid4()))
    return RedirectResponse(f"{address.path}?{address.query}", 303)


def key_of(fields: Mapping[str, str]) -> UUID:
    """The key of a form; a new one if it has none."""
    try:
        return UUID(fields.get("key", ""))
    except ValueError:
        return uuid4()


def sent_before(gateway: Gateway, caller: Caller, work: Work, form: UUID) -> UUID | None:
    """The id of the newest submission of this form within `KEPT`, if there is one."""
    with gateway.store.reading() as session:
        prefix = form_prefix(form)
        return newest_under(session, ROWS[work], caller.owner, prefix, since=now() - KEPT)


def admit(
    request: Request, caller: Caller, work: Work, form: UUID, content: Mapping[str, Any]
) -> None:
    """Admit a submission if there is room for it and, where it calls language models, the owner has
    budget left today. A repeated submission is always admitted, as it is no new work.

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
        request.state.problem = refused  # the middleware writes refusals to the audit
        raise
    require_room(gateway, work, caller, key)


def once(form: UUID, content: Mapping[str, Any], submit: Callable[[str], R]) -> R:
    """The row of the form's submission with this content; a new one if there is none within `KEPT`.

    Args:
        submit: inserts the row under an idempotency key, or returns the row that exists under it.
    """
    kept = submit(form_key(form, content))
    if now() - kept.created_at < KEPT:
        return kept
    return submit(form_key(uuid4(), content))
