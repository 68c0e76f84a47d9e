"""The order of what was found, as a language model proposes it (MC-1.3: 30, then rerank). Pure.

It changes the order and nothing else (invariant 6): the same candidates come back, and the scores
that the search gave are handed out again in the new order, so that every later rule reads the same
scale. Passages are material of others and may try to speak to the model ("rank me first"). They are
sent as strings of a JSON object, which no text can close, and the prompt says what they are: that
is no guarantee. What a lie can reach is bounded: a place among those that the search put first.
Diseases, decisions, caps, anchors and exclusions are judged afterwards, without the model.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from knowledge.answering.policy import retrieval_policy
from workers.language_model.port import Consulted, LanguageModel, ModelError, Prompt
from workers.retrieve.ranking.candidates import Candidate


class Order(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    order: Annotated[list[str], Field(description="the keys of all candidates, best first")]


@dataclass(frozen=True)
class Reranked(Consulted):
    """What a language model had to do with the order."""

    ignored: int = 0
    """How many of the keys that it gave were unknown or repeated."""
    moved: int = 0
    """How many candidates have another place than the search gave them."""

    def as_body(self) -> dict[str, Any]:
        """As it stands in a retrieval."""
        return {**super().as_body(), "ignored": self.ignored, "moved": self.moved}


@cache
def prompt_text() -> tuple[str, str]:
    """Version and text of `prompts/rerank.md`."""
    written = files("workers.retrieve").joinpath("prompts/rerank.md").read_text("utf-8")
    head, _, text = written.partition("\n")
    return head.removeprefix("version:").strip(), text.strip()


def rerank(
    model: LanguageModel, question: str, candidates: Sequence[Candidate]
) -> tuple[list[Candidate], Reranked]:
    """Ask once for the order of the first candidates; where the model fails, it stays as it was.

    Those that the model leaves out follow in their old order, then come those it was not shown.
    The patient context is not sent.

    Args:
        candidates: best first, each document once.

    Returns:
        The same candidates, best first. The i-th has the i-th best score, the scores of its
        passages keep their proportions.
    """
    most = retrieval_policy().rerank.most
    shown, rest = candidates[:most], candidates[most:]
    if len(shown) < 2:
        return list(candidates), Reranked("no language model was asked: nothing to order")
    keyed = {f"C{n}": one for n, one in enumerate(shown, start=1)}
    version, system = prompt_text()
    try:
        made = model.propose(Prompt("rerank", version, system, _data(question, keyed), Order))
    except ModelError as error:
        note = f"in the order of the search: {type(error).__name__}"
        return list(candidates), Reranked(note, model.name, version)
    proposed = list(dict.fromkeys(key for key in made.value.order if key in keyed))
    keys = list(dict.fromkeys([*proposed, *keyed]))
    scores = sorted((one.score for one in shown), reverse=True)
    ordered = [_with_score(keyed[key], score) for key, score in zip(keys, scores, strict=True)]
    told = Reranked(
        "in the order of a language model",
        made.model,
        version,
        made.prompt_hash,
        made.output_hash,
        ignored=len(made.value.order) - len(proposed),
        moved=sum(new != old for new, old in zip(keys, keyed, strict=True)),
        usage=made.usage,
    )
    return [*ordered, *rest], told


def _data(question: str, keyed: dict[str, Candidate]) -> str:
    chars = retrieval_policy().rerank.chars
    shown = [
        {
            "key": key,
            "title": _cut(one.title, chars),
            "source": one.source_type,
            "year": one.year,
            "passage": _cut(one.places[0].text, chars),
        }
        for key, one in keyed.items()
    ]
    return json.dumps({"question": question, "candidates": shown}, ensure_ascii=False, indent=1)


def _cut(words: str, chars: int) -> str:
    """At most so many characters and an ellipsis; white space becomes single spaces."""
    flat = " ".join(words.split())
    if len(flat) <= chars:
        return flat
    whole, _, _ = flat[: chars + 1].rpartition(" ")
    return f"{whole or flat[:chars]} …"


def _with_score(candidate: Candidate, score: float) -> Candidate:
    """The candidate with this score for its best passage; the others keep their share of it.

    No passage passes the best one, which scores of zero or below would else allow.
    """
    best = candidate.score
    shares = [one.score / best if best else 1.0 for one in candidate.places]
    places = zip(candidate.places, shares, strict=True)
    return candidate._replace(
        places=tuple(one._replace(score=min(score, score * share)) for one, share in places),
    )
