"""Anthropic's Messages API as WIRE 9 and 10 describe it: `POST /v1/messages`, without streaming.

    api = MessagesApi(keys={"k"})
    with FakeWeb(api) as web:
        model = AnthropicModel("k", "claude-sonnet-5-5", web.mirrors[api.origin])

It answers with `text`, or what `writer` makes of the request, until something else is queued in
`next`. It is as strict as the real one in
what a client could get wrong: bearer key, version, model, sampling parameters, schema.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.web import Reply, Request

VERSION = "2026-10-21"
SHORTEST_CACHED = 512
"""Tokens; a shorter prefix is not cached."""
_NOT_IN_SCHEMAS = {"minimum", "maximum", "maxLength", "minLength", "pattern", "maxItems"}


class MessagesApi:
    """Knows some keys and models; remembers which systems it has cached."""

    origin = "https://api.anthropic.com"

    def __init__(self, keys: set[str], models: frozenset[str] | set[str] | None = None) -> None:
        self.keys = keys
        self.models = models or {"claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-6"}
        self.text = "{}"
        self.next: deque[Reply] = deque()
        """Sent before anything else, one a request that is in order."""
        self.writer: Callable[[Mapping[str, Any]], str | Reply | None] = lambda body: None
        """Makes an answer of a request, its text or the whole; None leaves it to `text`."""
        self.asked: list[dict[str, Any]] = []
        self._cached: set[str] = set()

    def answer(self, request: Request) -> Reply:
        """What the API would say."""
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            return error(401, "authentication_error", f"invalid x-api-key {key}")
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return error(404, "not_found_error", "Not found")
        body = json.loads(request.body)
        self.asked.append(body)
        wrong = _wrong(body, request.headers)
        if wrong:
            return error(400, "invalid_request_error", wrong)
        if body["model"] not in self.models:
            return error(404, "not_found_error", f"model: {body['model']}")
        if self.next:
            return self.next.popleft()
        written = self.writer(body)
        if isinstance(written, Reply):
            return written
        text = self.text if written is None else written
        return message(text, model=body["model"], usage=self._usage(body, text))

    def _usage(self, body: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Four characters count as a token; a system is written to the cache once, then read."""
        user = len(body["messages"][0]["content"]) // 4 + 1
        written = read = plain = 0
        for block in body.get("system", ()):
            size = len(block["text"]) // 4 + 1
            if "cache_control" not in block or size < SHORTEST_CACHED:
                plain += size
            elif block["text"] in self._cached:
                read += size
            else:
                self._cached.add(block["text"])
                written += size
        return usage(user + plain, len(text) // 4 + 1, read=read, written=written)


def _wrong(body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    """What the API would refuse the request for."""
    if headers.get("anthropic-version") != VERSION:
        return "anthropic-version"
    if {"temperature", "top_p", "top_k"} & body.keys():
        return "sampling parameters are not accepted by this version"
    if not isinstance(body.get("max_tokens"), int) or [
        turn["role"] for turn in body.get("messages", ())
    ] != ["user"]:
        return "messages, max_tokens"
    if any(not block["text"] for block in body.get("system", ())):
        return "system: text content blocks must be non-empty"
    wanted = body.get("output_config", {}).get("format")
    if wanted and not (wanted["type"] == "json_schema" and _accepted(wanted["schema"])):
        return "output_config.format.schema"
    return None


def _accepted(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(_accepted(one) for one in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    return not _NOT_IN_SCHEMAS & schema.keys() and all(_accepted(one) for one in schema.values())


def usage(fresh: int, output: int, read: int = 0, written: int = 0, **other: Any) -> dict[str, Any]:
    """The `usage` of an answer; `other` replaces or adds fields."""
    return {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
        "inference_geo": "global",
        "speed": None,
    } | other


def message(
    text: str,
    stop_reason: str | None = "end_turn",
    model: str = "claude-sonnet-5-5",
    **other: Any,
) -> Reply:
    """An answer of one text block, after a block of thinking; `other` replaces or adds fields."""
    body = {
        "id": "msg_01MADEUP",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [
            {"type": "thinking", "thinking": "", "signature": "made-up"},
            {"type": "text", "text": text, "citations": None},
        ],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": usage(100, 10),
    } | other
    return _json(200, body, {})


def refusal(category: str) -> Reply:
    """The model declines: an ordinary answer without text."""
    details = {"type": "refusal", "category": category, "explanation": "made up"}
    return message("", "refusal", content=[], stop_details=details)


def error(
    status: int,
    kind: str,
    text: str,
    headers: Mapping[str, str] | None = None,
    code: str | None = None,
) -> Reply:
    """An error in the API's envelope, with `details.error_code` where there is one."""
    inner: dict[str, Any] = {"type": kind, "message": text}
    if code:
        inner["details"] = {"error_code": code}
    body = {"type": "error", "error": inner, "request_id": "req_01MADEUP"}
    return _json(status, body, headers or {})


def _json(status: int, body: Any, headers: Mapping[str, str]) -> Reply:
    base = {"Content-Type": "application/json", "request-id": "req_01MADEUP"}
    return Reply(status, json.dumps(body).encode(), base | dict(headers))
