"""Commands print through one module, and on its console words are only words."""

import ast
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group
from rich.panel import Panel
from rich.progress import Progress, TextColumn
from rich.style import Style
from rich.table import Table
from rich.text import Text

from cli.main import main
from cli.output.printing import Console, guarded_streams, say, say_beside, say_json
from store.core.printable import acts
from tests.grid import grid

ROOT = Path(__file__).resolve().parents[3]
PRODUCT = (
    "messages",
    "contracts",
    "store",
    "clinical_text",
    "workers",
    "knowledge",
    "api_gateway",
    "scheduler",
    "cli",
)
PRINTERS = {
    "cli/output/printing.py": "what commands print",
    "cli/supervise/output.py": "what child processes print, line by line through `printable`",
    "cli/assistant/logs.py": "the lines of logs of the tools, on the guarded stderr of a command",
    "store/core/log_lines.py": "the lines of logs of commands",
    "workers/runtime/logs.py": "the lines of logs of processes",
    "knowledge/names/compile/__main__.py": "what the compiler of tables made, for who runs it",
    "workers/health.py": "one line for Docker, through `printable`",
    "workers/extract/intake/rendering.py": "a picture, for the process that asked for it",
    "workers/file_formats/glyphs.py": "places of glyphs, for the process that asked for them",
}
"""Every module that writes to a standard stream, and what."""
CALLS = {"Console", "StreamHandler", "PrintLogger", "PrintLoggerFactory", "WriteLogger"}
PRINTS = {"print", "pprint", "echo", "secho", "print_exc", "print_exception"}
OTHERS = {"click", "rich", "pprint"}
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
GUARDED = {("cli/main.py", "print_exc"), ("cli/main.py", "stderr")}
"""An uncaught error's traceback, printed while the streams are guarded."""

NAMED = re.compile(rf"\b(?:{'|'.join(CALLS | PRINTS | OTHERS | STREAMS)})\b")

HOSTILE = "a\x1b[2J\x1b]8;;x\x07b\x9b31m\x08\x7f\x85\r\u202ec\u2066\u2028\nFORGED"


def writes(path: Path) -> Iterator[tuple[int, str]]:
    """Where a module reaches a standard stream, and by which name."""
    text = path.read_text("utf-8")
    nodes = list(ast.walk(ast.parse(text))) if NAMED.search(text) else []
    attributes = [one for one in nodes if isinstance(one, ast.Attribute)]
    flushed = {one.value for one in attributes if one.attr == "flush"}  # writes nothing of its own
    for node in nodes:
        if isinstance(node, ast.Call):
            owner, _, name = ast.unparse(node.func).rpartition(".")
            if (
                name in CALLS
                or (name in PRINTS and owner in {"", "typer", "traceback"})
                or owner in OTHERS
            ):
                yield node.lineno, name
        elif isinstance(node, ast.Attribute) and node.attr in STREAMS:
            if ast.unparse(node.value) == "sys" and node not in flushed:
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich"):
            yield from ((node.lineno, "Console") for one in node.names if one.name == "Console")


@grid("folder", PRODUCT)
def test_no_other_module_writes_to_a_standard_stream(folder: str) -> None:
    """A new command prints with `cli.output.printing` (`say`, `Console`), or it does not pass
    here."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        module = path.relative_to(ROOT).as_posix()
        if module in PRINTERS:
            assert list(writes(path)), f"{module} writes nothing any more"
            continue
        text = path.read_text("utf-8")
        ours = re.search(r"^from cli\.output\.printing import .*\bConsole\b", text, re.M)
        named = {name for _, name in writes(path)} - ({"Console"} if ours else set())
        found += [f"{module}: {name}" for name in named if (module, name) not in GUARDED]
    assert not found


def shown(*printed: object, width: int = 300) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system="truecolor")
    for one in printed:
        console.print(one)
    return out.getvalue()


def table(*cells: str) -> Table:
    made = Table("a", "b", title=cells[0])
    made.add_row(*cells)
    return made


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_whatever_carries_the_words_nothing_acts_and_none_begins_a_line(text: str) -> None:
    words = f"a{text}\nFORGED"
    for one in (
        words,
        Text(words, style="bold"),
        Text.assemble((words, "red"), words),
        Panel(Text(words), title=Text(words)),
        Panel(words),
        Group(words, Text(words)),
        table(words, words),
    ):
        out = io.StringIO()
        Console(file=out, width=4000).print(one)
        assert not [sign for sign in out.getvalue() if sign != "\n" and acts(sign)]
        assert not [line for line in out.getvalue().split("\n") if line.startswith("FORGED")]


def test_markup_emoji_codes_and_links_of_others_do_nothing() -> None:
    assert shown("[bold red]x[/] :warning: [link=file:///etc]y[/link]") == (
        "[bold red]x[/] :warning: [link=file:///etc]y[/link]\n"
    )
    linked = shown(Text("title", style=Style(link="https://a.example/\x1b\\\x1b[2J")))
    assert "\x1b[2J" not in linked
    assert linked == "title\n"
    good = shown(Text("title", style=Style(link="https://a.example/1")))
    assert "https://a.example/1\x1b\\title" in good


def test_progress_descriptions_are_words_too() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system=None)
    with Progress(TextColumn("{task.description}"), console=console) as bars:
        bars.add_task("file \x1b]0;owned\x07\u202e.xml")
    assert "\x1b]0;" not in out.getvalue()
    assert "\u202e" not in out.getvalue()


def test_lines_and_json_are_printed_without_what_acts(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    say_beside(HOSTILE)
    say_json({HOSTILE: [HOSTILE, "\ud800"]})
    printed = capsys.readouterr()
    line, body = printed.out.splitlines()
    assert line.startswith("a�[2J")
    assert json.loads(body) == {HOSTILE: [HOSTILE, "\ud800"]}
    for text in (printed.out, printed.err):
        assert not [sign for sign in text if sign != "\n" and acts(sign)]
    assert printed.err.count("\n") == 1


def test_what_other_code_prints_is_guarded_and_rich_keeps_its_colours() -> None:
    before, raw = sys.stdout, io.StringIO()
    sys.stdout = raw
    try:
        with guarded_streams():
            sys.stdout.write("\x1b[31mred\u202e\n")
            Console(force_terminal=True, color_system="standard").print(Text("x", style="red"))
        assert sys.stdout is raw
    finally:
        sys.stdout = before
    assert raw.getvalue() == "�[31mred�\n\x1b[31mx\x1b[0m\n"


@pytest.mark.parametrize(
    "arguments", [(f"no{HOSTILE}",), ("ask", f"--no{HOSTILE}"), ("keys", HOSTILE)]
)
def test_wrong_usage_is_told_with_harmless_words(
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["attest", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "Usage: " in told
    assert not [sign for sign in told if sign != "\n" and acts(sign)]


def test_an_error_that_nobody_foresaw_is_a_harmless_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(**_: object) -> None:
        raise ZeroDivisionError(HOSTILE)

    monkeypatch.setattr("cli.main.app", fails)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert "ZeroDivisionError: a�[2J" in told
    assert not [sign for sign in told if sign != "\n" and acts(sign)]
