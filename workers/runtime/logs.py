"""Logs of every process: static event names, values as keywords, one formatter for all libraries.

No text of a document, note or question is ever logged (invariant 11), only ids and hashes. No
terminal control character is logged either: file names and library messages are not trusted.
"""

import logging
import sys

import structlog

from store.core.log_lines import for_people, for_programs
from store.core.printable import unguarded
from store.core.settings import Settings

QUIET = (
    "sse_starlette",
    "httpx",
    "httpcore",
    "urllib3",
    "pypdf",
    "apscheduler.scheduler",
)
SILENT = ("apscheduler.executors",)
"""Logs error texts, which may quote values; scheduler.main reports these errors itself."""


def configure_logs(settings: Settings, process: str) -> None:
    """Send structlog and the standard library's logging to stderr in the form `log_format`."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    final = (
        for_programs() if settings.log_format == "json" else for_people(colors=sys.stderr.isatty())
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final],
    )
    handler = logging.StreamHandler(unguarded(sys.stderr))
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    structlog.contextvars.bind_contextvars(process=process)
