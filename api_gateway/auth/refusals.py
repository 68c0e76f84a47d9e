"""Refused requests in the audit trail: one event each up to a limit, beyond it a count.

A stranger can cause any number of refusals. Each event locks the head of the audit chain for a
moment and stays for ever, so the events of one reason are limited per minute and per day. Refusals
beyond the limit are counted in this process; the count is written as one event minutes later.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any
from uuid import UUID

import structlog

from api_gateway.problems import Problem
from knowledge.operation.access import Noted, RefusalPolicy, access_policy
from store.core.unit_of_work import Store
from store.models import now

log = structlog.get_logger(__name__)

ACTOR = "gateway"
STRANGERS = frozenset(
    {"no_key", "unknown_key", "wrong_secret", "revoked_key", "expired_key"}
    | {"foreign_host", "foreign_origin"}
)
"""Reasons that need no valid key: anybody can cause them."""
LIMITED = frozenset({"rate", "requests_a_day", "usd_a_day"})


class Refused(Problem):
    """A problem that is also an audit event: the caller may not do what it asked for."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        reason: str,
        kind: str | None = None,
        key_id: UUID | None = None,
        target: UUID | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`target` is the row that was asked for, if it exists and has another owner."""
        super().__init__(status, detail, kind=kind, headers=headers)
        self.reason = reason
        self.key_id = key_id
        self.target = target


@dataclass
class Allowance:
    """How many events one reason of one key may still write. Minutes and days are UTC."""

    noted: Noted
    minute: int = 0
    of_minute: int = 0
    day: int = 0
    of_day: int = 0

    def take(self, at: datetime) -> bool:
        """Whether a refusal at `at` becomes an event of its own; if so, it is counted."""
        minute, day = int(at.timestamp() // 60), at.toordinal()
        if minute != self.minute:
            self.minute, self.of_minute = minute, 0
        if day != self.day:
            self.day, self.of_day = day, 0
        if self.of_minute >= self.noted.per_minute or self.of_day >= self.noted.per_day:
            return False
        self.of_minute += 1
        self.of_day += 1
        return True


@dataclass
class _Counted:
    """Refusals without an event of their own."""

    since: datetime
    until: datetime
    count: int = 0


_Kind = tuple[str, UUID | None]


class Refusals:
    """The refusals of one gateway process. Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        policy: RefusalPolicy | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._store = store
        self._policy = policy or access_policy().refusals
        self._clock = clock
        self._lock = Lock()
        self._allowances: dict[_Kind, Allowance] = {}
        self._counted: dict[_Kind, _Counted] = {}

    def note(self, refused: Refused, route: str, request_id: UUID | None) -> None:
        """Write a refusal to the audit, or count it. Never raises: the refusal is sent anyway."""
        at = self._clock()
        kind = _kind(refused)
        with self._lock:
            written = self._allowance(kind).take(at)
            if not written:
                self._count(kind, at)
        if not written:
            return
        details: dict[str, Any] = {"reason": refused.reason, "route": route}
        if refused.key_id is not None:
            details["key_id"] = str(refused.key_id)
        if refused.target is not None:
            details["target"] = str(refused.target)
        if not self._write("access.refused", refused.key_id, request_id, details):
            with self._lock:
                self._count(kind, at)

    def flush(self, *, everything: bool = False) -> int:
        """Write the counts that are due, or all of them; returns how many events were written."""
        at = self._clock()
        with self._lock:
            due = [
                (kind, self._counted.pop(kind))
                for kind, counted in list(self._counted.items())
                if everything
                or (at - counted.since).total_seconds() >= self._policy.counted_seconds
            ]
        return sum(self._write_count(kind, counted) for kind, counted in due)

    def _write_count(self, kind: _Kind, counted: _Counted) -> bool:
        reason, key_id = kind
        details: dict[str, Any] = {
            "reason": reason,
            "count": counted.count,
            "since": counted.since.isoformat(),
            "until": counted.until.isoformat(),
        }
        if key_id is not None:
            details["key_id"] = str(key_id)
        if self._write("access.refused_more", key_id, None, details):
            return True
        with self._lock:
            kept = self._counted.setdefault(kind, _Counted(counted.since, counted.until))
            kept.since, kept.count = counted.since, kept.count + counted.count
        return False

    def _count(self, kind: _Kind, at: datetime) -> None:
        counted = self._counted.setdefault(kind, _Counted(at, at))
        counted.until, counted.count = at, counted.count + 1

    def _allowance(self, kind: _Kind) -> Allowance:
        allowance = self._allowances.get(kind)
        if allowance is None:
            allowance = self._allowances[kind] = Allowance(self._noted(kind[0]))
        return allowance

    def _noted(self, reason: str) -> Noted:
        if reason in STRANGERS:
            return self._policy.strangers
        return self._policy.limited if reason in LIMITED else self._policy.keys

    def _write(
        self, event: str, key_id: UUID | None, request_id: UUID | None, told: Mapping[str, Any]
    ) -> bool:
        try:
            with self._store.unit_of_work(ACTOR, request_id) as work:
                work.record(event, key_id or "access", **told)
        except Exception as error:  # noqa: BLE001  it is counted, and the count is written later
            log.warning("refusal_not_audited", reason=told["reason"], error=type(error).__name__)
            return False
        return True


def _kind(refused: Refused) -> _Kind:
    """The group that a refusal is counted in. A key id without its secret proves nothing, so all
    strangers share one group per reason."""
    known = refused.reason not in STRANGERS
    return refused.reason, refused.key_id if known else None
