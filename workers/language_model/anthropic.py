"""The language model behind Anthropic's Messages API, through the official SDK (2.x).

Request, response and errors: https://platform.claude.com/docs/en/api/messages and
https://platform.claude.com/docs/en/api/errors, checked against the types of SDK 2.12.0. The shape
is requested as a JSON schema (`output_config.format`). Rules that the schema cannot express
(limits, patterns, validators) move into descriptions, so every answer is validated again here.

Error texts name a status, a known error code or a kind, in our words: a body may repeat prompt or
key. For the same reason errors are raised outside of `except`, so that they carry no cause.
"""

import json
import logging
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import anthropic
from anthropic.types import Message, TextBlock
from pydantic import ValidationError

from store.core.hashes import json_hash, text_hash
from workers.language_model.port import (
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    ModelUnusable,
    Prompt,
    Proposal,
    T,
    Usage,
)
from workers.language_model.prices import Billed, prices

RETRIES = 2
LONGEST_WAIT = 5.0
"""Seconds. If the service asks for a longer pause, the error is raised at once: the caller can
wait."""

_FIRST_BACKOFF = 0.5
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
_PASSING = frozenset({408, 409, 429})
_MAY_HAVE_RUN = frozenset({408, 502, 504})
"""Sent by a server that stopped waiting for the model, whose output may still be billed."""
_NOT_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""The HTTP client's errors for a request that was never sent."""


class AnthropicModel:
    """An adapter of `workers.language_model.port.LanguageModel`. Safe to share between threads."""

    def __init__(
        self,
        api_key: str,
        model: str,
        base_url: str = "https://api.anthropic.com",
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Opens nothing yet; the first request connects. Redirects are not followed: prompts go
        only to the configured host.

        Args:
            api_key: sent as a bearer token, to `base_url` only.
            model: the API's name of the model.
            base_url: the service.
            timeout: seconds without a byte after which an attempt is given up, times a prompt's
                `patience`.
            sleep: waits between attempts.

        Raises:
            ValueError: a value is empty or cannot be sent (the message does not repeat it).
        """
        if not (api_key and api_key.isascii() and api_key.isprintable()) or " " in api_key:
            raise ValueError("the model's key is empty or has a space or an unprintable letter")
        if not (model and base_url.startswith(("http://", "https://")) and timeout > 0):
            raise ValueError("the model needs a name, an http(s) address and a timeout above 0")
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
        self.name = model
        self._seconds = timeout
        self._sleep = sleep
        self._client = anthropic.Anthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
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
        request = self._request(prompt)
        for attempt in range(RETRIES + 1):
            message, trouble = self._attempt(request, self._seconds * prompt.patience)
            if message is not None:
                return self._proposal(prompt, request, message)
            wait = _wait(trouble, attempt)
            if wait is None or attempt == RETRIES:
                break
            self._sleep(wait)
        assert trouble is not None
        raise trouble

    def _request(self, prompt: Prompt[T]) -> dict[str, Any]:
        schema = anthropic.transform_schema(prompt.shape)
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": prompt.max_tokens,
            "messages": [{"role": "user", "content": prompt.user}],
            "output_config": {"format": {"type": "json_schema", "schema": schema}},
        }
        if prompt.system:  # the API refuses an empty block
            cached = {"type": "ephemeral"}
            block = {"type": "text", "text": prompt.system, "cache_control": cached}
            request["system"] = [block]
        return request

    def _attempt(
        self, request: dict[str, Any], seconds: float
    ) -> tuple[Message | None, ModelError | None]:
        """The answer, or the error."""
        timeout = anthropic.Timeout(seconds, connect=min(seconds, LONGEST_WAIT))
        try:
            message = self._client.messages.create(**request, timeout=timeout)
        except anthropic.APIConnectionError as error:  # time-outs too
            return None, _of_connection(error)
        except anthropic.APIStatusError as error:
            return None, _of_status(error)
        except anthropic.AnthropicError:
            return None, _billed(ModelUnusable("The language model's answer is not JSON"))
        except ValueError:
            # Text that is not valid Unicode is not sent; an answer that is not JSON is billed.
            sent = _is_unicode(request)
            trouble = ModelUnusable("The exchange with the language model is not JSON")
            return None, _billed(trouble) if sent else trouble
        if not isinstance(message, Message):  # the SDK returns a response that is not JSON as text
            return None, _billed(ModelUnusable("The language model's answer is not JSON"))
        return message, None

    def _proposal(
        self, prompt: Prompt[T], request: dict[str, Any], message: Message
    ) -> Proposal[T]:
        usage, trouble = _usage(message, self.name), _ending(message)
        # The SDK builds answers without validating them: any field may be missing or odd.
        blocks = message.content if isinstance(message.content, list) else []
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        value = None if trouble else _parsed(prompt.shape, texts)
        if trouble is None and value is None:
            trouble = ModelUnusable("The language model's answer has not the asked shape")
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


def _ending(message: Message) -> ModelError | None:
    """The error for the answer's stop reason; None if the model finished (`end_turn`)."""
    reason = message.stop_reason
    if reason == "refusal":
        category = getattr(message.stop_details, "category", None)
        known = f" ({category})" if str(category) in _CATEGORIES else ""
        return ModelRefused(f"The language model declined to answer{known}")
    if reason == "max_tokens":
        return ModelUnusable("The language model's answer was cut off at its limit of tokens")
    if reason == "model_context_window_exceeded":
        return ModelUnusable("The request does not fit what the language model can read")
    if reason != "end_turn":
        return ModelUnusable("The language model ended in a way that was not asked for")
    return None


def _billed(trouble: ModelError) -> ModelError:
    trouble.maybe_billed = True
    return trouble


def _is_unicode(request: dict[str, Any]) -> bool:
    """Whether a request can be encoded; a text with a lone surrogate cannot."""
    written = json.dumps(request, ensure_ascii=False)
    return not any("\ud800" <= letter <= "\udfff" for letter in written)


def _of_connection(error: anthropic.APIConnectionError) -> ModelError:
    timed_out = isinstance(error, anthropic.APITimeoutError)
    what = (
        "The language model did not answer in time"
        if timed_out
        else "The connection to the language model was lost"
    )
    if type(error.__cause__).__name__ in _NOT_SENT:
        return ModelUnavailable(what)
    return _billed(ModelUnavailable(what, lost=not timed_out))


def _parsed(shape: type[T], texts: list[str]) -> T | None:
    try:
        return shape.model_validate_json("".join(texts))
    except (ValidationError, ValueError, TypeError):
        return None


def _of_status(error: anthropic.APIStatusError) -> ModelError:
    status = error.status_code
    if error.error_code in _SPENT or error.type == "billing_error" or _says_own_limit(error):
        return ModelMisconfigured(f"The language model's limit on spending is reached ({status})")
    if status in _PASSING or status >= 500:
        ran = status in _MAY_HAVE_RUN
        trouble = ModelUnavailable(
            f"The language model answered {status}", _retry_after(error), lost=ran
        )
        return _billed(trouble) if ran else trouble
    if status in (400, 413, 422):
        return ModelUnusable(f"The language model did not accept the request ({status})")
    return ModelMisconfigured(f"The language model answered {status}: check key, name and address")


def _says_own_limit(error: anthropic.APIStatusError) -> bool:
    # Only at the beginning: later in the text, such words might be quoted from a prompt.
    return error.status_code == 400 and str(error.api_message).startswith(_OWN_LIMIT)


def _retry_after(error: anthropic.APIStatusError) -> float | None:
    """Seconds to wait: Retry-After holds seconds or a date (RFC 9110, 10.2.3); None if absent."""
    stated = str(error.response.headers.get("retry-after", ""))
    try:
        seconds = float(stated)
    except ValueError:
        try:
            until = parsedate_to_datetime(stated)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None


def _wait(trouble: ModelError | None, attempt: int) -> float | None:
    """Seconds until the next attempt; None if there must be no other attempt here."""
    if not isinstance(trouble, ModelUnavailable) or trouble.maybe_billed:
        return None
    retry_after = trouble.retry_after
    if retry_after is not None and retry_after > LONGEST_WAIT:
        return None
    backoff: float = _FIRST_BACKOFF * 2**attempt * random.uniform(0.5, 1.5)  # noqa: S311  jitter
    # Never sooner than the service asks, and with jitter.
    return backoff if retry_after is None else retry_after + backoff / 2


def _usage(message: Message, asked: str) -> Usage | None:
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
    cost = prices().cost(message.model if isinstance(message.model, str) else asked, billed)
    return Usage(fresh, output, read, written, cost)


def _word(value: object) -> str | None:
    return None if value is None else str(value)
