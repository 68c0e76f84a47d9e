"""Logs of the tools on stderr: one line each, without any words of callers (invariant 11)."""

import logging
import traceback


class _Wordless(logging.Filter):
    """Reduces an error to its type and place: its text may quote what a caller sent. The SDK
    printed each with its source, so slowly that 900 callers who hung up stopped it for a minute."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and (error := record.exc_info[1]) is not None:
            frames = traceback.extract_tb(error.__traceback__)
            place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown place"
            record.msg, record.args = "%s in %s", (type(error).__name__, place)
            record.exc_info = record.exc_text = None
        return True


def log_without_words() -> None:
    """Send warnings to stderr; call this before the SDK configures logging."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_Wordless())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    # It logs the Host header of refused requests.
    logging.getLogger("mcp.server.transport_security").setLevel(logging.ERROR)
