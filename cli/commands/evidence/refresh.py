"""`attest refresh`: queries a source now, and waits until everything is stored and indexed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID, uuid4

import sqlalchemy as sa
import typer
from rich.progress import Progress, TaskID
from sqlmodel import Session, col, select

from cli.commands.evidence.sources import SourceArgument, checked_query, in_words
from cli.instance.context import Instance, JsonOption, print_json
from cli.output.bars import terminal_bars
from cli.output.printing import Console, say
from knowledge.feeds.sources import connector_policy
from store.core.plurals import counted
from store.core.unit_of_work import Store
from store.models import Refresh, Watch, now
from store.sources import refresh_requests, refreshes

POLL_SECONDS = 0.1

# Every message that a refresh causes has the request id of the request that started it. A refresh
# that was already running has the id of an earlier request, found in its first message.
_REQUESTS = sa.text(
    "SELECT DISTINCT request_id FROM outbox "
    "WHERE stage = 'refresh' AND payload ->> 'refresh_id' = ANY(:ids)"
)
_INDEXED = sa.text(
    """
    SELECT count(*) FILTER (WHERE status IN ('pending', 'published')) AS open,
           count(*) FILTER (WHERE status = 'dead') AS dead,
           coalesce(sum(jsonb_array_length(payload -> 'version_ids'))
                    FILTER (WHERE stage = 'embed'), 0) AS fresh,
           coalesce(sum(jsonb_array_length(payload -> 'version_ids'))
                    FILTER (WHERE stage = 'anchor' AND status = 'done'), 0) AS indexed
    FROM outbox WHERE request_id = ANY(:requests)
    """
)


@dataclass(frozen=True)
class Run:
    """A refresh and the watch that it belongs to."""

    refresh: Refresh
    watch: Watch


@dataclass(frozen=True)
class State:
    """The progress of the refreshes and of indexing what they brought."""

    runs: Sequence[Run]
    open: int
    dead: int
    fresh: int
    indexed: int

    @property
    def ended(self) -> bool:
        """True if every refresh has ended and no message that they caused is open."""
        return self.open == 0 and all(
            run.refresh.status not in refreshes.ACTIVE for run in self.runs
        )

    def total(self, name: str) -> int:
        """Return the sum of a counter over all refreshes."""
        return sum(getattr(run.refresh, name) or 0 for run in self.runs)


def refresh(
    ctx: typer.Context,
    source: SourceArgument,
    query: Annotated[
        str | None,
        typer.Option("--query", help="follow this one; all that is followed if left out"),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="ask the query this once, do not follow it")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Refresh a source now and wait until what it said is stored and indexed."""
    instance = Instance.of(ctx)
    connector_policy(source)
    if once and query is None:
        raise ValueError("--once asks a query once: name it with --query")
    line = None if query is None else checked_query(source, query, instance.settings)
    wait_for(
        instance.store,
        _ask(instance.store, source, line, keep=not once),
        as_json=as_json,
        source=source,
    )


def _ask(store: Store, source: str, query: str | None, *, keep: bool) -> list[UUID]:
    """Request the refreshes; return their ids."""
    with store.unit_of_work("cli", request_id=uuid4()) as work:
        if query is not None:
            return [refresh_requests.refresh_query(work, source, query, now(), keep=keep).id]
        try:
            return [
                refresh.id for refresh in refresh_requests.refresh_followed(work, source, now())
            ]
        except refresh_requests.NothingFollowed as error:
            raise ValueError(
                f"{error}: attest refresh {source} --query QUERY; `attest watches suggested "
                f"--source {source}` has some"
            ) from error


def wait_for(store: Store, ids: Sequence[UUID], *, as_json: bool, **facts: str) -> None:
    """Wait until the refreshes ended and what they brought is indexed, and print a line for each,
    or as JSON beside the `facts`. Exit code 1 if any failed."""
    state = _follow(store, ids)
    if as_json:
        runs = [_body(run) for run in state.runs]
        print_json({**facts, "refreshes": runs, "indexed": state.indexed, "dead": state.dead})
    _report(state, quiet=as_json)


def _follow(store: Store, ids: Sequence[UUID]) -> State:
    """Wait with progress bars until the refreshes ended and what they brought is indexed."""
    with Session(store.engine) as session:
        parameters = {"ids": [str(refresh_id) for refresh_id in ids]}
        requests = list(session.execute(_REQUESTS, parameters).scalars())
    with terminal_bars() as progress:
        tasks = [progress.add_task(name, total=None) for name in ("fetched", "stored", "indexed")]
        while True:
            state = _state(store, ids, requests)
            _show(progress, tasks, state)
            if state.ended:
                return state
            time.sleep(POLL_SECONDS)


def _state(store: Store, ids: Sequence[UUID], requests: Sequence[UUID]) -> State:
    with store.reading() as session:
        rows = session.exec(
            select(Refresh, Watch)
            .join(Watch, col(Watch.id) == col(Refresh.watch_id))
            .where(col(Refresh.id).in_(ids))
            .order_by(col(Watch.created_at), col(Watch.id))
        )
        runs = [Run(refresh, watch) for refresh, watch in rows]
        index = session.execute(_INDEXED, {"requests": list(requests)}).one()
    return State(runs, index.open, index.dead, int(index.fresh), int(index.indexed))


def _show(progress: Progress, tasks: Sequence[TaskID], state: State) -> None:
    """Move the bars; the totals are known only if the source states them."""
    fetched, stored, indexed = tasks
    listed = all(run.refresh.status not in ("queued", "fetching") for run in state.runs)
    pages, records = state.total("payloads"), state.total("records")
    expected = max(state.total("total"), records)
    progress.update(fetched, completed=pages, total=pages if listed else None)
    progress.update(stored, completed=records, total=expected or None)
    progress.update(indexed, completed=state.indexed, total=state.fresh or None)


def _body(one: Run) -> dict[str, Any]:
    fields = one.refresh.model_dump(
        mode="json",
        include={
            *("id", "watch_id", "reason", "status", "payloads", "records", "fresh", "problems"),
            *("total", "error", "requested_at", "started_at", "finished_at"),
        },
    )
    retry = _next_try(one)
    return {
        **fields,
        "source": one.watch.source,
        "query": one.watch.query,
        "seconds": _seconds(one.refresh),
        "retry_at": retry.isoformat() if retry else None,
    }


def _seconds(refresh: Refresh) -> float:
    assert refresh.finished_at is not None, "it has ended"
    return round((refresh.finished_at - refresh.requested_at).total_seconds(), 3)


def _next_try(one: Run) -> datetime | None:
    return one.watch.retry_at if one.watch.active and one.refresh.status == "failed" else None


def _report(state: State, *, quiet: bool) -> None:
    """Print a line for each refresh; exit code 1 if any failed."""
    errors = Console(stderr=True)
    for run in state.runs:
        source = run.watch.source
        name = source if len(state.runs) == 1 else f"{source} ({run.watch.query})"
        if run.refresh.status == "failed":
            text = f"{name}: {run.refresh.error}; {_what_next(run)}"
            errors.print(text, style="red", soft_wrap=True)
        elif not quiet:
            say(
                f"{name}: {counted(run.refresh.records, 'record')}, "
                f"{run.refresh.fresh} new or changed, "
                f"{counted(run.refresh.problems, 'problem')}, {_seconds(run.refresh):.1f} s"
            )
    if state.dead:
        text = f"{counted(state.dead, 'message')} died: attest dead-letters list"
        errors.print(text, style="red")
    if state.dead or any(run.refresh.status == "failed" for run in state.runs):
        raise typer.Exit(1)


def _what_next(one: Run) -> str:
    retry = _next_try(one)
    if retry is None:
        return "it is not tried again by itself"
    return (
        f"the next try is {in_words(retry, now(), 'due')} ({retry.isoformat(timespec='minutes')})"
    )
