"""A backup is of one moment, and restored it goes on where that moment was."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import psutil
import psycopg
import pytest
import sqlalchemy as sa

from messages import Stage
from store.access import keys, sessions
from store.audit import audit
from store.core.atomic_files import PART, abandoned
from store.core.database import connect
from store.core.schema import require_current_schema
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import DataDir, EmbeddedPostgres, embedded
from store.embedded.binaries import postgres_client
from store.models import Answer, Question, now
from store.operations import backup
from store.operations.backup import BackupError
from store.pipeline import ledger
from tests.commands import Attest, hear_hangups
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest, wait_until
from workers.inline import InlineWorker
from workers.runtime.broker import WokenBroker
from workers.runtime.relay import sweep


def quiet(_what: str, _done: int, _total: int | None) -> None:
    """Progress for nobody."""


def answer(store: Store, question_id: UUID) -> Answer:
    with store.reading() as session:
        return session.get_one(Answer, question_id)


@pytest.fixture
def made(settings: Settings, inline: InlineWorker, tmp_path: Path) -> tuple[Path, UUID, UUID]:
    """A backup of an instance with an answered question, and one that is being answered."""
    ingest(inline.store, TRIAL)
    inline.run()
    first = ask(inline.store, TRIAL_QUESTION)
    inline.run()
    second = ask(Store(inline.store.engine, lambda promises: None), TRIAL_QUESTION)
    with inline.store.unit_of_work("worker:elsewhere") as work:
        held = ledger.claim(
            work.session,
            stage="retrieve",
            subject=str(second),
            input_hash="elsewhere",
            worker="elsewhere",
            outbox_id=None,
            lease_seconds=3600,
        )
        assert isinstance(held, ledger.Claim)
    file = tmp_path / "attest.backup"
    backup.make(settings.database_url, file, quiet)
    return file, first, second


@pytest.mark.requirement("OP-6.4")
def test_op_6_4_restored_elsewhere_answers_are_equal_and_unfinished_work_goes_on(
    settings: Settings, inline: InlineWorker, made: tuple[Path, UUID, UUID], tmp_path: Path
) -> None:
    file, first, second = made
    done = backup.restore(file, tmp_path / "elsewhere", quiet)
    assert done.sent_again == 1
    with embedded(tmp_path / "elsewhere") as servers:
        engine = connect(servers.database_url)
        require_current_schema(engine)
        there = Store(engine)
        assert answer(there, first).model_dump() == answer(inline.store, first).model_dump()
        with there.reading() as session:
            report = audit.verify(session, after=audit.Checkpoint(0))
            assert report.whole
            assert report.events == done.events_verified + 1  # that it was restored
            leases = session.execute(
                sa.text("SELECT count(*) FROM stage_run WHERE lease_until > clock_timestamp()")
            )
            assert leases.scalar_one() == 0
        assert get_question(there, second).status == "queued"
        # Redis there is empty: what PostgreSQL promises is sent to it again.
        moved = settings.model_copy(
            update={"database_url": servers.database_url, "redis_url": servers.redis_url}
        )
        broker = WokenBroker(moved)
        assert broker.backlog().get(Stage.RETRIEVE.value, 0) == 0
        assert sweep(there, broker.publish) == 1
        assert broker.backlog()[Stage.RETRIEVE.value] == 1
        broker.close()
        with engine.begin() as connection:
            connection.execute(
                sa.text("UPDATE outbox SET status = 'pending' WHERE status <> 'done'")
            )
        worker = InlineWorker(moved, there)
        worker.run()
        worker.close()
        assert get_question(there, second).status == "answered"
        assert answer(there, second).body["claims"]
        engine.dispose()
    assert get_question(inline.store, second).status == "queued"  # nobody touched the first one


@pytest.mark.requirement("OP-6.4")
def test_op_6_4_a_backup_is_of_one_moment_whatever_is_committed_meanwhile(
    settings: Settings, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that is asked once the snapshot is taken is in neither header nor dump."""
    before = ask(store, TRIAL_QUESTION)
    dump = backup._dump

    def later(*given: object) -> None:
        ask(store, "Asked while the backup is made?")
        dump(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(backup, "_dump", later)
    made = backup.make(settings.database_url, tmp_path / "b", quiet)
    assert made.header.rows["question"] == 1
    backup.restore(tmp_path / "b", tmp_path / "there", quiet)
    with embedded(tmp_path / "there") as servers:
        engine = connect(servers.database_url)
        with Store(engine).reading() as session:
            assert session.execute(sa.select(Question.id)).scalars().all() == [before]
        engine.dispose()


def test_a_backup_is_for_its_owner_only_and_never_written_over(
    settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "b"
    backup.make(settings.database_url, file, quiet)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    with pytest.raises(FileExistsError):
        backup.make(settings.database_url, file, quiet)
    assert file.read_bytes() == before


def test_no_password_stands_in_a_command_line(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real pg_dump, behind a script that writes down how it was called."""
    called = tmp_path / "called"
    script = tmp_path / "pg_dump"
    script.write_text(f'#!/bin/sh\necho "$@" > {called}\nexec {postgres_client("pg_dump")} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(backup, "postgres_client", lambda _: script)
    url = sa.make_url(settings.database_url).set(password="made-up-secret")
    backup.make(url.render_as_string(hide_password=False), tmp_path / "b", quiet)
    assert "--format=custom" in called.read_text()
    assert "made-up-secret" not in called.read_text()


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


def without_its_end(content: bytes) -> bytes:
    return content[:-1]


def with_a_byte_changed(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def something_else(_: bytes) -> bytes:
    return b"PK\x03\x04 a zip, for instance"


def nothing(_: bytes) -> bytes:
    return b""


@pytest.mark.requirement("OP-6.4")
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut_short, "cut short"),
        (without_its_end, "cut short"),
        (with_a_byte_changed, "not as it was written"),
        (something_else, "no backup of Attest"),
        (nothing, "no backup of Attest"),
    ],
)
def test_op_6_4_a_file_that_is_not_a_whole_backup_is_refused_and_leaves_nothing(
    settings: Settings, tmp_path: Path, spoil: Callable[[bytes], bytes], says: str
) -> None:
    file = tmp_path / "b"
    backup.make(settings.database_url, file, quiet)
    file.write_bytes(spoil(file.read_bytes()))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BackupError, match=says):
        backup.restore(file, tmp_path / "there", quiet)
    assert sorted(tmp_path.iterdir()) == before


def resigned(file: Path, **changes: object) -> None:
    """Change the header of a backup as whoever made the file could have."""
    import hashlib

    line, rest = file.read_bytes().split(b"\n", 1)
    header = json.dumps({**json.loads(line), **changes}, separators=(",", ":")).encode()
    body = header + b"\n" + rest[: -backup._END_BYTES]
    digest = hashlib.sha256(body).hexdigest().encode()
    file.write_bytes(body + backup._END + digest + b"\n")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"schema_revision": "9999"}, "that release or a newer one"),
        ({"schema_revision": "0001"}, "not what the backup says"),
        ({"rows": {"question": 7}}, "not what the backup says"),
        ({"audit": {"seq": 5, "hash": "00" * 32}}, "does not end where"),
        ({"format": "attest-backup.v2"}, "does not read"),
    ],
)
def test_what_came_of_a_backup_is_compared_with_what_it_says(
    settings: Settings, tmp_path: Path, changes: dict[str, object], says: str
) -> None:
    file = tmp_path / "b"
    backup.make(settings.database_url, file, quiet)
    resigned(file, **changes)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BackupError, match=says):
        backup.restore(file, tmp_path / "there", quiet)
    assert sorted(tmp_path.iterdir()) == before


def test_a_broken_chain_is_not_restored(settings: Settings, store: Store, tmp_path: Path) -> None:
    ask(store, TRIAL_QUESTION)
    with store.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER USER"))
        connection.execute(sa.text("UPDATE audit_event SET actor = 'nobody' WHERE seq = 1"))
        connection.execute(sa.text("ALTER TABLE audit_event ENABLE TRIGGER USER"))
    backup.make(settings.database_url, tmp_path / "b", quiet)
    with pytest.raises(BackupError, match=r"event 1 is not what was written.*--broken-chain"):
        backup.restore(tmp_path / "b", tmp_path / "there", quiet)


def test_one_edited_event_does_not_take_everything_else_away_from_who_asks_for_it(
    settings: Settings, store: Store, tmp_path: Path
) -> None:
    """Else whoever edits one row of the log makes all backups from then on worthless."""
    question_id = ask(store, TRIAL_QUESTION)
    with store.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER USER"))
        connection.execute(sa.text("UPDATE audit_event SET actor = 'nobody' WHERE seq = 1"))
        connection.execute(sa.text("ALTER TABLE audit_event ENABLE TRIGGER USER"))
    backup.make(settings.database_url, tmp_path / "b", quiet)
    there = tmp_path / "there"
    shell = Attest.on(settings, ATTEST_DATABASE_URL="", ATTEST_REDIS_URL="")
    done = shell("restore", str(tmp_path / "b"), f"--data-dir={there}", "--broken-chain")
    assert done.returncode == 0, done.stderr
    assert "the audit chain is broken: event 1 is not what was written" in done.stderr
    with embedded(there) as servers:
        engine = connect(servers.database_url)
        with Store(engine).reading() as session:
            assert session.get(Question, question_id) is not None
            report = audit.verify(session)
            newest = session.execute(
                sa.text("SELECT payload FROM audit_event WHERE event = 'backup.restored'")
            ).scalar_one()
        engine.dispose()
    assert (report.whole, report.first_bad_seq) == (False, 1), "it stays to be seen"
    assert newest["chain_broken_at"] == 1


def test_a_directory_with_anything_in_it_is_left_alone(settings: Settings, tmp_path: Path) -> None:
    backup.make(settings.database_url, tmp_path / "b", quiet)
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine.txt").write_text("mine")
    with pytest.raises(BackupError, match="not empty"):
        backup.restore(tmp_path / "b", there, quiet)
    assert [one.name for one in there.iterdir()] == ["mine.txt"]


def test_a_restore_ends_page_sessions_and_names_the_keys_that_hold_again(
    settings: Settings, store: Store, tmp_path: Path
) -> None:
    """A key that was revoked since the backup, and a session that was ended since."""
    until = now() + timedelta(days=30)
    made = {}
    for name in ("leaked", "kept", "long gone"):
        with store.unit_of_work("cli") as work:
            made[name] = keys.create(
                work, name=name, owner="ward-3", scopes=["read"], expires_at=until
            )
    with store.unit_of_work("cli") as work:
        keys.revoke(work, made["long gone"].key.id)
        token, _ = sessions.begin(work, made["leaked"].key.id, hours=8)
    backup.make(settings.database_url, tmp_path / "b", quiet)
    with store.unit_of_work("cli") as work:
        keys.revoke(work, made["leaked"].key.id)
        sessions.end(work, token)

    attest = Attest.on(settings, ATTEST_DATABASE_URL="", ATTEST_REDIS_URL="")
    done = attest("restore", str(tmp_path / "b"), f"--data-dir={tmp_path / 'there'}")
    assert done.returncode == 0, done.stderr
    assert "attest audit query --event key.revoked" in done.stdout
    listed = [line for line in done.stdout.splitlines() if line.startswith("key ")]
    assert sorted(line.split()[1] for line in listed) == sorted(
        str(made[name].key.id) for name in ("leaked", "kept")
    )
    assert all("ward-3" in line for line in listed)
    with embedded(tmp_path / "there") as servers:
        engine = connect(servers.database_url)
        with Store(engine).reading() as session:
            assert sessions.key_of(session, token, now()) is None
            assert keys.check(session, made["leaked"].secret, now()).refusal is None  # as it says
            assert keys.check(session, made["long gone"].secret, now()).refusal == "revoked_key"
        engine.dispose()


def begun(settings: Settings, *arguments: str) -> "subprocess.Popen[str]":
    """An `attest` command that goes on while the test does something else."""
    return subprocess.Popen(
        [sys.executable, "-m", "cli.main", *arguments],
        env={**os.environ, **Attest.on(settings).environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_hangups,
    )


def ended(process: "subprocess.Popen[str]", how: signal.Signals) -> int:
    """Its exit code after this signal."""
    process.send_signal(how)
    process.communicate(timeout=60)
    return process.returncode


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_backup_that_is_told_to_end_leaves_no_part(
    settings: Settings, tmp_path: Path, how: signal.Signals
) -> None:
    """A table that somebody else holds keeps pg_dump waiting."""
    there = tmp_path / "there"
    there.mkdir()
    with psycopg.connect(settings.database_url.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE page_session IN ACCESS EXCLUSIVE MODE")
        process = begun(settings, "backup", str(there / "b"))
        dumping = psutil.Process(process.pid)
        wait_until(lambda: bool(dumping.children()), 60, "pg_dump runs")
        assert list(there.iterdir())
        children = dumping.children()
        assert ended(process, how) == 128 + how
        assert list(there.iterdir()) == []
        # Whoever told them to end does not wait for them; a busy machine takes a while.
        assert not psutil.wait_procs(children, timeout=30)[1]


def test_what_a_killed_backup_left_goes_with_the_next_one_to_that_place_only(
    settings: Settings, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    with psycopg.connect(settings.database_url.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE page_session IN ACCESS EXCLUSIVE MODE")
        process = begun(settings, "backup", str(there / "b"))
        wait_until(lambda: bool(psutil.Process(process.pid).children()), 60, "pg_dump runs")
        assert ended(process, signal.SIGKILL) == -signal.SIGKILL
    [killed] = there.iterdir()
    (there / ".c.part-1").write_text("of another backup")
    (there / ".b.part-mine").write_text("mine")
    lives = there / ".b.part-1"  # number 1 of another container, whose process goes on
    with lives.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        backup.make(settings.database_url, there / "b", quiet)
    assert not killed.exists()
    assert {one.name for one in there.iterdir()} == {
        "b",
        lives.name,
        ".c.part-1",
        ".b.part-mine",
    }


def test_what_a_maker_killed_while_it_started_a_program_left_goes_too(tmp_path: Path) -> None:
    """The child has every lock of its parent until it has become that program."""
    left = tmp_path / ".b.part-abcdefgh"
    left.touch()
    handle = os.open(left, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    threading.Timer(0.3, os.close, [handle]).start()
    assert list(abandoned(tmp_path / "b", PART)) == [left]


@contextmanager
def held(settings: Settings) -> Iterator[Path]:
    """Make whatever loads this database wait while it builds an index, as long as a file exists.

    Not in `tmp_path`, which only the owner of the test's process may look into.
    """
    with psycopg.connect(settings.database_url.replace("+psycopg", "")) as owner:
        by = Path(tempfile.mktemp(prefix="restore-held-"))
        owner.execute(
            "CREATE FUNCTION patiently(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN "
            f"WHILE (pg_stat_file('{by}', true)).size >= 0 LOOP PERFORM pg_sleep(0.05); END LOOP; "
            "RETURN n; END $$"
        )
        owner.execute("CREATE TABLE patient_one AS SELECT 1 AS n")
        owner.execute("CREATE INDEX ON patient_one (patiently(n))")
    by.touch()
    try:
        yield by
    finally:
        by.unlink(missing_ok=True)


def restoring(settings: Settings, file: Path, there: Path) -> tuple["subprocess.Popen[str]", Path]:
    """A restore that `held` keeps in its midst, and the directory in which it works."""
    own = settings.model_copy(update={"database_url": "", "redis_url": ""})
    process = begun(own, "restore", str(file), f"--data-dir={there}")

    def builds() -> bool:
        """Whether it builds the index; then all words are there already."""
        assert process.poll() is None
        for layout in there.parent.glob(f".{there.name}.restoring-*/layout.json"):
            server = EmbeddedPostgres(DataDir(layout.parent)).conninfo("attest")
            with suppress(psycopg.OperationalError), psycopg.connect(server) as looking:
                query = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                return looking.execute(query).rowcount == 1
        return False

    wait_until(builds, 120, "it builds the index")
    [found] = there.parent.glob(f".{there.name}.restoring-*")
    return process, found


def test_a_restore_that_is_told_to_end_leaves_neither_words_nor_sockets(
    settings: Settings, tmp_path: Path
) -> None:
    with held(settings):
        backup.make(settings.database_url, tmp_path / "b", quiet)
        before = sorted(tmp_path.iterdir())
        process, unfinished = restoring(settings, tmp_path / "b", tmp_path / "there")
        assert ended(process, signal.SIGTERM) == 128 + signal.SIGTERM
    assert sorted(tmp_path.iterdir()) == before
    assert not DataDir(unfinished).runtime_dir.exists()


def test_what_a_killed_restore_left_goes_with_the_next_one_onto_that_place(
    settings: Settings, tmp_path: Path
) -> None:
    with held(settings):
        backup.make(settings.database_url, tmp_path / "b", quiet)
        before = sorted(tmp_path.iterdir())
        process, unfinished = restoring(settings, tmp_path / "b", tmp_path / "there")
        assert ended(process, signal.SIGKILL) == -signal.SIGKILL
        assert unfinished.exists()
    backup.restore(tmp_path / "b", tmp_path / "there", quiet)
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "there"])
    assert not DataDir(unfinished).runtime_dir.exists()


def test_a_restore_goes_where_a_symbolic_link_leads(settings: Settings, tmp_path: Path) -> None:
    backup.make(settings.database_url, tmp_path / "b", quiet)
    disk = tmp_path / "disk" / "data"
    disk.mkdir(parents=True)
    link = tmp_path / "there"
    link.symlink_to(disk)
    backup.restore(tmp_path / "b", link, quiet)
    assert link.is_symlink()
    assert (disk / "layout.json").is_file()


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="a mount point that is there")
def test_a_mount_point_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    """The file is not even looked at."""
    with pytest.raises(BackupError, match=r"^/proc is a mount point.*/proc/attest$"):
        backup.restore(tmp_path / "b", Path("/proc"), quiet)


def test_a_backup_connects_as_every_other_command_does(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Host and account of the environment or of a service, and the URL over both."""
    url = sa.make_url(settings.database_url)
    host = str(url.query["host"])
    monkeypatch.setenv("PGHOST", host)
    monkeypatch.setenv("PGUSER", str(url.username))
    monkeypatch.setenv("PGDATABASE", "not_this_one")
    short = f"postgresql:///{url.database}"
    made = backup.make(short, tmp_path / "environment", quiet)
    assert made.header.schema_revision

    services = tmp_path / "services"
    services.write_text(f"[mine]\nhost={host}\nuser={url.username}\n")
    monkeypatch.delenv("PGHOST")
    monkeypatch.delenv("PGUSER")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    monkeypatch.setenv("PGSERVICE", "mine")
    assert backup.make(short, tmp_path / "service", quiet).header.rows == made.header.rows

    services.write_text("[mine]\nhost=/nowhere\nuser=nobody\n")
    whole = backup.make(settings.database_url, tmp_path / "url", quiet)
    assert whole.header.rows == made.header.rows
