"""Perplexity, the last resort (EB-4, WIRE 8): asked for links, of which only identifiers are kept.

It is sent a sentence made of the vocabulary, never a question or a patient's context. What it
writes is not read: an answer of a model is no evidence, and neither is a link.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import structlog

from contracts.retrieval import Outside
from knowledge.answering.policy import retrieval_policy
from store.sources import source_states
from workers.http.client import SourceClient
from workers.http.errors import Malformed, SourceError
from workers.http.factory import service_client
from workers.retrieve.outside import Choice, outside_question
from workers.retrieve.outside_leads import Lead, leads_of
from workers.runtime.stage import Context

log = structlog.get_logger(__name__)

SERVICE = "perplexity"
_COMPLETIONS = "https://api.perplexity.ai/chat/completions"
_MAX_BYTES = 1024 * 1024
"""Ours: the recorded answer has some ten kilobytes."""


@dataclass(frozen=True)
class Answer:
    """What is kept of an answer."""

    leads: Sequence[Lead]
    dropped: int
    """Links that name no record, or come after the most that are taken."""
    cost_usd: Decimal | None
    """None: it was not told."""


def consult(
    context: Context, choice: Choice, recognized: Mapping[str, Sequence[str]]
) -> dict[str, Any] | None:
    """Look outside if that was chosen; the choice is logged in any case.

    An answer that does not come is no failure of the question: it is told in `failure`, by the kind
    of its error, and the service is left alone for a while as any other (store.source_states).

    Returns:
        What stands in the retrieval: `asked`, `leads`, `dropped`, `cost_usd`, `failure`; None where
        nothing was asked.
    """
    log.info(choice.line)
    asked = outside_question(recognized) if choice.allowed else None
    if asked is None:
        return None
    answer, failure = Answer((), 0, None), None
    at = context.now()
    with context.store.unit_of_work("stage:retrieve") as unit:
        may_ask = source_states.may_ask(unit.session, SERVICE, at)
    if not may_ask:
        failure = "LeftAlone"
    else:
        try:
            answer = search(_client(context), asked)
        except SourceError as error:
            failure = type(error).__name__
            log.warning("outside_search_failed", kind=failure)
            with context.store.unit_of_work("stage:retrieve") as unit:
                source_states.failed(unit.session, SERVICE, error, at)
        else:
            with context.store.unit_of_work("stage:retrieve") as unit:
                source_states.succeeded(unit.session, SERVICE, at)
    return {
        "asked": asked,
        "leads": [lead.as_body() for lead in answer.leads],
        "dropped": answer.dropped,
        "cost_usd": None if answer.cost_usd is None else str(answer.cost_usd),
        "failure": failure,
    }


def wanted(outside: Outside | None) -> dict[str, list[str]]:
    """The identifiers of the leads by kind, as `store.questions.remedies.refresh_records` takes
    them."""
    found: dict[str, list[str]] = {}
    for lead in outside.leads if outside else ():
        found.setdefault(lead.kind, []).append(lead.value)
    return found


def search(client: SourceClient, asked: str) -> Answer:
    """Ask once.

    Args:
        client: of the service `perplexity`, with the user's key.
        asked: as `outside_question` makes it.

    Raises:
        workers.http.errors.SourceError: Refused (401, 400), QuotaExhausted (429), Unreachable (5xx,
            time-out), TooLarge, Malformed; no text repeats what was asked or answered.
    """
    policy = retrieval_policy().outside
    request = {
        "model": policy.model,
        "messages": [{"role": "user", "content": asked}],
        "max_tokens": policy.max_tokens,
        "stream": False,
        "search_domain_filter": list(policy.domains),
        "web_search_options": {"search_context_size": policy.context},
    }
    headers = {"Authorization": f"Bearer {client.key}", "Accept": "application/json"}
    reply = client.post_json(_COMPLETIONS, request, headers=headers, max_bytes=_MAX_BYTES)
    value = _completion(reply.content)
    leads, dropped = leads_of(_addresses(value), policy.most_leads)
    return Answer(leads, dropped, _cost(value))


def _client(context: Context) -> SourceClient:
    return service_client(
        SERVICE,
        context.settings,
        context.store.engine,
        key=context.settings.perplexity_api_key,
        deadline_seconds=retrieval_policy().outside.seconds,
        now=context.now,
        sleep=context.sleep,
    )


def _completion(content: bytes) -> Mapping[str, Any]:
    """The answer, once it is found to be one. Raises Malformed."""
    try:
        value = json.loads(content, parse_float=Decimal)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("choices"), list):
        raise Malformed("Perplexity answers with something that is no completion")
    if value.get("error") or value.get("detail"):
        raise Malformed("Perplexity answers with an error instead of a result")
    return value


def _addresses(value: Mapping[str, Any]) -> Iterator[str]:
    """All links, in order; either list may be missing (WIRE 8). What is no text counts as a link
    that names nothing. Raises Malformed for lists that are none."""
    for name in ("search_results", "citations"):
        listed = value.get(name)
        if listed is not None and not isinstance(listed, list):
            raise Malformed(f"Perplexity answers with {name} that are no list")
        for entry in listed or ():
            address = entry.get("url") if isinstance(entry, dict) else entry
            yield address if isinstance(address, str) else ""


def _cost(value: Mapping[str, Any]) -> Decimal | None:
    """US dollars, where `usage.cost.total_cost` tells them."""
    usage = value.get("usage")
    cost = usage.get("cost") if isinstance(usage, dict) else None
    total = cost.get("total_cost") if isinstance(cost, dict) else None
    if isinstance(total, bool) or not isinstance(total, int | Decimal):
        return None
    return Decimal(total) if total >= 0 else None
