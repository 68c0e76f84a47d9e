"""`attest audit`: query, verify, trail, replay; `cli.commands.audit.export` has the exports.

Exit code 0: everything is as it was written. 1: something is not, and the first line says what.
"""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic_core import to_jsonable_python
from rich.table import Column, Table

from cli.commands.audit import export as audit_export
from cli.commands.audit.walk import AfterOption, UntilSeqOption, checkpoint, complain, walking
from cli.instance.context import Instance, JsonOption, print_json, zoned
from cli.output.printing import Console, say
from cli.output.tables import table_console, tell_more
from store.audit import audit as chain
from store.audit import log
from store.audit import trail as audit_trail
from store.audit.audit import ChainReport
from store.audit.trail import Trail
from store.core.plurals import counted
from store.models import AuditEvent

audit_app = typer.Typer(help="The tamper-evident log.", no_args_is_help=True)


def _event(row: AuditEvent) -> dict[str, Any]:
    hashes = {"previous_hash": row.previous_hash.hex(), "hash": row.hash.hex()}
    return row.model_dump(mode="json", exclude=set(hashes)) | hashes


@audit_app.command("query")
def query(
    ctx: typer.Context,
    subject: Annotated[str | None, typer.Option(help="an id, such as a question's")] = None,
    event: Annotated[str | None, typer.Option(help="such as answer.sealed")] = None,
    actor: Annotated[str | None, typer.Option(help="such as stage:verify")] = None,
    since: Annotated[datetime | None, typer.Option(help="at or after")] = None,
    until: Annotated[datetime | None, typer.Option(help="before")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    cursor: Annotated[str | None, typer.Option(help="next_cursor of the page before")] = None,
    as_json: JsonOption = False,
) -> None:
    """Query the log by subject, event, actor and time, newest first."""
    begin, end = zoned(since, "--since"), zoned(until, "--until")
    with Instance.of(ctx).store.reading() as session:
        page = log.query(
            session,
            subject=subject,
            event=event,
            actor=actor,
            since=begin,
            until=end,
            cursor=cursor,
            limit=limit,
        )
    if as_json:
        print_json([_event(row) for row in page.rows])
    else:
        table = Table("seq", "at", "actor", "event", Column("subject", no_wrap=True))
        for row in page.rows:
            at = row.at.isoformat(timespec="seconds")
            table.add_row(str(row.seq), at, row.actor, row.event, row.subject)
        table_console().print(table)
    tell_more(page.next_cursor)


@audit_app.command("verify")
def verify(
    ctx: typer.Context,
    after: AfterOption = None,
    until: UntilSeqOption = None,
    as_json: JsonOption = False,
) -> None:
    """Walk the chain; exit code 1 names the first bad event. Ctrl-C says where to go on."""
    begin = checkpoint(after)
    with Instance.of(ctx).store.reading() as session, walking(session, begin, until) as tell:
        try:
            report = chain.verify(session, after=begin, until=until, progress=tell)
        except KeyboardInterrupt:
            raise typer.Exit(complain(f"stopped: go on with --after {tell.last}")) from None
    if as_json:
        print_json(_report(report))
    elif report.whole:
        say(f"the chain is whole: {counted(report.events, 'event')}, the last is {report.checked}")
    if not report.whole:
        raise typer.Exit(complain(f"the chain is broken: {report.reason}"))


def _report(report: ChainReport) -> dict[str, Any]:
    return {
        "events": report.events,
        "whole": report.whole,
        "first_bad_seq": report.first_bad_seq,
        "reason": report.reason,
        "checked": str(report.checked),
    }


@audit_app.command("trail")
def trail(ctx: typer.Context, question: UUID, as_json: JsonOption = False) -> None:
    """Tell the story of one answer, without its words; exit code 1 names what does not hold."""
    with Instance.of(ctx).store.reading() as session:
        story = audit_trail.trail(session, question)
    if story is None:
        raise LookupError(f"there is no question {question}")
    if as_json:
        print_json(to_jsonable_python(asdict(story)))
    else:
        _tell(story)
    if bad := [f"event {step.seq}" for step in story.steps if not step.holds]:
        predicate = "is not what was written" if len(bad) == 1 else "are not what was written"
        raise typer.Exit(complain(f"{', '.join(bad)} {predicate}: see attest audit verify"))


def _tell(found: Trail) -> None:
    console = Console(soft_wrap=True)
    console.print(f"question {found.question_id}  {found.status}  text {found.text_hash}")
    for step in found.steps:
        where = f"{step.seq:>8}  +{step.seconds:.3f} s  {step.actor}"
        mark = "" if step.holds else "NOT WHAT WAS WRITTEN: "
        console.print(f"{where}  {mark}{step.words}")
    for source in found.sources:
        used = "cited" if source.cited else "not cited"
        console.print(
            f"evidence {source.document_id} v{source.version} ({source.source_type}, {used}, "
            f"now {source.status})  content {source.content_hash}",
            markup=False,
        )
    if found.answer is not None:
        console.print(f"answer {found.answer.hash}  {found.answer.provenance}")


@audit_app.command("replay")
def replay(
    ctx: typer.Context,
    question: UUID,
    recompute: Annotated[
        bool, typer.Option("--recompute", help="also read its claims with the gate of today")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compose an answer again from what was recorded, asking no model; exit code 0: same bytes.

    Scores, doubts and replies are read from the record. What this release makes otherwise of them
    is told, and with --recompute what its gate makes of the claims: neither changes the exit code.
    """
    from cli.commands.audit import replay as audit_replay  # late: it imports the verifier

    with Instance.of(ctx).store.reading() as session:
        rows = audit_replay.read(session, question)
    result = audit_replay.replay(rows)
    told = audit_replay.recompute(rows) if recompute else []
    if as_json:
        same = {"same": result.same, "recomputed": told if recompute else None}
        print_json({**to_jsonable_python(asdict(result)), **same})
    else:
        if result.same:
            say(f"the same bytes: {result.sealed_hash}")
        for difference in (*result.differences, *told):
            say(difference)
        if recompute and not told:
            say("the gate of today decides it likewise")
    if not result.same:
        raise typer.Exit(complain("; ".join(result.faults)))


audit_app.command("export")(audit_export.export)
audit_app.command("verify-export")(audit_export.verify_exported)
audit_app.command("public-key")(audit_export.show_public_key)
