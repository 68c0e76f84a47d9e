"""Commands that are imported when they are called are the commands that they stand for."""

import subprocess
import sys

import typer
from typer.testing import CliRunner

from cli.main import COMMANDS, GROUPS, app
from tests.grid import grid

KNOWN = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@grid("name", [*COMMANDS, *GROUPS])
def test_its_line_of_help_is_its_own(name: str) -> None:
    late = KNOWN[name]
    assert (late.real.help or "").split("\n\n")[0].replace("\n", " ") == late.help
    assert hasattr(late, "commands") == (name in GROUPS)


def test_its_own_help_is_that_of_the_real_one() -> None:
    said = CliRunner().invoke(app, ["import", "--help"], terminal_width=120).output
    assert "--as-of" in said
    below = CliRunner().invoke(app, ["audit", "verify", "--help"], terminal_width=120).output
    assert "audit verify [OPTIONS]" in below


def test_a_group_alone_shows_its_help_and_what_is_not_there_is_refused() -> None:
    assert "verify-export" in CliRunner().invoke(app, ["audit"]).output
    refused = CliRunner().invoke(app, ["audit", "forget"])
    assert refused.exit_code == 2
    assert "No such command" in refused.output


def test_help_loads_neither_the_database_nor_a_stage() -> None:
    program = (
        "import sys; from typer.testing import CliRunner; from cli.main import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert not loaded & {"sqlalchemy", "numpy", "httpx", "alembic", "dramatiq", "psycopg"}
    assert not any(name.startswith("workers.") for name in loaded)
