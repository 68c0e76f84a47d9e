"""Connections by httpx: time-outs, a deadline on every exchange, no cookies and no logs."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

from workers.http.redact import silence_http_logs

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
"""WIRE 0, both: how long a source may be silent."""
KEPT_SECONDS = 30.0
"""Our choice: how long an idle connection is kept; a refresh fetches pages faster."""

_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


class NoAnswer(Exception):
    """There was no response, or an incomplete one. The text is in our words.

    `late`: the deadline passed while it was in progress.
    """

    def __init__(self, said: str, *, late: bool) -> None:
        super().__init__(said)
        self.late = late


class _Deadline:
    """The deadline of this thread's exchange."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Make every read, write and connect in the block fail once `seconds` have passed."""
        self._of_thread.ends = time.monotonic() + seconds
        try:
            yield
        finally:
            self._of_thread.ends = None

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed."""
        ends = getattr(self._of_thread, "ends", None)
        return ends is not None and time.monotonic() >= ends

    def shortened(self, timeout: float | None, error: type[Exception]) -> float | None:
        """`timeout`, cut to the time left. Raises `error` if none is left."""
        ends = getattr(self._of_thread, "ends", None)
        if ends is None:
            return timeout
        left: float = ends - time.monotonic()
        if left <= 0:
            raise error("deadline")
        return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._deadline.shortened(timeout, httpcore.ReadTimeout)
        return self._stream.read(max_bytes, left)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.shortened(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._deadline.shortened(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Network(httpcore.NetworkBackend):
    """Applies the deadline to the whole exchange: httpx gives each read its own time-out, so
    headers that arrive slowly would never end."""

    def __init__(self, network: httpcore.NetworkBackend, deadline: _Deadline) -> None:
        self._network = network
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = self._deadline.shortened(timeout, httpcore.ConnectTimeout)
        stream = self._network.connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(stream, self._deadline)

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class Wire:
    """Connections to all sources, kept for the next request. Thread-safe. Keeps no cookies, follows
    no redirects, writes no logs."""

    def __init__(self) -> None:
        """Opens nothing yet. The environment's proxies are used, except for this machine's own
        addresses."""
        silence_http_logs()
        self._deadline = _Deadline()
        self._http = httpx.Client(
            headers={"Accept-Encoding": "gzip"},
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            mounts=dict.fromkeys(_LOOPBACK),
            event_hooks={"response": [_hide_location]},
            limits=httpx.Limits(max_keepalive_connections=20, keepalive_expiry=KEPT_SECONDS),
        )
        # httpx has no public way to set a network backend and keep the environment's proxies.
        for transport in (self._http._transport, *self._http._mounts.values()):
            if isinstance(transport, httpx.HTTPTransport):
                pool: Any = transport._pool
                pool._network_backend = _Network(pool._network_backend, self._deadline)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    @contextmanager
    def answer(
        self,
        method: str,
        url: httpx.URL,
        form: Mapping[str, str | int | float] | None,
        headers: Mapping[str, str],
        seconds: float,
        content: bytes | None = None,
    ) -> Iterator[httpx.Response]:
        """The response, its body not yet read. All reading in the block ends within `seconds`.

        Raises:
            NoAnswer: at any moment until the block ends.
        """
        request = self._http.build_request(method, url, data=form, content=content, headers=headers)
        with self._deadline.within(seconds):
            try:
                response = self._http.send(request, stream=True)
                try:
                    response.headers = response.extensions[_HEADERS]
                    yield response
                finally:
                    response.close()
            except httpx.RequestError as error:
                failure = NoAnswer(_what_failed(error), late=self._deadline.passed)
            else:
                return
        raise failure


_HEADERS = "attest.headers"


def _hide_location(response: httpx.Response) -> None:
    """Hide `Location` from httpx, which parses it even if it must not follow it, and fails on some
    values."""
    response.extensions[_HEADERS] = response.headers
    response.headers = response.headers.copy()
    response.headers.pop("location", None)


@cache
def shared_wire() -> Wire:
    """The connections of this process."""
    return Wire()


_FAILURES: dict[type[httpx.RequestError], str] = {
    httpx.ConnectTimeout: f"could not be reached within {CONNECT_SECONDS:.0f} s",
    httpx.ReadTimeout: f"said nothing for {READ_SECONDS:.0f} s",
    httpx.ConnectError: "could not be reached",
    httpx.ProxyError: "could not be reached through the proxy",
    httpx.RemoteProtocolError: "broke off in the middle, or does not speak HTTP",
    httpx.ReadError: "broke the connection off",
    httpx.WriteError: "broke the connection off",
}


def _what_failed(error: httpx.RequestError) -> str:
    """The error in our words: its own text may hold the address, which may hold a key."""
    return _FAILURES.get(type(error), f"could not be asked ({type(error).__name__})")
