"""Copies what child processes print, in whole lines, each with the name of its process."""

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Protocol

from store.core.printable import printable
from store.embedded.datadir import rotate_log

_READ_BYTES = 65536
_MAX_LINE_BYTES = 65536  # bounds the memory for a child that never ends its line


class LineBuffer:
    """Cuts a stream of bytes into lines."""

    def __init__(self, max_line_bytes: int = _MAX_LINE_BYTES) -> None:
        self._rest = b""
        self._max = max_line_bytes

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without line ends; overlong ones in pieces."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        while len(self._rest) > self._max:
            lines.append(self._rest[: self._max])
            self._rest = self._rest[self._max :]
        return lines

    def flush(self) -> list[bytes]:
        """Return the last line, if the stream ended in the middle of it."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


class Sink(Protocol):
    """A destination for lines."""

    def write(self, name: str, lines: list[bytes]) -> None:
        """Write lines of the process `name`."""


class StderrSink:
    """Writes `name | line` to standard error, with names padded to `width`."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._open = True

    def write(self, name: str, lines: list[bytes]) -> None:
        """Write the lines; if the reader has gone (a closed pipe), drop them."""
        if not (lines and self._open):
            return
        prefix = f"{name:<{self._width}} | ".encode()
        try:
            sys.stderr.flush()
            _write_all(sys.stderr.fileno(), b"".join(prefix + line + b"\n" for line in lines))
        except (OSError, ValueError, io.UnsupportedOperation):
            self._open = False


class FileSink:
    """Appends to `directory/NAME.log`; a file that exceeds its size limit is rotated."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, name: str, lines: list[bytes]) -> None:
        """Append the lines; drop them if they cannot be written, as on a full disk."""
        if not lines:
            return
        path = self._directory / f"{name}.log"
        with contextlib.suppress(OSError):
            rotate_log(path)
            with open(path, "ab", opener=_for_its_owner) as file:
                file.write(b"".join(line + b"\n" for line in lines))


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class Pipe:
    """The reading end of one process's output."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._read, self.write_end = os.pipe()
        os.set_blocking(self._read, False)
        self._lines = LineBuffer()

    def fileno(self) -> int:
        """The file descriptor, for selectors."""
        return self._read

    def copy_to(self, sink: Sink) -> int | None:
        """Pass on what is there now; return the number of bytes, None at the end of the stream."""
        try:
            data = os.read(self._read, _READ_BYTES)
        except BlockingIOError:
            return 0
        lines = self._lines.feed(data) if data else self._lines.flush()
        sink.write(self.name, [_shown(line) for line in lines])
        return len(data) or None

    def close(self) -> None:
        """Close the reading end."""
        os.close(self._read)


def _shown(line: bytes) -> bytes:
    """Return the line without terminal control characters, and with invalid UTF-8 marked."""
    return printable(line.decode("utf-8", "replace")).encode()


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
