"""What events keep of asking language models, and of what an answer rests on: hashes. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from store.core.hashes import keyed


def models_asked(key: bytes | None, **consulted: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The models that were asked, by purpose: name, version of the prompt, hashes of what was sent
    and of what came back (null where nothing usable did). No words of either.

    Args:
        key: of the hashes of whose words these are; what is stored has plain ones.
        consulted: what is stored of having asked, by purpose; None or without a model: nobody was.
    """
    return [
        {
            "purpose": purpose,
            "model": body["model"],
            "prompt_version": body.get("prompt_version"),
            "prompt_hash": keyed(body.get("prompt_hash"), key),
            "output_hash": keyed(body.get("output_hash"), key),
        }
        for purpose, body in consulted.items()
        if body and body.get("model")
    ]


def judge_asked(key: bytes | None, judged: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a judge, which may be asked several times (`workers.verify.judging`)."""
    hashes = {
        name: [keyed(one, key) for one in judged[name]]
        for name in ("prompt_hashes", "output_hashes")
    }
    return {**judged, **hashes}


def evidence_of(records: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The versions that evidence records name, each once, with the hash of what it says."""
    found = {str(one["version_id"]): str(one["retrieval"]["hash"]) for one in records}
    return [{"version_id": key, "content_hash": value} for key, value in found.items()]
