"""The audit chain as a list of what was committed, and what tampering must be found where. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

GENESIS = bytes(32)


@dataclass(frozen=True)
class Row:
    """A row of `audit_event`. `at` is in the form that is hashed."""

    seq: int
    at: str
    actor: str
    event: str
    subject: str
    request_id: str | None
    payload: Mapping[str, Any]
    previous_hash: bytes
    hash: bytes

    def with_its_hash(self) -> "Row":
        """The row with the hash that it should have, as the chain's documentation says it:
        SHA-256(previous hash || canonical JSON of the event)."""
        body = {
            "seq": self.seq,
            "at": self.at,
            "actor": self.actor,
            "event": self.event,
            "subject": self.subject,
            "request_id": self.request_id,
            "payload": self.payload,
        }
        written = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return replace(self, hash=hashlib.sha256(self.previous_hash + written.encode()).digest())


@dataclass(frozen=True)
class Tampered:
    """The table as somebody left it, and the head."""

    rows: tuple[Row, ...]
    head: tuple[int, bytes] | None


def first_difference(committed: list[Row], found: Tampered) -> int | None:
    """Where verification must stop if no hash was forged: the first place where the table is not
    what was committed, else what the head says; None where all is as it was."""
    rows: dict[int, list[Row]] = {}
    for row in found.rows:
        rows.setdefault(row.seq, []).append(row)
    last = len(committed)
    strays = [seq for seq in rows if seq < 1]
    if strays:
        return min(strays)
    for row in committed:
        if rows.get(row.seq) != [row]:
            return row.seq
    if any(seq > last for seq in rows):
        return last + 1
    return _by_the_head(committed, found.head)


def _by_the_head(committed: list[Row], head: tuple[int, bytes] | None) -> int | None:
    last = len(committed)
    if head is None:
        return last + 1
    if head[0] != last:
        return min(last, head[0]) + 1
    newest = committed[-1].hash if committed else GENESIS
    return None if head[1] == newest else last


def forged(committed: list[Row], first: int, upto: int, event: str) -> tuple[Row, ...]:
    """The chain with event `first` reworded and all hashes from there to `upto` made to fit."""
    rows = list(committed)
    rows[first - 1] = replace(rows[first - 1], event=event)
    for n in range(first - 1, upto):
        previous = rows[n - 1].hash if n else GENESIS
        rows[n] = replace(rows[n], previous_hash=previous).with_its_hash()
    return tuple(rows)
