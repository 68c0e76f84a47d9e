"""Lines of logs: every value shown, none of them able to act where the log is read."""

import logging
import sys
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from store.core.printable import escaped, printable, printable_values

_OF_LINES = frozenset({"exception", "stack"})
"""What structlog calls a traceback and a stack."""


def for_programs() -> list[Processor]:
    """What makes one JSON object of an event."""
    return [structlog.processors.JSONRenderer(), _escaped]


def for_people(*, colors: bool) -> list[Processor]:
    """What makes a line of an event: the traceback first, so that it is shown like the rest."""
    plain = structlog.dev.plain_traceback
    return [
        structlog.processors.format_exc_info,
        _shown,
        structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain),
    ]


def configure_command_logs() -> None:
    """For a command, which prints its own: only warnings, as lines on stderr."""
    logging.getLogger().setLevel(logging.WARNING)
    structlog.configure(
        processors=[structlog.processors.add_log_level, *for_people(colors=False)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def _shown(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Every value shown, a traceback line by line, none of which begins where an event does."""
    lines = {
        name: printable("  " + str(event[name]).replace("\n", "\n  "), lines=True)
        for name in _OF_LINES & event.keys()
    }
    return {**printable_values(dict(event)), **lines}


def _escaped(_logger: WrappedLogger, _method: str, written: Any) -> str:
    return escaped(written)
