"""Work that has cost a worker is done alone, in a process of its own.

A worker does several pieces of work at once, so when it is lost nobody can tell which of them was
at fault, and all of them are suspects. Each suspect is done once more with nothing beside it: the
worker that claimed it starts a process, keeps the lease, and waits. If the process comes back the
suspect was innocent, and how it ended is written already. If it has to be stopped, or is lost too,
it is the work's fault for certain, and somebody is there to write it down.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from dramatiq.middleware import Interrupt

from messages import Stage
from store.core.settings import Settings
from store.pipeline.ledger import Claim

log = structlog.get_logger(__name__)

MODULE = "workers.alone"
MARGIN_SECONDS = 5.0
"""Ours: it is stopped so long before the time limit of who waits for it, which then still acts."""
_MOST_MARGIN = 0.2
_OUT_OF_MEMORY_FIRST = "1000"


@dataclass(frozen=True)
class Suspect:
    """A claimed piece of work, as it is handed to the process that does it."""

    settings: dict[str, Any]
    stage: str
    payload: Mapping[str, Any]
    outbox_id: str | None
    claim: Claim
    worker: str

    def encoded(self) -> bytes:
        """As it goes through a pipe: settings hold secrets, which are nobody's to see in a list
        of processes."""
        return json.dumps(asdict(self), default=str).encode()

    @classmethod
    def decoded(cls, given: bytes) -> "Suspect":
        """The other side of `encoded`."""
        found = json.loads(given)
        return cls(**{**found, "claim": Claim(**found["claim"])})


@dataclass(frozen=True)
class Alone:
    """Does claimed work in a process of its own."""

    settings: Settings

    def work(
        self,
        stage: Stage,
        payload: Mapping[str, Any],
        outbox_id: UUID | None,
        held: Claim,
        *,
        worker: str,
        limit_seconds: float,
    ) -> str | None:
        """Do it, and wait for it; the caller keeps the lease alive.

        Returns:
            How it stopped its process; None: it came back, and how it ended is written down.
        """
        suspect = Suspect(
            self.settings.model_dump(mode="json"),
            stage.value,
            payload,
            str(outbox_id) if outbox_id is not None else None,
            held,
            worker,
        )
        allowed = limit_seconds - min(MARGIN_SECONDS, _MOST_MARGIN * limit_seconds)
        log.warning("works_alone", stage=stage.value, attempts=held.attempts, losses=held.losses)
        process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-m", MODULE], stdin=subprocess.PIPE
        )
        try:
            process.communicate(suspect.encoded(), timeout=allowed)
        except (subprocess.TimeoutExpired, Interrupt):
            return f"it had not ended after {allowed:g} s, alone in its process"
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        return _ended(process.returncode)


def _ended(code: int) -> str | None:
    if code == 0:
        return None
    if code < 0:
        return f"its process, where it was alone, ended by signal {-code}"
    return f"its process, where it was alone, stopped itself (code {code})"


def first_to_go() -> None:
    """Where the machine runs out of memory, end this process and not the one that waits for it."""
    try:
        Path("/proc/self/oom_score_adj").write_text(_OUT_OF_MEMORY_FIRST, "ascii")
    except OSError:
        log.debug("no_oom_score")
