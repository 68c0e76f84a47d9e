"""What a user can mend is one line on stderr, whichever library noticed it."""

import errno
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from cli.instance.failures import plain
from store.core.plurals import counted
from tests.commands import Attest


def said(tmp_path: Path, *arguments: str, **environment: str) -> str:
    """What a command says that fails; nothing runs where it looks."""
    done = Attest({"ATTEST_DATA_DIR": str(tmp_path / "data"), **environment})(*arguments)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "url", ["hush", "postgresql:hush", "postgresql://u:hush@h:x/a", "mysql://u:hush@h/a"]
)
@pytest.mark.parametrize("command", [["sources"], ["migrate"]])
def test_a_database_url_that_is_none_is_named_and_not_repeated(
    tmp_path: Path, url: str, command: list[str]
) -> None:
    more = {"ATTEST_DATABASE_URL": url, "ATTEST_REDIS_URL": "redis://127.0.0.1:1/0"}
    line = said(tmp_path, *command, **more)
    assert "ATTEST_DATABASE_URL is no address" in line
    assert "hush" not in line


@pytest.mark.parametrize("command", [["up"], ["sources"]])
@pytest.mark.parametrize("name", ["ATTEST_DATABASE_URL", "ATTEST_REDIS_URL"])
def test_one_url_alone_is_refused_before_anything_starts(
    tmp_path: Path, command: list[str], name: str
) -> None:
    line = said(tmp_path, *command, **{name: "redis://127.0.0.1:1/0"})
    assert "set both ATTEST_DATABASE_URL and ATTEST_REDIS_URL, or neither" in line
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("key", ["attest_hush\n", "attest hush", "attest_h\u00fcsh"])
@pytest.mark.parametrize("command", [["ask", "Why?"], ["mcp"], ["sources"]])
def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(
    tmp_path: Path, command: list[str], key: str
) -> None:
    line = said(tmp_path, *command, ATTEST_KEY=key)
    assert line.startswith("attest: ATTEST_KEY: has a space, a line break or a non-ASCII letter")
    assert key.strip()[-4:] not in line


@pytest.mark.parametrize("option", ["--since", "--until"])
@pytest.mark.parametrize("command", [["audit", "query"], ["dead-letters", "list"]])
def test_a_day_that_no_clock_reaches_is_refused_by_its_option(
    command: list[str], option: str
) -> None:
    done = Attest({})(*command, option, "0001-01-01")
    assert done.returncode == 2
    assert option in done.stderr
    assert "no clock reaches that day" in done.stderr


@pytest.mark.parametrize("content", [b"\x00\x00", b"Fever.\x00", b"", b" \n"])
def test_a_note_that_the_gateway_refuses_is_not_summarized_here_either(
    tmp_path: Path, content: bytes
) -> None:
    note = tmp_path / "note.txt"
    note.write_bytes(content)
    line = said(tmp_path, "summarize", "--here", str(note), COLUMNS="200")
    assert str(note) in line
    assert ("NUL" in line) == (b"\x00" in content)


def test_ctrl_c_while_the_command_is_loaded_is_no_traceback() -> None:
    """It arrives while the first of the libraries is imported, here as an error of that import."""
    program = (
        "import sys\n"
        "class CtrlC:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, CtrlC())\n"
        "from cli.entry import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_program_begins_there() -> None:
    scripts = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert scripts["project"]["scripts"] == {"attest": "cli.entry:main"}


@pytest.mark.parametrize("command", [[], ["stages"], ["stages", "list"], ["report"], ["ask"]])
def test_help_answers_to_h_too(command: list[str]) -> None:
    short, long = Attest({})(*command, "-h"), Attest({})(*command, "--help")
    assert (short.returncode, short.stdout) == (0, long.stdout)
    assert "Usage" in short.stdout


def test_the_version_is_that_of_the_package() -> None:
    done = Attest({})("--version")
    assert (done.returncode, done.stdout) == (0, f"attest {version('attest')}\n")


def test_an_error_of_the_system_is_told_without_its_number() -> None:
    assert plain(OSError(errno.EACCES, "Permission denied", "/a/b")) == "/a/b: Permission denied"
    assert plain(OSError(errno.ENOSPC, "No space left on device")) == "No space left on device"
    assert plain(FileExistsError("b is there already")) == "b is there already"
    assert plain(ValueError("no")) == "no"


def test_one_is_no_plural() -> None:
    assert [counted(n, "claim") for n in (0, 1, 2)] == ["0 claims", "1 claim", "2 claims"]
