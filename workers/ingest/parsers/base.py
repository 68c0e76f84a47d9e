"""The result of a parser: records, and an account of everything that did not become one.

A parser is a pure function of bytes, `parse(payload: bytes) -> Parsed`. It never drops anything
silently: an unreadable record becomes a `Problem`, fields without a mapping are counted in
`unmapped`, and bytes that violate the source's protocol raise `workers.http.errors.Malformed`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from store.documents.records import SourceRecord

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class Problem:
    """A record that could not be read; `source_id` (`pmid:123`) is None if unknown."""

    source_id: str | None
    reason: str

    def __post_init__(self) -> None:
        for name in ("source_id", "reason"):
            object.__setattr__(self, name, _storable(getattr(self, name)))


@dataclass(frozen=True)
class Doubt:
    """An invalid value in a record, such as an identifier, that was left out of the record."""

    source_id: str
    kind: str
    value: str

    def __post_init__(self) -> None:
        for name in ("source_id", "value"):
            object.__setattr__(self, name, _storable(getattr(self, name)))


def _storable(text: str | None) -> str | None:
    """`text` with U+FFFD in place of characters that PostgreSQL cannot store. Invalid identifiers
    are recorded as the source sent them, and must not make the refresh fail."""
    return text if text is None else _UNSTORABLE.sub("\ufffd", text)


@dataclass
class Parsed:
    """The contents of a payload.

    `records` have a `source_key` or identifiers that name the document (`SourceRecord.key`), but
    no `fetched_at`: the caller knows when the payload came. `gone` lists the keys of documents that
    the source reports as deleted, `unseen` those that it no longer shows. `unmapped` counts the
    paths of fields that are in the payload, but neither in a record nor in the parser's list of
    fields left out on purpose.
    """

    records: list[SourceRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    unmapped: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Parsed") -> None:
        """Add the contents of `other`."""
        self.records += other.records
        self.problems += other.problems
        self.doubts += other.doubts
        self.gone += other.gone
        self.unseen += other.unseen
        self.unmapped.update(other.unmapped)


LeftOut = Mapping[str, str]
"""Path of a field → why it is not in the record. A path ending in `/*` covers all fields below."""
