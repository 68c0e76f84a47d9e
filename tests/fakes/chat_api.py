"""The chat completions API (`POST /v1/chat/completions`): servers in one's own house, and OpenAI.

    api = ChatApi()
    with FakeWeb(api) as web:
        model = ChatModel(web.mirrors[api.origin], "m")

It answers with `text`, or what `writer` makes of the request, until something else is queued in
`next`. It enforces no schema, as Ollama's cloud and many proxies do not, and refuses with 400 the
fields named in `refused`, as OpenAI's reasoning models refuse `max_tokens` and `temperature`.
"""

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Any

from tests.fakes.web import Reply, Request


class ChatApi:
    """Asks for a key if it has `keys`."""

    origin = "https://model.example"

    def __init__(self, keys: Collection[str] = (), refused: Collection[str] = ()) -> None:
        self.keys = keys
        self.refused = refused
        self.text = "{}"
        self.next: deque[Reply] = deque()
        self.writer: Callable[[Mapping[str, Any]], str | Reply | None] = lambda body: None
        self.asked: list[dict[str, Any]] = []
        """What was accepted."""

    def answer(self, request: Request) -> Reply:
        """What the server would say."""
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if (key not in self.keys) if self.keys else "authorization" in request.headers:
            return error(401, f"wrong key {key}")
        if request.path == "/v1/models":
            return _json(200, {"object": "list", "data": [{"id": "m", "object": "model"}]})
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            return error(404, "Not found")
        body = json.loads(request.body)
        if unwanted := set(self.refused) & body.keys():
            return error(400, f"unsupported: {unwanted}")
        self.asked.append(body)
        if self.next:
            return self.next.popleft()
        written = self.writer(body)
        if isinstance(written, Reply):
            return written
        return completion(self.text if written is None else written, model=body["model"])


def completion(
    text: str | None, finish_reason: str | None = "stop", model: str = "m", **other: Any
) -> Reply:
    """An answer; `other` replaces or adds fields."""
    body = {
        "id": "chatcmpl-made-up",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 40},
        },
    } | other
    return _json(200, body)


def error(
    status: int, text: str, headers: Mapping[str, str] | None = None, code: str | None = None
) -> Reply:
    """An error in the API's envelope."""
    inner = {"message": text, "type": "made_up", "code": code}
    return _json(status, {"error": inner}, headers)


def _json(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
    told = {"Content-Type": "application/json"} | dict(headers or {})
    return Reply(status, json.dumps(body).encode(), told)
