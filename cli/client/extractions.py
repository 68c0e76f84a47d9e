"""The calls of `attest extract` and `attest reviews` to a running gateway."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.client.gateway import call, client_of, submit
from cli.client.waiting import Say, Work, nothing

Told = Callable[[dict[str, Any]], None]


class ExtractFailed(RuntimeError):
    """The document could not be extracted; the message says what to do."""


def extract_there(
    url: str,
    file: Path,
    *,
    profile: str,
    document_type: str | None,
    tell: Told,
    timeout_seconds: float = 1800.0,
    say: Say = nothing,
) -> tuple[dict[str, Any], str]:
    """Return the result of a running instance, and the text that its span offsets refer to.

    Args:
        tell: called with each finished iteration.
        say: called with the id, with what the work waits for, and on Ctrl-C that it goes on.

    Raises:
        ExtractFailed: the file cannot be read.
        WorkFailed: the extraction failed, or took too long.
        GatewayRefused: the gateway refused it, or none answers.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ExtractFailed(f"{file}: {error.strerror}") from error
    options = {"profile": profile} | ({"document_type": document_type} if document_type else {})
    kind = ".pdf" if content.startswith(b"%PDF-") else ".txt"
    name = file.name if file.suffix else f"{file.name}{kind}"
    with client_of(url) as client:
        accepted = submit(client, "/v1/extractions", files={"file": (name, content)}, data=options)
        with Work(client, "extraction", accepted["id"], say) as work:
            work.say_id()
            seen = 0

            def watch(state: dict[str, Any]) -> dict[str, Any]:
                nonlocal seen
                for iteration in state["progress"][seen:]:
                    tell(iteration)
                seen = len(state["progress"])
                return {"seen": seen}

            result = work.result(timeout_seconds, watch)
            text: str = call(client, "GET", f"{work.path}/text")["text"]
    return {"id": accepted["id"], **result}, text


def list_reviews(url: str, status: str, cursor: str | None, limit: int) -> dict[str, Any]:
    """Return a page of reviews."""
    params: dict[str, Any] = {"status": status, "limit": limit}
    if cursor is not None:
        params["cursor"] = cursor
    with client_of(url) as client:
        return call(client, "GET", "/v1/reviews", params=params)


def accept_review(url: str, review_id: str) -> dict[str, Any]:
    """Close a review: the extraction is right."""
    with client_of(url) as client:
        return call(client, "POST", f"/v1/reviews/{review_id}/accept")


def correct_review(url: str, review_id: str, corrections: dict[str, Any]) -> dict[str, Any]:
    """Close a review with values that replace some of the extracted ones."""
    with client_of(url) as client:
        return call(client, "POST", f"/v1/reviews/{review_id}/correct", json=corrections)


def text_of_review(url: str, review_id: str) -> str:
    """Return the text that the spans of a review's extraction refer to."""
    with client_of(url) as client:
        review = call(client, "GET", f"/v1/reviews/{review_id}")
        text: str = call(client, "GET", f"/v1/extractions/{review['extraction_id']}/text")["text"]
    return text
