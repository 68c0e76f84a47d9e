"""What names the gate of this release: an answer is kept with that of the gate it passed."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.abc import Traversable
from importlib.resources import files

from knowledge.version import knowledge_version

PACKAGES = ("workers.verify", "clinical_text")
"""Where claims are read, checked and decided."""
_LEFT_OUT = frozenset({"__pycache__"})


@cache
def gate_version() -> str:
    """The first 12 hex digits of the SHA-256 over all that decides about a claim: the code of the
    gate and of the reading, its prompts and weights, and the policy.

    A number that somebody raises would be forgotten once. So any change of these files is another
    gate; to verify held answers again costs no request to a model.
    """
    return name_of(knowledge_version(), {package: files(package) for package in PACKAGES})


def name_of(policy: str, folders: Mapping[str, Traversable]) -> str:
    """What names a gate of this policy whose files are in these folders, by their names."""
    digest = hashlib.sha256(policy.encode())
    every = [one for name, folder in folders.items() for one in _files(folder, name)]
    for name, file in sorted(every, key=lambda one: one[0]):
        digest.update(name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name in _LEFT_OUT:
            continue
        name = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _files(entry, name)
        else:
            yield name, entry
