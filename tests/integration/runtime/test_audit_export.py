"""Signed exports: they verify without the database, and whatever is done to them shows."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from store.audit import ed25519 as ed25519
from store.audit.audit import Checkpoint, Event, link_hash
from store.audit.export import (
    BadManifest,
    ExportReport,
    Manifest,
    NotWhole,
    read_manifest,
    verify_export,
    write_export,
)
from store.audit.keys import BadKey, signing_key
from store.core.unit_of_work import Store

pytestmark = pytest.mark.requirement("DC-6")
KEY = bytes(range(32))
AT = datetime(2026, 11, 22, tzinfo=UTC)
EVENTS = 6


@dataclass
class Export:
    """What an auditor was handed."""

    lines: list[bytes]
    manifest: bytes

    def verify(self, lines: Sequence[bytes] | None = None) -> ExportReport:
        """As `attest audit verify-export` does it: from the two files alone."""
        manifest = read_manifest(self.manifest, trusted=ed25519.public_key(KEY))
        return verify_export(self.lines if lines is None else lines, manifest)


def export(store: Store, **bounds: Any) -> Export:
    """Export a range."""
    out = io.BytesIO()
    with store.reading() as session:
        made = write_export(session, out, KEY, AT, **bounds)
    return Export(out.getvalue().splitlines(keepends=True), made.model_dump_json().encode())


@pytest.fixture(scope="module")
def chain(shared_store: Store) -> Store:
    """A chain of six events, with what JSON can hold."""
    for n in range(EVENTS):
        with shared_store.unit_of_work("tést", request_id=uuid4() if n % 2 else None) as work:
            work.record("thing.made", f"subject-{n}", n=n, share=n / 7, names=["é", '"', "\n"])
    return shared_store


@pytest.fixture(scope="module")
def exported(chain: Store) -> Export:
    """All of it."""
    return export(chain)


def test_an_export_verifies_without_the_database(exported: Export) -> None:
    report = exported.verify()
    assert (report.whole, report.events, report.first_bad_seq) == (True, EVENTS, None)
    assert report.public_key == ed25519.public_key(KEY).hex()


def test_a_manifest_names_count_ends_and_hashes(chain: Store, exported: Export) -> None:
    manifest = Manifest.model_validate_json(exported.manifest)
    with chain.reading() as session:
        head = session.execute(sa.text("SELECT seq, hash FROM audit_head")).one()
    assert (manifest.count, manifest.algorithm) == (EVENTS, "Ed25519")
    assert (manifest.after.seq, manifest.after.hash) == (0, "00" * 32)
    assert manifest.first is not None
    assert manifest.first.seq == 1
    assert (manifest.last.seq, manifest.last.hash) == (head.seq, bytes(head.hash).hex())


def test_each_line_is_a_json_object_with_the_event_and_its_hashes(exported: Export) -> None:
    previous = "00" * 32
    for n, line in enumerate(exported.lines):
        body = json.loads(line)
        assert body["event"]["subject"] == f"subject-{n}"
        assert body["previous_hash"] == previous
        previous = body["hash"]


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_any_changed_byte_of_a_line_is_found_at_its_event(exported: Export, seq: int) -> None:
    line = exported.lines[seq - 1]
    for at in range(len(line)):
        changed = bytearray(line)
        changed[at] ^= 1
        lines = [*exported.lines]
        lines[seq - 1] = bytes(changed)
        report = exported.verify(lines)
        assert (report.whole, report.first_bad_seq) == (False, seq)


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_a_missing_a_doubled_and_a_swapped_line_are_found(exported: Export, seq: int) -> None:
    lines, at = exported.lines, seq - 1
    assert exported.verify([*lines[:at], *lines[seq:]]).first_bad_seq == seq
    assert exported.verify([*lines[:seq], *lines[at:]]).first_bad_seq == seq + 1
    if seq < EVENTS:
        swapped = [*lines[:at], lines[seq], lines[at], *lines[seq + 1 :]]
        report = exported.verify(swapped)
        assert report.first_bad_seq == seq
        assert report.reason == f"event {seq} is missing, {seq + 1} stands in its place"


@pytest.mark.parametrize("kept", range(EVENTS))
def test_a_cut_off_end_is_found(exported: Export, kept: int) -> None:
    assert exported.verify(exported.lines[:kept]).first_bad_seq == kept + 1


def test_a_chain_rewritten_with_the_right_hashes_is_not_the_one_that_was_signed(
    exported: Export,
) -> None:
    previous, lines = bytes(32), []
    for line in exported.lines:
        event = json.loads(line)["event"]
        seq, at = event.pop("seq"), event.pop("at")
        event["actor"] = "somebody else"
        digest = link_hash(previous, seq, at, Event(**event))
        written = json.dumps(
            {**event, "seq": seq, "at": at},
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )
        lines.append(
            f'{{"event":{written},"hash":"{digest.hex()}",'
            f'"previous_hash":"{previous.hex()}"}}\n'.encode()
        )
        previous = digest
    report = exported.verify(lines)
    assert (report.whole, report.first_bad_seq) == (False, EVENTS)
    assert "not the one that was signed" in (report.reason or "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", EVENTS - 1),
        ("last", {"seq": EVENTS - 1, "hash": "ab" * 32}),
        ("after", {"seq": 1, "hash": "ab" * 32}),
        ("file_sha256", "ab" * 32),
        ("exported_at", "2020-01-01T00:00:00Z"),
        ("signature", "ab" * 64),
        ("public_key", ed25519.public_key(bytes(32)).hex()),
    ],
)
def test_a_changed_manifest_is_refused(exported: Export, name: str, value: Any) -> None:
    changed = json.dumps({**json.loads(exported.manifest), name: value}).encode()
    with pytest.raises(BadManifest, match="manifest was changed"):
        read_manifest(changed)


def test_an_export_of_another_signer_is_refused(exported: Export) -> None:
    with pytest.raises(BadManifest, match="not by the key given"):
        read_manifest(exported.manifest, trusted=ed25519.public_key(bytes(32)))


@pytest.mark.parametrize("written", [b"", b"[]", b"{}", b'{"format": "other"}', b"[" * 10_000])
def test_what_is_no_manifest_is_refused(written: bytes) -> None:
    with pytest.raises(BadManifest, match="not one of an export"):
        read_manifest(written)


@pytest.mark.parametrize(("after", "until", "count"), [(2, 4, 2), (0, 1, 1), (5, None, 1)])
def test_a_range_is_exported_and_follows_what_it_names(
    chain: Store, after: int, until: int | None, count: int
) -> None:
    made = export(chain, after=Checkpoint(after), until=until)
    manifest = Manifest.model_validate_json(made.manifest)
    assert (manifest.count, manifest.after.seq) == (count, after)
    assert made.verify().whole


def test_two_exports_join_where_one_ends(chain: Store) -> None:
    first = export(chain, until=3)
    end = Manifest.model_validate_json(first.manifest).last
    second = export(chain, after=Checkpoint(end.seq, bytes.fromhex(end.hash)))
    assert Manifest.model_validate_json(second.manifest).after == end


def test_an_empty_range_is_signed_too(chain: Store) -> None:
    made = export(chain, after=Checkpoint(EVENTS))
    assert (made.lines, made.verify().whole) == ([], True)


def test_a_broken_chain_is_not_signed(chain: Store) -> None:
    with Session(chain.engine) as session:
        session.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER ALL"))
        session.execute(sa.text("UPDATE audit_event SET actor = 'x' WHERE seq = 3"))
        with pytest.raises(NotWhole, match="event 3 is not what was written"):
            write_export(session, io.BytesIO(), KEY, AT)


def test_the_key_is_made_once_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    key = signing_key(tmp_path / "data")
    assert signing_key(tmp_path / "data") == key
    file = tmp_path / "data" / "audit.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["audit.key"]
    file.chmod(0o644)
    with pytest.raises(BadKey, match="may be read by others"):
        signing_key(tmp_path / "data")


def test_a_key_from_the_environment_wins(tmp_path: Path) -> None:
    assert signing_key(tmp_path, KEY.hex()) == KEY
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["zz", "00" * 31, "00" * 33, "secret words"])
def test_a_bad_key_is_refused_without_being_repeated(tmp_path: Path, given: str) -> None:
    with pytest.raises(BadKey) as caught:
        signing_key(tmp_path, given)
    assert given not in str(caught.value)
