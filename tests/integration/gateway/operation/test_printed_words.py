"""Every command, on an instance where whatever anybody may write would act on a terminal."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import typer.main

from cli.main import app
from store.core.printable import acts
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.dead_letters.dead_letters import Death
from tests.commands import Attest, Done
from tests.integration.gateway.conftest import Running, serving, working
from tests.integration.gateway.submissions.test_extractions import POOR
from tests.integration.runtime.harness import rows
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest
from workers.runtime.failures import bury

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f\x85"
FORGED = "✓ FORGED"
HOSTILE = f"{ESCAPES}\r\n{FORGED}\u202e\u2066\u200b\u2028"
"""Clears the screen, sets the title, recolours, goes back, begins a line, reverses what follows."""
WORDS = (
    *("title", "publisher", "cause", "error", "traceback", "reason", "detail", "filename"),
    *("owner", "query", "name", "subject", "changed_by"),
)
"""Columns that hold words of anybody, in these tables."""
TABLES = (
    *("document_version", "dead_letter", "dead_letter_resolution", "finding", "refresh", "watch"),
    *("access_key", "stage_circuit", "ingest_item", "extraction", "note", "question", "review"),
)


def leaves() -> set[tuple[str, ...]]:
    def below(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        under = getattr(command, "commands", None)
        if under is None:
            yield path
            return
        for name, one in under.items():
            yield from below(one, (*path, name))

    return set(below(typer.main.get_command(app), ()))


PROCESSES = {"up", "worker", "scheduler", "gateway", "mcp", "demo"}
"""They print logs (tests/unit/test_log_lines.py) or what the supervisor passes on
(tests/unit/test_supervisor.py); `demo` prints an answer as `ask` does."""


class World:
    """An instance with hostile words in every place that takes words."""

    def __init__(self, attest: Attest, store: Store, folder: Path) -> None:
        self.attest, self.store, self.folder = attest, store, folder

    def run(self, *arguments: str) -> Done:
        return self.attest(*arguments)

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def one(self, statement: str) -> str:
        return str(rows(self.store, statement)[0][0])


def poison(engine: sa.Engine) -> set[str]:
    """Append hostile words to every column that holds words of anybody; gives the columns."""
    wanted = sa.text(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'public' AND data_type IN ('text', 'character varying') "
        "AND is_generated = 'NEVER' AND column_name = ANY(:names) "
        "AND table_name = ANY(:tables)"
    )
    done = set()
    with engine.connect() as connection:
        # No version is ever changed otherwise: a trigger keeps it.
        connection.execute(sa.text("SET session_replication_role = replica"))
        for table, column in connection.execute(
            wanted, {"names": list(WORDS), "tables": list(TABLES)}
        ).all():
            # An answer rests on no source that reverses words: one is left with escapes alone.
            only = "WHERE source_type = 'pubmed'" if table == "document_version" else ""
            try:
                with connection.begin_nested():
                    connection.execute(
                        sa.text(f'UPDATE "{table}" SET "{column}" = "{column}" || :words {only}'),
                        {"words": HOSTILE},
                    )
            except sa.exc.DBAPIError:
                continue  # a constraint keeps the column clean
            done.add(f"{table}.{column}")
        connection.execute(sa.text("SET session_replication_role = DEFAULT"))
        connection.commit()
    return done


@pytest.fixture(scope="module")
def world(
    new_database: Callable[[], str], settings_for: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("hostile")
    settings: Settings = settings_for(new_database(), encoder="hash")
    with serving(settings) as running, working(running):
        port = running.url.rpartition(":")[2].rstrip("/")
        attest = Attest.on(
            settings, ATTEST_PORT=port, ATTEST_ENCODER="hash", COLUMNS="400", ATTEST_KEY=""
        )
        found = World(attest, running.store, folder)
        _fill(found, running)
        yield found


def _fill(world: World, running: Running) -> None:
    text = f"{TRIAL['text']}\nThe trial {ESCAPES} of ctDNA showed {ESCAPES} that 12% recurred.\n"
    escaping = {**TRIAL, "title": f"{TRIAL['title']} {ESCAPES}", "text": text}
    other = {**TRIAL, "source_key": "other", "url": "https://example.org/2"}
    ingest(world.store, escaping, {**other, "source_type": "pubmed", "publisher": "A press"})
    for extra in ("", " Thank you."):
        path = world.file(f"report{ESCAPES}{extra}.txt", POOR + extra + ESCAPES)
        world.run("extract", path, "--type", "genomics")
    world.run("ask", TRIAL_QUESTION)
    for name in ("ward", "desk"):
        world.run("keys", "create", "--name", name, "--owner", name, "--scopes", "ask")
    world.run("watches", "add", "pubmed", "ctDNA")
    world.run("stages", "pause", "recall", "--reason", f"why {HOSTILE}")
    for n in range(2):
        question_id = ask(world.store, f"What about {HOSTILE}?")
        bury(
            world.store,
            Death(
                stage="retrieve",
                payload={"schema": "retrieve.v1", "question_id": str(question_id)},
                error_type=f"Odd{n}",
                cause=f"no such {HOSTILE}",
                traceback=f"Traceback\n  {HOSTILE}",
                subject=str(question_id),
            ),
        )
    poisoned = poison(world.store.engine)
    assert {"document_version.title", "dead_letter.cause", "access_key.name"} <= poisoned
    assert {"watch.query", "stage_circuit.reason"} <= poisoned


Arguments = Callable[[World], list[str]]
LETTER = "SELECT id FROM dead_letter WHERE status = 'open' LIMIT 1"
COMMANDS: dict[tuple[str, ...], Arguments] = {
    ("ask",): lambda w: [TRIAL_QUESTION],
    ("verify",): lambda w: [
        w.file(
            f"draft{ESCAPES}.txt",
            f"The trial {HOSTILE} had 455 patients in 23 centres. “Never {HOSTILE} said.” "
            "PMID 99999999",
        )
    ],
    ("summarize",): lambda w: [
        w.file(
            f"note{ESCAPES}.txt",
            f"Medications:\n- {HOSTILE} aspirin 75 mg daily\nPlan: {ESCAPES} CT in 3 months\n",
        )
    ],
    ("ingest",): lambda w: [w.file(f"bad{ESCAPES}.jsonl", f'{{"title": "{FORGED}"}}\n')],
    ("search",): lambda w: ["ctDNA"],
    ("import",): lambda w: ["pubmed", w.file(f"pubmed26n0001{ESCAPES}.xml", "<x/>")],
    ("extract",): lambda w: [w.file(f"other{ESCAPES}.txt", POOR + HOSTILE), "--type", "genomics"],
    ("refresh",): lambda w: [f"pubmed{HOSTILE}"],
    ("recheck",): lambda w: ["--all"],
    ("report",): lambda w: ["--out", str(w.folder / f"reports{ESCAPES}")],
    ("status",): lambda w: [],
    ("sources",): lambda w: [],
    ("packs", "list"): lambda w: [],
    ("packs", "fill"): lambda w: [f"no{HOSTILE}"],
    ("findings",): lambda w: [],
    ("reread",): lambda w: [],
    ("editions",): lambda w: [],
    ("erase",): lambda w: [
        "question",
        w.one("SELECT id FROM question ORDER BY id DESC LIMIT 1"),
        "--reason",
        f"odd{HOSTILE}",
    ],
    ("backup",): lambda w: [str(w.folder / f"no{ESCAPES}" / "backup")],
    ("restore",): lambda w: [w.file(f"none{ESCAPES}.backup", HOSTILE)],
    ("migrate",): lambda w: [],
    ("dead-letters", "list"): lambda w: [],
    ("dead-letters", "show"): lambda w: [w.one(LETTER)],
    ("dead-letters", "replay"): lambda w: ["--all", "--dry-run"],
    ("dead-letters", "discard"): lambda w: [w.one(LETTER), "--reason", HOSTILE],
    ("stages", "list"): lambda w: [],
    ("stages", "pause"): lambda w: ["audit", "--reason", HOSTILE],
    ("stages", "resume"): lambda w: ["audit"],
    ("queues", "rebuild"): lambda w: [],
    ("audit", "query"): lambda w: ["--subject", HOSTILE],
    ("audit", "verify"): lambda w: [],
    ("audit", "trail"): lambda w: [
        w.one("SELECT id FROM question WHERE status = 'answered' LIMIT 1")
    ],
    ("audit", "replay"): lambda w: [
        w.one("SELECT id FROM question WHERE status = 'answered' LIMIT 1")
    ],
    ("audit", "export"): lambda w: [str(w.folder / f"audit{ESCAPES}.jsonl")],
    ("audit", "verify-export"): lambda w: [w.file(f"e{ESCAPES}", HOSTILE)],
    ("audit", "public-key"): lambda w: [],
    ("partitions", "list"): lambda w: [],
    ("partitions", "add"): lambda w: [f"no{HOSTILE}"],
    ("partitions", "off"): lambda w: [f"no{HOSTILE}"],
    ("partitions", "move"): lambda w: [f"no{HOSTILE}", "main"],
    ("partitions", "rebuild"): lambda w: [f"no{HOSTILE}"],
    ("recalls", "list"): lambda w: [],
    ("recalls", "find"): lambda w: [],
    ("recalls", "mails"): lambda w: [],
    ("reviews", "list"): lambda w: [],
    ("reviews", "accept"): lambda w: [w.one("SELECT id FROM review LIMIT 1")],
    ("reviews", "correct"): lambda w: [
        w.one("SELECT id FROM review LIMIT 1"),
        "--set",
        f"x{HOSTILE}=y",
    ],
    ("keys", "create"): lambda w: [
        "--name",
        HOSTILE,
        "--owner",
        HOSTILE,
        "--scopes",
        f"ask,{HOSTILE}",
    ],
    ("keys", "list"): lambda w: [],
    ("keys", "revoke"): lambda w: [w.one("SELECT id FROM access_key LIMIT 1")],
    ("watches", "list"): lambda w: [],
    ("watches", "add"): lambda w: ["pubmed", f"ctDNA {HOSTILE}"],
    ("watches", "stop"): lambda w: [w.one("SELECT id FROM watch LIMIT 1")],
    ("watches", "suggested"): lambda w: [],
    ("evaluate", "retrieval"): lambda w: [str(w.folder / f"none{ESCAPES}")],
    ("evaluate", "quotes"): lambda w: [w.file(f"q{ESCAPES}.jsonl", f'{{"x": "{FORGED}"\n')],
    ("evaluate", "extraction"): lambda w: [str(w.folder / f"none{ESCAPES}")],
    ("evaluate", "regression"): lambda w: [str(w.folder / f"none{ESCAPES}")],
    ("evaluate", "notes"): lambda w: [str(w.folder / f"none{ESCAPES}")],
    ("evaluate", "claims"): lambda w: [w.file(f"c{ESCAPES}.jsonl", f'{{"x": "{FORGED}"\n')],
    ("evaluate", "written"): lambda w: [str(w.folder / f"none{ESCAPES}")],
    ("evaluate", "questions"): lambda w: [w.file(f"q{ESCAPES}.jsonl", f'{{"x": "{FORGED}"\n')],
    ("anchors", "generate"): lambda w: [],
    ("anchors", "show"): lambda w: [w.one("SELECT document_id FROM document_version LIMIT 1")],
}
SEEN = {
    ("ask",),
    ("search",),
    ("verify",),
    ("dead-letters", "list"),
    ("dead-letters", "show"),
    ("stages", "list"),
    ("keys", "list"),
    ("watches", "list"),
    ("anchors", "show"),
    ("ingest",),
}
"""Where hostile words were certainly printed: what they were shows as U+FFFD."""


def test_every_command_is_walked() -> None:
    assert leaves() == COMMANDS.keys() | {(name,) for name in PROCESSES}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_that_acts_and_no_line_of_others_leaves_a_command(
    world: World, command: tuple[str, ...]
) -> None:
    arguments = COMMANDS[command](world)
    for more in ((), ("--json",)):
        done = world.run(*command, *arguments, *more)
        for printed in (done.stdout, done.stderr):
            assert not [f"U+{ord(sign):04X}" for sign in printed if sign != "\n" and acts(sign)]
            assert not [line for line in printed.split("\n") if line.startswith(FORGED)]
        if command in SEEN and not more:
            assert "\ufffd" in done.stdout + done.stderr, done
        if more and done.returncode == 0 and done.stdout:
            assert [json.loads(line) for line in done.stdout.splitlines()]


COLOURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^;]*;(?:https?://[!-~]+)?\x1b\\")
"""What rich writes: colours, and links with an address of visible ASCII."""


@pytest.mark.parametrize("command", [("ask",), ("search",), ("verify",)], ids=" ".join)
def test_on_a_terminal_the_only_escapes_are_the_colours_of_the_printer(
    world: World, command: tuple[str, ...]
) -> None:
    done = world.attest(*command, *COMMANDS[command](world), FORCE_COLOR="1", TERM="xterm")
    assert not [sign for sign in COLOURS.sub("", done.stdout) if sign != "\n" and acts(sign)]
    assert command == ("search",) or COLOURS.search(done.stdout), "rich colours"
