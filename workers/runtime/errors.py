"""Why a stage did not finish, and what follows from it. Adapters map their errors to these.

    StageError
    ├── Permanent   it can never work as it is       → dead letter at once
    │   └── StoppedWorker   it cost its workers      → the same; a replay does it alone
    ├── Transient   it may work soon                 → next attempt with back-off
    └── Later       it will work after a known time  → next attempt then; costs no attempt

Texts of these errors reach dead letters and logs: they name ids and rules, never document words.
"""

from dramatiq.middleware import Interrupt
from pydantic import ValidationError

from messages import MessageError
from store.core.database import passes_by_itself
from store.index.lexical import TermsMismatch

RENEWAL_SECONDS = 10.0
"""Ours: a small index is written anew within it, one of a million chunks in some minutes."""


class StageError(Exception):
    """A stage could not do its work."""


class Permanent(StageError):
    """Trying again cannot help."""


class StoppedWorker(Permanent):
    """It took more time or memory than work may take, or ended its process, more than once."""


class Transient(StageError):
    """Trying again may help."""


class Later(StageError):
    """Try again after `seconds`, as the other side asked."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


def classify(error: BaseException) -> StageError:
    """The stage error that `error` amounts to. What nobody foresaw may pass by itself."""
    if isinstance(error, StageError):
        return error
    if isinstance(error, (ValidationError, MessageError)):
        return Permanent(describe(error))
    if isinstance(error, TermsMismatch):
        return Later(describe(error), RENEWAL_SECONDS)
    return Transient(describe(error))


def describe(error: BaseException) -> str:
    """One line on `error` without values that could be words of a text (invariant 11)."""
    if isinstance(error, (StageError, MessageError, TermsMismatch)):
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
