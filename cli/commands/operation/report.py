"""`attest report`: writes how well the service did, as Markdown."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from cli.instance.context import Instance, JsonOption, print_json
from cli.output.printing import say
from store.core.plurals import counted
from store.models import now
from store.reports import week_report


def report(
    ctx: typer.Context,
    days: Annotated[int, typer.Option(min=1, max=90, help="how many, up to now")] = 7,
    out: Annotated[
        Path | None, typer.Option(help="folder; the instance's reports/ if none")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report of the last days: targets and misses, trends, sources, deaths, costs."""
    from scheduler.weekly import write

    instance = Instance.of(ctx)
    moment = now()
    with instance.store.reading() as session:
        made = week_report.report(session, moment - timedelta(days=days), moment, moment)
    folder = out or instance.settings.data_dir / "reports"
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: --out takes a folder")
    written = write(made, folder, f"report-{moment:%Y-%m-%d}-{days}d")
    missed = [target.name for target in made.quality.missed]
    if as_json:
        print_json({"files": [str(written)], "missed": missed})
        return
    say(written)
    say(f"{counted(len(missed), 'target')} missed" + (f": {', '.join(missed)}" if missed else ""))
