"""The stage that reads notes, with a text that stops it: what a careless pattern did once.

`MARK` in a note makes the reader hold the interpreter for longer than anybody waits.
"""

import re
from dataclasses import replace
from typing import Any

from messages import Stage, SummarizeV1
from store.models import Note
from workers import registry
from workers.summarize import stage

MARK = "Stand still"
_CAREFUL = stage.SPEC.work


def _read(context: Any, message: SummarizeV1) -> Any:
    with context.store.reading() as session:
        note = session.get(Note, message.note_id)
    if note is not None and MARK in note.text:
        re.match(r"(a+)+$", "a" * 64 + "!")  # 2^64 steps, in one call
    return _CAREFUL(context, message)


SPEC = replace(stage.SPEC, work=_read)


def stand() -> None:
    """Let this process read so."""
    registry.MODULES[Stage.SUMMARIZE] = __name__
