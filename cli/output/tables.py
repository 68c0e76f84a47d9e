"""Tables for people, wide where a file or a pipe is written, and where the next page begins."""

from cli.output.printing import Console, say_beside

WIDE = 140
"""Columns of a table that nobody sees on a terminal (ours)."""


def table_console() -> Console:
    """Prints tables; what stands in a cell is no markup."""
    seen = Console()
    width = None if seen.is_terminal else max(seen.width, WIDE)
    return Console(width=width)


def tell_more(cursor: str | None) -> None:
    """Where the next page begins, if there is one; not on stdout: what is there is the page."""
    if cursor is not None:
        say_beside(f"more: --cursor {cursor}")


def counted(n: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{n} {noun}" + ("" if n == 1 else "s")
