"""`attest reread` and `attest editions`: what is held, by the rules of this release."""

from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from cli.instance.context import Instance, JsonOption, print_json
from cli.output.bars import terminal_bars
from cli.output.printing import say
from cli.output.tables import table_console
from store.documents import editions as held_editions
from store.models import now

SHOWN = 100
"""Documents in a table; `--json` has all."""


def reread(
    ctx: typer.Context,
    apply: Annotated[
        bool, typer.Option("--apply/--dry-run", help="mend what is found, or only list it")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read what is held by the rules of this release: ended works, editions, callers' versions."""
    from workers.ingest.rereading import reread as run  # late: it loads what reads records

    store = Instance.of(ctx).store
    found = []
    with terminal_bars() as bars:
        task = bars.add_task("documents", total=None)
        for count, changes in run(store, now(), dry_run=not apply):
            found += changes
            bars.advance(task, count)
    if as_json:
        print_json([{**vars(one), "document_id": str(one.document_id)} for one in found])
        return
    table = Table("document", "key", "what", "why", "title", box=None)
    for one in found[:SHOWN]:
        cells = (one.key, one.what, one.why, one.title)
        table.add_row(str(one.document_id), *map(Text, cells))
    if found:
        table_console().print(table)
    mended = sum(one.what not in ("mixed", "language") for one in found)
    say(f"{mended} {'changed' if apply else 'would change (--apply)'}, {len(found)} found")


def editions(
    ctx: typer.Context,
    older: Annotated[UUID | None, typer.Argument(help="a document of an open question")] = None,
    replaced: Annotated[
        bool | None, typer.Option("--replaced/--apart", help="the newer one replaces it, or not")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List documents that a newer edition may replace, or say of one whether it does."""
    store = Instance.of(ctx).store
    if older is None:
        with store.reading() as session:
            _show(held_editions.questions(session), as_json=as_json)
        return
    if replaced is None:
        raise ValueError("say --replaced or --apart")
    with store.unit_of_work("cli") as work:
        held_editions.decide(work, older, replaced=replaced, at=now())
    say("answered")


def _show(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json([{name: str(value) for name, value in row.items()} for row in rows])
        return
    table = Table("older", "title", "newer", "title", box=None)
    for row in rows[:SHOWN]:
        titles = (Text(row["older_title"]), Text(row["newer_title"]))
        table.add_row(str(row["older"]), titles[0], str(row["newer"]), titles[1])
    if rows:
        table_console().print(table)
        say("answer with: attest editions OLDER --replaced, or --apart")
    else:
        say("no open question: of no two works it is unclear whether one replaces the other")
