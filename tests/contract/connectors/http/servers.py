"""Servers for the tests of the HTTP client: a site that says what it is told, and raw sockets."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime

from tests.fakes.web import Clock, Reply, Request

EUTILS = "https://eutils.ncbi.nlm.nih.gov"
PMC = "https://pmc.ncbi.nlm.nih.gov"
KEY = "k3y0fN0b0dy/5ecret+=="
CONTACT = "somebody@example.org"


class Site:
    """Answers as it is told: `replies` by path, one after the other, the last one for ever."""

    def __init__(self, origin: str, clock: Clock) -> None:
        self.origin = origin
        self.clock = clock
        self.replies: dict[str, list[Reply]] = {}
        self.asked_at: list[datetime] = []

    def answer(self, request: Request) -> Reply:
        self.asked_at.append(self.clock())
        replies = self.replies.get(request.path, [Reply(200, b"hello")])
        return replies.pop(0) if len(replies) > 1 else replies[0]


@contextlib.contextmanager
def raw_server(speak: Callable[[socket.socket], None]) -> Iterator[tuple[str, list[int]]]:
    """A server that reads one request a connection, then does `speak`; gives its base URL and the
    ports it was called from."""
    listening = socket.create_server(("127.0.0.1", 0))
    callers: list[int] = []
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            try:
                caller, address = listening.accept()
            except OSError:
                return
            callers.append(address[1])
            with caller, contextlib.suppress(OSError):
                caller.recv(65536)
                speak(caller)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", callers
    finally:
        done.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(60)


def says(data: bytes) -> Callable[[socket.socket], None]:
    return lambda caller: caller.sendall(data)


def drips(first: bytes) -> Callable[[socket.socket], None]:
    """Sends `first`, then one byte every 20 ms until the other side has gone."""

    def speak(caller: socket.socket) -> None:
        caller.sendall(first)
        while True:
            caller.sendall(b"a")
            time.sleep(0.02)

    return speak
