"""Progress bars: for people, beside what a command prints."""

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from cli.output.printing import Console


def terminal_bars(*columns: ProgressColumn) -> Progress:
    """Bars on stderr that are gone at the end; counts and the time, if no columns are named.

    Nothing where stderr is no terminal: a program that reads it wants its one line only.
    """
    console = Console(stderr=True)
    counts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(
        *(columns or (*counts, TimeElapsedColumn())),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
