"""`attest sources`, `attest watches` and `attest findings`."""

from datetime import datetime, timedelta
from typing import Annotated, Any, get_args
from uuid import UUID

import typer
from pydantic_core import to_jsonable_python
from rich.table import Table
from rich.text import Text

from cli.instance.context import Instance, JsonOption, print_json
from cli.instance.health_checks import incomplete
from cli.output.printing import say
from cli.output.tables import table_console
from knowledge.feeds.queries import plain_query
from knowledge.feeds.sources import connector_policy
from knowledge.feeds.watches import Suggestion, suggestions
from store.core.settings import Settings
from store.documents import browse, finding_log
from store.documents.findings import Kind
from store.models import now
from store.sources import source_report, watches
from store.sources.source_report import SourceReport, WatchReport

watches_app = typer.Typer(help="Which queries are followed at which source.", no_args_is_help=True)

SourceArgument = Annotated[str, typer.Argument(help="its name, see `attest sources --all`")]


def checked_query(source: str, query: str, settings: Settings) -> str:
    """Return the query in the source's normal form, before anything is written.

    Raises:
        LookupError: there is no such source.
        ValueError: the query cannot work there; the message says what to write.
    """
    from workers.ingest.connectors.registry import connector, is_enricher  # late: it loads parsers

    line = plain_query(source, query)
    return line if is_enricher(source) else connector(source, settings).check_query(line)


def sources(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="also sources never followed")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show each source's age against its SLA, its last success and error, and its next run."""
    at = now()
    with Instance.of(ctx).store.reading() as session:
        reports = [
            report for report in source_report.report(session, at) if every or report.is_known
        ]
        held = [] if not as_json else browse.sources(session)
    if as_json:
        listed = [source_report.body(report) for report in reports]
        bodies = [source_report.held_body(state) for state in held]
        print_json(to_jsonable_python({"sources": listed, "held": bodies}))
        return
    console = table_console()
    if not reports:
        console.print(
            "nothing is followed yet: attest refresh SOURCE --query QUERY, or attest watches "
            "suggested; attest sources --all lists the sources",
            soft_wrap=True,
        )
        return
    console.print(_table(reports, at))
    for report in reports:
        for line in _notes(report, at):
            console.print(line, soft_wrap=True)


def _table(reports: list[SourceReport], at: datetime) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("source", "state", "age / SLA"):
        table.add_column(heading, no_wrap=True)
    for heading in ("last success", "next run", "documents / versions"):
        table.add_column(heading)
    styles = {"ok": "green", "degraded": "bold red", "idle": "dim"}
    for report in reports:
        table.add_row(
            report.name,
            Text(report.status, style=styles[report.status]),
            _age(report.age_hours, report.sla_hours, report.in_sla),
            in_words(report.last_success_at, at, "never"),
            in_words(report.next_run_at, at, "none"),
            f"{report.held.documents} / {report.held.versions}",
        )
    return table


def _age(age_hours: float | None, sla_hours: float | None, in_sla: bool | None) -> Text:
    """Return the age against the SLA; words repeat what the colour shows."""
    age = "never" if age_hours is None else _span(age_hours)
    if sla_hours is None:
        return Text(f"{age} / no SLA", style="dim")
    shown = f"{age} / {_span(sla_hours)}"
    if in_sla is None:
        return Text(shown, style="dim")
    word, style = ("in time", "green") if in_sla else ("LATE", "bold red")
    return Text.assemble(f"{shown} ", (word, style))


def _notes(one: SourceReport, at: datetime) -> list[Text]:
    """Return what the table has no room for: degradation, SLA breach, errors, findings."""
    lines = []
    if one.status == "degraded":
        retry = f"; asked again {in_words(one.retry_at, at, 'soon')}"
        lines.append(Text(f"{one.name} is degraded: {one.reason}{retry}", style="red"))
    if one.breached_since is not None:
        since = one.breached_since.isoformat(timespec="minutes")
        lines.append(Text(f"{one.name} is older than its SLA since {since}", style="red"))
    if one.last_failure is not None and one.last_failure[1] != one.reason:
        failed_at, error = one.last_failure
        lines.append(Text(f"{one.name}: last error {in_words(failed_at, at, '')}: {error}"))
    if never := incomplete(one):
        queries = f"{never} of {len(one.active)} queries was never complete"
        lines.append(Text(f"{one.name}: {queries}, see attest watches list --source {one.name}"))
    if one.held.findings_open:
        count = f"{one.held.findings_open} open findings"
        lines.append(Text(f"{one.name}: {count}, see attest findings --source {one.name}"))
    return lines


def _span(hours: float) -> str:
    """Return hours in words: minutes below two hours, days above three days."""
    minutes = round(hours * 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{hours:.0f} h" if hours <= 72 else f"{hours / 24:.0f} d"


def in_words(moment: datetime | None, at: datetime, otherwise: str) -> str:
    """Return a moment relative to `at`: "3 h ago", "in 20 min", "now"."""
    if moment is None:
        return otherwise
    if abs(moment - at) < timedelta(seconds=30):
        return "now"
    hours = (moment - at).total_seconds() / 3600
    return f"in {_span(hours)}" if hours > 0 else f"{_span(-hours)} ago"


@watches_app.command("list")
def list_watches(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Option(help="only this source")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the followed queries, and those that were."""
    if source is not None:
        connector_policy(source)
    at = now()
    with Instance.of(ctx).store.reading() as session:
        reports = source_report.report(session, at)
    rows = [
        (report, watch)
        for report in reports
        for watch in report.watches
        if source is None or report.name == source
    ]
    if as_json:
        print_json([_watch_body(report, watch) for report, watch in rows])
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True)
    for heading in ("source", "query", "state", "age / SLA", "next run"):
        table.add_column(heading)
    for report, watch in rows:
        state = (watch.status or "not refreshed yet") if watch.active else "stopped"
        table.add_row(
            str(watch.id),
            report.name,
            Text(watch.query),
            state,
            _age(watch.age_hours, report.sla_hours, watch.in_sla),
            in_words(watch.next_run_at, at, "none"),
        )
    table_console().print(table)


def _watch_body(one: SourceReport, watch: WatchReport) -> Any:
    return {"source": one.name, **to_jsonable_python(watch)}


@watches_app.command("add")
def add_watch(
    ctx: typer.Context,
    source: SourceArgument,
    query: Annotated[str, typer.Argument(help="in the source's own language")],
    as_json: JsonOption = False,
) -> None:
    """Follow a query; the scheduler begins its first refresh."""
    instance = Instance.of(ctx)
    line = checked_query(source, query, instance.settings)
    with instance.store.unit_of_work("cli") as work:
        watch = watches.follow(work, source, line, "user", now())
    if as_json:
        print_json({"id": str(watch.id), "source": source, "query": line})
    else:
        say(f"{source} is followed: {line} ({watch.id})")


@watches_app.command("stop")
def stop_watch(ctx: typer.Context, watch_id: UUID, as_json: JsonOption = False) -> None:
    """Follow a query no longer; what it brought stays held and grows stale."""
    with Instance.of(ctx).store.unit_of_work("cli") as work:
        watch = watches.stop(work, watch_id, now())
    if as_json:
        print_json({"id": str(watch.id), "source": watch.source, "query": watch.query})
    else:
        say(f"{watch.source} is no longer followed: {watch.query}")


@watches_app.command("suggested")
def suggested(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Option(help="only this source")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="follow them all")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the queries that the domain's files suggest, with the reason for each."""
    if source is not None:
        connector_policy(source)
    chosen = [
        suggestion for suggestion in suggestions() if source is None or suggestion.source == source
    ]
    if follow:
        _follow(ctx, chosen)
    if as_json:
        print_json([suggestion.model_dump() for suggestion in chosen])
        return
    table = Table("source", "query", "why", box=None)
    for suggestion in chosen:
        table.add_row(suggestion.source, Text(suggestion.query), suggestion.reason)
    table_console().print(table)
    say(f"{len(chosen)} are followed now" if follow else "none is followed by this: --follow does")


def _follow(ctx: typer.Context, chosen: list[Suggestion]) -> None:
    instance = Instance.of(ctx)
    lines = [
        (suggestion.source, checked_query(suggestion.source, suggestion.query, instance.settings))
        for suggestion in chosen
    ]
    with instance.store.unit_of_work("cli") as work:
        for source, line in lines:
            watches.follow(work, source, line, "suggested", now())


def findings(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Option(help="only this source")] = None,
    kind: Annotated[str | None, typer.Option(help=", ".join(get_args(Kind)))] = None,
    resolved: Annotated[bool, typer.Option("--resolved", help="those that are resolved")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    as_json: JsonOption = False,
) -> None:
    """List what does not hold about records, newest first."""
    if source is not None:
        connector_policy(source)
    kinds: tuple[Kind, ...] = get_args(Kind)
    wanted = next((known_kind for known_kind in kinds if known_kind == kind), None)
    if kind is not None and wanted is None:
        raise ValueError(f"there is no such kind of finding: use one of {', '.join(kinds)}")
    with Instance.of(ctx).store.reading() as session:
        page = finding_log.query(
            session,
            source=source,
            kind=wanted,
            status="resolved" if resolved else "open",
            limit=limit,
        )
    if as_json:
        print_json([finding.model_dump(mode="json") for finding in page.rows])
        return
    table = Table("kind", "source", "subject", "document", "last seen", "detail", box=None)
    for finding in page.rows:
        document = str(finding.document_id or "")
        seen = finding.last_seen_at.isoformat(timespec="minutes")
        detail = ", ".join(f"{name}: {value}" for name, value in finding.detail.items())
        table.add_row(
            finding.kind, finding.source, Text(finding.subject), document, seen, Text(detail)
        )
    console = table_console()
    console.print(table)
    if page.next_cursor is not None:
        console.print(f"the newest {limit} are shown; there are more (--limit)")
