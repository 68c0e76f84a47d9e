"""The tables of names, read in place: a trie of keys, and what each key may stand for. Pure.

`keys.marisa` holds the keys, `words.marisa` the words of English and of medicine that are no names
of their own, `entries.npz` the rest; `manifest.yaml` says what they were compiled from. All of it
is mapped or loaded at the first use and shared by the process.
"""

import zlib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import as_file, files

import marisa_trie
import numpy as np
from numpy.typing import NDArray

PREFERRED, CAPITALS, BRAND, SYMBOL, DOUBTFUL, SPACED, SPELLED = 1, 2, 4, 8, 16, 32, 64
"""Of a key and an entry: the entry's own name; written in capitals only; a brand; a gene's symbol;
needs evidence in the text; written in more than one word; a short form whose letters stand in a
longer name of the entry, as Schwartz and Hearst find them."""
KINDS = (
    "drug",
    "disease",
    "tumor",
    "gene",
    "protein",
    "chemical",
    "anatomy",
    "organism",
    "procedure",
    "device",
)


@dataclass(frozen=True, slots=True)
class Sense:
    """An entry that a key may stand for."""

    entry: int
    flags: int


class Tables:
    """The keys, the senses of each, and the entries."""

    def __init__(self) -> None:
        self._keys = _trie("keys")
        self._words = _trie("words")
        with as_file(files("knowledge.names") / "entries.npz") as path, np.load(path) as columns:
            self._starts: NDArray[np.uint32] = columns["starts"]
            self._senses: NDArray[np.uint32] = columns["senses"]
            self._kinds: NDArray[np.uint16] = columns["kinds"]
            self._ids: bytes = columns["ids"].tobytes()
            self._preferred: bytes = columns["preferred"].tobytes()

    def prefixes(self, text: str) -> list[str]:
        """The keys that `text` begins with, the shortest first."""
        found: list[str] = self._keys.prefixes(text)
        return found

    def senses(self, key: str) -> tuple[Sense, ...]:
        """What `key` may stand for; nothing if no table has it."""
        number = self._keys.get(key)
        if number is None:
            return ()
        packed = self._senses[self._starts[number] : self._starts[number + 1]]
        return tuple(Sense(int(one) >> 8, int(one) & 0xFF) for one in packed)

    def keys_of(self, entry: int) -> tuple[tuple[str, int], ...]:
        """The keys that stand for an entry, with their flags."""
        entries, order = self._by_entry
        first, last = np.searchsorted(entries, [entry, entry + 1])
        places = order[first:last]
        numbers = np.searchsorted(self._starts, places, "right") - 1
        flags = self._senses[places] & 0xFF
        keys = map(self._keys.restore_key, map(int, numbers))
        return tuple(zip(keys, map(int, flags), strict=True))

    def is_word(self, folded: str) -> bool:
        """True for a word of English, or a part of a name in the tables."""
        return folded in self._words

    def kinds(self, entry: int) -> frozenset[str]:
        """What an entry is: some of `KINDS`."""
        bits = int(self._kinds[entry])
        return frozenset(kind for at, kind in enumerate(KINDS) if bits >> at & 1)

    def id(self, entry: int) -> str:
        """The id of an entry in its terminology: MESH:D001241."""
        return self._all_ids[entry]

    def preferred(self, entry: int) -> str:
        """The name that an entry is shown by."""
        return self._all_preferred[entry]

    @cached_property
    def _by_entry(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The entries in order, and where each stands among the senses."""
        entries = (self._senses >> 8).astype(np.uint32)
        order = np.argsort(entries, kind="stable").astype(np.uint32)
        return entries[order], order

    @cached_property
    def _all_ids(self) -> list[str]:
        return zlib.decompress(self._ids).decode().split("\n")

    @cached_property
    def _all_preferred(self) -> list[str]:
        return zlib.decompress(self._preferred).decode().split("\n")


@cache
def tables() -> Tables:
    """The tables that ship with the product. Raises FileNotFoundError if they are missing."""
    return Tables()


def _trie(name: str) -> marisa_trie.Trie:
    with as_file(files("knowledge.names") / f"{name}.marisa") as path:
        return marisa_trie.Trie().mmap(str(path))
