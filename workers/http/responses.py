"""Reads a response: its body, or the short reason for a refusal."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from workers.http.body import Oversized, Undecodable, read_body

_REASON_BYTES = 64 * 1024
_REASON_CHARACTERS = 200


@dataclass(frozen=True)
class Fetched:
    """A response with an accepted status. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def read_answer(response: httpx.Response, limit: int) -> Fetched:
    """The whole response.

    Raises:
        body.Oversized, body.Undecodable, httpx.RequestError: it could not be read.
    """
    if int(response.headers.get("content-length") or 0) > limit:
        raise Oversized
    encoding = response.headers.get("content-encoding", "")
    content = read_body(response.iter_raw(), encoding, limit)
    return Fetched(response.status_code, dict(response.headers), content)


def status_words(status: int) -> str:
    """The status with its standard phrase; the source's own words are not repeated."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def refusal(response: httpx.Response) -> str:
    """The source's reason for a refusal: `error.message` or `error` of a JSON body, in one line of
    at most 200 characters; "" where there is none. Nothing else of a body is ever repeated.
    """
    try:
        answer = json.loads(read_answer(response, _REASON_BYTES).content)
    except (Oversized, Undecodable, httpx.RequestError, ValueError, RecursionError):
        return ""
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    if not isinstance(error, str):
        return ""
    line = " ".join(error.split())
    return "".join(letter for letter in line if letter.isprintable())[:_REASON_CHARACTERS]
