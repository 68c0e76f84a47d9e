"""One link of the audit chain as it is hashed. Pure.

    hash(n) = SHA-256( hash(n-1) || canonical JSON of event n )

Canonical JSON: sorted keys, no spaces, UTF-8, nothing escaped that need not be.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from store.core.hashes import plain

GENESIS = bytes(32)
"""The hash before the first link."""


@dataclass(frozen=True)
class Event:
    """A state change: who did what to which subject. `payload` holds hashes and ids, not texts."""

    event: str
    subject: str
    actor: str
    request_id: UUID | None
    payload: Mapping[str, Any]


def link_hash(previous: bytes, seq: int, at: str, event: Event) -> bytes:
    """The hash of link `seq`, which follows the link with hash `previous`.

    Args:
        at: the time in UTC, as `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`.
    """
    return digest(previous, link(seq, at, event, canonical(event.payload)))


canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode
_written = json.encoder.encode_basestring  # encodes a string as `canonical` does


def link(seq: int, at: str, event: Event, payload: str) -> str:
    """The canonical JSON of a link, from the canonical JSON of its `payload`."""
    request_id = str(event.request_id) if event.request_id else None
    return link_of(seq, at, event.actor, event.event, event.subject, request_id, payload)


def link_of(
    seq: int, at: str, actor: str, event: str, subject: str, request_id: str | None, payload: str
) -> str:
    """The canonical JSON of a link from its parts."""
    before_at, before_payload, before_seq, end = around(actor, event, subject, request_id)
    return f"{before_at}{at}{before_payload}{payload}{before_seq}{seq}{end}"


def around(
    actor: str, event: str, subject: str, request_id: str | None
) -> tuple[str, str, str, str]:
    """The four constant parts of a link's canonical JSON: before its time, between time and
    payload, between payload and number, and the end. The caller numbers the link and joins them."""
    request = f'"{request_id}"' if request_id else "null"
    return (
        f'{{"actor":{_written(actor)},"at":"',
        f'","event":{_written(event)},"payload":',
        f',"request_id":{request},"seq":',
        f',"subject":{_written(subject)}}}',
    )


def payload_json(payload: Mapping[str, Any]) -> str:
    """The canonical JSON of a payload; fast for flat ones of strings and integers, as most are."""
    fields = []
    for key in sorted(payload):
        value = payload[key]
        if type(value) is str:
            fields.append(f"{_written(key)}:{_written(value)}")
        elif type(value) is int:
            fields.append(f"{_written(key)}:{value}")
        else:
            return canonical(plain(payload))
    return f"{{{','.join(fields)}}}"


def digest(previous: bytes, written: str) -> bytes:
    """The hash of a link that follows `previous`."""
    return hashlib.sha256(previous + written.encode()).digest()
