"""The remote encoder: what it sends, what it accepts, and how it fails."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.encoder import EncoderRefused, EncoderUnavailable, RemoteEncoder

KEY = "sk-secret-key"

Handler = Callable[[httpx.Request], httpx.Response]


def encoder(handler: Handler, url: str = "http://host/v1", dimensions: int = 3) -> RemoteEncoder:
    return RemoteEncoder(url, "some-model", KEY, dimensions, httpx.MockTransport(handler))


def rows(*embeddings: Any) -> dict[str, Any]:
    return {"data": [{"index": i, "embedding": e} for i, e in enumerate(embeddings)]}


def answering(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Handler:
    return lambda _: httpx.Response(status, headers=headers, text=json.dumps(body))


def counting(sizes: list[int]) -> Handler:
    """Answers each text, a number, with a vector in its direction, the last one first."""

    def handler(request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["input"]
        sizes.append(len(texts))
        body = rows(*([1.0, float(text), 0.0] for text in texts))
        body["data"].reverse()
        return httpx.Response(200, json=body)

    return handler


def test_the_request_is_the_published_one() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=rows([1, 0, 0]))

    encoder(handler).encode(["a text"])
    (request,) = seen
    assert request.method == "POST"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(request.content) == {
        "model": "some-model",
        "input": ["a text"],
        "encoding_format": "float",
    }


@pytest.mark.parametrize(
    ("base", "called"),
    [
        ("http://host:8080", "http://host:8080/v1/embeddings"),
        ("http://host/v1/", "http://host/v1/embeddings"),
        ("https://host/v1/embeddings", "https://host/v1/embeddings"),
        ("https://host/tei", "https://host/tei/v1/embeddings"),
    ],
)
def test_the_address_may_be_given_with_or_without_its_path(base: str, called: str) -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json=rows([1, 0, 0]))

    encoder(handler, base).encode(["a"])
    assert seen == [called]


def test_texts_go_in_batches_of_64_and_come_back_in_order() -> None:
    sizes: list[int] = []
    vectors = encoder(counting(sizes)).encode([str(i) for i in range(130)])
    assert sizes == [64, 64, 2]
    assert vectors.dtype == np.float32
    assert np.allclose(vectors[:, 1] / vectors[:, 0], np.arange(130))


def test_rows_have_length_one() -> None:
    vectors = encoder(answering(rows([3, 4, 0], [1e-30, 0, 0]))).encode(["a", "b"])
    assert np.allclose(vectors, np.array([[0.6, 0.8, 0.0], [1.0, 0.0, 0.0]]))


def test_a_service_sees_no_identifier_of_a_person() -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.extend(json.loads(request.content)["input"])
        return httpx.Response(200, json=rows([1, 0, 0]))

    encoder(handler).encode(["Mrs Okafor, MRN 4471823, has gout"])
    assert seen == ["Mrs [NAME], MRN [NUMBER], has gout"]


def test_no_texts_ask_nothing() -> None:
    assert encoder(answering("never asked", 500)).encode([]).shape == (0, 3)


def test_no_key_sends_no_authorization() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert "authorization" not in request.headers
        return httpx.Response(200, json=rows([1, 0, 0]))

    RemoteEncoder("http://host", "m", "", 3, httpx.MockTransport(handler)).encode(["a"])


@grid("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_busy_and_broken_services_may_answer_later(status: int) -> None:
    with pytest.raises(EncoderUnavailable, match=str(status)) as caught:
        encoder(answering({}, status, {"Retry-After": "7.5"})).encode(["a"])
    assert caught.value.retry_after == 7.5


def test_retry_after_may_be_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with pytest.raises(EncoderUnavailable) as caught:
        encoder(answering({}, 503, {"Retry-After": soon})).encode(["a"])
    assert caught.value.retry_after == pytest.approx(3600, abs=60)


@pytest.mark.parametrize("stated", ["", "later", "nan", "inf"])
def test_an_unreadable_retry_after_is_none(stated: str) -> None:
    with pytest.raises(EncoderUnavailable) as caught:
        encoder(answering({}, 429, {"Retry-After": stated})).encode(["a"])
    assert caught.value.retry_after is None


LOST = [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError]


@pytest.mark.parametrize("error", LOST)
def test_a_lost_connection_may_come_back(error: type[httpx.RequestError]) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        raise error("broken")

    with pytest.raises(EncoderUnavailable, match=error.__name__):
        encoder(handler).encode(["a"])


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
def test_other_statuses_are_final_and_the_body_is_not_repeated(status: int) -> None:
    body = {"error": f"Incorrect API key {KEY}; input was: patient text"}
    with pytest.raises(EncoderRefused, match=str(status)) as caught:
        encoder(answering(body, status)).encode(["patient text"])
    assert KEY not in str(caught.value)
    assert "patient" not in str(caught.value)


@grid(
    "body",
    [
        [],
        {},
        {"data": None},
        {"data": [1, 2]},
        {"data": [{"embedding": [1, 0, 0]}] * 2},
        {"data": [{"index": 0, "embedding": [1, 0, 0]}] * 2},
        rows([1, 0, 0]),
        rows([1, 0, 0], [1, 0, 0], [1, 0, 0]),
        rows([1, 0, 0], [1, 0]),
        rows([1, 0], [1, 0]),
        rows([1, 0, 0], "AAAA"),
        rows([1, 0, 0], ["a", 0, 0]),
        rows([1, 0, 0], None),
        rows([1, 0, 0], [0, 0, 0]),
        rows([1, 0, 0], [float("nan"), 0, 0]),
        rows([1, 0, 0], [float("inf"), 0, 0]),
    ],
)
def test_a_response_of_the_wrong_shape_is_refused(body: Any) -> None:
    with pytest.raises(EncoderRefused):
        encoder(answering(body)).encode(["a", "b"])


def test_a_response_that_is_not_json_is_refused() -> None:
    with pytest.raises(EncoderRefused, match="JSON"):
        encoder(lambda _: httpx.Response(200, text="<html>")).encode(["a"])


def test_other_dimensions_name_the_setting() -> None:
    with pytest.raises(EncoderRefused, match="ATTEST_ENCODER_DIMENSIONS"):
        encoder(answering(rows([1, 0, 0, 0]))).encode(["a"])


@pytest.mark.parametrize("url", ["", "host/v1", "ftp://host", "http://", "http://host:port"])
def test_an_address_that_cannot_be_called_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="ATTEST_ENCODER_URL"):
        RemoteEncoder(url, "m", KEY, 3)


@pytest.mark.parametrize("key", ["sk-secret\n", "sk secret", "sk-sécret"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="ATTEST_ENCODER_KEY") as caught:
        RemoteEncoder("http://host", "m", key, 3)
    assert "sk" not in str(caught.value)


def test_a_missing_model_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="ATTEST_ENCODER_MODEL"):
        RemoteEncoder("http://host", "", KEY, 3)


@given(st.lists(st.sampled_from([" ", "\n", "word", "x" * 400, "語", "e\u0301"]), max_size=600))
def test_windows_cover_the_text_within_the_budget(parts: list[str]) -> None:
    text = "".join(parts)
    spans = encoder(answering({})).windows(text)
    assert "".join(span.of(text) for span in spans) == text
    assert all(span.end - span.start <= 1000 for span in spans)


def test_windows_begin_after_white_space() -> None:
    text = " ".join(f"word{i}" for i in range(700))
    spans = encoder(answering({})).windows(text)
    assert len(spans) == 6
    assert all(text[span.start - 1] == " " and text[span.start] == "w" for span in spans[1:])
