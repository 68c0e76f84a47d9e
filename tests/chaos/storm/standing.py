"""The stage that reads notes, with a text that stops it: what a careless pattern did once.

`MARK` in a note makes the reader hold the interpreter for longer than anybody waits. Run as a
module it is the process in which a suspect is done alone, with the same reader.
"""

import re
import sys
from dataclasses import replace
from typing import Any

from messages import Stage, SummarizeV1
from store.models import Note
from workers import registry
from workers.runtime import alone
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
    """Let this process read so, and what it starts."""
    registry.MODULES[Stage.SUMMARIZE] = __name__
    alone.MODULE = __name__


if __name__ == "__main__":
    from workers.alone import main

    registry.MODULES[Stage.SUMMARIZE] = "tests.chaos.storm.standing"
    sys.exit(main())
