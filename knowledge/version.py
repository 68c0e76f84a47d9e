"""Which state of the clinical policy an answer was made under."""

import hashlib
from functools import cache
from importlib.resources import files


@cache
def knowledge_version() -> str:
    """The first 12 hex digits of the SHA-256 over all policy files, names included."""
    digest = hashlib.sha256()
    for file in sorted(files("knowledge").iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
