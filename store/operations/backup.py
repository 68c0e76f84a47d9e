"""Makes a backup in one file while everything runs, and restores it into a data directory.

    one line of JSON (`Header`) | output of pg_dump (custom format) | a line with the SHA-256

Header and dump are of one snapshot: later commits are in neither. Redis is not backed up, because
it only wakes workers (invariant 1), and neither is the key that signs exports. The file holds words
of patients and is readable by its owner only.
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, ValidationError
from sqlmodel import Session

from store.access import keys
from store.audit import audit
from store.core.atomic_files import (
    RESTORING,
    abandoned,
    appearing_file,
    mounted,
    unfinished_directory,
)
from store.core.database import connect
from store.core.schema import knows_revision, migrate, schema_revision
from store.core.unit_of_work import Store
from store.dead_letters.dead_letters import CODE_VERSION
from store.embedded import DataDir, EmbeddedPostgres
from store.embedded.binaries import postgres_client
from store.embedded.datadir import remove_tree, sync_directory
from store.embedded.postgres import STOP_SIGNAL
from store.embedded.process import end_leftovers
from store.models import now
from store.operations.postgres_programs import running

Progress = Callable[[str, int, int | None], None]
"""Called with the step, its bytes done so far, and their total, or None if that is not known."""

ACTOR = "restore"
COUNTED = ("question", "answer", "note", "verification", "document_version", "outbox")
_FIRST = b'{"format":"attest-backup.'
_END = b"\nattest-backup-end "
_END_BYTES = len(_END) + 64 + 1
_MOST_HEADER_BYTES = 65_536
_PIECE = 1 << 20


class BackupError(RuntimeError):
    """No backup was made or restored; the message says why. Nothing was left behind."""


class End(BaseModel):
    """The newest event of the audit chain, with its hash in hex."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seq: int
    hash: str


class Header(BaseModel):
    """The content of a backup, as of its snapshot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["attest-backup.v1"] = "attest-backup.v1"
    made_at: datetime
    code_version: str
    schema_revision: str
    postgresql: int
    audit: End
    rows: Mapping[str, int]


@dataclass(frozen=True)
class Made:
    """A backup that was written."""

    header: Header
    bytes: int
    sha256: str


class HeldKey(NamedTuple):
    """A valid key in the restored data; it may have been revoked after the backup."""

    id: UUID
    name: str
    owner: str
    scopes: tuple[str, ...]
    expires_at: datetime


@dataclass(frozen=True)
class Restored:
    """A restored data directory, and the results of its checks."""

    header: Header
    events_verified: int
    schema_revision: str
    sent_again: int
    sessions_ended: int
    keys: tuple[HeldKey, ...]
    chain_fault: str | None
    """The fault in its audit chain; None: the chain is whole."""


def make(url: str, file: Path, progress: Progress) -> Made:
    """Back up the database at `url` to `file`, which must not exist yet.

    Raises:
        BackupError: the database has no schema.
        ProgramFailed: pg_dump failed.
        FileExistsError: the file exists already.
        ServerUnavailable: there is no pg_dump.
    """
    if file.exists():
        raise FileExistsError(f"{file} is there already: name another file")
    program = postgres_client("pg_dump")
    engine = connect(url, pool_size=1, idle_in_transaction_seconds=0)  # it holds the snapshot
    try:
        with appearing_file(file) as out, engine.connect() as plain:
            connection = plain.execution_options(isolation_level="REPEATABLE READ")
            header = _header(connection)
            snapshot = connection.execute(sa.text("SELECT pg_export_snapshot()")).scalar_one()
            written = _Hashed(out)
            written.write(header.model_dump_json().encode() + b"\n")
            _dump(program, url, snapshot, written, progress)
            digest = written.digest.hexdigest()
            out.write(_END + digest.encode() + b"\n")
    finally:
        engine.dispose()
    return Made(header, file.stat().st_size, digest)


def _header(connection: sa.Connection) -> Header:
    revision = schema_revision(connection)
    if revision is None:
        raise BackupError("the database has no schema: there is nothing to back up")
    head = connection.execute(sa.text("SELECT seq, hash FROM audit_head")).one()
    return Header(
        made_at=now(),
        code_version=CODE_VERSION,
        schema_revision=revision,
        postgresql=int(connection.execute(sa.text("SHOW server_version_num")).scalar_one()),
        audit=End(seq=head.seq, hash=bytes(head.hash).hex()),
        rows=_counts(connection),
    )


def _counts(connection: sa.Connection) -> dict[str, int]:
    """Row counts of the most important tables, if this schema has them."""
    there = set(sa.inspect(connection).get_table_names())
    return {
        name: connection.execute(sa.text(f"SELECT count(*) FROM {name}")).scalar_one()  # noqa: S608
        for name in COUNTED
        if name in there
    }


class _Hashed:
    """A file that hashes and counts the bytes written to it."""

    def __init__(self, out: IO[bytes]) -> None:
        self.digest, self.count, self._out = hashlib.sha256(), 0, out

    def write(self, data: bytes) -> None:
        """Write and hash."""
        self.digest.update(data)
        self.count += len(data)
        self._out.write(data)


def _dump(program: Path, url: str, snapshot: str, out: _Hashed, progress: Progress) -> None:
    arguments = [
        str(program),
        "--format=custom",
        "--compress=gzip:3",
        "--no-owner",
        "--no-privileges",
        f"--snapshot={snapshot}",
    ]
    with running(arguments, url, reading=True) as process:
        assert process.stdout is not None
        while piece := process.stdout.read(_PIECE):
            out.write(piece)
            progress("backup", out.count, None)


def _read_header(content: IO[bytes], file: Path) -> Header:
    line = content.readline(_MOST_HEADER_BYTES)
    if not line.startswith(_FIRST):
        raise BackupError(f"{file} is no backup of Attest")
    try:
        return Header.model_validate_json(line)
    except ValidationError:
        raise BackupError(
            f"{file} is a backup in a form that this release does not read: restore it with the "
            "release that made it"
        ) from None


def restore(
    file: Path, target: Path, progress: Progress, *, broken_chain: bool = False
) -> Restored:
    """Restore a backup into a new data directory, completely or not at all.

    It is made beside `target` and renamed once every check has passed, so an interrupted restore
    leaves nothing that could be taken for an instance. Leftovers of a killed restore to `target`
    are removed first. All page sessions are ended, so nobody stays signed in.

    Args:
        broken_chain: also restore if events of the audit chain were changed before the backup; they
            stay as they are, for an auditor to find.

    Raises:
        BackupError: the file is no backup, is truncated or changed, is of a newer release, or the
            restored data differ from its header; or `target` is not empty, or is a mount point.
        ProgramFailed: pg_restore failed.
        FileNotFoundError: the file does not exist.
        EmbeddedError: the servers cannot run there.
    """
    target = target.expanduser().resolve()  # where a symbolic link leads
    _require_place(target)
    header = _whole(file, progress)
    if not knows_revision(header.schema_revision):
        raise BackupError(
            f"{file} was made by release {header.code_version} with the schema "
            f"{header.schema_revision}, which this release does not know: restore it with that "
            "release or a newer one"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in abandoned(target, RESTORING):
        _remove(left)
    with unfinished_directory(target) as unfinished:
        with DataDir(unfinished) as data:
            postgres = EmbeddedPostgres(data)
            try:
                postgres.start()
                done = _filled(file, header, postgres, progress, broken_chain)
            finally:
                postgres.stop()
        (unfinished / "attest.lock").unlink(missing_ok=True)
        unfinished.rename(target)  # also replaces an empty directory (rename(2))
        sync_directory(target.parent)
    return done


def _require_place(target: Path) -> None:
    if mounted(target):
        raise BackupError(
            f"{target} is a mount point, and a directory that is whole cannot be renamed onto one: "
            f"name a new one below it, such as {target / 'attest'}"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BackupError(f"{target} is not empty: name an empty or a new directory")


def _remove(left: Path) -> None:
    """Stop the server of a killed restore and remove its directory."""
    end_leftovers(left / "postgres", "postgres", STOP_SIGNAL)
    shutil.rmtree(DataDir(left).runtime_dir, ignore_errors=True)
    remove_tree(left)


def _whole(file: Path, progress: Progress) -> Header:
    """Check that a file is complete and unchanged; returns its header."""
    size, digest = file.stat().st_size, hashlib.sha256()
    with file.open("rb") as content:
        header = _read_header(content, file)
        content.seek(max(0, size - _END_BYTES))
        end = content.read()
        if not (end.startswith(_END) and end.endswith(b"\n") and len(end) == _END_BYTES):
            raise BackupError(f"{file} is cut short: it has no end; use another copy")
        content.seek(0)
        left = size - _END_BYTES
        while left and (piece := content.read(min(_PIECE, left))):
            digest.update(piece)
            left -= len(piece)
            progress("check", size - _END_BYTES - left, size - _END_BYTES)
    if digest.hexdigest().encode() != end[len(_END) : -1]:
        raise BackupError(
            f"{file} is not as it was written (its SHA-256 differs); use another copy"
        )
    return header


def _filled(
    file: Path,
    header: Header,
    postgres: EmbeddedPostgres,
    progress: Progress,
    broken_chain: bool,
) -> Restored:
    """Load the dump into a new server, check it, migrate it and make its open work due."""
    url = postgres.database_url
    _load(file, url, progress)
    engine = connect(url, pool_size=2, idle_in_transaction_seconds=0)
    try:
        chain = _checked(engine, header, broken_chain)
        migrate(engine)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("ANALYZE"))
            revision = schema_revision(connection)
            assert revision is not None
        with Store(engine).unit_of_work(ACTOR) as work:
            sent = len(work.session.execute(_SEND_AGAIN).all())
            work.session.execute(_LET_GO)
            ended = len(work.session.execute(_SIGN_OUT).all())
            held = _holding(work.session)
            work.record(
                "backup.restored",
                "backup",
                made_at=header.made_at.isoformat(),
                last_event=header.audit.seq,
                schema_revision=header.schema_revision,
                sessions_ended=ended,
                **({} if chain.whole else {"chain_broken_at": chain.first_bad_seq}),
            )
    finally:
        engine.dispose()
    return Restored(header, chain.events, revision, sent, ended, held, chain.reason)


def _holding(session: Session) -> tuple[HeldKey, ...]:
    at = now()
    return tuple(
        HeldKey(key.id, key.name, key.owner, tuple(key.scopes), key.expires_at)
        for key in keys.listing(session)
        if key.revoked_at is None and key.expires_at > at
    )


_SEND_AGAIN = sa.text(
    "UPDATE outbox SET status = 'pending', publish_count = 0, not_before = clock_timestamp() "
    "WHERE status = 'published' RETURNING id"
)
"""No broker holds these messages: the new Redis is empty."""
_LET_GO = sa.text("UPDATE stage_run SET lease_until = clock_timestamp() WHERE status = 'running'")
"""The workers that hold these leases work for another database."""
_SIGN_OUT = sa.text("DELETE FROM page_session RETURNING 1")
"""Else sessions that were ended since the backup would be open again."""


def _load(file: Path, url: str, progress: Progress) -> None:
    total = file.stat().st_size - _END_BYTES
    arguments = [
        str(postgres_client("pg_restore")),
        "--dbname=attest",
        "--single-transaction",
        "--exit-on-error",
        "--no-owner",
        "--no-privileges",
    ]
    with file.open("rb") as content, running(arguments, url, reading=False) as process:
        assert process.stdin is not None
        content.readline(_MOST_HEADER_BYTES)
        while (left := total - content.tell()) > 0 and (piece := content.read(min(_PIECE, left))):
            process.stdin.write(piece)
            progress("restore", content.tell(), total)


def _checked(engine: sa.Engine, header: Header, broken_chain: bool) -> audit.ChainReport:
    """Check that the database matches the header; returns the report on its audit chain."""
    with engine.connect() as connection:
        revision, rows = schema_revision(connection), _counts(connection)
    if revision != header.schema_revision or rows != dict(header.rows):
        raise BackupError("what was restored is not what the backup says that it holds")
    with Session(engine) as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        report = audit.verify(session)
        end = report.checked
    if not report.whole:
        if broken_chain:
            return report
        raise BackupError(
            f"the audit chain in the backup is broken: {report.reason}; restore an older one, or "
            "add --broken-chain to have it as it is"
        )
    if (end.seq, (end.hash or b"").hex()) != (header.audit.seq, header.audit.hash):
        raise BackupError("the audit chain does not end where the backup says")
    return report
