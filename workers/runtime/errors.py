"""The errors of a stage and what follows from each. Adapters map their errors to these.

    StageError
    ├── Permanent   a retry cannot help              → dead letter at once
    │   └── StoppedWorker   it ended its workers     → the same; a replay runs it alone
    ├── Transient   a retry may help                 → next attempt with back-off
    └── Later       a retry helps after a known time → next attempt then; costs no attempt

Texts of these errors reach dead letters and logs: they name ids and rules, never document words.
"""

from dramatiq.middleware import Interrupt
from pydantic import ValidationError

from messages import MessageError
from store.core.database import passes_by_itself
from store.index.lexical import TermsMismatch
from store.index.partitions import Moved, PartitionAway, WrongServer

RENEWAL_SECONDS = 10.0
"""Our choice: a small index is rebuilt within it; one of a million chunks takes some minutes."""

_OF_PARTITIONS = (PartitionAway, Moved, WrongServer)
AWAY_SECONDS = 2.0
"""Ours: a question that waits for a partition asks it again after this time."""


class StageError(Exception):
    """A stage could not do its work."""


class Permanent(StageError):
    """A retry cannot help."""


class StoppedWorker(Permanent):
    """The work exceeded its time or memory, or ended its process, more than once."""


class Transient(StageError):
    """A retry may help."""


class Later(StageError):
    """Try again after `seconds`, such as a service's Retry-After."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


def classify(error: BaseException) -> StageError:
    """Map `error` to a stage error. An unexpected error counts as transient."""
    if isinstance(error, StageError):
        return error
    if isinstance(error, (ValidationError, MessageError)):
        return Permanent(describe(error))
    if isinstance(error, TermsMismatch):
        return Later(describe(error), RENEWAL_SECONDS)
    if isinstance(error, PartitionAway | Moved):
        return Later(describe(error), AWAY_SECONDS)
    return Transient(describe(error))


def describe(error: BaseException) -> str:
    """One line about `error` without values that could quote a text (invariant 11)."""
    if isinstance(error, (StageError, MessageError, TermsMismatch, *_OF_PARTITIONS)):
        return str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False, include_context=False)[:3]
        fields = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['type']}" for e in first)
        return f"{error.title}: {fields}"
    if isinstance(error, Interrupt):
        return f"stopped by {type(error).__name__}"
    if passes_by_itself(error):
        return "the database was away or busy"
    frame, tb = "", error.__traceback__
    while tb is not None:
        frame, tb = f"{tb.tb_frame.f_globals.get('__name__')}:{tb.tb_lineno}", tb.tb_next
    return f"{type(error).__name__} at {frame}"
