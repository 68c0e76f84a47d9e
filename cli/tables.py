"""Tables for people: as wide as the terminal is, and wide where a file or a pipe is written."""

from rich.console import Console

WIDE = 140
"""Columns of a table that nobody sees on a terminal (ours)."""


def table_console() -> Console:
    """Prints tables; what stands in a cell is no markup."""
    seen = Console()
    width = None if seen.is_terminal else max(seen.width, WIDE)
    return Console(width=width, markup=False, emoji=False, highlight=False)


def counted(n: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{n} {noun}" + ("" if n == 1 else "s")
