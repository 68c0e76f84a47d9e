"""What events keep of asking language models, and of what an answer rests on: hashes. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

_ASKED = ("model", "prompt_version", "prompt_hash", "output_hash")


def models_asked(**consulted: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The models that were asked, by purpose: name, version of the prompt, hashes of what was sent
    and of what came back (null where nothing usable did). No words of either.

    Args:
        consulted: what is stored of having asked, by purpose; None or without a model: nobody was.
    """
    return [
        {"purpose": purpose, **{name: body.get(name) for name in _ASKED}}
        for purpose, body in consulted.items()
        if body and body.get("model")
    ]


def evidence_of(records: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The versions that evidence records name, each once, with the hash of what it says."""
    found = {str(one["version_id"]): str(one["retrieval"]["hash"]) for one in records}
    return [{"version_id": key, "content_hash": value} for key, value in found.items()]
