"""What the audit commands share: a range of the chain, walked with a progress bar."""

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
    """The place that `--after` names.

    Raises:
        typer.BadParameter: it names none.
    """
    try:
        return Checkpoint.parse(written) if written is not None else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--after") from None


class Told:
    """Moves a progress bar, and knows the last good link."""

    def __init__(self, move: Callable[[int], None], begin: Checkpoint | None) -> None:
        self.last = begin or Checkpoint(0)
        self._move, self._first = move, self.last.seq

    def __call__(self, reached: Checkpoint) -> None:
        """`reached` is good."""
        self.last = reached
        self._move(reached.seq - self._first)


@contextmanager
def walking(session: Session, begin: Checkpoint | None, until: int | None) -> Iterator[Told]:
    """A progress bar, on stderr, over the events of a range."""
    head = session.execute(sa.text("SELECT seq FROM audit_head")).scalar_one_or_none() or 0
    first, last = (begin.seq if begin else 0), head if until is None else min(until, head)
    with bar("verify", max(0, last - first)) as move:
        yield Told(move, begin)


@contextmanager
def bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr; gives what moves it to a count."""
    with terminal_bars() as shown:
        task = shown.add_task(what, total=total)
        yield lambda count: shown.update(task, completed=count)


def complain(text: str, *, style: str | None = "red") -> int:
    """Print one line on stderr; gives the exit code."""
    say_beside(text, style=style)
    return 1
