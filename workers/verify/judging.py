"""A language model judges claims against their passages; code decides what its word counts.

Its SUPPORTED is needed and never enough: the guards have spoken before it is asked, and a claim
that they veto is not shown to it (invariant 6). Passages are strings of a JSON object, which no
text can close.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from workers.language_model.port import ModelError, Prompt, Proposal
from workers.verify.claims import Located
from workers.verify.verdicts import Support

PURPOSE = "judge"
ORDER = (Support.UNSUPPORTED, Support.PARTIAL, Support.SUPPORTED)
MOST_TOKENS = 2048


class _Judged(BaseModel):
    model_config = ConfigDict(extra="forbid")

    claim_id: str
    verdict: Support


class Judgement(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    verdicts: Annotated[list[_Judged], Field(description="one for each claim, by its id")]


Ask = Callable[[Prompt[Judgement]], Proposal[Judgement]]


@dataclass(frozen=True)
class Material:
    """A claim as the judge is shown it."""

    located: Located
    title: str
    around: str

    def as_data(self) -> dict[str, Any]:
        """Only what is judged: no key, no identifier, no verdict of ours."""
        return {
            "claim_id": self.located.drafted.claim_id,
            "claim": self.located.text,
            "title": self.title,
            "passage": self.located.passage,
            "around": self.around,
        }


@dataclass(frozen=True)
class Judged:
    """What the model said, by claim id, and what is stored of having asked."""

    said: Mapping[str, Support] = field(default_factory=dict)
    model: str | None = None
    prompt_version: str | None = None
    prompt_hashes: tuple[str, ...] = ()
    output_hashes: tuple[str, ...] = ()
    note: str = "no language model was asked"

    def as_body(self) -> dict[str, Any]:
        """Hashes, no words; the audit log has them keyed (`store.audit.payloads`)."""
        return {
            "note": self.note,
            "model": self.model,
            "prompt_version": self.prompt_version,
            "prompt_hashes": list(self.prompt_hashes),
            "output_hashes": list(self.output_hashes),
        }


@cache
def prompt_text() -> tuple[str, str]:
    """Version and text of `prompts/judge.md`."""
    written = files("workers.verify").joinpath("prompts/judge.md").read_text("utf-8")
    head, _, text = written.partition("\n")
    return head.removeprefix("version:").strip(), text.strip()


def judge(material: Sequence[Material], ask: Ask, votes: int = 1) -> Judged:
    """Ask for a verdict on each claim; of several votes the median counts, of two the lower.

    Raises:
        ModelError: the model could not be asked; a vote that fails after the first is left out.
    """
    if not material:
        return Judged(note="nothing to judge")
    version, system = prompt_text()
    data = json.dumps({"claims": [one.as_data() for one in material]}, ensure_ascii=False, indent=1)
    prompt = Prompt(PURPOSE, version, system, data, Judgement, MOST_TOKENS)
    proposals: list[Proposal[Judgement]] = []
    for vote in range(max(1, votes)):
        try:
            proposals.append(ask(prompt))
        except ModelError:
            if vote == 0:
                raise
    known = [one.located.drafted.claim_id for one in material]
    rounds = [_verdicts(one.value, known) for one in proposals]
    return Judged(
        said={
            claim_id: median([one[claim_id] for one in rounds if claim_id in one])
            for claim_id in known
            if all(claim_id in one for one in rounds)
        },
        model=proposals[0].model,
        prompt_version=version,
        prompt_hashes=tuple(one.prompt_hash for one in proposals),
        output_hashes=tuple(one.output_hash for one in proposals),
        note=f"judged in {len(proposals)} of {max(1, votes)} votes",
    )


def median(votes: Sequence[Support]) -> Support:
    """The middle verdict; of an even number the lower of the two in the middle."""
    ordered = sorted(votes, key=ORDER.index)
    return ordered[(len(ordered) - 1) // 2]


def _verdicts(judgement: Judgement, known: Sequence[str]) -> dict[str, Support]:
    """The verdicts on claims that were asked about; one that is judged twice is not judged."""
    times = Counter(one.claim_id for one in judgement.verdicts)
    return {
        one.claim_id: one.verdict
        for one in judgement.verdicts
        if one.claim_id in known and times[one.claim_id] == 1
    }
