"""The language model behind the Messages API, Anthropic's or that of a server of one's own, through
the official SDK (2.x).

Request, response and errors: https://platform.claude.com/docs/en/api/messages and
https://platform.claude.com/docs/en/api/errors, checked against the types of SDK 2.12.0. The shape
is requested as a JSON schema (`output_config.format`). Rules that the schema cannot express
(limits, patterns, validators) move into descriptions, so every answer is validated again here.
Servers of one's own (vLLM, llama.cpp) may ignore the schema or refuse it: there it stands in the
instructions too.

Error texts name a status, a known error code or a kind, in our words: a body may repeat prompt or
key. For the same reason errors are raised outside of `except`, so that they carry no cause.
"""

import json
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import anthropic
from anthropic.types import Message, TextBlock

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

SERVICE = "https://api.anthropic.com"

_LOGGERS = ("anthropic", "httpx2", "httpcore2")
"""At DEBUG these loggers write whole requests, prompts included."""
_SPENT = frozenset(
    {
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        "linked_organization_billing_unavailable",
        "organization_on_hold",
    }
)
"""Also sent with 429, but an operator must act. `ramp_limit_exceeded` passes by itself."""
_OWN_LIMIT = "You have reached your specified API usage limits"
"""The start of the 400 text for a limit set by the customer, which has no error code."""
_CATEGORIES = frozenset({"cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"})
_NOT_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""The HTTP client's errors for a request that was never sent."""


class AnthropicModel:
    """An adapter of `workers.language_model.port.LanguageModel`. Safe to share between threads."""

    def __init__(
        self,
        api_key: str,
        model: str,
        base_url: str = SERVICE,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        *,
        own: bool = False,
        table: PriceTable | None = None,
    ) -> None:
        """Opens nothing yet; the first request connects. Redirects are not followed: prompts go
        only to the configured host.

        Args:
            api_key: sent as a bearer token, to `base_url` only; "" for a server that needs none.
            model: the API's name of the model.
            base_url: the service, with or without `/v1`.
            timeout: seconds without a byte after which an attempt is given up, times a prompt's
                `patience`.
            sleep: waits between attempts.
            own: the server is not Anthropic's: it may enforce no schema, cache nothing and not
                say what it used.
            table: what tokens cost; None: the table of `knowledge/operation/prices.yaml`.

        Raises:
            ValueError: a value is empty or cannot be sent (the message does not repeat it).
        """
        if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
            raise ValueError("the model's key has a space or an unprintable letter")
        if not (api_key or own):
            raise ValueError("the model's key is empty")
        if not (model and base_url.startswith(("http://", "https://")) and timeout > 0):
            raise ValueError("the model needs a name, an http(s) address and a timeout above 0")
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
        self.name = model
        self._seconds = timeout
        self._sleep = sleep
        self._own = own
        self._prices = table or prices()
        self._enforcing = [True, False] if own else [True]
        """Whether the schema is sent as a field: tried in this order until one is accepted."""
        self._client = anthropic.Anthropic(
            api_key=api_key or "none",  # without one it would look for a key in the environment
            base_url=base_url.rstrip("/").removesuffix("/v1"),
            max_retries=0,
            default_headers=None if api_key else {"Authorization": anthropic.Omit()},  # type: ignore[dict-item]
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        """Ask for one proposal, with up to two retries for errors that pass quickly.

        Requests that may be billed (a time-out, a lost answer) are not repeated here: the service
        may still be answering. So a call costs at most one request; retrying is up to the caller.

        Raises:
            ModelUnavailable: 408, 409, 429, 5xx, a lost connection, a time-out. `retry_after` is
                the service's own, however long.
            ModelRefused: the model declined.
            ModelUnusable: the answer was cut off or has another shape, or the request was not
                accepted (400, 413, 422).
            ModelMisconfigured: 401, 402, 403, 404, a redirect, or a limit on spending.
        """
        trouble: ModelError | None = None
        for enforcing in self._enforcing:
            request = self._request(prompt, enforcing=enforcing)
            attempt = partial(self._attempt, request, self._seconds * prompt.patience)
            message, trouble = attempted(attempt, self._sleep)
            if message is not None:
                self._enforcing = [enforcing]
                return self._proposal(prompt, request, message)
            if not (isinstance(trouble, ModelUnusable) and trouble.not_accepted):
                break
        assert trouble is not None
        raise trouble

    def _request(self, prompt: Prompt[T], *, enforcing: bool) -> dict[str, Any]:
        schema = anthropic.transform_schema(prompt.shape)
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": prompt.max_tokens,
            "messages": [{"role": "user", "content": prompt.user}],
        }
        if enforcing:
            request["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        rules = [prompt.system, instruction(schema)] if self._own else [prompt.system]
        system = [{"type": "text", "text": one} for one in rules if one]  # none may be empty
        if system:
            system[-1] |= {"cache_control": {"type": "ephemeral"}}  # type: ignore[dict-item]
        if prompt.correction:
            system.append({"type": "text", "text": correction(prompt.correction)})
        if system:
            request["system"] = system
        return request

    def _attempt(
        self, request: dict[str, Any], seconds: float
    ) -> tuple[Message | None, ModelError | None]:
        """The answer, or the error."""
        timeout = anthropic.Timeout(seconds, connect=min(seconds, LONGEST_WAIT))
        try:
            message = self._client.messages.create(**request, timeout=timeout)
        except anthropic.APIConnectionError as error:  # time-outs too
            return None, of_connection(
                timed_out=isinstance(error, anthropic.APITimeoutError),
                sent=type(error.__cause__).__name__ not in _NOT_SENT,
            )
        except anthropic.APIStatusError as error:
            return None, _of_status(error)
        except anthropic.AnthropicError:
            return None, billed(ModelUnusable("The language model's answer is not JSON"))
        except ValueError:
            # Text that is not valid Unicode is not sent; an answer that is not JSON is billed.
            sent = _is_unicode(request)
            trouble = ModelUnusable("The exchange with the language model is not JSON")
            return None, billed(trouble) if sent else trouble
        if not isinstance(message, Message):  # the SDK returns a response that is not JSON as text
            return None, billed(ModelUnusable("The language model's answer is not JSON"))
        return message, None

    def _proposal(
        self, prompt: Prompt[T], request: dict[str, Any], message: Message
    ) -> Proposal[T]:
        usage, trouble = _usage(message, self.name, self._prices), _ending(message, own=self._own)
        if usage is None and self._own:
            usage = Usage(prompt.most_input_tokens, prompt.max_tokens)
        # The SDK builds answers without validating them: any field may be missing or odd.
        blocks = message.content if isinstance(message.content, list) else []
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        value = None
        if trouble is None:
            value, trouble = read(prompt.shape, "".join(texts))
        if trouble is None and usage is None:
            trouble = ModelUnusable("The language model's answer does not say what it used")
        if trouble is not None or value is None or usage is None:
            assert trouble is not None
            trouble.usage, trouble.maybe_billed = usage, usage is None
            raise trouble
        hashed = {key: part for key, part in request.items() if key != "model"}
        return Proposal(
            value=value,
            model=message.model if isinstance(message.model, str) else self.name,
            usage=usage,
            prompt_hash=json_hash([prompt.purpose, prompt.version, hashed]),
            output_hash=text_hash("".join(texts)),
        )


def _ending(message: Message, *, own: bool) -> ModelError | None:
    """The error for the answer's stop reason; None if the model finished (`end_turn`). A server of
    one's own may leave it out."""
    reason = message.stop_reason
    if reason == "refusal":
        category = getattr(message.stop_details, "category", None)
        known = f" ({category})" if str(category) in _CATEGORIES else ""
        return ModelRefused(f"The language model declined to answer{known}")
    if reason == "max_tokens":
        return ModelUnusable(CUT)
    if reason == "model_context_window_exceeded":
        return ModelUnusable("The request does not fit what the language model can read")
    if reason != "end_turn" and not (own and reason is None):
        return ModelUnusable("The language model ended in a way that was not asked for")
    return None


def _is_unicode(request: dict[str, Any]) -> bool:
    """Whether a request can be encoded; a text with a lone surrogate cannot."""
    written = json.dumps(request, ensure_ascii=False)
    return not any("\ud800" <= letter <= "\udfff" for letter in written)


def _of_status(error: anthropic.APIStatusError) -> ModelError:
    status = error.status_code
    if error.error_code in _SPENT or error.type == "billing_error" or _says_own_limit(error):
        return spending_limit(status)
    return of_status(status, error.response.headers)


def _says_own_limit(error: anthropic.APIStatusError) -> bool:
    # Only at the beginning: later in the text, such words might be quoted from a prompt.
    return error.status_code == 400 and str(error.api_message).startswith(_OWN_LIMIT)


def _usage(message: Message, asked: str, table: PriceTable) -> Usage | None:
    """Tokens and their price; None if the answer does not state them."""
    usage = message.usage
    read = getattr(usage, "cache_read_input_tokens", None) or 0
    written = getattr(usage, "cache_creation_input_tokens", None) or 0
    lasting = getattr(getattr(usage, "cache_creation", None), "ephemeral_1h_input_tokens", 0) or 0
    fresh, output = getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None)
    counts = (fresh, output, read, written, lasting, written - lasting)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return None
    assert fresh is not None
    assert output is not None
    billed = Billed(
        fresh,
        output,
        cache_read=read,
        cache_write_5m=written - lasting,
        cache_write_1h=lasting,
        place=_word(usage.inference_geo),
        tier=_word(usage.service_tier),
        speed=_word(usage.speed),
    )
    cost = table.cost(message.model if isinstance(message.model, str) else asked, billed)
    return Usage(fresh, output, read, written, cost)


def _word(value: object) -> str | None:
    return None if value is None else str(value)
