"""Signed exports of the audit chain, which can be verified without the database.

An export is JSON Lines, one event a line, and a manifest beside it. The value of `"event":` in a
line is, byte for byte, the input of the link's hash. The manifest names the first and the last hash
and is signed (Ed25519, RFC 8032) over its own canonical JSON without the signature.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlmodel import Session

from store.audit import ed25519 as ed25519
from store.audit.audit import ChainReport, Checkpoint, verify
from store.audit.links import GENESIS, canonical
from store.audit.rows import StoredLink

_HEX_32 = r"^[0-9a-f]{64}$"
_HEX_64 = r"^[0-9a-f]{128}$"
_BEFORE, _MIDDLE, _BEHIND, _END = b'{"event":', b',"hash":"', b'","previous_hash":"', b'"}\n'
_TAIL = len(_MIDDLE) + 64 + len(_BEHIND) + 64 + len(_END)
_EVERY = 10_000
"""Lines between two progress reports. Ours."""

Hash = Annotated[str, Field(pattern=_HEX_32)]


class NotWhole(ValueError):
    """The chain is broken, so it was not signed."""

    def __init__(self, report: ChainReport) -> None:
        super().__init__(f"the chain is broken, nothing was exported: {report.reason}")
        self.report = report


class BadManifest(ValueError):
    """The manifest is invalid, or not signed by the expected key."""


class Writable(Protocol):
    """The output for lines."""

    def write(self, data: bytes, /) -> object:
        """Write `data`."""


class End(BaseModel):
    """The first or last link of the exported range."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seq: int
    hash: Hash


class Manifest(BaseModel):
    """The content of an export and the key that signed it. Hashes, key and signature in hex."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["attest-audit-export.v1"] = "attest-audit-export.v1"
    count: int = Field(ge=0)
    after: End = Field(description="the link that the first event follows; seq 0: the beginning")
    last: End = Field(description="the last event; of an empty export the same as `after`")
    first: End | None = Field(description="the first event; null in an empty export")
    file_sha256: Hash
    exported_at: datetime
    algorithm: Literal["Ed25519"] = "Ed25519"
    public_key: Hash
    signature: Annotated[str, Field(pattern=_HEX_64)]


def write_export(
    session: Session,
    out: Writable,
    key: bytes,
    at: datetime,
    *,
    after: Checkpoint | None = None,
    until: int | None = None,
    progress: Callable[[Checkpoint], None] | None = None,
) -> Manifest:
    """Write the events after `after` up to `until` to `out`, verify them, and sign the manifest.

    Args:
        session: reads one snapshot (`Store.reading`).
        key: the secret seed, (32,) bytes.
        at: the export time in the manifest.

    Raises:
        NotWhole: the chain is broken; the lines written so far are useless.
    """
    digest, ends = hashlib.sha256(), _Ends()

    def each(found: StoredLink) -> None:
        line = _line(found)
        digest.update(line)
        out.write(line)
        ends.add(found)

    report = verify(session, after=after, until=until, progress=progress, each=each)
    if not report.whole:
        raise NotWhole(report)
    last = _end(report.checked)
    unsigned = Manifest.model_validate(
        {
            "count": report.events,
            "after": ends.after or last,
            "first": ends.first,
            "last": last,
            "file_sha256": digest.hexdigest(),
            "exported_at": at,
            "public_key": ed25519.public_key(key).hex(),
            "signature": "00" * ed25519.SIGNATURE_BYTES,
        }
    )
    signature = ed25519.sign(key, _signed(unsigned.model_dump(mode="json"))).hex()
    return unsigned.model_copy(update={"signature": signature})


@dataclass
class _Ends:
    """The link before the exported range and its first link."""

    after: dict[str, Any] | None = None
    first: dict[str, Any] | None = None

    def add(self, found: StoredLink) -> None:
        if self.first is None:
            self.after = {"seq": found.seq - 1, "hash": found.previous_hash.hex()}
            self.first = {"seq": found.seq, "hash": found.hash.hex()}


def _end(checkpoint: Checkpoint) -> dict[str, Any]:
    return {"seq": checkpoint.seq, "hash": (checkpoint.hash or GENESIS).hex()}


def _line(found: StoredLink) -> bytes:
    assert found.written is not None  # it was verified
    hashes = found.hash.hex().encode(), found.previous_hash.hex().encode()
    return b"".join((_BEFORE, found.written.encode(), _MIDDLE, hashes[0], _BEHIND, hashes[1], _END))


def _signed(manifest: dict[str, Any]) -> bytes:
    """The bytes that are signed."""
    unsigned = {name: value for name, value in manifest.items() if name != "signature"}
    return canonical(unsigned).encode()


@dataclass(frozen=True)
class ExportReport:
    """The result of verifying an export. `first_bad_seq` is None if it is as it was signed."""

    events: int
    whole: bool
    first_bad_seq: int | None
    reason: str | None
    public_key: str


def read_manifest(written: bytes, *, trusted: bytes | None = None) -> Manifest:
    """The manifest, if its signature is valid.

    Args:
        trusted: the public key that must have signed it, (32,) bytes; None: the key in the
            manifest, which proves only that nobody without that key changed it.

    Raises:
        BadManifest: it is invalid, was changed, or was signed by another key.
    """
    try:
        body = json.loads(written)
        manifest = Manifest.model_validate(body)
    except (ValueError, ValidationError, RecursionError):
        raise BadManifest("the manifest is not one of an export") from None
    key = bytes.fromhex(manifest.public_key)
    if trusted is not None and key != trusted:
        raise BadManifest(f"the export is signed by {manifest.public_key}, not by the key given")
    if not ed25519.verifies(key, _signed(body), bytes.fromhex(manifest.signature)):
        raise BadManifest("the signature does not fit: the manifest was changed")
    return manifest


def verify_export(
    lines: Iterable[bytes], manifest: Manifest, *, progress: Callable[[int], None] | None = None
) -> ExportReport:
    """Check lines against their manifest, one at a time; reports the first bad event."""
    digest, count = hashlib.sha256(), 0
    seq, last = manifest.after.seq, bytes.fromhex(manifest.after.hash)

    def report(bad: int | None, reason: str | None) -> ExportReport:
        return ExportReport(count, bad is None, bad, reason, manifest.public_key)

    for line in lines:
        expected = seq + 1
        if expected > manifest.last.seq:
            return report(expected, f"event {expected} was not signed: it was added behind the end")
        digest.update(line)
        fault = _line_fault(line, expected, last)
        if fault is not None:
            return report(expected, fault)
        seq, last, count = expected, _hash_of(line), count + 1
        if progress is not None and count % _EVERY == 0:
            progress(count)
    if seq != manifest.last.seq or count != manifest.count:
        return report(seq + 1, f"event {seq + 1} is missing: {manifest.last.seq} is the last")
    if last.hex() != manifest.last.hash:
        return report(seq, f"event {seq} is not the one that was signed, or one before it is not")
    if digest.hexdigest() != manifest.file_sha256:
        return report(seq, "the file is not the one that was signed")
    return report(None, None)


def _hash_of(line: bytes) -> bytes:
    start = len(line) - _TAIL + len(_MIDDLE)
    return bytes.fromhex(line[start : start + 64].decode("ascii"))


def _line_fault(line: bytes, seq: int, previous: bytes) -> str | None:
    """What is wrong with the line that should hold event `seq`, after hash `previous`; or None."""
    event, tail = line[len(_BEFORE) : -_TAIL], line[-_TAIL:]
    expected = hashlib.sha256(previous + event).hexdigest().encode()
    whole = (_MIDDLE, expected, _BEHIND, previous.hex().encode(), _END)
    if not line.startswith(_BEFORE) or tail != b"".join(whole):
        number = _seq_of(line)
        if number is None or number == seq:
            return f"event {seq} is not what was written"
        return f"event {seq} is missing, {number} stands in its place"
    if _seq_of(line) != seq:
        return f"event {seq} is another one"
    return None


def _seq_of(line: bytes) -> int | None:
    """The sequence number of the event in a line; None if it has none."""
    try:
        number = json.loads(line)["event"]["seq"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return number if type(number) is int else None
