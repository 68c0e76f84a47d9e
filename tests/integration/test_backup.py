"""A backup is of one moment, and restored it goes on where that moment was."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa

from messages import Stage
from store import audit, backup, ledger
from store.backup import BackupError
from store.database import connect, require_current_schema
from store.embedded import embedded
from store.models import Answer, Question
from store.settings import Settings
from store.unit_of_work import Store
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
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
    script.write_text(
        f'#!/bin/sh\necho "$@" > {called}\nexec {backup.postgres_client("pg_dump")} "$@"\n'
    )
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
    with pytest.raises(BackupError, match="event 1 is not what was written"):
        backup.restore(tmp_path / "b", tmp_path / "there", quiet)


def test_a_directory_with_anything_in_it_is_left_alone(settings: Settings, tmp_path: Path) -> None:
    backup.make(settings.database_url, tmp_path / "b", quiet)
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine.txt").write_text("mine")
    with pytest.raises(BackupError, match="not empty"):
        backup.restore(tmp_path / "b", there, quiet)
    assert [one.name for one in there.iterdir()] == ["mine.txt"]
