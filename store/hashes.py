"""One way to hash what is stored as JSON."""

import hashlib
import json


def json_hash(body: object) -> str:
    """SHA-256, in hex, of the canonical JSON of `body`: sorted keys, no spaces, UTF-8."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def text_hash(text: str) -> str:
    """SHA-256, in hex, of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()
