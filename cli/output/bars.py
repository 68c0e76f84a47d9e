"""Progress bars on stderr, for people."""

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
    """Return bars on stderr that vanish at the end; by default they show counts and the time.

    They are off where stderr is no terminal: a program that reads it wants only messages.
    """
    console = Console(stderr=True)
    counts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(
        *(columns or (*counts, TimeElapsedColumn())),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
