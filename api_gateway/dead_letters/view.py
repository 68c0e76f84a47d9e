"""Views of dead letters: by fault, one by one, and the dry run of a replay. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api_gateway.pages.clocks import Moment, moment
from api_gateway.pages.wording import Badge
from store.dead_letters.listing import Group
from store.dead_letters.replay import Report
from store.models import DeadLetter
from store.models.operators import DeadLetterResolution

LETTER: Mapping[str, Badge] = {
    "open": Badge("Open", "warn", "warning", "Nobody has decided on it"),
    "replayed": Badge("Replayed", "good", "check", "Its work was made pending again"),
    "discarded": Badge("Discarded", "quiet", "cross", "It was given up, for the reason given"),
}
ROOT = "/operate/dead-letters"


@dataclass(frozen=True)
class FaultLine:
    """Dead letters with one fingerprint; `cause` is that of the newest."""

    fingerprint: str
    href: str
    stage: str
    error_type: str
    cause: str
    letters: int
    counts: Sequence[tuple[Badge, int]]
    first: Moment | None
    last: Moment | None
    versions: str

    @property
    def open(self) -> int:
        """The number of letters that nobody has decided on."""
        return sum(many for badge, many in self.counts if badge == LETTER["open"])


def fault_line(group: Group) -> FaultLine:
    """The view of a fault."""
    counted = {"open": group.open, "replayed": group.replayed, "discarded": group.discarded}
    return FaultLine(
        fingerprint=group.fingerprint,
        href=f"{ROOT}/faults/{group.fingerprint}",
        stage=group.stage,
        error_type=group.error_type,
        cause=group.cause,
        letters=group.letters,
        counts=[(LETTER[status], many) for status, many in counted.items() if many],
        first=moment(group.first_seen),
        last=moment(group.last_seen),
        versions=", ".join(sorted(group.code_versions)),
    )


@dataclass(frozen=True)
class LetterLine:
    """A dead letter in a list."""

    id: str
    href: str
    badge: Badge
    subject: str
    died: Moment | None
    attempts: int
    replays: int


def letter_line(letter: DeadLetter) -> LetterLine:
    """The view of a line of the list."""
    return LetterLine(
        id=str(letter.id),
        href=f"{ROOT}/{letter.id}",
        badge=LETTER[letter.status],
        subject=letter.subject or "",
        died=moment(letter.died_at),
        attempts=letter.attempts,
        replays=letter.replays,
    )


@dataclass(frozen=True)
class LetterView:
    """One dead letter in full; `facts` are named values, `end` says how it was resolved."""

    id: str
    badge: Badge
    is_open: bool
    stage: str
    error_type: str
    cause: str
    fault_href: str
    died: Moment | None
    facts: Sequence[tuple[str, str]]
    payload: str
    traceback: str
    end: Sequence[tuple[str, str]]


def letter_view(letter: DeadLetter, resolution: DeadLetterResolution | None) -> LetterView:
    """The view of a dead letter's page."""
    facts = [
        ("Fingerprint", letter.fingerprint),
        ("Works for", letter.subject or "nothing that is known"),
        ("Message", letter.message_schema or "names no schema"),
        ("Promise", str(letter.outbox_id) if letter.outbox_id else "none: it was not ours"),
        ("Attempts", str(letter.attempts)),
        ("Replays before", str(letter.replays)),
        ("Code version", letter.code_version),
        ("First failed", _words(moment(letter.first_failed_at))),
        ("Gave up", _words(moment(letter.died_at))),
    ]
    return LetterView(
        id=str(letter.id),
        badge=LETTER[letter.status],
        is_open=letter.status == "open",
        stage=letter.stage,
        error_type=letter.error_type,
        cause=letter.cause,
        fault_href=f"{ROOT}/faults/{letter.fingerprint}",
        died=moment(letter.died_at),
        facts=facts,
        payload=json.dumps(letter.payload, indent=2, ensure_ascii=False, sort_keys=True),
        traceback=letter.traceback,
        end=_end(resolution),
    )


def _words(at: Moment | None) -> str:
    return at.words if at else ""


def _end(resolution: DeadLetterResolution | None) -> list[tuple[str, str]]:
    if resolution is None:
        return []
    facts = [
        ("By", resolution.by),
        ("At", _words(moment(resolution.at))),
        ("Due at", _words(moment(resolution.due_at))),
        ("Reason", resolution.reason or ""),
        ("Upgraded from", resolution.upgraded_from or ""),
        ("Forced", "yes" if resolution.forced else ""),
    ]
    return [(name, value) for name, value in facts if value]


@dataclass(frozen=True)
class ReplayView:
    """The dry run of a replay. `action` is the address that confirms it, `back` its origin page.

    `forced`: the replay skips the checks that `force` can skip. `cursor`: it covers the letters
    after this cursor; `following` is the cursor of the letters after those.
    """

    title: str
    action: str
    back: str
    matched: int
    total: int
    would: int
    upgraded: int
    refused: Sequence[tuple[str, int]]
    forced: bool
    cursor: str
    following: str


def replay_view(
    report: Report, title: str, of: str, *, forced: bool, cursor: str | None = None
) -> ReplayView:
    """The view of a dry run for the dead letters of the page `of`, after `cursor`."""
    return ReplayView(
        title=title,
        action=f"{of}/replay",
        back=of,
        matched=report.matched,
        total=report.total,
        would=report.resolved,
        upgraded=report.upgraded,
        refused=report.refused.most_common(),
        forced=forced,
        cursor=cursor or "",
        following=report.next_cursor or "",
    )
