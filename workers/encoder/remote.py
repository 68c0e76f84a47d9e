"""Vectors from an OpenAI-compatible `/v1/embeddings` endpoint (TEI, vLLM, Ollama, Voyage, OpenAI).

Request and response: https://platform.openai.com/docs/api-reference/embeddings/create.
Error texts name only the status and the host: a response's body may repeat the key or the texts.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import httpx
import numpy as np

from clinical_text.identities import hidden
from store.core.spans import Span
from workers.encoder.base import (
    EncoderRefused,
    EncoderUnavailable,
    Matrix,
    even_cuts,
    spans_between,
    unit_rows,
)

BATCH = 64
# The endpoint's tokenizer is unknown. 1,000 characters of clinical English are some 250 tokens,
# which fits the 512 that common embedding models read; texts in other scripts may need more.
WINDOW_CHARACTERS = 1000

# A text-embeddings server on a CPU may need most of a minute for 64 texts.
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
# 408 Request Timeout, 425 Too Early, 429 Too Many Requests: RFC 9110, 8470, 6585.
_TRANSIENT_STATUSES = frozenset({408, 425, 429})


class RemoteEncoder:
    """An encoder that is reached by HTTP."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str,
        dimensions: int,
        transport: httpx.BaseTransport | None = None,
        *,
        mask: bool = True,
    ) -> None:
        """Opens nothing yet; the first `encode` makes connections, which are kept.

        Args:
            url: the service's base, with or without `/v1` or `/v1/embeddings`.
            model: the service's name of the model.
            key: sent as a bearer token; `""` if the service needs none.
            dimensions: the number of components of every vector.
            transport: sends the requests; None for the network.
            mask: whether identifiers of persons are kept from the service.

        Raises:
            ValueError: `url` is not an HTTP address, `model` is empty, or `key` cannot stand in a
                header (the message does not repeat it).
        """
        self._url = _endpoint(url)
        if not model:
            raise ValueError("ATTEST_ENCODER_MODEL is empty: name the model of the endpoint")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ValueError("ATTEST_ENCODER_KEY has a space, a line break or a non-ASCII letter")
        self._model, self._mask = model, mask
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=_TIMEOUT,
            transport=transport,
        )
        self.dimensions = dimensions
        self.name = f"openai:{model}/{dimensions}/even-words-{WINDOW_CHARACTERS}-characters"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """One vector a text, shape (n, dimensions), rows of length 1; 64 texts a request.

        Raises:
            EncoderUnavailable: no connection, a time-out, or status 408, 425, 429 or 5xx.
            EncoderRefused: any other status but 200, or a response of the wrong shape.
        """
        texts = [hidden(one) for one in texts] if self._mask else texts
        parts = [self._batch(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), np.float32)

    def windows(self, text: str) -> list[Span]:
        """Ranges of at most 1,000 characters that begin after white space where there is any."""

        def follows_space(i: int) -> bool:
            return text[i - 1].isspace() and not text[i].isspace()

        starts = even_cuts(len(text), WINDOW_CHARACTERS, follows_space, lambda _: True)
        return spans_between(starts, len(text))

    def _batch(self, texts: Sequence[str]) -> Matrix:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            response = self._client.post(self._url, json=body)
        except httpx.RequestError as error:
            raise EncoderUnavailable(
                f"No answer from the encoder at {self._url.host}: {type(error).__name__}"
            ) from error
        self._check_status(response)
        try:
            answer = response.json()
        except ValueError:
            raise self._refused("the response is not JSON") from None
        return self._vectors(answer, len(texts))

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status in _TRANSIENT_STATUSES or status >= 500:
            raise EncoderUnavailable(
                f"The encoder at {self._url.host} answered {status}", _retry_after(response)
            )
        if status != 200:
            raise self._refused(f"status {status}")

    def _vectors(self, answer: Any, count: int) -> Matrix:
        """The validated rows of a response, in the order of the request."""
        try:
            rows = {item["index"]: item["embedding"] for item in answer["data"]}
            indices = sorted(item["index"] for item in answer["data"])
        except (KeyError, TypeError):
            raise self._refused("the response lacks data, index or embedding") from None
        if indices != list(range(count)):
            raise self._refused(f"{len(indices)} vectors with other indices than 0 to {count - 1}")
        try:
            vectors = np.array([rows[i] for i in range(count)], np.float64)
        except (TypeError, ValueError):
            raise self._refused("a vector is not a list of numbers, or lengths differ") from None
        if vectors.shape != (count, self.dimensions):
            raise self._refused(
                f"vectors of shape {vectors.shape[1:]}; "
                f"ATTEST_ENCODER_DIMENSIONS says {self.dimensions}"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._refused("a vector has a component that is not finite, or only zeros")
        return unit_rows((vectors / lengths).astype(np.float32))

    def _refused(self, reason: str) -> EncoderRefused:
        return EncoderRefused(
            f"The encoder {self._model} at {self._url.host} cannot be used: {reason}"
        )


def _endpoint(url: str) -> httpx.URL:
    try:
        base = httpx.URL(url.rstrip("/"))
    except httpx.InvalidURL:
        base = httpx.URL("")
    if base.scheme not in ("http", "https") or not base.host:
        raise ValueError(
            "ATTEST_ENCODER_URL must be an http(s) address such as http://host:8080/v1"
        )
    if base.path.endswith("/embeddings"):
        return base
    folder = base.path.rstrip("/")
    return base.copy_with(path=folder + ("" if folder.endswith("/v1") else "/v1") + "/embeddings")


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds to wait: Retry-After holds seconds or a date (RFC 9110, 10.2.3)."""
    stated = response.headers.get("retry-after", "")
    try:
        seconds = float(stated)
    except ValueError:
        try:
            until = parsedate_to_datetime(stated)
        except ValueError:
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None
