"""refresh: fetches one page from a source, stores it unchanged and queues it for the ingest stage.

A source that does not answer is a result, not a failure of the stage: the refresh ends `failed`
with the cause, and the scheduler begins the next one when it is due (ADR 0010).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from knowledge.feeds.news import feed_origins
from knowledge.feeds.packs import written_out
from knowledge.feeds.sources import connector_policy
from messages import RefreshV1, Stage
from store.core.unit_of_work import UnitOfWork
from store.documents import publication_status
from store.documents.submissions import Origin, submit_item
from store.models import Refresh, Watch, now
from store.sources import refreshes, source_states, watches
from workers.http.client import SourceClient
from workers.http.errors import (
    CursorExpired,
    InvalidQuery,
    NotOurTurn,
    QuotaExhausted,
    SourceError,
    Unreachable,
)
from workers.http.factory import client_for
from workers.ingest import enrich
from workers.ingest.connectors.base import Ask, Connector, Continuation, Page
from workers.ingest.connectors.registry import connector, enricher, is_enricher
from workers.ingest.enrichment import (
    OF_ONE_WORK,
    Answer,
    BrokenOff,
    BudgetSpent,
    Enricher,
    NoWord,
    Work,
)
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context, StageSpec

MAX_RESTARTS = 2
"""Our limit: a listing that expires a third time is too slow for its source."""

RECHECK = "recheck"
"""Key of a continuation: all changes were listed, now held documents are fetched by id."""


AHEAD = timedelta(days=1)
"""Sources state days, and a source's day may begin before ours: tomorrow is asked for as well."""


MANY_HOSTS = frozenset({"news"})
"""Sources whose watches each use a host of their own: if a host is down, only its watch waits
(`refreshes.fail`); the others continue."""


class StillDegraded(NotOurTurn):
    """The source was not asked: its circuit is open."""


@dataclass(frozen=True)
class Step:
    """The result of one step. `at` is its time by the context's clock, and never before the start
    of its refresh: otherwise the documents it found would count as not seen since."""

    at: datetime
    page: Page = field(default_factory=Page)
    statements: Sequence[tuple[publication_status.DueWork, Answer]] = ()
    rechecked: Sequence[watches.Due] = ()
    more: Continuation | None = None
    """Where the next step continues; None: this was the last."""
    error: SourceError | None = None


def work(context: Context, message: RefreshV1) -> Step | None:
    """Take the step that the message names; None if it was taken already."""
    with context.store.reading() as session:
        refresh = session.get(Refresh, message.refresh_id)
        if refresh is None:
            raise Permanent(f"there is no refresh {message.refresh_id}")
        watch = session.get_one(Watch, refresh.watch_id)
    if not refreshes.awaits(refresh, message.step):
        return None
    at = context.now()
    if refresh.started_at is not None:  # perhaps by a worker whose clock is ahead of ours
        at = max(at, refresh.started_at)
    try:
        _require_open_source(context, watch.source, at)
        return _take(context, watch, refresh, at)
    except SourceError as error:
        return Step(at, error=error)


def _require_open_source(context: Context, source: str, at: datetime) -> None:
    """Raise StillDegraded if the source's circuit is open."""
    with context.store.unit_of_work("stage:refresh") as unit:
        if source_states.may_ask(unit.session, source, at):
            return
        state = source_states.state(unit.session, source)
    assert state is not None, "only a source that failed is kept from being asked"
    wait = (state.retry_at - at).total_seconds() if state.retry_at else 0.0
    raise StillDegraded(f"{source} is degraded: {state.reason}", max(wait, 1.0))


def _take(context: Context, watch: Watch, refresh: Refresh, at: datetime) -> Step:
    client = client_for(
        watch.source,
        context.settings,
        context.store.engine,
        origins=feed_origins() if watch.source == "news" else None,
        now=context.now,
        sleep=context.sleep,
    )
    started_at = refresh.started_at or at
    if is_enricher(watch.source):
        return _enrich(context, watch, refresh, client, at)
    source = connector(watch.source, context.settings)
    if refresh.continuation is not None and RECHECK in refresh.continuation:
        return _recheck(context, watch, refresh, source, client, at)
    since = refresh.since if refresh.started_at else refreshes.since(watch)
    try:
        query = written_out(watch.source, watch.query)
    except LookupError as error:
        raise InvalidQuery(str(error)) from None
    ask = Ask(source.check_query(query), since, started_at + AHEAD, watch.marks)
    page = source.page(client, ask, refresh.continuation)
    rechecks = since is not None and connector_policy(watch.source).recheck_hours is not None
    last = {RECHECK: True} if rechecks else None
    return Step(at, page, more=page.next if page.next is not None else last)


def _recheck(
    context: Context,
    watch: Watch,
    refresh: Refresh,
    source: Connector,
    client: SourceClient,
    at: datetime,
) -> Step:
    """After the changes, fetch the documents that were not fetched by id for longest, each once.

    Finds records that no list of changes shows: those that were deleted or left the query.
    """
    hours = connector_policy(watch.source).recheck_hours
    assert hours is not None, "only sources that are rechecked come here"
    assert refresh.started_at is not None, "it has begun"
    before = refresh.started_at - timedelta(hours=hours)
    with context.store.reading() as session:
        due = watches.unseen_since(
            session, watch.id, before, but_not=refresh.rechecked, limit=source.fetch_limit
        )
    if not due:
        return Step(at)
    page = source.fetch(client, [document.key for document in due])
    left_over = set(page.left_over)
    due = [document for document in due if document.key not in left_over]
    return Step(at, page, rechecked=due, more={RECHECK: True})


def _enrich(
    context: Context, watch: Watch, refresh: Refresh, client: SourceClient, at: datetime
) -> Step:
    """Ask an enricher about the held works that it was not asked about for longest.

    A work without an answer is not asked about again in this refresh.
    """
    source = enricher(watch.source)
    hours = connector_policy(watch.source).recheck_hours or 0.0
    before = (refresh.started_at or at) - timedelta(hours=hours)
    with context.store.reading() as session:
        due = publication_status.due(
            session, watch.source, before, source.fetch_limit, but_not=refresh.rechecked
        )
    try:
        answers = _ask(source, client, due)
    except (BudgetSpent, BrokenOff) as error:  # what was said before it ended still counts
        cause = error.cause if isinstance(error, BrokenOff) else error
        return Step(at, statements=list(zip(due, error.statements, strict=False)), error=cause)
    statements = list(zip(due, answers, strict=False))  # it may not have got through them all
    in_vain = [
        watches.Due(due_work.document_id, due_work.key)
        for due_work, answer in statements
        if isinstance(answer, NoWord)
    ]
    all_of_them = len(due) < source.fetch_limit and len(answers) == len(due)
    more = None if all_of_them else {"asked": True}
    return Step(at, statements=statements, rechecked=in_vain, more=more)


def _ask(
    source: Enricher, client: SourceClient, due: Sequence[publication_status.DueWork]
) -> Sequence[Answer]:
    """An answer for each work. Raises as `Enricher.ask`, unless the cause may be a single work, or
    works that got no answer before: they would end every refresh."""
    try:
        return source.ask(client, [Work(due_work.key, due_work.doi) for due_work in due])
    except (*OF_ONE_WORK, Unreachable) as error:
        first_time = [due_work for due_work in due if not due_work.in_vain]
        if len(first_time) > 1 or (first_time and isinstance(error, Unreachable)):
            raise
        return [NoWord(due_work.key, error) for due_work in due]


def commit(unit: UnitOfWork, message: RefreshV1, step: Step | None) -> None:
    """Store what the step found and emit the message for the next one."""
    refresh = refreshes.locked(unit.session, message.refresh_id)
    if step is None or refresh is None or not refreshes.awaits(refresh, message.step):
        return
    watch = unit.session.get_one(Watch, refresh.watch_id)
    if refresh.started_at is None:
        refreshes.begin(unit, refresh, watch, step.at)
    enrich.take(unit, watch.source, step.statements, step.at)
    if step.error is not None:
        _commit_error(unit, message, refresh, watch, step.error, step.at)
        return
    source_states.succeeded(unit.session, watch.source, step.at)
    _keep(unit, message, refresh, watch, step)
    if step.page.marks:
        refresh.marks = dict(step.page.marks)
    refresh.looked = refresh.looked and step.page.complete
    refresh.total = step.page.total if step.page.total is not None else refresh.total
    refresh.rechecked = refresh.rechecked + [str(due.document_id) for due in step.rechecked]
    refreshes.advance(
        unit,
        refresh,
        continuation=step.more,
        payloads=len(step.page.payloads),
        request_id=message.request_id,
    )
    refreshes.finish_if_stored(unit, refresh, step.at)


def _keep(unit: UnitOfWork, message: RefreshV1, refresh: Refresh, watch: Watch, step: Step) -> None:
    """Store the page's payloads as items for the ingest stage."""
    origin = Origin(watch.source, step.at, refresh.id)
    for payload in step.page.payloads:
        submit_item(
            unit,
            filename=payload.name,
            media_type=None,
            content=payload.content,
            source_type=None,
            batch_id=refresh.id,
            request_id=message.request_id,
            origin=origin,
        )


def _commit_error(
    unit: UnitOfWork,
    message: RefreshV1,
    refresh: Refresh,
    watch: Watch,
    error: SourceError,
    at: datetime,
) -> None:
    """End the refresh or restart its listing, and record the state of the source."""
    if isinstance(error, CursorExpired) and refresh.restarts < MAX_RESTARTS:
        refreshes.restart(unit, refresh, message.request_id)
        return
    longest = source_states.LONGEST_QUOTA_PAUSE.total_seconds()
    wait = min(error.seconds, longest) if isinstance(error, QuotaExhausted) else None
    asked = True
    if isinstance(error, InvalidQuery):  # no fault of the source
        if watch.cursor_at is None:  # it never worked; a query that worked once is retried
            watches.stop(unit, watch.id, at)
    elif isinstance(error, NotOurTurn):
        asked = False
    elif watch.source in MANY_HOSTS:
        source_states.noted(unit.session, watch.source, error, at)
    else:
        source_states.failed(unit.session, watch.source, error, at)
    kind = type(error).__name__
    refreshes.fail(unit, refresh, str(error), at, kind=kind, wait_seconds=wait, asked=asked)


def on_dead(unit: UnitOfWork, message: RefreshV1, cause: str) -> None:
    """A step that cannot be taken ends its refresh: the next one begins from the same cursor."""
    refresh = refreshes.locked(unit.session, message.refresh_id)
    if refresh is not None:
        refreshes.fail(unit, refresh, cause, now())


SPEC = StageSpec(
    stage=Stage.REFRESH,
    work=work,
    commit=commit,
    on_dead=on_dead,
    backoff_seconds=2.0,
    # A page may take 120 s of exchanges, a minute of Retry-After and a few turns of 30 s. Fetching
    # one by one ends after a minute (`connectors.base.STEP_SECONDS`) and the running call.
    time_limit_seconds=600.0,
)
