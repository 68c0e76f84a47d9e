"""`attest dead-letters`, `stages` and `queues`: exit codes, JSON, dry runs; nobody is surprised."""

import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
import structlog
import typer
from typer.testing import CliRunner

from cli.commands.operation import stages
from cli.commands.operation.dead_letters import dead_letters_app
from cli.commands.operation.stages import queues_app, stages_app
from cli.instance.context import Instance
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.dead_letters.dead_letters import Death
from tests.commands import Attest
from tests.integration.runtime.harness import count, rows
from tests.servers import ask
from workers.runtime.failures import bury

pytestmark = pytest.mark.requirement("DC-5")
CANARY = "zebrafishoma"


class Desk:
    """Runs commands of the operators on one instance."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings, self.store = settings, store
        self.instance = Instance(settings)

    def run(self, app: typer.Typer, *arguments: str, code: int = 0) -> str:
        """What a command prints; it must end with `code`."""
        result = CliRunner().invoke(app, [*arguments], obj=self.instance)
        assert result.exit_code == code, result.output
        return result.stdout

    def letters(self, *arguments: str, code: int = 0) -> Any:
        """The JSON of a command on dead letters."""
        return json.loads(self.run(dead_letters_app, *arguments, "--json", code=code))

    def died(self, n: int = 1, **changes: Any) -> list[str]:
        """So many questions whose message died; their dead letters, oldest first."""
        found = []
        for _ in range(n):
            question_id = ask(self.store, f"What about {CANARY}?")
            (row,) = rows(
                self.store,
                "SELECT id FROM outbox WHERE payload->>'question_id' = :id",
                id=str(question_id),
            )
            given: dict[str, Any] = {
                "stage": "retrieve",
                "payload": {"schema": "retrieve.v1", "question_id": str(question_id)},
                "error_type": "ActorNotFound",
                "cause": "no such actor",
                "outbox_id": row.id,
            }
            death = Death(**given | changes)
            bury(self.store, death)
            found.append(str(death.id))
        return found


@pytest.fixture
def desk(settings: Settings, store: Store) -> Iterator[Desk]:
    """The commands on the test's instance; logs as `attest` itself sets them."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    found = Desk(settings, store)
    yield found
    structlog.configure(**before)
    found.instance.store.engine.dispose()


def test_list_filters_and_groups(desk: Desk) -> None:
    letters = desk.died(2)
    (other,) = desk.died(cause="another", error_type="Permanent")
    assert [one["id"] for one in desk.letters("list")] == [other, *letters[::-1]]
    assert [one["id"] for one in desk.letters("list", "--error-type", "Permanent")] == [other]
    assert desk.letters("list", "--stage", "verify") == []
    assert desk.letters("list", "--status", "replayed") == []
    assert desk.letters("list", "--until", "2020-01-01") == []
    groups = desk.letters("list", "--group")
    assert [(one["cause"], one["open"]) for one in groups] == [("another", 1), ("no such actor", 2)]
    fingerprint = groups[1]["fingerprint"]
    assert len(desk.letters("list", "--fingerprint", fingerprint)) == 2
    assert "3 of 3 dead letters" in desk.run(dead_letters_app, "list")
    assert fingerprint in desk.run(dead_letters_app, "list", "--group")
    desk.run(dead_letters_app, "list", "--status", "odd", code=2)


def test_pages_of_a_list_are_reached_by_the_cursor_that_stderr_names(desk: Desk) -> None:
    letters = desk.died(3)
    result = CliRunner().invoke(
        dead_letters_app, ["list", "--limit", "2", "--json"], obj=desk.instance
    )
    assert [one["id"] for one in json.loads(result.stdout)] == letters[:0:-1]
    cursor = result.stderr.split("--cursor ")[1].strip()
    assert [one["id"] for one in desk.letters("list", "--cursor", cursor)] == letters[:1]


def test_show_has_all_and_no_word_of_the_question(desk: Desk) -> None:
    (letter_id,) = desk.died()
    shown = desk.letters("show", letter_id)
    assert shown["cause"] == "no such actor"
    assert shown["resolution"] is None
    printed = desk.run(dead_letters_app, "show", letter_id) + desk.run(dead_letters_app, "list")
    assert CANARY not in str(shown) + printed


def test_one_is_replayed_once_and_looked_at_before(desk: Desk) -> None:
    (letter_id,) = desk.died()
    desk.letters("replay", letter_id, "--dry-run")
    assert count(desk.store, "dead_letter", "status = 'open'") == 1
    assert desk.letters("replay", letter_id)["status"] == "replayed"
    desk.run(dead_letters_app, "replay", letter_id, code=1)
    desk.run(dead_letters_app, "replay", letter_id, "--dry-run", code=1)
    assert count(desk.store, "audit_event", "event = 'message.replayed'") == 1


def test_many_are_replayed_after_a_yes_only(desk: Desk) -> None:
    desk.died(3)
    dry = desk.letters("replay", "--all", "--dry-run")
    assert (dry["matched"], dry["replayed"], dry["dry_run"]) == (3, 3, True)
    desk.run(dead_letters_app, "replay", "--all", code=1)  # nobody is there to be asked
    assert count(desk.store, "dead_letter", "status = 'open'") == 3
    done = desk.letters("replay", "--all", "--yes", "--per-second", "100")
    assert (done["replayed"], done["dry_run"]) == (3, False)
    again = desk.letters("replay", "--all", "--yes")
    assert (again["matched"], again["replayed"]) == (0, 0)


def test_a_replay_of_which_something_is_refused_ends_with_1_and_the_reason(desk: Desk) -> None:
    desk.died(1)
    desk.died(2, error_type="InvalidMessage", cause="its fields do not fit")
    report = desk.letters("replay", "--stage", "retrieve", "--yes", code=1)
    assert (report["replayed"], report["refused"][0]["count"]) == (1, 2)
    printed = desk.run(dead_letters_app, "replay", "--all", "--dry-run", code=1)
    assert "can never succeed as it is: its fields do not fit" in printed


def test_refused_letters_do_not_stand_before_those_that_a_limit_lets_through(desk: Desk) -> None:
    """Else the same command, said again and again, looks at the same refused ones for ever."""
    desk.died(3, error_type="InvalidMessage", cause="its fields do not fit")
    desk.died(3)
    dry = desk.letters("replay", "--all", "--limit", "2", "--dry-run", code=1)
    assert (dry["replayed"], dry["matched"], dry["more"]) == (2, 5, True)
    first, second, third = (
        desk.letters("replay", "--all", "--limit", "2", "--yes", code=1) for _ in range(3)
    )
    assert [one["replayed"] for one in (first, second, third)] == [2, 1, 0]
    assert [one["more"] for one in (first, second, third)] == [True, False, False]
    assert count(desk.store, "dead_letter", "status = 'open'") == 3
    kept = desk.letters("discard", "--all", "--limit", "2", "--reason", "old", "--yes")
    assert (kept["discarded"], kept["more"]) == (2, True)


def test_what_a_limit_left_is_said_with_the_way_to_it(desk: Desk) -> None:
    desk.died(3)
    said = desk.run(dead_letters_app, "replay", "--all", "--limit", "2", "--yes")
    assert "there are more: say it again" in said
    said = desk.run(dead_letters_app, "replay", "--all", "--limit", "2", "--yes")
    assert "more" not in said


@pytest.mark.parametrize("command", ["replay", "discard"])
def test_neither_everything_by_accident_nor_one_and_many(desk: Desk, command: str) -> None:
    (letter_id,) = desk.died()
    reason = ["--reason", "x"] if command == "discard" else []
    desk.run(dead_letters_app, command, *reason, code=2)
    desk.run(dead_letters_app, command, letter_id, "--all", *reason, code=2)
    assert count(desk.store, "dead_letter", "status = 'open'") == 1


def test_discard_wants_a_reason_and_keeps_the_letter(desk: Desk) -> None:
    first, *_ = desk.died(3)
    desk.run(dead_letters_app, "discard", first, code=2)
    desk.run(dead_letters_app, "discard", first, "--reason", " ", code=1)
    desk.letters("discard", first, "--reason", "asked twice", "--dry-run")
    assert count(desk.store, "dead_letter", "status = 'open'") == 3
    assert desk.letters("discard", first, "--reason", "asked twice")["status"] == "discarded"
    assert desk.letters("show", first)["resolution"]["reason"] == "asked twice"
    rest = desk.letters("discard", "--all", "--reason", "old", "--yes")
    assert (rest["discarded"], count(desk.store, "dead_letter")) == (2, 3)
    desk.run(dead_letters_app, "replay", first, code=1)


def test_stages_are_paused_for_a_reason_and_resumed(desk: Desk) -> None:
    desk.run(stages_app, "pause", "verify", code=2)
    desk.run(stages_app, "pause", "odd", "--reason", "x", code=2)
    paused = json.loads(desk.run(stages_app, "pause", "verify", "--reason", "moving", "--json"))
    assert paused == {"stage": "verify", "state": "paused", "changed": True}
    assert "paused already" in desk.run(stages_app, "pause", "verify", "--reason", "again")
    listed = {one["stage"]: one for one in json.loads(desk.run(stages_app, "list", "--json"))}
    assert (listed["verify"]["state"], listed["verify"]["reason"]) == ("paused", "moving")
    assert listed["audit"]["state"] == "closed"
    shown = desk.run(stages_app, "list")
    assert "moving" in shown
    assert "works" in shown
    assert "closed" not in shown
    assert "works again" in desk.run(stages_app, "resume", "verify")
    assert "works already" in desk.run(stages_app, "resume", "verify")


def test_queues_are_rebuilt_with_one_command(desk: Desk) -> None:
    ask(desk.store, "One?")
    ask(desk.store, "Two?")
    report = json.loads(desk.run(queues_app, "rebuild", "--json"))
    assert report["sent"] == 2
    assert "2 sent" in desk.run(queues_app, "rebuild")


@pytest.mark.parametrize("arguments", [["queues", "rebuild"], ["queues", "rebuild", "--json"]])
def test_without_redis_one_line_says_so(desk: Desk, arguments: list[str]) -> None:
    away = Attest.on(desk.settings, ATTEST_REDIS_URL="redis://u:hush@127.0.0.1:1/0")
    done = away(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Redis does not serve" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "hush" not in done.stderr


def test_without_the_database_one_line_says_so(desk: Desk) -> None:
    away = Attest.on(desk.settings, ATTEST_DATABASE_URL="postgresql://u:hush@127.0.0.1:1/a")
    done = away("dead-letters", "list")
    assert done.returncode == 1
    assert "the database does not answer" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "hush" not in done.stderr


def test_the_command_itself_ends_with_one_line_on_stderr(desk: Desk) -> None:
    env = {**os.environ, "ATTEST_DATABASE_URL": desk.settings.database_url}
    env |= {"ATTEST_REDIS_URL": desk.settings.redis_url, "ATTEST_REDIS_NAMESPACE": uuid4().hex}
    absent = str(UUID(int=7))
    ended = subprocess.run(
        [sys.executable, "-m", "cli.main", "dead-letters", "replay", absent],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.strip() == f"attest: there is no dead letter {absent}"


def test_a_message_that_names_no_id_dies_once_like_any_other(desk: Desk) -> None:
    """Else it is sent again and again for ever, and nobody ever sees it among the dead."""
    ask(desk.store, "What of it?")
    with desk.store.engine.begin() as connection:
        outbox_id = connection.execute(
            sa.text("UPDATE outbox SET payload = payload || :bad RETURNING id"),
            {"bad": json.dumps({"question_id": "no id"})},
        ).scalar_one()
    cause = "retrieve.v1: question_id: uuid_parsing"
    bury(desk.store, Death("retrieve", {}, "InvalidMessage", cause, outbox_id=outbox_id))
    assert count(desk.store, "outbox", "status = 'dead'") == 1
    (letter,) = desk.letters("list")
    assert desk.letters("replay", "--all", "--yes", code=1)["refused"][0]["count"] == 1
    desk.letters("discard", letter["id"], "--reason", "names nothing")
    assert desk.letters("list") == []


def test_where_all_was_refused_nothing_is_said_to_be_a_dry_run(desk: Desk) -> None:
    """It was asked for in earnest, with --yes: what came of it is that none was replayed."""
    (letter_id,) = desk.died(error_type="InvalidMessage")
    said = desk.run(dead_letters_app, "replay", "--all", "--yes", code=1)
    assert said.startswith("0 of 1 dead letters replayed\n")
    said = desk.run(dead_letters_app, "replay", "--all", "--dry-run", code=1)
    assert said.startswith("0 of 1 dead letters would be replayed\n")
    shown = desk.run(dead_letters_app, "show", letter_id).splitlines()
    assert [line.split()[0] for line in shown[:2]] == ["id", "status"]
    assert "None" not in "".join(shown)


def test_a_redis_that_takes_calls_and_answers_none_ends_a_rebuild_with_one_line(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is asked once before the broker, which rides out outages for many minutes."""
    monkeypatch.setattr(stages, "ANSWER_SECONDS", 0.2)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "redis.sock"))
        silent.listen()
        url = f"unix://{tmp_path / 'redis.sock'}"
        done = Attest.on(settings)("queues", "rebuild", ATTEST_REDIS_URL=url)
    assert done.returncode == 1
    assert done.stderr.startswith("attest: Redis does not serve (TimeoutError)")
