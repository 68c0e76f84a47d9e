"""What a parser gives: records, and a word on everything that did not become one.

A parser is a pure function of bytes, `parse(payload: bytes) -> Parsed`. It never drops silently:
what it cannot read is a `Problem`, what it does not map is counted in `unmapped`, and bytes that
are not what the source's protocol says raise `workers.http.errors.Malformed`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from store.documents.records import SourceRecord

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class Problem:
    """One record that could not be read; `source_id` where it can be told (`pmid:123`)."""

    source_id: str | None
    reason: str

    def __post_init__(self) -> None:
        for name in ("source_id", "reason"):
            object.__setattr__(self, name, _storable(getattr(self, name)))


@dataclass(frozen=True)
class Doubt:
    """An identifier in a record that cannot be one, and so was left out of its identifiers."""

    source_id: str
    kind: str
    value: str

    def __post_init__(self) -> None:
        for name in ("source_id", "value"):
            object.__setattr__(self, name, _storable(getattr(self, name)))


def _storable(text: str | None) -> str | None:
    """`text` with U+FFFD for what PostgreSQL cannot hold: what a source sends where an identifier
    should be is written down as it came, and must not end the refresh that brings it."""
    return text if text is None else _UNSTORABLE.sub("\ufffd", text)


@dataclass
class Parsed:
    """All that a payload held.

    `records` carry `source_key` or identifiers that name the document (`SourceRecord.key`), never
    `fetched_at`: the caller knows when the payload came. `gone` lists the keys of documents that
    the source says it deleted, `unseen` those that it only shows no longer. `unmapped` counts the
    paths of fields that are in the payload, not in a record, and not in the parser's list of fields
    left out on purpose.
    """

    records: list[SourceRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    unmapped: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Parsed") -> None:
        """Take in what `other` holds."""
        self.records += other.records
        self.problems += other.problems
        self.doubts += other.doubts
        self.gone += other.gone
        self.unseen += other.unseen
        self.unmapped.update(other.unmapped)


LeftOut = Mapping[str, str]
"""Path of a field → why it is not in the record. A prefix ending in `/*` covers what is below."""
