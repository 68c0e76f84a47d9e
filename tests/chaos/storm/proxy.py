"""A TCP proxy before a Unix socket, which can lose its connections or be slow."""

import contextlib
import socket
import threading
import time

BLOCK = 65536


class Proxy:
    """Listens on loopback and passes on what it gets; `cut` and `delay` are its bad moods."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._cut = False
        self._delay = 0.0
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Drop every connection and refuse new ones, until `mend`."""
        self._cut = True
        with self._lock:
            for one in list(self._open):
                _close(one)

    def delay(self, seconds: float) -> None:
        """Hold back whatever passes for so long, until `mend`."""
        self._delay = seconds

    def mend(self) -> None:
        """Be a good proxy again."""
        self._cut, self._delay = False, 0.0

    def close(self) -> None:
        """End it."""
        self.cut()
        _close(self._listener)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        try:
            if self._cut:
                return
            server.connect(self._path)
            with self._lock:
                self._open |= {client, server}
            back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
            back.start()
            self._pump(client, server)
            back.join()
        except OSError:
            pass
        finally:
            with self._lock:
                self._open -= {client, server}
            _close(client)
            _close(server)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while block := source.recv(BLOCK):
                if self._delay:
                    time.sleep(self._delay)
                target.sendall(block)
        except OSError:
            pass
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def _close(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
