"""No line of a log acts where it is read, whoever logs and in whichever form."""

import json
import logging
import os
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa
import structlog

from api_gateway.metrics.metrics import Metrics
from cli.supervise.output import Pipe
from store.core.database import connect
from store.core.log_lines import configure_command_logs
from store.core.printable import acts
from store.core.settings import Settings
from workers.runtime.logs import configure_logs

HOSTILE = "a\x1b[2J\x1b]0;x\x07b\x9b31m\x08\x7f\x85\r\u202ec\u2066\u2028\nFORGED"


@pytest.fixture
def logs(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """What is logged; the configuration of the process is put back."""
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    yield capsys
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**before)
    structlog.contextvars.clear_contextvars()


def log_everything() -> None:
    log = structlog.get_logger("test")
    log.warning("event_happened", words=HOSTILE, within={"names": [HOSTILE]})
    logging.getLogger("a.library").error("%s failed", HOSTILE)
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        logging.getLogger("a.library").exception("broke")


@pytest.mark.parametrize("form", ["json", "console"])
def test_what_processes_log_acts_nowhere(logs: pytest.CaptureFixture[str], form: str) -> None:
    configure_logs(Settings.model_validate({"log_format": form}), "test")
    log_everything()
    logged = logs.readouterr().err
    assert logged.count("event_happened") == 1
    assert not [sign for sign in logged if sign != "\n" and acts(sign)]
    if form == "json":
        first, second, _ = [json.loads(line) for line in logged.splitlines()]
        assert first["words"] == HOSTILE
        assert second["event"] == f"{HOSTILE} failed"
    else:
        assert not [line for line in logged.split("\n") if line.startswith("FORGED")]
        assert "ValueError: a�[2J" in logged


def test_what_commands_log_acts_nowhere_and_is_not_on_stdout(
    logs: pytest.CaptureFixture[str],
) -> None:
    configure_command_logs()
    structlog.get_logger("test").warning("event_happened", words=HOSTILE)
    structlog.get_logger("test").info("not_for_people", words=HOSTILE)
    out, logged = logs.readouterr()
    assert out == ""
    assert logged.count("\n") == 1
    assert not [sign for sign in logged if sign != "\n" and acts(sign)]


def test_what_child_processes_print_acts_nowhere() -> None:
    class Kept:
        lines: list[bytes]

        def write(self, name: str, lines: list[bytes]) -> None:
            self.lines = lines

    kept, pipe = Kept(), Pipe("worker")
    os.write(pipe.write_end, b"a\x1b[2J\xff\x9b\tb\xe2\x80\xae\rc\n")
    pipe.copy_to(kept)
    pipe.close()
    os.close(pipe.write_end)
    assert kept.lines == ["a�[2J�� b��c".encode()]


def test_metrics_hold_no_label_that_acts() -> None:
    engine = connect("postgresql+psycopg://nobody@127.0.0.1:1/none")
    metrics = Metrics(engine)
    metrics.answered("GET", f"/{HOSTILE}", 200, 0.1)
    text = metrics.exposition().decode()
    engine.dispose()
    assert "attest_http_requests_total" in text
    assert "FORGED" in text
    assert not [sign for sign in text if sign != "\n" and acts(sign)]
    assert not [line for line in text.split("\n") if line.startswith("FORGED")]


def test_a_server_ends_a_statement_before_the_caller_gives_it_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    def refuse(**named: str) -> None:
        told.append(named["options"])
        raise psycopg.OperationalError

    monkeypatch.setattr("store.core.database.Impatient.connect", refuse)
    engine = connect("postgresql+psycopg://nobody@127.0.0.1:1/none", answer_seconds=10)
    with pytest.raises(sa.exc.OperationalError):
        engine.connect()
    engine.dispose()
    assert "statement_timeout=8000" in told[0]
