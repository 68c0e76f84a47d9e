"""Many dead letters at once: replayed at a rate that the stages can bear, or discarded.

Letters are taken oldest first and in batches, each in a transaction of its own, so a call that is
cut short has done some of its work and can be made again: what is resolved is not open any more.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.operating import replay_policy
from messages.upgrades import UPGRADES, Upgrades
from store.core.clock import database_now
from store.core.cursors import pack
from store.core.unit_of_work import Store, UnitOfWork
from store.dead_letters import dead_letters
from store.dead_letters.dead_letters import NotReplayable
from store.dead_letters.listing import Chosen, count, oldest_ids
from store.models import DeadLetter
from store.models.operators import DeadLetterResolution
from store.operations.set_back_clock import AHEAD_SECONDS

Place = tuple[datetime, UUID]
"""When a letter died and its id: the order in which they are taken."""
_ONE_AT_A_TIME = 0x4174746573740004  # "Attest", 4: replays line up, so that they share one rate
SHOWN_PER_REASON = 10


@dataclass
class Report:
    """What was done, or with `dry_run` would be done, and what was refused, by reason.

    `matched` letters were looked at, of `total` that were chosen when it began; where there are
    `more`, the next call goes on behind `after`.
    """

    dry_run: bool
    matched: int = 0
    total: int = 0
    resolved: int = 0
    upgraded: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[UUID]] = field(default_factory=dict)
    last_due_at: datetime | None = None
    more: bool = False
    after: Place | None = None

    @property
    def next_cursor(self) -> str | None:
        """Where the next call goes on; None: there is nothing more."""
        if not self.more or self.after is None:
            return None
        at, letter_id = self.after
        return pack([at.isoformat(), str(letter_id)])

    def refuse(self, letter_id: UUID, reason: str) -> None:
        """Count a refusal; the first few of each reason are named."""
        reason = reason.replace(str(letter_id), "X")
        self.refused[reason] += 1
        named = self.examples.setdefault(reason, [])
        if len(named) < SHOWN_PER_REASON:
            named.append(letter_id)


@dataclass(frozen=True)
class Operator:
    """Who asks, for the audit."""

    name: str
    request_id: UUID | None = None


_LAST_DUE = sa.text(
    "SELECT max(due_at) FROM dead_letter_resolution "
    "WHERE due_at > :now AND at <= CAST(:now AS timestamptz) + make_interval(secs => :ahead)"
)


def _first_slot(session: Session, gap: timedelta) -> datetime:
    """When the next replay may fall due; other replays wait until this transaction ends."""
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(_ONE_AT_A_TIME)))
    moment = database_now(session)
    given = {"now": moment, "ahead": AHEAD_SECONDS}  # else before the clock was set back
    last: datetime | None = session.execute(_LAST_DUE, given).scalar_one()
    return moment if last is None else last + gap


def replay_matching(
    store: Store,
    operator: Operator,
    chosen: Chosen,
    *,
    dry_run: bool,
    force: bool = False,
    per_second: float | None = None,
    limit: int | None = None,
    most: int | None = None,
    after: Place | None = None,
    upgrades: Upgrades = UPGRADES,
) -> Report:
    """Replay what was chosen, so many a second. Done twice it changes nothing.

    Args:
        dry_run: only say what would be done.
        force: replay also what died again of the same cause; see `dead_letters.plan`.
        per_second: `knowledge/operating.yaml` says if left out.
        limit: look at so many at most; at all if left out.
        most: replay so many at most; what is refused does not count.
        after: only at what died behind this one (`Report.after` of the call before).
    """
    gap = timedelta(seconds=1.0 / (per_second or replay_policy().per_second))
    report = Report(dry_run, after=after)

    def plan(session: Session, ids: list[UUID]) -> None:
        for letter_id in ids:
            letter = session.get_one(DeadLetter, letter_id)
            try:
                planned = dead_letters.plan(session, letter, force=force, upgrades=upgrades)
            except NotReplayable as error:
                report.refuse(letter_id, str(error))
            else:
                report.resolved += 1
                report.upgraded += planned.upgraded_from is not None

    def replay(work: UnitOfWork, ids: list[UUID]) -> None:
        due = _first_slot(work.session, gap)
        for letter_id in ids:
            try:
                dead_letters.replay(work, letter_id, force=force, due_at=due, upgrades=upgrades)
            except NotReplayable as error:
                report.refuse(letter_id, str(error))
            else:
                report.resolved += 1
                made = work.session.get_one(DeadLetterResolution, letter_id)
                report.upgraded += made.upgraded_from is not None
                report.last_due_at, due = due, due + gap

    for ids in _Batches(store, chosen, report, limit=limit, most=most):
        if dry_run:
            with store.reading() as session:
                plan(session, ids)
        else:
            with store.unit_of_work(operator.name, operator.request_id) as work:
                replay(work, ids)
    return report


def discard_matching(
    store: Store,
    operator: Operator,
    chosen: Chosen,
    reason: str,
    *,
    dry_run: bool,
    most: int | None = None,
) -> Report:
    """Discard what was chosen, or so many of it, all for the same reason. Done twice it changes
    nothing."""
    report = Report(dry_run)
    for ids in _Batches(store, chosen, report, most=most):
        with store.unit_of_work(operator.name, operator.request_id) as work:
            for letter_id in ids:
                try:
                    if not dry_run:
                        dead_letters.discard(work, letter_id, reason)
                except NotReplayable as error:
                    report.refuse(letter_id, str(error))
                else:
                    report.resolved += 1
    return report


class _Batches:
    """The chosen letters in batches. Each is looked for when the one before is done with."""

    def __init__(
        self,
        store: Store,
        chosen: Chosen,
        report: Report,
        *,
        limit: int | None = None,
        most: int | None = None,
    ) -> None:
        self._store, self._chosen, self._report = store, chosen, report
        self._limit, self._most = limit, most
        with store.reading() as session:
            report.total = count(session, chosen)

    def __iter__(self) -> "_Batches":
        return self

    def __next__(self) -> list[UUID]:
        room = replay_policy().batch
        if self._limit is not None:
            room = min(room, self._limit - self._report.matched)
        if self._most is not None:
            room = min(room, self._most - self._report.resolved)
        with self._store.reading() as session:
            found = oldest_ids(session, self._chosen, after=self._report.after, limit=room + 1)
        if room <= 0 or not found:
            self._report.more = bool(found)
            raise StopIteration
        found = found[:room]
        self._report.after = found[-1]
        self._report.matched += len(found)
        return [letter_id for _, letter_id in found]
