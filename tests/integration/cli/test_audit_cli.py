"""`attest audit`: pages, ranges, exports that need no database, trails, replays."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from store.core.settings import Settings
from tests.commands import Attest, Done
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest
from workers.inline import InlineWorker

pytestmark = pytest.mark.requirement("DC-6")


@pytest.fixture
def attest(settings: Settings) -> Attest:
    """Commands on the test's instance."""
    return Attest.on(settings)


@pytest.fixture
def question(inline: InlineWorker) -> UUID:
    """A question that was answered from the example record."""
    ingest(inline.store, TRIAL)
    inline.run()
    question_id = ask(inline.store, TRIAL_QUESTION)
    inline.run()
    return question_id


def worked(done: Done) -> str:
    """Its output; it must have worked."""
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def refused(done: Done) -> str:
    """The one line on stderr of a command that did not work."""
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    [line] = done.stderr.splitlines()
    return line


def edit(settings: Settings, seq: int) -> None:
    """Somebody who may switch triggers off edits an event."""
    engine = sa.create_engine(settings.database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER ALL"))
        connection.execute(sa.text(f"UPDATE audit_event SET actor = 'x' WHERE seq = {seq}"))
    engine.dispose()


@pytest.mark.parametrize("terminal", [{}, {"FORCE_COLOR": "1"}], ids=["pipe", "terminal"])
def test_the_table_shows_ids_that_can_be_copied(
    attest: Attest, question: UUID, terminal: dict[str, str]
) -> None:
    listed = worked(attest("audit", "query", f"--subject={question}", COLUMNS="80", **terminal))
    assert listed.count(str(question)) == 5


def test_a_query_is_paged_with_the_cursor_that_it_names(attest: Attest, question: UUID) -> None:
    subject = f"--subject={question}"
    every = json.loads(worked(attest("audit", "query", subject, "--json")))
    paged: list[Any] = []
    cursor: tuple[str, ...] = ()
    while True:
        done = attest("audit", "query", subject, "--limit=2", "--json", *cursor)
        paged += json.loads(worked(done))
        if not done.stderr:
            break
        cursor = (f"--cursor={done.stderr.split()[-1]}",)
    assert paged == every
    assert [one["event"] for one in every] == [
        "answer.sealed",
        "question.verified",
        "question.drafted",
        "question.retrieved",
        "question.submitted",
    ]


def test_verify_goes_on_where_it_ended_and_names_the_first_bad_event(
    attest: Attest, question: UUID, settings: Settings
) -> None:
    first = json.loads(worked(attest("audit", "verify", "--until=2", "--json")))
    assert (first["events"], first["whole"]) == (2, True)
    assert "the chain is whole" in worked(attest("audit", "verify", f"--after={first['checked']}"))
    edit(settings, 3)
    assert "event 3 is not what was written" in refused(attest("audit", "verify"))
    assert json.loads(attest("audit", "verify", "--json").stdout)["first_bad_seq"] == 3


def test_an_export_verifies_with_nothing_but_its_two_files_and_the_public_key(
    attest: Attest, question: UUID, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "log.jsonl"
    made = json.loads(worked(attest("audit", "export", str(file), "--json")))
    for made_file in (file, file.with_name(f"{file.name}.manifest.json")):
        assert made_file.stat().st_mode & 0o777 == 0o600
    assert made["count"] == len(file.read_bytes().splitlines())
    key = worked(attest("audit", "public-key")).strip()
    assert made["public_key"] == key
    away = {
        "ATTEST_DATABASE_URL": "",
        "ATTEST_REDIS_URL": "",
        "ATTEST_DATA_DIR": str(tmp_path / "x"),
    }
    verify = ("audit", "verify-export", str(file), f"--key={key}")
    assert f"whole: {made['count']} events" in worked(attest(*verify, **away))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:1], *lines[2:]]))
    assert "event 2 is missing" in refused(attest(*verify, **away))
    other = refused(attest("audit", "verify-export", str(file), f"--key={'ab' * 32}", **away))
    assert "not by the key given" in other


def test_a_broken_chain_leaves_no_export_behind_and_none_is_written_over(
    attest: Attest, question: UUID, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "out" / "log.jsonl"
    file.parent.mkdir()
    key = {"ATTEST_AUDIT_KEY": "ab" * 32}
    worked(attest("audit", "export", str(file), **key))
    assert "is there already" in refused(attest("audit", "export", str(file), **key))
    edit(settings, 3)
    broken = tmp_path / "out" / "broken.jsonl"
    assert "event 3 is not what was written" in refused(
        attest("audit", "export", str(broken), **key)
    )
    left = sorted(one.name for one in file.parent.iterdir())
    assert left == ["log.jsonl", "log.jsonl.manifest.json"]
    assert not (settings.data_dir / "audit.key").exists()


def test_the_trail_of_an_answer_is_told_in_order_without_its_words(
    attest: Attest, question: UUID
) -> None:
    told = worked(attest("audit", "trail", str(question)))
    places = [told.index(word) for word in ("was accepted", "became evidence", "was sealed")]
    assert places == sorted(places)
    assert "recurrence-free" not in told.lower()
    body = json.loads(worked(attest("audit", "trail", str(question), "--json")))
    assert [one["event"] for one in body["steps"]][-1] == "answer.sealed"
    absent = uuid4()
    assert f"there is no question {absent}" in refused(attest("audit", "trail", str(absent)))


def test_a_trail_names_the_events_that_are_not_what_was_written(
    attest: Attest, question: UUID, settings: Settings
) -> None:
    """Who reads the story of one answer need not walk the whole chain to be warned."""
    steps = json.loads(worked(attest("audit", "trail", str(question), "--json")))["steps"]
    assert all(one["holds"] for one in steps)
    edited = steps[1]["seq"]
    edit(settings, edited)
    said = refused(attest("audit", "trail", str(question)))
    assert f"event {edited} is not what was written" in said
    told = attest("audit", "trail", str(question))
    [line] = [one for one in told.stdout.splitlines() if one.startswith(f"{edited:>8}")]
    assert "NOT WHAT WAS WRITTEN" in line
    again = attest("audit", "trail", str(question), "--json")
    assert again.returncode == 1
    assert [s["seq"] for s in json.loads(again.stdout)["steps"] if not s["holds"]] == [edited]


def test_the_command_itself_pages_and_refuses_as_it_does_above(
    attest: Attest, question: UUID, settings: Settings
) -> None:
    query = ("audit", "query", f"--subject={question}", "--limit=2")
    [paged, again] = [run(*query) for run in (attest.process, attest)]
    assert (paged.returncode, paged.stdout, paged.stderr) == (0, again.stdout, again.stderr)
    edit(settings, 3)
    assert "event 3 is not what was written" in refused(attest.process("audit", "verify"))


def test_a_question_without_a_sealed_answer_is_not_replayed(
    attest: Attest, inline: InlineWorker
) -> None:
    waiting = ask(inline.store, TRIAL_QUESTION)
    assert "has no sealed answer" in refused(attest("audit", "replay", str(waiting)))


def test_where_no_instance_is_public_key_says_so_and_makes_none(
    attest: Attest, tmp_path: Path
) -> None:
    there = tmp_path / "nowhere"
    said = refused(attest("audit", "public-key", ATTEST_DATA_DIR=str(there), ATTEST_AUDIT_KEY=""))
    assert f"{there / 'audit.key'}" in said
    assert "attest audit export" in said
    assert not there.exists()
    given = attest("audit", "public-key", ATTEST_DATA_DIR=str(there), ATTEST_AUDIT_KEY="ab" * 32)
    assert len(worked(given).strip()) == 64
    assert not there.exists()


def test_an_export_says_where_it_made_the_key_that_signs_it_once(
    attest: Attest, settings: Settings, tmp_path: Path
) -> None:
    there = tmp_path / "data"
    first = attest("audit", "export", str(tmp_path / "one"), "--json", ATTEST_DATA_DIR=str(there))
    assert json.loads(worked(first))["count"] == 0
    [line] = first.stderr.splitlines()
    assert f"made {there / 'audit.key'}" in line
    assert (there / "audit.key").read_text("ascii").strip() not in line
    again = attest("audit", "export", str(tmp_path / "two"), ATTEST_DATA_DIR=str(there))
    assert worked(again)
    assert again.stderr == ""
