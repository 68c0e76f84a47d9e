"""The language model behind the chat completions API that most servers have: vLLM, llama.cpp,
Ollama, LM Studio, OpenAI.

Request, response and errors: https://platform.openai.com/docs/api-reference/chat/create. The shape
is requested as a JSON schema (`response_format`), told in the instructions, and validated here:
not every server enforces it, and one that does may not show it to the model. Error texts say in our
words what happened; a body may repeat prompt or key.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anthropic
import httpx
import orjson

from store.core.hashes import json_hash, text_hash
from workers.language_model.attempts import (
    LONGEST_WAIT,
    attempted,
    billed,
    of_connection,
    of_status,
    spending_limit,
)
from workers.language_model.port import (
    ModelError,
    ModelRefused,
    ModelUnusable,
    Prompt,
    Proposal,
    T,
    Usage,
)
from workers.language_model.prices import Billed, PriceTable, prices
from workers.language_model.replies import CUT, correction, instruction, read

MOST_BYTES = 4 * 1024 * 1024
"""Our choice: a reply of 4,096 tokens has some twenty kilobytes."""

_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
"""OpenAI's codes beside 429 and 400 that only an operator can mend."""


@dataclass(frozen=True)
class Dialect:
    """A form of the request that some servers accept and others refuse with 400 or 422."""

    limit: str
    """The field that limits the output."""
    sampled: bool
    """Whether the temperature may be set."""
    enforced: bool
    """Whether the schema is sent as `response_format`."""


DIALECTS = (
    Dialect("max_tokens", sampled=True, enforced=True),
    # OpenAI's reasoning models refuse the older name and any temperature.
    Dialect("max_completion_tokens", sampled=False, enforced=True),
    Dialect("max_tokens", sampled=True, enforced=False),
)
"""Tried in this order until one is accepted, which is then kept."""


class ChatModel:
    """An adapter of `workers.language_model.port.LanguageModel`. Safe to share between threads."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        table: PriceTable | None = None,
    ) -> None:
        """Opens nothing yet; the first request connects. Redirects are not followed: prompts go
        only to the configured host.

        Args:
            url: the server's base, with or without `/v1` or `/v1/chat/completions`.
            model: the server's name of the model.
            key: sent as a bearer token; "" for a server that needs none.
            timeout: seconds after which an attempt is given up, times a prompt's `patience`.
            sleep: waits between attempts.
            table: what tokens cost; None: the table of `knowledge/operation/prices.yaml`.

        Raises:
            ValueError: a value is empty or cannot be sent (the message does not repeat it).
        """
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ValueError("the model's key has a space or an unprintable letter")
        if not (model and url.startswith(("http://", "https://")) and timeout > 0):
            raise ValueError("the model needs a name, an http(s) address and a timeout above 0")
        base = url.rstrip("/").removesuffix("/chat/completions").removesuffix("/v1")
        self.name = model
        self._url = f"{base}/v1/chat/completions"
        self._seconds = timeout
        self._sleep = sleep
        self._prices = table or prices()
        self._dialects: Sequence[Dialect] = DIALECTS
        self._client = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {})

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        """Ask for one proposal; see `AnthropicModel.propose` for what is repeated.

        Raises:
            ModelUnavailable: 408, 409, 425, 429, 5xx, a lost connection, a time-out.
            ModelRefused: the model or a filter before it declined.
            ModelUnusable: the answer was cut off or has another shape, or no form of the request
                was accepted (400, 413, 422).
            ModelMisconfigured: any other status, or an account without money.
        """
        trouble: ModelError | None = None
        for dialect in self._dialects:
            request = _request(self.name, prompt, dialect)
            attempt = partial(self._attempt, request, self._seconds * prompt.patience)
            body, trouble = attempted(attempt, self._sleep)
            if body is not None:
                self._dialects = (dialect,)
                return self._proposal(prompt, request, body)
            if not (isinstance(trouble, ModelUnusable) and trouble.not_accepted):
                break
        assert trouble is not None
        raise trouble

    def _attempt(
        self, request: Mapping[str, Any], seconds: float
    ) -> tuple[dict[str, Any] | None, ModelError | None]:
        """The answer, or the error."""
        try:
            content = orjson.dumps(request)
        except TypeError:  # a text that is not valid Unicode
            return None, ModelUnusable("The request to the language model is not JSON")
        until = time.monotonic() + seconds
        timeout = httpx.Timeout(seconds, connect=min(seconds, LONGEST_WAIT))
        received = bytearray()
        try:
            headers = {"Content-Type": "application/json"}
            with self._client.stream(
                "POST", self._url, content=content, headers=headers, timeout=timeout
            ) as response:
                for part in response.iter_bytes():
                    received += part
                    if len(received) > MOST_BYTES:
                        long = ModelUnusable("The language model's answer is too long")
                        return None, billed(long)
                    if time.monotonic() > until:
                        return None, of_connection(timed_out=True, sent=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            late = isinstance(error, httpx.TimeoutException)
            return None, of_connection(timed_out=late, sent=False)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            late = isinstance(error, httpx.TimeoutException)
            return None, of_connection(timed_out=late, sent=True)
        body = _object(bytes(received))
        if response.status_code != httpx.codes.OK:
            return None, _of_status(response, body)
        if body is None:
            return None, billed(ModelUnusable("The language model's answer is not JSON"))
        return body, None

    def _proposal(
        self, prompt: Prompt[T], request: Mapping[str, Any], body: Mapping[str, Any]
    ) -> Proposal[T]:
        named = body.get("model")
        model = named if isinstance(named, str) and named else self.name
        usage = _usage(body, model, self._prices)
        if usage is None:
            usage = Usage(prompt.most_input_tokens, prompt.max_tokens)
        choices = body.get("choices")
        choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
        written = _mapping(choice.get("message"))
        text, trouble = written.get("content"), _ending(choice, written)
        value = None
        if trouble is None:
            value, trouble = read(prompt.shape, text if isinstance(text, str) else "")
        if trouble is not None or value is None:
            assert trouble is not None
            trouble.usage = usage
            raise trouble
        hashed = {key: part for key, part in request.items() if key != "model"}
        return Proposal(
            value=value,
            model=model,
            usage=usage,
            prompt_hash=json_hash([prompt.purpose, prompt.version, hashed]),
            output_hash=text_hash(str(text)),
        )


def _request(model: str, prompt: Prompt[T], dialect: Dialect) -> dict[str, Any]:
    schema = _typed(anthropic.transform_schema(prompt.shape))
    rules = [prompt.system, instruction(schema)]
    if prompt.correction:
        rules.append(correction(prompt.correction))
    request: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": "\n\n".join(one for one in rules if one)},
            {"role": "user", "content": prompt.user},
        ],
        dialect.limit: prompt.max_tokens,
    }
    if dialect.sampled:
        request["temperature"] = 0
    if dialect.enforced:
        named = {"name": prompt.purpose, "strict": True, "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": named}
    return request


def _typed(schema: Any) -> Any:
    """A schema whose enumerations say that they are strings: OpenAI wants a type everywhere."""
    if isinstance(schema, list):
        return [_typed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    typed = {name: _typed(one) for name, one in schema.items()}
    strings = all(isinstance(one, str) for one in typed.get("enum", (None,)))
    return {"type": "string", **typed} if strings else typed


def _ending(choice: Mapping[str, Any], written: Mapping[str, Any]) -> ModelError | None:
    """The error for how the answer ended; None if the model finished. Some servers do not say."""
    reason = choice.get("finish_reason")
    if written.get("refusal") or reason == "content_filter":
        return ModelRefused("The language model declined to answer")
    if reason == "length":
        return ModelUnusable(CUT)
    if reason not in ("stop", "eos", None):
        return ModelUnusable("The language model ended in a way that was not asked for")
    return None


def _of_status(response: httpx.Response, body: Mapping[str, Any] | None) -> ModelError:
    error = _mapping((body or {}).get("error"))
    if error.get("code") in _SPENT:
        return spending_limit(response.status_code)
    return of_status(response.status_code, response.headers)


def _usage(body: Mapping[str, Any], model: str, table: PriceTable) -> Usage | None:
    """Tokens and their price; None if the answer does not state them."""
    stated = _mapping(body.get("usage"))
    read_in, written = _count(stated.get("prompt_tokens")), _count(stated.get("completion_tokens"))
    cached = _count(_mapping(stated.get("prompt_tokens_details")).get("cached_tokens")) or 0
    if read_in is None or written is None or cached > read_in:
        return None
    cost = table.cost(model, Billed(read_in - cached, written, cache_read=cached))
    return Usage(read_in - cached, written, cached, 0, cost)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
