"""Renews the leases of this process while their work is in progress."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
from sqlmodel import Session

from store.core.unit_of_work import Store
from store.pipeline import handing_back, ledger

log = structlog.get_logger(__name__)


class LeaseKeeper:
    """One thread a process renews all its leases in one statement, three times a lease.

    Work whose process is killed or frozen can be claimed again one lease later. Slow work keeps its
    lease up to its time limit. If it hangs beyond that, in a call that no exception reaches, its
    lease is no longer renewed and `on_hung` is called. A lost lease is noticed at the commit.
    """

    def __init__(
        self,
        store: Store,
        lease_seconds: float,
        on_hung: Callable[[ledger.Claim], object] | None = None,
    ) -> None:
        self._store = store
        self._on_hung = on_hung
        self._lease_seconds = lease_seconds
        self._held: dict[int, tuple[ledger.Claim, float]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def holding(self, held: ledger.Claim, limit_seconds: float) -> Iterator[None]:
        """Keep `held` alive while the block runs, for at most `limit_seconds` and one lease."""
        with self._lock:
            # One lease more: work that the time limit interrupts still has to record its failure.
            until = time.monotonic() + limit_seconds + self._lease_seconds
            self._held[held.token] = (held, until)
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(held.token, None)

    def start(self) -> None:
        """Start renewing."""
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
        self._thread.start()

    def hand_back(self) -> int:
        """Release the work in progress so that others can claim it at once; returns how many
        pieces. Never raises: work that cannot be released now is free one lease later."""
        with self._lock:
            held = [claim for claim, _ in self._held.values()]
            self._held.clear()
        if not held:
            return 0
        try:
            with Session(self._store.engine) as session:
                handed = handing_back.hand_back(session, held)
                session.commit()
        except Exception as error:  # noqa: BLE001  the process ends in any case
            log.warning("work_not_handed_back", error=type(error).__name__)
            return 0
        log.warning("work_handed_back", pieces=handed)
        return handed

    def stop(self) -> None:
        """Stop renewing."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stop.wait(self._lease_seconds / 3):
            claims = self._due()
            if not claims:
                continue
            try:
                with Session(self._store.engine) as session:
                    kept = ledger.renew(session, claims, self._lease_seconds)
                    session.commit()
            except Exception as error:  # noqa: BLE001  the next round tries again
                log.warning("lease_renewal_failed", error=type(error).__name__)
                continue
            for held in claims:
                if held.token not in kept:
                    self._lost(held)

    def _due(self) -> list[ledger.Claim]:
        """The claims to renew; those past their time limit are given up."""
        moment = time.monotonic()
        with self._lock:
            hung = [held for held, until in self._held.values() if until < moment]
            for held in hung:
                del self._held[held.token]
            claims = [held for held, _ in self._held.values()]
        for held in hung:
            log.error("lease_given_up", token=held.token, cause="the time limit has passed")
            if self._on_hung is not None:
                self._on_hung(held)
        return claims

    def _lost(self, held: ledger.Claim) -> None:
        with self._lock:
            known = self._held.pop(held.token, None)
        if known is not None:
            log.warning("lease_lost_while_working", token=held.token)
