"""Replays many dead letters at once, at a rate that the stages can bear, or discards them.

Letters are taken oldest first and in batches, each in its own transaction. A call that is cut short
has done part of its work and can be repeated: resolved letters are not open any more.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.operation.operating import replay_policy
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
"""The time of death and the id of a letter: the order in which they are taken."""
_ONE_AT_A_TIME = 0x4174746573740004  # "Attest", 4: replays line up, so that they share one rate
SHOWN_PER_REASON = 10


@dataclass
class Report:
    """The result of a call, or with `dry_run` its forecast, with refusals counted by reason.

    `matched` letters were examined, of `total` that were chosen at the start; if there are `more`,
    the next call continues after `after`.
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
        """The cursor from which the next call continues; None: there are no more letters."""
        if not self.more or self.after is None:
            return None
        at, letter_id = self.after
        return pack([at.isoformat(), str(letter_id)])

    def refuse(self, letter_id: UUID, reason: str) -> None:
        """Count a refusal; the first few letters of each reason are listed."""
        reason = reason.replace(str(letter_id), "X")
        self.refused[reason] += 1
        named = self.examples.setdefault(reason, [])
        if len(named) < SHOWN_PER_REASON:
            named.append(letter_id)


@dataclass(frozen=True)
class Operator:
    """Who acts, for the audit."""

    name: str
    request_id: UUID | None = None


_LAST_DUE = sa.text(
    "SELECT max(due_at) FROM dead_letter_resolution "
    "WHERE due_at > :now AND at <= CAST(:now AS timestamptz) + make_interval(secs => :ahead)"
)


def _first_slot(session: Session, gap: timedelta) -> datetime:
    """When the next replayed message may be due; other replays wait for this transaction to end."""
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(_ONE_AT_A_TIME)))
    moment = database_now(session)
    values = {"now": moment, "ahead": AHEAD_SECONDS}  # beyond: from before the clock was set back
    last: datetime | None = session.execute(_LAST_DUE, values).scalar_one()
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
    """Replay the chosen letters, at `per_second`. A second call changes nothing.

    Args:
        dry_run: only report what would be done.
        force: also replay letters that died again of the same cause; see `dead_letters.plan`.
        per_second: letters per second; None: the value in `knowledge/operation/operating.yaml`.
        limit: examine at most this many; None: all.
        most: replay at most this many; refused letters do not count.
        after: only letters that died after this place (`Report.after` of the call before).
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
    """Discard the chosen letters, at most `most`, all for the same reason. A second call changes
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
    """The chosen letters in batches. Each is read when the batch before it is finished."""

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
            places = oldest_ids(session, self._chosen, after=self._report.after, limit=room + 1)
        if room <= 0 or not places:
            self._report.more = bool(places)
            raise StopIteration
        places = places[:room]
        self._report.after = places[-1]
        self._report.matched += len(places)
        return [letter_id for _, letter_id in places]
