"""What the tools say on stderr: one line each, none of it a caller's words (invariant 11)."""

import logging
import traceback


class _Wordless(logging.Filter):
    """Of an error its type and place stay: its text may quote what a caller sent. The SDK drew each
    with its source, which took so long that 900 callers who hung up stopped it for a minute."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and (error := record.exc_info[1]) is not None:
            frames = traceback.extract_tb(error.__traceback__)
            place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown place"
            record.msg, record.args = "%s in %s", (type(error).__name__, place)
            record.exc_info = record.exc_text = None
        return True


def log_without_words() -> None:
    """Send warnings to stderr; call it before the SDK takes care of that."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_Wordless())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    # It repeats the Host header of whom it refuses.
    logging.getLogger("mcp.server.transport_security").setLevel(logging.ERROR)
