"""Audit payloads about requests to language models and an answer's evidence: hashes. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from contracts.answer import Evidence
from contracts.draft import Proposal
from contracts.retrieval import Request
from store.core.hashes import keyed


def models_asked(key: bytes | None, **consulted: Request | Proposal | None) -> list[dict[str, Any]]:
    """The models that were asked, by purpose: name, prompt version, and hashes of prompt and output
    (null where no output was usable). No words of either.

    Args:
        key: the key of the hashes of the subject's words; stored requests have plain hashes.
        consulted: the stored requests, by purpose; None or without a model: none was asked.
    """
    return [
        {
            "purpose": purpose,
            "model": request.model,
            "prompt_version": request.prompt_version,
            "prompt_hash": keyed(request.prompt_hash, key),
            "output_hash": keyed(request.output_hash, key),
        }
        for purpose, request in consulted.items()
        if request and request.model
    ]


def judge_asked(key: bytes | None, judged: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a judge, which may be asked several times (`workers.verify.judges.judging`)."""
    hashes = {
        name: [keyed(digest, key) for digest in judged[name]]
        for name in ("prompt_hashes", "output_hashes")
    }
    return {**judged, **hashes}


def evidence_of(records: Iterable[Evidence]) -> list[dict[str, str]]:
    """The versions that evidence records name, each once, with the hash of its content."""
    hashes = {record.version_id: record.retrieval.hash for record in records}
    return [{"version_id": key, "content_hash": value} for key, value in hashes.items()]
