"""`attest dead-letters` and `attest audit`."""

import json
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from cli.context import Instance, JsonOption, print_json
from store import audit as chain
from store import audit_log, dead_letters
from store.models import AuditEvent, DeadLetter

dead_letters_app = typer.Typer(help="What died, why, and the way back.", no_args_is_help=True)
audit_app = typer.Typer(help="The tamper-evident log.", no_args_is_help=True)


def _body(letter: DeadLetter) -> dict[str, Any]:
    return letter.model_dump(mode="json")


@dead_letters_app.command("list")
def list_dead_letters(
    ctx: typer.Context,
    status: Annotated[str, typer.Option(help="open, replayed, discarded or all")] = "open",
    stage: Annotated[str | None, typer.Option(help="only this stage")] = None,
    as_json: JsonOption = False,
) -> None:
    """List dead letters, newest first."""
    store = Instance.of(ctx).store
    with store.reading() as session:
        wanted = None if status == "all" else status
        letters = dead_letters.listing(session, status=wanted, stage=stage)
    if as_json:
        print_json([_body(letter) for letter in letters])
        return
    table = Table("id", "stage", "died", "attempts", "cause", title=f"{len(letters)} dead letters")
    for letter in letters:
        died = letter.died_at.isoformat(timespec="seconds")
        table.add_row(str(letter.id), letter.stage, died, str(letter.attempts), letter.cause)
    Console().print(table)


@dead_letters_app.command("show")
def show_dead_letter(ctx: typer.Context, letter_id: UUID, as_json: JsonOption = False) -> None:
    """Show one dead letter with its payload, cause and traceback."""
    store = Instance.of(ctx).store
    with store.reading() as session:
        letter = session.get(DeadLetter, letter_id)
    if letter is None:
        raise LookupError(f"there is no dead letter {letter_id}")
    if as_json:
        print_json(_body(letter))
        return
    for name, value in _body(letter).items():
        shown = json.dumps(value) if isinstance(value, dict) else value
        print(f"{name:>16}  {shown}")


@dead_letters_app.command("replay")
def replay_dead_letter(ctx: typer.Context, letter_id: UUID, as_json: JsonOption = False) -> None:
    """Set the work of a dead letter pending again, with fresh attempts."""
    store = Instance.of(ctx).store
    with store.unit_of_work("cli") as work:
        letter = dead_letters.replay(work, letter_id)
    if as_json:
        print_json(_body(letter))
    else:
        print(f"replayed: {letter.stage} will work on {letter.subject} again")


def _event(row: AuditEvent) -> dict[str, Any]:
    hashes = {"previous_hash": row.previous_hash.hex(), "hash": row.hash.hex()}
    return row.model_dump(mode="json", exclude=set(hashes)) | hashes


@audit_app.command("query")
def query(
    ctx: typer.Context,
    subject: Annotated[str | None, typer.Option()] = None,
    event: Annotated[str | None, typer.Option()] = None,
    actor: Annotated[str | None, typer.Option()] = None,
    since: Annotated[datetime | None, typer.Option()] = None,
    until: Annotated[datetime | None, typer.Option()] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    as_json: JsonOption = False,
) -> None:
    """Query the log by subject, event, actor and time."""
    store = Instance.of(ctx).store
    with store.reading() as session:
        page = audit_log.query(
            session,
            subject=subject,
            event=event,
            actor=actor,
            since=since.astimezone() if since else None,
            until=until.astimezone() if until else None,
            limit=limit,
        )
    if as_json:
        print_json([_event(row) for row in page.events])
        return
    table = Table("seq", "at", "actor", "event", "subject")
    for row in page.events:
        at = row.at.isoformat(timespec="seconds")
        table.add_row(str(row.seq), at, row.actor, row.event, row.subject)
    Console().print(table)


@audit_app.command("verify")
def verify(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Walk the whole chain; exit code 1 names the first bad event."""
    store = Instance.of(ctx).store
    with store.reading() as session:
        report = chain.verify(session)
    if as_json:
        print_json(
            {
                "events": report.events,
                "whole": report.whole,
                "first_bad_seq": report.first_bad_seq,
                "reason": report.reason,
            }
        )
    elif report.whole:
        print(f"the chain is whole: {report.events} events")
    if not report.whole:
        raise typer.Exit(_complain(f"the chain is broken: {report.reason}"))


def _complain(text: str) -> int:
    Console(stderr=True).print(text, style="red", markup=False)
    return 1
