"""Envelopes for payloads that do not identify themselves.

An envelope is a small JSON object. It holds a document with the facts its parser needs, or reports
that a document is gone or not available.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Parsed, Problem


def wrap(content: bytes, **facts: Any) -> bytes:
    """Put a document and the `facts` about it, which are JSON values, into an envelope."""
    return _dump({**facts, "content": base64.b64encode(content).decode("ascii")})


def gone(key: str) -> bytes:
    """Report that the source no longer has the document with this key."""
    return _dump({"gone": key})


def problem(source_id: str | None, reason: str) -> bytes:
    """Report that one document could not be fetched, with the reason."""
    return _dump({"problem": reason, "source_id": source_id})


def problems(source_ids: Sequence[str], reason: str) -> bytes:
    """Report that several documents could not be fetched, with the reason."""
    return _dump({"problem": reason, "source_ids": list(source_ids)})


def unseen(keys: Sequence[str]) -> bytes:
    """Report that the source no longer shows these documents, such as when others are newer."""
    return _dump({"unseen": list(keys)})


def unwrap(payload: bytes) -> tuple[Mapping[str, Any], bytes] | Parsed:
    """Return the facts and content that `wrap` packed, or any other report as a Parsed.

    Raises Malformed.
    """
    value = fields.load(payload)
    key, reason = fields.at(value, "gone"), fields.at(value, "problem")
    if isinstance(key, str) and key:
        return Parsed(gone=[key])
    if isinstance(fields.at(value, "unseen"), list):
        return Parsed(unseen=fields.texts(value, "unseen"))
    if isinstance(reason, str) and reason:
        if isinstance(fields.at(value, "source_ids"), list):
            return Parsed(
                problems=[
                    Problem(source_id, reason) for source_id in fields.texts(value, "source_ids")
                ]
            )
        return Parsed(problems=[Problem(fields.text(value, "source_id") or None, reason)])
    content = fields.at(value, "content")
    if not isinstance(content, str):
        raise Malformed("the envelope has no content")
    try:
        return value, base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("the envelope's content is not whole") from None


def _dump(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")
