"""Checks for `attest status` whether a language model's server of one's own can be asked.

It asks `GET /v1/models`, which generates nothing and costs nothing.
"""

from typing import Any

import httpx

from cli.instance.health_checks import Check
from store.core.settings import Settings

NAME = "model"
_SHOWN = 3
"""Of the models that a server lists."""


def model(settings: Settings, seconds: float) -> Check:
    """The state of the server at `ATTEST_MODEL_URL`.

    Args:
        seconds: after which it counts as away.
    """
    base = settings.model_url.rstrip("/").removesuffix("/v1")
    headers = {"Authorization": f"Bearer {settings.model_key}"} if settings.model_key else {}
    try:
        reply = httpx.get(f"{base}/v1/models", headers=headers, timeout=seconds)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        do = "start it, or mend ATTEST_MODEL_URL; questions are answered without it meanwhile"
        return Check(NAME, f"does not answer ({type(error).__name__})", do)
    if reply.status_code in (401, 403):
        return Check(NAME, f"refuses its key ({reply.status_code})", "mend ATTEST_MODEL_KEY")
    if reply.status_code in (404, 405):
        return Check(NAME, "answers, and does not list its models")
    if reply.status_code != httpx.codes.OK:
        return Check(NAME, f"answers {reply.status_code}", "see its log; it may still be loading")
    names = _names(reply)
    if names and settings.model_name not in names:
        shown = ", ".join(names[:_SHOWN])
        return Check(NAME, f"has no {settings.model_name}", f"set ATTEST_MODEL_NAME, to {shown}")
    return Check(NAME, f"answers, has {settings.model_name}")


def _names(reply: httpx.Response) -> list[str]:
    """What a server calls its models, other names of them too; none where it does not say."""
    try:
        listed: Any = reply.json()["data"]
        names = [name for one in listed for name in (one["id"], *(one.get("aliases") or ()))]
    except (ValueError, LookupError, TypeError, AttributeError):
        return []
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))
