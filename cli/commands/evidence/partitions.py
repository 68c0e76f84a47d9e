"""`attest partitions`: the servers that hold parts of the index (ADR 0050).

A partition has a name here and its URL in `ATTEST_PARTITIONS` of every process.
"""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from cli.instance.context import Instance, JsonOption, print_json
from cli.instance.instance import resolve
from cli.output.printing import say, say_beside
from cli.output.tables import table_console
from store.core.plurals import counted
from store.operations import partitions

partitions_app = typer.Typer(help="The servers that hold parts of the index.", no_args_is_help=True)

ACTOR = "cli"
Name = Annotated[str, typer.Argument(help="as in ATTEST_PARTITIONS")]
Server = Annotated[str, typer.Argument(help="a partition, or main: the first server")]


@partitions_app.command("list")
def show(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the partitions: the state of each, and what it holds."""
    rows = partitions.listed(Instance.of(ctx).store)
    if as_json:
        print_json([asdict(one) for one in rows])
        return
    if not rows:
        say("there is none: all of the index is on the first server")
        return
    table = Table("name", "state", "versions", "chunks")
    for one in rows:
        chunks = "away" if one.chunks is None else f"{one.chunks:,}"
        table.add_row(one.name, one.state, f"{one.versions:,}", chunks)
    table_console().print(table)


@partitions_app.command("add")
def add(ctx: typer.Context, name: Name) -> None:
    """Make an empty database a partition, or turn one on again: new works go there too."""
    partitions.add(Instance.of(ctx).store, name, ACTOR)
    say(f"{name} is searched and written")


@partitions_app.command("off")
def turn_off(ctx: typer.Context, name: Name) -> None:
    """Search and write a partition no longer; answers say what they were searched without."""
    partitions.set_state(Instance.of(ctx).store, name, "off", ACTOR)
    say(f"{name} is off; `attest partitions add {name}` turns it on")


@partitions_app.command("move")
def move(
    ctx: typer.Context,
    source: Server,
    target: Server,
    chunks: Annotated[
        int | None, typer.Option(min=1, help="about how many; all if left out")
    ] = None,
) -> None:
    """Move what is indexed from one server to another; after a crash, say the same again."""
    store = Instance.of(ctx).store
    gone = partitions.move(
        store, source, target, ACTOR, most=chunks, told=lambda n: say_beside(f"{n:,} chunks")
    )
    say(f"{counted(gone, 'chunk')} went from {source} to {target}")


@partitions_app.command("rebuild")
def rebuild(ctx: typer.Context, name: Name) -> None:
    """Write a partition anew from the texts, into an empty database; say it again to go on."""
    from workers.embed.rebuilding import rebuild
    from workers.encoder import encoder_for

    instance = Instance.of(ctx)
    written = rebuild(
        instance.store,
        encoder_for(resolve(instance.settings)),
        name,
        ACTOR,
        told=lambda n: say_beside(f"{n:,} versions"),
    )
    say(f"{counted(written, 'version')} written; {name} is searched again")
