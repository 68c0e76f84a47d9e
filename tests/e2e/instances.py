"""Instances of `attest up` for tests: started, asked, watched and stopped."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx
import psutil
import pytest

from cli.commands.demo import free_port
from tests.commands import Attest, hear_hangups
from tests.servers import TRIAL_QUESTION, wait_until

COMMAND = [sys.executable, "-m", "cli.main"]
HASH = {"ATTEST_ENCODER": "hash"}


@dataclass
class Up:
    """A running `attest up`."""

    process: "subprocess.Popen[bytes]"
    data_dir: Path
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def attest(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run an `attest` command against this instance, without a process of its own."""
        return Attest(HASH)(f"--data-dir={self.data_dir}", *arguments)

    def attest_process(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run it as a user does."""
        return attest(f"--data-dir={self.data_dir}", *arguments)

    def family(self) -> list[psutil.Process]:
        """The supervisor and everything below it."""
        top = psutil.Process(self.process.pid)
        return [top, *top.children(recursive=True)]

    def pids(self, role: str) -> set[int]:
        """The processes that run `attest ROLE` for it."""
        found = set()
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):  # it ended meanwhile
                if role in " ".join(child.cmdline()).split():
                    found.add(child.pid)
        return found

    def text(self) -> str:
        """What it has printed, and the logs of its processes."""
        logs = [self.log, *(self.data_dir / "log").glob("*.log")]
        return "".join(log.read_text("utf-8", errors="replace") for log in logs if log.exists())

    def wait_ready(self) -> None:
        """Wait until the gateway answers."""

        with httpx.Client(timeout=2) as client:

            def ready() -> bool:
                if self.process.poll() is not None:
                    pytest.fail(self.text())
                try:
                    return client.get(f"{self.url}/readyz").status_code == 200
                except httpx.TransportError:
                    return False

            wait_until(ready, 90, "attest up is ready")

    def stop(self) -> int:
        """SIGTERM, and wait for the end."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def attest(*arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run one `attest` command, as a process, to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, **HASH, **env},
        check=False,
    )


def start(data_dir: Path, *arguments: str) -> Up:
    """Start `attest up` and wait until it answers."""
    with (data_dir.parent / f"{data_dir.name}.log").open("ab") as output:
        running = printing(data_dir, output, *arguments)
    running.wait_ready()
    return running


def printing(data_dir: Path, output: IO[bytes] | int, *arguments: str, shell: str = "") -> Up:
    """Start `attest up`, printing there; `shell` may start it, as a session of its own does."""
    port = free_port()
    command = [*COMMAND, "up", f"--data-dir={data_dir}", f"--port={port}", *arguments]
    process = subprocess.Popen(
        ["/bin/sh", "-c", shell, "sh", *command] if shell else command,
        stdout=output,
        stderr=output,
        start_new_session=bool(shell),
        env={**os.environ, **HASH, "ATTEST_LEASE_SECONDS": "3"},
        preexec_fn=hear_hangups,
    )
    return Up(process, data_dir, port, data_dir.parent / f"{data_dir.name}.log")


def read_until(descriptor: int, words: bytes) -> str:
    """Read what a child prints until it has said these words; returns all that it said."""
    said = b""
    while words not in said:
        try:
            more = os.read(descriptor, 4096)
        except OSError:  # a terminal whose last program ended
            more = b""
        if not more:
            pytest.fail(f"it ended with: {said.decode(errors='replace')}")
        said += more
    return said.decode(errors="replace")


def ask(running: Up, text: str = TRIAL_QUESTION) -> dict[str, Any]:
    done = running.attest("ask", text, "--json")
    assert done.returncode == 0, done.stderr
    body: dict[str, Any] = json.loads(done.stdout)
    return body
