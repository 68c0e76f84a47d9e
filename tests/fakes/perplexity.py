"""Perplexity's `POST /chat/completions` as WIRE 8 and 10 describe it, without streaming.

    service = Perplexity(keys={"k"})
    service.found = ["https://pubmed.ncbi.nlm.nih.gov/101/"]

Its text has markers, one of them out of range, and claims that stand in no source: whoever reads
it is wrong. `without` takes fields of the answer away, as the real one may.
"""

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.web import Reply, Request

MODELS = frozenset({"sonar", "sonar-pro", "sonar-reasoning-pro", "sonar-deep-research"})
_DOMAINS = 10
_TEXT = "<think>made up</think>Made-up claim of a made-up effect.[1][2][99]"


class Perplexity:
    """Knows some keys; finds the same for everybody."""

    origin = "https://api.perplexity.ai"

    def __init__(self, keys: set[str]) -> None:
        self.keys = keys
        self.found: list[str] = []
        self.without: set[str] = set()
        self.cost: Any = 0.00612
        self.asked: list[dict[str, Any]] = []

    def answer(self, request: Request) -> Reply:
        """What the service would say."""
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            return error(401, "invalid_api_key", f"Invalid API key provided: {key}")
        if (request.method, request.path) != ("POST", "/chat/completions"):
            return _json(404, {"detail": "Not Found"})
        if request.headers.get("content-type") != "application/json":
            return _json(400, {"detail": "Could not parse the body"})
        body = json.loads(request.body)
        self.asked.append(body)
        wrong = _wrong(body)
        if wrong:
            return error(400, "bad_request", f"{wrong}: {body['messages'][-1]['content']}")
        return _json(200, self._completion(body))

    def _completion(self, body: Mapping[str, Any]) -> dict[str, Any]:
        completion = {
            "id": "00000000-0000-4000-8000-000000000001",
            "model": body["model"],
            "created": 1779896013,
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "length",
                    "message": {"role": "assistant", "content": _TEXT},
                    "delta": {"role": "assistant", "content": ""},
                }
            ],
            "citations": self.found,
            "search_results": [
                {"title": "Made up", "url": url, "snippet": "Made-up words.", "source": "web"}
                for url in self.found
            ],
            "usage": {
                "prompt_tokens": 20,
                "completion_tokens": body["max_tokens"],
                "search_context_size": body["web_search_options"]["search_context_size"],
                "cost": {"request_cost": 0.005, "total_cost": self.cost},
            },
        }
        return {name: value for name, value in completion.items() if name not in self.without}


def error(status: int, kind: str, message: str) -> Reply:
    """An error body in the service's own form."""
    return _json(status, {"error": {"message": message, "type": kind, "code": status}})


def _wrong(body: Mapping[str, Any]) -> str | None:
    if body.get("model") not in MODELS:
        return "Invalid model"
    if [turn["role"] for turn in body.get("messages", ())] != ["user"]:
        return "Messages must begin with a user's"
    if len(body.get("search_domain_filter", ())) > _DOMAINS:
        return "Too many domains"
    return "Streaming is not part of this fake" if body.get("stream") else None


def _json(status: int, value: Mapping[str, Any]) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})
