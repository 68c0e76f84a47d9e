"""A signal that comes while a server is started ends the program, as at any other moment."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal
from store.embedded.process import Command, run_once

def end(number, frame):
    raise SystemExit(128 + number)

number = signal.Signals[{name!r}]
signal.signal(number, end)
os.register_at_fork({where}=lambda: os.kill(os.getpid(), number))
run_once(Command(("sleep", "60"), {{"PATH": os.environ["PATH"]}}), 60)
"""


@pytest.mark.parametrize("where", ["before", "after_in_parent"])
def test_a_signal_within_a_fork_is_not_lost(where: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        program = PROGRAM.format(name=number.name, where=where)
        ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
        assert ended.returncode == 128 + number, (number, ended.stderr)
