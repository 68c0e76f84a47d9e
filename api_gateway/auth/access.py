"""The caller of a request and its permissions: keys, scopes, owners.

A route names its scope with `needs(...)` and takes the caller as `InCaller`. The gate
(`api_gateway.auth.gate`) checks both before it reads a byte of the body. The route's dependencies
check again, so a route that the gate missed is protected as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Protocol, TypeVar
from uuid import UUID

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import RouteContext
from sqlmodel import Session

from api_gateway.auth.browser_sessions import FIELD, SAFE_METHODS, csrf_of, same, token_of
from api_gateway.auth.holding import refused
from api_gateway.auth.limits import Exceeded, Limits, midnight_before, until_midnight
from api_gateway.auth.refusals import Refused
from api_gateway.auth.requirement import keys_required
from api_gateway.http.forms import FormLimits, form_of
from api_gateway.http.repeats import is_repeat
from api_gateway.problems import not_found
from api_gateway.state import Gateway
from store.access import keys, sessions
from store.models import LOCAL_OWNER, AccessKey, now
from store.reports import model_usage
from workers.language_model import table_of

SCHEME = "Bearer"


class Scope(StrEnum):
    """What a key may do. A key has scopes; a route names those of which any one is enough."""

    ASK = "ask"
    READ = "read"
    DOCUMENTS = "documents"
    OPERATE = "operate"
    AUDIT = "audit"
    KEYS = "keys"
    FEED = "feed"


@dataclass(frozen=True)
class Caller:
    """The sender of a request: the owner whose rows it sees, its key, and what the key allows.

    For a browser that signed in, `csrf` is the token of its forms and `session` is the name that
    its session is stored under. Both are None if the request had no valid cookie.
    """

    owner: str
    key_id: UUID | None
    scopes: frozenset[Scope]
    limits: Limits | None = field(default=None, compare=False)
    csrf: str | None = field(default=None, compare=False, repr=False)
    expires_at: datetime | None = field(default=None, compare=False)
    session: bytes | None = field(default=None, compare=False, repr=False)

    def actor(self, local: str) -> str:
        """The actor in audit events: the key, or `local` if no key was required."""
        return f"key:{self.key_id}" if self.key_id is not None else local


LOCAL = Caller(LOCAL_OWNER, None, frozenset(Scope))
"""The caller on loopback while no keys are required."""


def authenticate(gateway: Gateway, presented: str | None) -> Caller:
    """The caller of the presented key; None means that no key was presented. It queries the
    database, so it must not run in the event loop.

    Raises:
        Refused: 401, with the same text whatever is wrong with the key.
    """
    if presented is None:
        if not keys_required(gateway.settings):
            return LOCAL
        raise Refused(
            401,
            "send a key as `Authorization: Bearer KEY`; operators make one with "
            "`attest keys create`",
            reason="no_key",
            headers={"WWW-Authenticate": SCHEME},
        )
    with Session(gateway.store.engine) as session:
        checked = keys.check(session, presented, now())
    if checked.key is None:
        raise refused(checked.refusal or "unknown_key", checked.key_id)
    return _caller(checked.key)


def _caller(key: AccessKey, token: str | None = None) -> Caller:
    """Args: token: the token of the session that the browser began with the key."""
    scopes = frozenset(Scope(scope) for scope in key.scopes)
    caller = Caller(key.owner, key.id, scopes, Limits.of(key), expires_at=key.expires_at)
    if token is None:
        return caller
    return replace(caller, csrf=csrf_of(token), session=sessions.name_of(token))


def take_turn(gateway: Gateway, caller: Caller) -> None:
    """Count a request of this caller. It queries Redis, so it must not run in the event loop.

    Raises:
        Refused: 429 if the key is over its rate or has used its requests of the day.
    """
    if caller.key_id is None or caller.limits is None:
        return
    exceeded = gateway.limiter.take(caller.key_id, caller.limits, now())
    if exceeded is not None:
        raise _too_many(caller, exceeded)


def _too_many(caller: Caller, exceeded: Exceeded) -> Refused:
    limits = caller.limits
    assert limits is not None
    if exceeded.what == "rate":
        kind, detail = "rate-limited", f"this key may ask {limits.rate_per_minute} times a minute"
    else:
        kind = "daily-budget-spent"
        detail = f"this key may ask {limits.requests_a_day} times a day (UTC)"
    return Refused(
        429,
        detail,
        kind=kind,
        reason=exceeded.what,
        key_id=caller.key_id,
        headers={"Retry-After": str(exceeded.retry_seconds)},
    )


Again = Callable[[Caller], bool]


def _is_new(_: Caller) -> bool:
    return False


async def admitted(
    gateway: Gateway,
    authorization: str | None,
    token: str | None = None,
    again: Again = _is_new,
    *,
    remembers: bool = False,
) -> Caller:
    """The caller of an `Authorization` header or, without one, of a session token. The request is
    counted against the caller's limits.

    Args:
        again: says whether this submission of the caller was accepted before; then limits do not
            refuse it.
        remembers: while the database is away, accept a key that was valid here recently.

    Raises:
        Refused: 401 or 429.
    """
    if authorization is None and token is not None:
        signed_in = await run_in_threadpool(_resume, gateway, token)
        if signed_in is not None:
            return signed_in
    if authorization is None and not keys_required(gateway.settings):
        return LOCAL
    presented = _bearer(authorization)
    check = partial(_admit, gateway, presented, again)
    if remembers and presented:
        caller: Caller = await gateway.remembered.admitted(presented, check)
        return caller
    return await run_in_threadpool(check)


def _admit(gateway: Gateway, presented: str | None, again: Again) -> Caller:
    caller = authenticate(gateway, presented)
    try:
        take_turn(gateway, caller)
    except Refused:
        if not again(caller):
            raise
    return caller


def repeats(gateway: Gateway, route: object, headers: Mapping[str, str]) -> Again:
    """A check whether a request of a caller with these headers repeats an accepted submission."""
    return lambda caller: is_repeat(gateway, partial(named, route), headers, caller.owner)


def _resume(gateway: Gateway, token: str) -> Caller | None:
    """The caller of a browser session; None if the session is over."""
    with Session(gateway.store.engine) as session:
        key = sessions.key_of(session, token, now())
    if key is None:
        return None
    caller = _caller(key, token)
    take_turn(gateway, caller)
    return caller


def _bearer(authorization: str | None) -> str | None:
    """The key in the header; the empty string, which is no valid key, if its scheme is another."""
    if authorization is None:
        return None
    scheme, _, credentials = authorization.partition(" ")
    return credentials.strip() if scheme.lower() == SCHEME.lower() else ""


async def caller_of(request: Request) -> Caller:
    """The caller of this request.

    Raises:
        Refused: 401, 429; 403 if a form of a browser that signed in lacks its CSRF token.
    """
    caller = getattr(request.state, "caller", None)
    if not isinstance(caller, Caller):
        gateway: Gateway = request.app.state.gateway
        token = token_of(request.method, request.url.path, request.headers)
        route = request.scope.get("route")
        caller = await admitted(
            gateway,
            request.headers.get("authorization"),
            token,
            repeats(gateway, route, request.headers),
            remembers=bool(named(route, "remembers")),
        )
        request.state.caller = caller
    if caller.csrf is not None and request.method not in SAFE_METHODS:
        await require_token(request, caller)
    return caller


FORM_LIMITS = FormLimits(files=100, fields=300, field_bytes=2 * 1024**2)
"""Our choice, per form; a page may accept less and then says so in the form. A pasted document has
up to 300,000 characters of up to four bytes each."""


async def require_token(request: Request, caller: Caller) -> None:
    """Require that a form carries the CSRF token of its session. The browser sends the cookie by
    itself, but only our own pages know the token.

    Raises:
        Refused: 403.
    """
    sent_token: object = None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        # the request keeps the parsed form, so routes get the same one
        sent_token = (await form_of(request, FORM_LIMITS)).get(FIELD)
    if caller.csrf is None or not isinstance(sent_token, str) or not same(sent_token, caller.csrf):
        await request.close()  # closes the files of the form, which nobody will read
        raise Refused(
            403,
            "the form was not sent from a page of this sign-in: load the page again",
            reason="no_csrf_token",
            key_id=caller.key_id,
        )


InCaller = Annotated[Caller, Depends(caller_of)]
"""The type of a route's parameter that receives the caller."""


def require(caller: Caller, scopes: Sequence[Scope]) -> None:
    """Require that the caller has one of these scopes.

    Raises:
        Refused: 403.
    """
    if not caller.scopes.isdisjoint(scopes):
        return
    wanted = " or ".join(scopes)
    raise Refused(
        403,
        f"this needs a key with the scope {wanted}",
        kind="missing-scope",
        reason="missing_scope",
        key_id=caller.key_id,
        headers={
            "WWW-Authenticate": f'{SCHEME} error="insufficient_scope", scope="{" ".join(scopes)}"'
        },
    )


def needs(*scopes: Scope) -> Any:
    """A route's dependency: the caller must have one of these scopes."""

    async def check(request: Request) -> None:  # calls `caller_of`: a sub-dependency is slower
        require(await caller_of(request), scopes)

    check.scopes = scopes  # type: ignore[attr-defined]
    return Depends(check)


needs_own = needs(Scope.READ, Scope.ASK)
"""The dependency of a route that shows one row by its id, to its owner only: a key that may ask may
read the result. Lists and all other rows need `read`."""


async def _within_budget(request: Request) -> None:
    caller = await caller_of(request)
    if caller.limits is None:
        return
    gateway: Gateway = request.app.state.gateway
    again = repeats(gateway, request.scope.get("route"), request.headers)

    def check() -> None:
        try:
            require_budget(gateway, caller)
        except Refused:
            if not again(caller):
                raise

    await run_in_threadpool(check)


within_budget = Depends(_within_budget)
"""The dependency of a route whose work calls language models: the owner has budget left today."""


def require_budget(gateway: Gateway, caller: Caller) -> None:
    """Require that the caller's owner has US dollars left today. A model request whose cost is not
    known counts with the most that it can have cost.

    Raises:
        Refused: 429.
    """
    if caller.limits is None:
        return
    at = now()
    with Session(gateway.store.engine) as session:
        spent = model_usage.spent(session, since=midnight_before(at), owner=caller.owner)
    table = table_of(gateway.settings)
    costs = (table.at_most(*vars(usage).values()) for usage in spent.unpriced)
    if spent.known + sum(costs) < caller.limits.usd_a_day:
        return
    raise Refused(
        429,
        f"language models have cost the US$ {caller.limits.usd_a_day} of this day (UTC)",
        kind="daily-budget-spent",
        reason="usd_a_day",
        key_id=caller.key_id,
        headers={"Retry-After": str(until_midnight(at))},
    )


class _Owned(Protocol):
    @property
    def id(self) -> UUID: ...
    @property
    def owner(self) -> str: ...


R = TypeVar("R", bound=_Owned)


def owned(caller: Caller, row: R | None, what: str) -> R:
    """The row, if it is the caller's.

    Raises:
        Problem: 404 in the same words, whether there is none or it is somebody else's (`Refused`).
    """
    if row is None:
        raise not_found(what)
    if row.owner != caller.owner:
        raise foreign(caller, what, row.id)
    return row


def foreign(caller: Caller, what: str, target: UUID) -> Refused:
    """The 404 for a row of another owner: the same text as `not_found`, but audited."""
    missing = not_found(what)
    return Refused(
        missing.status_code,
        missing.detail,
        reason="not_owner",
        key_id=caller.key_id,
        target=target,
    )


def scopes_of(route: RouteContext) -> tuple[Scope, ...]:
    """The scopes that a route names, of which any one is enough; empty if it names none."""
    return tuple(named(route, "scopes") or ())


def named(route: object, what: str) -> Any:
    """The attribute of this name of a dependency of the route; None if no dependency has it."""
    waiting = list(getattr(getattr(route, "dependant", None), "dependencies", ()))
    while waiting:
        dependency = waiting.pop()
        value = getattr(dependency.call, what, None)
        if value is not None:
            return value
        waiting.extend(dependency.dependencies)
    return None
