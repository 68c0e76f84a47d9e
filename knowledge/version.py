"""The version of the clinical policy, stored with each answer."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.abc import Traversable
from importlib.resources import files


@cache
def knowledge_version() -> str:
    """The first 12 hex digits of the SHA-256 over all policy files, including their names, and the
    tables and weights of the learned readers, which decide what is shown."""
    digest = hashlib.sha256()
    for name, content in sorted(policy_files(files("knowledge"))):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:12]


def policy_files(folder: Traversable) -> Iterator[tuple[str, bytes]]:
    """Every policy file under `folder`: its path relative to the folder, and its content."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from ((f"{entry.name}/{name}", data) for name, data in policy_files(entry))
        elif entry.name.endswith((".yaml", ".safetensors", ".npz", ".marisa")):
            yield entry.name, entry.read_bytes()
