"""Everything that a command prints goes through here, so that no foreign text controls a terminal.

No other module of `cli` prints (`tests/unit/cli/test_printing.py`). Output of other code, such as
tracebacks and warnings, is guarded at the streams.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import rich.console
from rich.console import RenderableType
from rich.protocol import rich_cast
from rich.segment import Segment
from rich.text import Text

from store.core.printable import Guarded, escaped, printable, unguarded


class Console(rich.console.Console):
    """A console that prints text literally: no markup, no emoji codes, no control characters.

    A string or `Text` is one line: a line break in a title could otherwise forge a line of output.
    Print lines one by one, or a `Group` of them.
    """

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        plain = {"markup": False, "emoji": False, "highlight": False}
        super().__init__(stderr=stderr, **(plain | options))

    @property
    def file(self) -> IO[str]:
        """The stream below our guards and rich's proxies: text is safe by now, and has colours."""
        return unguarded(super().file)

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render(
        self, renderable: RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as rich does, with safe text; the segments that a renderable returns are cleaned
        again."""
        return map(_harmless, super().render(_words(rich_cast(renderable)), options))


def _words(renderable: Any) -> Any:
    if isinstance(renderable, str):
        return printable(renderable)
    if isinstance(renderable, Text) and not renderable.plain.isprintable():
        shown = renderable.copy()
        shown.plain = printable(renderable.plain)
        return shown
    return renderable


def _harmless(segment: Segment) -> Segment:
    """Clean a segment. Control segments are rich's own; a link becomes an escape sequence."""
    text, style, control = segment
    if control:
        return segment
    if style is not None and style.link and not style.link.isprintable():
        style = style.update_link(None)
    return Segment(printable(text, lines=True), style)


def say(line: object = "") -> None:
    """Print one line on stdout; line breaks in it become spaces."""
    print(printable(str(line)))  # noqa: T201  here is where it is done


def say_lines(lines: Iterable[object]) -> None:
    """Print each as one line on stdout."""
    for line in lines:
        say(line)


def say_json(body: Any) -> None:
    r"""Print `body` as JSON on one line, with control characters as `\u` escapes."""
    print(escaped(json.dumps(body, ensure_ascii=False)))  # noqa: T201  here is where it is done


def say_beside(line: str, *, style: str | None = None) -> None:
    """Print one line on stderr, because stdout is for the result."""
    Console(stderr=True).print(line, style=style, soft_wrap=True)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Clean everything that is written to stdout or stderr in this block, whoever prints."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Guarded(sys.stdout), Guarded(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
