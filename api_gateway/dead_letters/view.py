"""What pages say of dead letters beside the rows themselves. Pure."""

from collections.abc import Mapping
from datetime import datetime

from api_gateway.pages.clocks import moment
from api_gateway.pages.wording import Badge
from store.models import DeadLetter
from store.models.operators import DeadLetterResolution

LETTER: Mapping[str, Badge] = {
    "open": Badge("Open", "warn", "warning", "Nobody has decided on it"),
    "replayed": Badge("Replayed", "good", "check", "Its work was made pending again"),
    "discarded": Badge("Discarded", "quiet", "cross", "It was given up, for the reason given"),
}
ROOT = "/operate/dead-letters"


def facts(letter: DeadLetter) -> dict[str, str]:
    """What is known of a dead letter, by name."""
    return {
        "Fingerprint": letter.fingerprint,
        "Works for": letter.subject or "nothing that is known",
        "Message": letter.message_schema or "names no schema",
        "Promise": str(letter.outbox_id) if letter.outbox_id else "none: it was not ours",
        "Attempts": str(letter.attempts),
        "Replays before": str(letter.replays),
        "Code version": letter.code_version,
        "First failed": _words(letter.first_failed_at),
        "Gave up": _words(letter.died_at),
    }


def end(resolution: DeadLetterResolution | None) -> dict[str, str]:
    """How it was resolved, by name; empty while it is open."""
    if resolution is None:
        return {}
    found = {
        "By": resolution.by,
        "At": _words(resolution.at),
        "Due at": _words(resolution.due_at),
        "Reason": resolution.reason or "",
        "Upgraded from": resolution.upgraded_from or "",
        "Forced": "yes" if resolution.forced else "",
    }
    return {name: value for name, value in found.items() if value}


def _words(at: datetime | None) -> str:
    shown = moment(at)
    return shown.words if shown else ""
