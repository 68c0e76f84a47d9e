"""Tables for people, wide where a file or a pipe is written, and where the next page begins."""

from rich.console import Console

WIDE = 140
"""Columns of a table that nobody sees on a terminal (ours)."""


def table_console() -> Console:
    """Prints tables; what stands in a cell is no markup."""
    seen = Console()
    width = None if seen.is_terminal else max(seen.width, WIDE)
    return Console(width=width, markup=False, emoji=False, highlight=False)


def tell_more(cursor: str | None) -> None:
    """Where the next page begins, if there is one; not on stdout: what is there is the page."""
    if cursor is not None:
        more = f"more: --cursor {cursor}"
        Console(stderr=True).print(more, markup=False, highlight=False, soft_wrap=True)


def counted(n: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{n} {noun}" + ("" if n == 1 else "s")
