"""Runs work that may have killed a worker alone, in a process of its own.

A worker does several pieces of work at once. When it is lost, any of them may be the cause, so all
are suspects. Each suspect is run once more with nothing beside it: the worker that claimed it
starts a process, keeps the lease, and waits. If the process returns, the suspect was innocent and
its outcome is already written. If it has to be stopped or is lost too, the work is the cause, and
the waiting worker records that.
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
"""Our choice: the process is stopped this long before the waiting worker's time limit."""
_MOST_MARGIN = 0.2
_OUT_OF_MEMORY_FIRST = "1000"


@dataclass(frozen=True)
class Suspect:
    """A claimed piece of work, in the form in which it is handed to its process."""

    settings: dict[str, Any]
    stage: str
    payload: Mapping[str, Any]
    outbox_id: str | None
    claim: Claim
    worker: str

    def encoded(self) -> bytes:
        """The JSON that is sent through a pipe: settings hold secrets, which a list of processes
        would show."""
        return json.dumps(asdict(self), default=str).encode()

    @classmethod
    def decoded(cls, given: bytes) -> "Suspect":
        """Read what `encoded` wrote."""
        fields = json.loads(given)
        return cls(**{**fields, "claim": Claim(**fields["claim"])})


@dataclass(frozen=True)
class Alone:
    """Runs claimed work in a process of its own."""

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
        """Run the work and wait for it; the caller keeps the lease alive.

        Returns:
            How the work stopped its process; None if it returned and its outcome is written.
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
    """When memory runs out, let the kernel end this process before the one that waits for it."""
    try:
        Path("/proc/self/oom_score_adj").write_text(_OUT_OF_MEMORY_FIRST, "ascii")
    except OSError:
        log.debug("no_oom_score")
