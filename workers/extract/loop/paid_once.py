"""A language model of which every answer is kept before anything is made of it.

The request is written down, sent, and its answer written down, each in a transaction of its own.
A step that begins again finds the answer and asks nobody. Where it finds the request alone, a
worker was killed while it waited: the request may have been paid for. A proposal is then not asked
for again, and rules make the iteration; an opinion is, because without it there is no evaluation.
"""

from decimal import Decimal
from typing import Any
from uuid import UUID

from store.core.hashes import json_hash
from store.core.unit_of_work import Store
from store.extractions import replies
from store.extractions.replies import Erased, Request
from workers.language_model.port import LanguageModel, ModelError, Prompt, Proposal, T, Usage
from workers.runtime.errors import Permanent

ACTOR = "stage:extract"


class Lost(ModelError):
    """The request was sent before, and nobody knows what came of it."""


class PaidOnce:
    """The model, for one iteration of one part of an extraction."""

    def __init__(
        self, model: LanguageModel, store: Store, extraction_id: UUID, part: int, iteration: int
    ) -> None:
        self.name = model.name
        self._model = model
        self._store = store
        self._of = (extraction_id, part, iteration)

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        """The answer to `prompt`, which is paid for at most once however often a step begins.

        Raises:
            Lost: the request was sent before and its answer is not known.
            ModelError: as the model itself; such a request may be sent again.
            Permanent: the words were erased meanwhile; nothing is sent.
        """
        return self._ask(prompt, 0, again=False)

    def opinion(self, prompt: Prompt[T], voice: int) -> Proposal[T]:
        """The same for one of several opinions; one that was lost is asked for again.

        Raises:
            ModelError: as the model itself.
        """
        return self._ask(prompt, voice, again=True)

    def refuse(self, prompt: Prompt[T], voice: int) -> None:
        """The opinion is of no use: it is asked for again the next time."""
        with self._store.unit_of_work(ACTOR) as work:
            replies.refuse(work.session, self._request(prompt, voice))

    def _request(self, prompt: Prompt[T], voice: int) -> Request:
        return Request(*self._of, prompt.purpose, request_hash(self.name, prompt), voice)

    def _ask(self, prompt: Prompt[T], voice: int, *, again: bool) -> Proposal[T]:
        request = self._request(prompt, voice)
        with self._store.reading() as session:
            known = replies.known(session, request)
        if known.reply is not None:
            return _proposal(prompt, known.reply)
        if known.lost and not again:
            raise Lost("the request was sent before, and what came of it is not known")
        try:
            with self._store.unit_of_work(ACTOR) as work:
                reply_id = replies.asked(work.session, request)
        except Erased as error:
            raise Permanent(str(error)) from None
        try:
            made = self._model.propose(prompt)
        except ModelError:
            with self._store.unit_of_work(ACTOR) as work:
                replies.failed(work.session, reply_id)
            raise
        # Whatever else ends this here, a kill above all, leaves the request `asked`.
        with self._store.unit_of_work(ACTOR) as work:
            replies.answered(work.session, reply_id, _stored(made))
        return made


def request_hash(model: str, prompt: Prompt[T]) -> str:
    """SHA-256 of all that is sent."""
    return json_hash(
        {
            "model": model,
            "purpose": prompt.purpose,
            "version": prompt.version,
            "system": prompt.system,
            "user": prompt.user,
            "shape": prompt.shape.model_json_schema(),
            "max_tokens": prompt.max_tokens,
        }
    )


def _stored(made: Proposal[T]) -> dict[str, Any]:
    usage, cost = made.usage, made.usage.cost_usd
    return {
        "value": made.value.model_dump(mode="json"),
        "model": made.model,
        "prompt_hash": made.prompt_hash,
        "output_hash": made.output_hash,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "cost_usd": None if cost is None else str(cost),
        },
    }


def _proposal(prompt: Prompt[T], reply: dict[str, Any]) -> Proposal[T]:
    """The answer as it came, validated again."""
    used = dict(reply["usage"])
    cost = used.pop("cost_usd")
    return Proposal(
        value=prompt.shape.model_validate(reply["value"]),
        model=reply["model"],
        usage=Usage(**used, cost_usd=None if cost is None else Decimal(cost)),
        prompt_hash=reply["prompt_hash"],
        output_hash=reply["output_hash"],
    )
