"""Shared by the audit commands: walks a range of the chain with a progress bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import sqlalchemy as sa
import typer
from sqlmodel import Session

from cli.output.bars import terminal_bars
from cli.output.printing import say_beside
from store.audit.audit import Checkpoint

AfterOption = Annotated[
    str | None, typer.Option(help="begin behind this event: SEQ, or SEQ:HASH as it was kept")
]
UntilSeqOption = Annotated[int | None, typer.Option(min=1, help="end with this event")]


def checkpoint(written: str | None) -> Checkpoint | None:
    """Return the checkpoint that `--after` names.

    Raises:
        typer.BadParameter: it names none.
    """
    try:
        return Checkpoint.parse(written) if written is not None else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--after") from None


class Told:
    """Moves a progress bar and keeps the last verified checkpoint."""

    def __init__(self, move: Callable[[int], None], begin: Checkpoint | None) -> None:
        self.last = begin or Checkpoint(0)
        self._move, self._first = move, self.last.seq

    def __call__(self, reached: Checkpoint) -> None:
        """Record that the chain holds up to `reached`."""
        self.last = reached
        self._move(reached.seq - self._first)


@contextmanager
def walking(session: Session, begin: Checkpoint | None, until: int | None) -> Iterator[Told]:
    """Show a progress bar on stderr over the events of a range."""
    head = session.execute(sa.text("SELECT seq FROM audit_head")).scalar_one_or_none() or 0
    first, last = (begin.seq if begin else 0), head if until is None else min(until, head)
    with bar("verify", max(0, last - first)) as move:
        yield Told(move, begin)


@contextmanager
def bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr; yield a function that sets its count."""
    with terminal_bars() as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.update(task, completed=count)


def complain(text: str, *, style: str | None = "red") -> int:
    """Print one line on stderr; return exit code 1."""
    say_beside(text, style=style)
    return 1
