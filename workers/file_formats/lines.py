"""Reads JSON Lines line by line: an unreadable line does not stop the others."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store.documents.records import SourceRecord
from workers.file_formats.errors import UnreadableDocument
from workers.file_formats.invisibles import seen
from workers.file_formats.plain import decode
from workers.file_formats.records import record_of_line

MOST_UNREADABLE = 1000
"""Our choice: a file with more bad lines is of another kind; each bad line is reported."""
_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class LineProblem:
    """A line that cannot be read: its number in the file and the reason."""

    line: int
    reason: str

    def body(self) -> dict[str, object]:
        """The problem as JSON."""
        return {"line": self.line, "reason": self.reason}


@dataclass(frozen=True)
class Found:
    """The documents in a file and its unreadable lines; at least one of the two is not empty."""

    records: Sequence[SourceRecord]
    unreadable: Sequence[LineProblem] = ()

    @property
    def error(self) -> str | None:
        """Why the file cannot be read; None if it holds a document."""
        if self.records:
            return None
        bad = self.unreadable
        return (
            f"{bad[0].reason} ({len(bad)} of {len(bad)} lines)" if len(bad) > 1 else bad[0].reason
        )


def read_each_line(data: bytes, first_line: int) -> Found:
    """The records of all readable lines, and the others as problems; blank lines are skipped.

    Raises UnreadableDocument if all are blank, or more than MOST_UNREADABLE are unreadable.
    """
    records: list[SourceRecord] = []
    bad: list[LineProblem] = []
    for number, line in enumerate(_lines(data), first_line):
        if not line.decode("utf-8-sig", "replace").strip():
            continue
        try:
            records.append(_record(line, number))
        except UnreadableDocument as error:
            bad.append(LineProblem(number, str(error)))
        if len(bad) > MOST_UNREADABLE:
            raise UnreadableDocument(
                f"more than {MOST_UNREADABLE:,} lines cannot be read, so nothing of it is kept; "
                f"the first is {bad[0].reason}"
            )
    if not records and not bad:
        raise UnreadableDocument("the file is empty; nothing to read")
    return Found(records, tuple(bad))


def _lines(data: bytes) -> Iterator[bytes]:
    """The lines, one at a time: a list of all may take eight times their bytes."""
    begun = 0
    for end in _END.finditer(data):
        yield data[begun : end.start()]
        begun = end.end()
    yield data[begun:]


def _record(line: bytes, number: int) -> SourceRecord:
    try:
        return seen(record_of_line(decode(line), number))
    except UnreadableDocument as error:
        reason = str(error)
        if reason.startswith(f"line {number}"):
            raise
        raise UnreadableDocument(f"line {number}: {reason}") from error
