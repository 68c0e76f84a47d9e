"""Tables for people, wide in files and pipes, and the cursor of the next page."""

from cli.output.printing import Console, say_beside

WIDE = 140
"""Columns of a table that is not printed on a terminal (our choice)."""


def table_console() -> Console:
    """Return a console for tables; it prints the text of cells without markup."""
    console = Console()
    width = None if console.is_terminal else max(console.width, WIDE)
    return Console(width=width)


def tell_more(cursor: str | None) -> None:
    """Print the cursor of the next page, if there is one, on stderr: stdout holds the page."""
    if cursor is not None:
        say_beside(f"more: --cursor {cursor}")
