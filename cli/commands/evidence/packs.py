"""`attest packs`: which works of scenario packs are held, and fetching them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, get_args

import typer
from pydantic_core import to_jsonable_python
from rich.table import Table
from rich.text import Text

from cli.commands.evidence.refresh import wait_for
from cli.commands.evidence.sources import in_words
from cli.instance.context import Instance, JsonOption, print_json
from cli.output.tables import table_console
from clinical_text.packs import differences
from knowledge.feeds.packs import pack_named
from knowledge.scenarios import Scenario, scenarios
from store.models import now
from store.sources import packs
from store.sources.packs import State, WorkState

packs_app = typer.Typer(
    help="The works that matter for a decision: which are held, and fetching them."
)

Names = Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="all if left out")]


@packs_app.callback(invoke_without_command=True)
def overview(ctx: typer.Context) -> None:
    """List all packs if no command is given."""
    if ctx.invoked_subcommand is None:
        show(ctx, None)


@packs_app.command("list")
def show(ctx: typer.Context, names: Names = None, as_json: JsonOption = False) -> None:
    """Show for each pack how many works are held; for named packs every work, and why it is not."""
    at = now()
    chosen = [pack_named(name) for name in names] if names else sorted(scenarios(), key=_name)
    with Instance.of(ctx).store.reading() as session:
        states = packs.work_states(session, chosen, at, differences)
    if as_json:
        print_json([_body(pack, states[pack.name]) for pack in chosen])
        return
    console = table_console()
    console.print(_counted(chosen, states))
    for pack in chosen if names else ():
        console.print(_works(pack, states[pack.name], at))
    if not names:
        console.print("attest packs list NAME shows its works; attest packs fill NAME fetches them")


@packs_app.command()
def fill(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...")] = None,
    every: Annotated[bool, typer.Option("--all", help="all packs")] = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch the works of packs from their sources, and follow them; wait until all is indexed.

    What was interrupted goes on when the command is given again.
    """
    if every == bool(names):
        raise ValueError("name packs, or give --all: attest packs lists them")
    chosen = list(scenarios()) if every else [pack_named(name) for name in names or ()]
    store = Instance.of(ctx).store
    ids = []
    for pack in chosen:
        with store.unit_of_work("cli") as work:
            ids += [refresh.id for refresh in packs.fill(work, pack, now())]
    try:
        wait_for(store, ids, as_json=as_json)
    finally:
        if not as_json:
            show(ctx, [pack.name for pack in chosen] if names else None)


def _name(pack: Scenario) -> str:
    return pack.name


def _body(pack: Scenario, works: Sequence[WorkState]) -> dict[str, Any]:
    return {
        "name": pack.name,
        "label": pack.label,
        "states": dict(Counter(one.state for one in works)),
        "works": [
            {**one.entry.model_dump(exclude_none=True), **_without_entry(one)} for one in works
        ],
    }


def _without_entry(one: WorkState) -> dict[str, Any]:
    body: dict[str, Any] = to_jsonable_python(asdict(one))
    return {name: value for name, value in body.items() if name != "entry"}


def _counted(chosen: Sequence[Scenario], states: dict[str, list[WorkState]]) -> Table:
    counts = {pack.name: Counter(one.state for one in states[pack.name]) for pack in chosen}
    shown = [state for state in get_args(State) if any(one[state] for one in counts.values())]
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("pack", no_wrap=True)
    for heading in ("works", *shown):
        table.add_column(heading, justify="right")
    for pack in chosen:
        works = counts[pack.name]
        table.add_row(pack.name, str(works.total()), *(str(works[state]) for state in shown))
    return table


def _works(pack: Scenario, works: Sequence[WorkState], at: datetime) -> Table:
    table = Table(title=Text(pack.label), title_justify="left", box=None, pad_edge=False)
    for heading in ("state", "source", "year", "title", "why", "next"):
        table.add_column(heading, overflow="fold")
    for one in works:
        table.add_row(
            one.state,
            one.source or "",
            str(one.entry.year),
            Text(one.entry.title),
            Text(one.why),
            in_words(one.next_at, at, ""),
        )
    return table
