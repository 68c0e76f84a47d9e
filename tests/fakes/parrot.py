"""A peer for `benchmarks.peers`: holds files whole, forgets none, says what it is told.

python -m tests.fakes.parrot [--mute]    (mute: it names no source)
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import wire


class Parrot:
    """Its chunks are files; a folder that is held again is held beside what was there."""

    versions: dict[str, str] = {"Parrot": "1"}  # noqa: RUF012

    def __init__(self) -> None:
        self.held: list[wire.Piece] = []
        self.words = "Hello."

    def ingest(self, files: Sequence[Path]) -> None:
        """Whole files."""
        os.write(1, b"a library that writes where it should not\n")
        self.held += [wire.Piece(one.name, one.read_bytes().decode(), 0) for one in files]

    def ask(self, question: str) -> wire.Told:
        """The same for any question."""
        cites = bool(self.held) and "--mute" not in sys.argv
        return wire.Told(f"{self.words} [1]", cites, [one.text for one in reversed(self.held)])

    def pieces(self) -> list[wire.Piece]:
        """All files."""
        return self.held

    def say(self, words: str) -> None:
        """The next answers."""
        self.words = words

    def hold(self, folder: Path) -> None:
        """Forgets nothing."""
        self.ingest(sorted(folder.glob("*.txt")))


if __name__ == "__main__":
    wire.stay_offline()
    wire.serve(Parrot)
