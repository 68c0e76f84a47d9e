"""Log lines, with control characters made visible, so that no value acts on a terminal."""

import logging
import sys
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from store.core.printable import escaped, printable, printable_values

_OF_LINES = frozenset({"exception", "stack"})
"""structlog's names for a traceback and a stack."""


def for_programs() -> list[Processor]:
    """The processors that write an event as one JSON object."""
    return [structlog.processors.JSONRenderer(), _escaped]


def for_people(*, colors: bool) -> list[Processor]:
    """The processors that write an event as a line; tracebacks are formatted before cleaning."""
    plain = structlog.dev.plain_traceback
    return [
        structlog.processors.format_exc_info,
        _shown,
        structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain),
    ]


def configure_command_logs() -> None:
    """Configure logging for a command, which prints its own output: warnings only, on stderr."""
    logging.getLogger().setLevel(logging.WARNING)
    structlog.configure(
        processors=[structlog.processors.add_log_level, *for_people(colors=False)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def _shown(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Clean every value; lines of a traceback are indented, so that none looks like an event."""
    lines = {
        name: printable("  " + str(event[name]).replace("\n", "\n  "), lines=True)
        for name in _OF_LINES & event.keys()
    }
    return {**printable_values(dict(event)), **lines}


def _escaped(_logger: WrappedLogger, _method: str, written: Any) -> str:
    return escaped(written)
