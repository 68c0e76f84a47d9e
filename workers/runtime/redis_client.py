"""A Redis client whose retries do not nest."""

from collections.abc import Callable
from typing import Any

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry


class OutermostRetry(Retry):
    """Retries a command, but not its parts.

    redis-py applies one policy to the command, the connection in it and the health check in that:
    with a server that accepts but does not answer, three retries wait for 23 time-outs. Each
    connection has its own policy object and is used by one thread at a time.
    """

    _inside = False

    def call_with_retry(self, do: Callable[[], Any], *args: Any, **options: Any) -> Any:
        """As `Retry.call_with_retry`; inside such a call, `do` is called only once."""
        if self._inside:
            once = Retry(NoBackoff(), 0, self._supported_errors)
            return once.call_with_retry(do, *args, **options)
        self._inside = True
        try:
            return super().call_with_retry(do, *args, **options)
        finally:
            self._inside = False


def redis_client(url: str, *, timeout_seconds: float = 10.0, retries: int = 3) -> redis.Redis:
    """A client that retries through short outages. A command may run twice; consumers allow it."""
    return redis.Redis.from_url(
        url,
        retry=OutermostRetry(ExponentialBackoff(cap=1.0, base=0.05), retries),
        retry_on_error=[redis.ConnectionError, redis.TimeoutError],
        socket_timeout=timeout_seconds,
        socket_connect_timeout=min(timeout_seconds, 5.0),
        health_check_interval=30,
    )
