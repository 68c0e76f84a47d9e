"""`--data-dir` may stand before a command or after it."""

import pytest

from cli.argument_order import data_dir_first


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["ask", "Why?", "--data-dir", "d"], ["--data-dir", "d", "ask", "Why?"]),
        (["ask", "--data-dir=d", "Why?"], ["--data-dir=d", "ask", "Why?"]),
        (["keys", "list", "--data-dir", "d"], ["--data-dir", "d", "keys", "list"]),
        (["--data-dir", "d", "ask", "Why?"], ["--data-dir", "d", "ask", "Why?"]),
        (["up", "--data-dir", "d"], ["--data-dir", "d", "up"]),
        (["ask", "--json", "Why?"], ["ask", "--json", "Why?"]),
        ([], []),
    ],
)
def test_it_is_read_where_the_command_reads_it(written: list[str], read: list[str]) -> None:
    assert data_dir_first(written) == read


@pytest.mark.parametrize(
    "arguments",
    [
        ["restore", "file", "--data-dir", "new"],
        ["ask", "--", "--data-dir", "d"],
        ["ask", "Why?", "--data-dir"],
    ],
)
def test_what_means_something_else_stays(arguments: list[str]) -> None:
    assert data_dir_first(arguments) == arguments


def test_a_restore_from_another_directory_keeps_both() -> None:
    written = ["--data-dir", "old", "restore", "file", "--data-dir", "new"]
    assert data_dir_first(written) == written
