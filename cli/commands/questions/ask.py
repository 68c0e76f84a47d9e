"""`attest ask`: sends a question to a running gateway."""

import re
from typing import Any

from pydantic import ValidationError

from api_gateway.pages.wording import plainly
from api_gateway.questions.filters import Filters
from api_gateway.questions.question_in import QuestionIn
from cli.client.gateway import client_of, submit
from cli.client.waiting import Say, Work, nothing
from knowledge.matching.choosing import one_of

_OPTIONS = {
    "as_of": "--as-of",
    "source_types": "--source-type",
    "diseases": "--disease",
    "decisions": "--decision",
    "published_from": "--since",
    "published_to": "--until",
}


class AskFailed(RuntimeError):
    """The answer did not come in time."""


def asked(text: str, **options: Any) -> QuestionIn:
    """Return the question with the options that were given, filters included.

    Raises:
        ValueError: a value is invalid; the text names the command's option and what it takes.
    """
    set_options = {name: value for name, value in options.items() if value not in (None, [])}
    filters = {name: set_options.pop(name) for name in Filters.model_fields if name in set_options}
    try:
        return QuestionIn(question=text, filters=filters or None, **set_options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = next((_OPTIONS[part] for part in first["loc"] if part in _OPTIONS), first["loc"][0])
        told = plainly(first["msg"].removeprefix("Value error, "))
        if first["type"] == "literal_error":
            told = one_of(str(first["input"]), re.findall(r"'(\w+)'", first["ctx"]["expected"]))
        raise ValueError(f"{name}: {told}") from None


def ask(
    url: str, body: dict[str, Any], *, timeout_seconds: float = 120.0, say: Say = nothing
) -> dict[str, Any]:
    """Submit a question, wait for its end, and return the question resource.

    Args:
        say: called with what the question waits for, and on Ctrl-C that it goes on.

    Raises:
        GatewayRefused: with the gateway's own words, or what to do.
        AskFailed: there is no answer yet.
    """
    with client_of(url) as client:
        accepted = submit(client, "/v1/questions", json=body)
        with Work(client, "question", accepted["id"], say) as work:
            while not work.over(timeout_seconds):
                question = work.look()
                if question["status"] in ("answered", "failed"):
                    return question
    raise AskFailed(f"no answer within {timeout_seconds:.0f} s; {work.goes_on}")
