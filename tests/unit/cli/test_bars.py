"""Progress bars are for people."""

import pytest

from cli.output.bars import terminal_bars


def test_a_program_that_reads_stderr_is_sent_no_bar_and_no_empty_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with terminal_bars() as shown:
        shown.add_task("read", total=1)
    assert capsys.readouterr().err == ""
