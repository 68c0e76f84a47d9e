"""Views of the audit page: the search, the events found, the state of the chain. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from urllib.parse import urlencode

from api_gateway.pages.wording import Badge
from store.audit.audit import ChainReport
from store.core.plurals import counted

WHOLE = Badge("Whole", "good", "check", "Each event follows the one before it, as it was written")
BROKEN = Badge("Broken", "bad", "cross", "Something was edited, removed, added or moved")
MOST_CHARS = 200


class NotAMoment(ValueError):
    """A text that should be a moment cannot be parsed."""


@dataclass(frozen=True)
class Search:
    """The fields of the search as they were entered; events must match all that are set."""

    subject: str = ""
    event: str = ""
    actor: str = ""
    since: str = ""
    until: str = ""

    def filters(self) -> dict[str, str | datetime | None]:
        """The arguments for `store.audit.log.query`.

        Raises:
            NotAMoment: `since` or `until` is no moment.
        """
        return {
            "subject": self.subject or None,
            "event": self.event or None,
            "actor": self.actor or None,
            "since": _at(self.since),
            "until": _at(self.until),
        }

    def address(self, cursor: str | None = None) -> str:
        """The address of this search, or of a later page of it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        query = urlencode(
            {name: value for name, value in {**values, "cursor": cursor}.items() if value}
        )
        return f"/operate/audit?{query}" if query else "/operate/audit"

    @property
    def is_empty(self) -> bool:
        """Whether the search has no filter."""
        return self == Search()


def search(given: Mapping[str, str]) -> Search:
    """The search from a query string or form; other fields are ignored."""
    known = (field.name for field in fields(Search))
    return Search(**{name: given.get(name, "").strip()[:MOST_CHARS] for name in known})


def _at(written: str) -> datetime | None:
    """The moment that was entered, in UTC if it has no offset; None if it is empty.

    Raises:
        NotAMoment: it cannot be parsed.
    """
    if not written:
        return None
    try:
        parsed = datetime.fromisoformat(written)
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise NotAMoment("write a moment such as 2026-11-22 14:30, in UTC") from None


@dataclass(frozen=True)
class ChainView:
    """The result of verifying the chain. `checked` is the last good link, to be kept elsewhere."""

    badge: Badge
    words: str
    checked: str
    everything: bool
    events: int = 0


def chain_view(report: ChainReport, after: int) -> ChainView:
    """The view of a verification that began after the event `after` (0: at the first event)."""
    many = counted(report.events, "event")
    begin = "from the first one" if after == 0 else f"behind event {after:,}"
    if report.whole and not report.events:
        words = "Nothing was written yet."
    elif report.whole:
        words = f"{many}, {begin}, to event {report.checked.seq:,}: each as it was written."
    else:
        words = f"{many} {begin} hold; then: {report.reason}."
    badge = WHOLE if report.whole else BROKEN
    return ChainView(badge, words, str(report.checked), everything=after == 0, events=report.events)
