"""`attest recalls`: answers whose sources changed."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Column, Table

from cli.instance.context import Instance, JsonOption, print_json
from cli.output.printing import say
from cli.output.tables import table_console, tell_more
from scheduler import mailing
from store.core.plurals import counted
from store.recalls import alerts, log, recalls

recalls_app = typer.Typer(help="Answers whose sources changed.", no_args_is_help=True)

ACTOR = "cli"


class State(StrEnum):
    """The state of a recalled answer."""

    AFFECTED = "affected"
    REAFFIRMED = "reaffirmed"
    SUPERSEDED = "superseded"


@recalls_app.command("list")
def list_recalls(
    ctx: typer.Context,
    state: Annotated[State | None, typer.Option(help="only answers in this state")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    cursor: Annotated[str | None, typer.Option(help="next_cursor of the page before")] = None,
    as_json: JsonOption = False,
) -> None:
    """List answers whose sources changed, the latest change first."""
    with Instance.of(ctx).store.reading() as session:
        page = log.listing(
            session, state=state.value if state else None, cursor=cursor, limit=limit
        )
    if as_json:
        print_json([row.model_dump(mode="json") for row in page.rows])
    else:
        rest = ("state", "changed", "because", "superseded by")
        table = Table(Column("question", no_wrap=True), *rest)
        for row in page.rows:
            changed = row.changed_at.isoformat(timespec="seconds")
            because = ", ".join(dict.fromkeys(reason["change"] for reason in row.because))
            new = str(row.superseded_by or "")
            table.add_row(str(row.question_id), row.state, changed, because, new)
        table_console().print(table)
    tell_more(page.next_cursor)


@recalls_app.command("find")
def find_recalls(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Find answers whose sources changed before Attest followed that; they are checked then."""
    with Instance.of(ctx).store.unit_of_work(ACTOR) as work:
        count = recalls.find_missed(work)
    if as_json:
        print_json({"affected": count})
    else:
        say(f"affected: {counted(count, 'answer')}")


@recalls_app.command("mails")
def mails(
    ctx: typer.Context,
    again: Annotated[
        bool, typer.Option("--again", help="send them again; who got them reads them twice")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the mails on fallen answers of which nobody knows whether they arrived."""
    instance = Instance.of(ctx)
    sent = mailing.mail_again(instance.store, instance.settings) if again else 0
    with instance.store.reading() as session:
        open_ = {
            owner: [old for alert in alerts.in_doubt(session, owner) for old, _ in alert.answers]
            for owner in instance.settings.mail_to
        }
    open_ = {owner: answers for owner, answers in open_.items() if answers}
    if as_json:
        print_json({"sent": sent, "in_doubt": open_})
        return
    if again:
        say(f"sent: {counted(sent, 'mail')}")
    for owner, answers in open_.items():
        say(f"{owner}: {', '.join(answers)}")
    if not open_:
        say("no mail is in doubt")
