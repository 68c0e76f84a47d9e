"""What a language model adds to what the rules understood (invariant 6: it proposes). Pure.

A proposed tag counts if the vocabulary has it, if its words stand in the question to the letter and
are not denied, and if one of them is a word of that tag alone in the vocabulary: "failing kidneys"
shows chronic kidney disease, "the patient" shows nothing. What the rules found stays as it is.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load
from knowledge.matching.words import Mention
from knowledge.subjects.tags import Kind, heading, label
from workers.language_model.port import LanguageModel, ModelError, Prompt
from workers.retrieve.understanding.assertion import asserted
from workers.retrieve.understanding.model import ModelPart, Pico

_KINDS: tuple[Kind, ...] = ("diseases", "decisions")
_PARTS = ("patient", "intervention", "comparison", "outcome")
_MOST_WORDS = 20
_STEM = 5
"""Letters that count of a word, so that fibrillating and fibrillation are one."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ProposedTag(_Shape):
    """A tag, and the words of the question that name it."""

    tag: Annotated[str, Field(description="a tag of the vocabulary")]
    words: Annotated[str, Field(description="copied from the question")]


class Proposed(_Shape):
    """What is asked for."""

    diseases: list[ProposedTag]
    decisions: list[ProposedTag]
    patient: str | None
    intervention: str | None
    comparison: str | None
    outcome: str | None


@dataclass(frozen=True)
class Additions:
    """What was taken from a proposal, and where in the question it stands."""

    diseases: tuple[Mention, ...] = ()
    decisions: tuple[Mention, ...] = ()
    pico: Proposed | None = None

    def without(self, known: Collection[str]) -> "Additions":
        """Those tags that are not `known`: a model changes nothing that the rules found."""
        return replace(
            self,
            diseases=tuple(one for one in self.diseases if one.name not in known),
            decisions=tuple(one for one in self.decisions if one.name not in known),
        )


@cache
def prompt_text() -> tuple[str, str]:
    """Version and text of `prompts/understand.md`, with the vocabulary's tags behind it."""
    written = files("workers.retrieve").joinpath("prompts/understand.md").read_text("utf-8")
    head, _, text = written.partition("\n")
    lists = [
        f"{kind}:\n"
        + "\n".join(
            f"- {tag}: {label(kind, tag)}" for tag in sorted(load("subjects/vocabulary")[kind])
        )
        for kind in _KINDS
    ]
    return head.removeprefix("version:").strip(), "\n\n".join([text.strip(), *lists])


def ask(model: LanguageModel, question: str) -> tuple[Additions, ModelPart]:
    """Ask once and keep what can be shown; where the model fails, nothing is added.

    The patient context is not sent.
    """
    version, system = prompt_text()
    try:
        made = model.propose(Prompt("understand", version, system, question, Proposed))
    except ModelError as error:
        note = f"understood by rules alone: {type(error).__name__}"
        return Additions(), ModelPart(note, model.name, version)
    value = made.value
    diseases = tuple(_shown("diseases", value.diseases, question))
    decisions = tuple(_shown("decisions", value.decisions, question))
    offered = len(value.diseases) + len(value.decisions)
    part = ModelPart(
        "understood by rules and a language model",
        made.model,
        version,
        made.prompt_hash,
        made.output_hash,
        refused=offered - len(diseases) - len(decisions),
        usage=made.usage,
    )
    return Additions(diseases, decisions, value), part


def _shown(kind: Kind, proposed: Sequence[ProposedTag], question: str) -> Iterator[Mention]:
    for one in proposed:
        if (
            one.tag not in load("subjects/vocabulary")[kind]
            or not _stems(one.words) & _own(kind)[one.tag]
        ):
            continue
        places = [Mention(one.tag, *span) for span in _places(one.words, question)]
        if kind == "diseases":
            places = asserted(question, places)
        yield from places[:1]


def _places(words: str, question: str) -> Iterator[tuple[int, int]]:
    """Where words stand in a question as whole words, to the letter."""
    if 0 < len(words.split()) <= _MOST_WORDS:
        for match in re.finditer(rf"(?<!\w){re.escape(words.strip())}(?!\w)", question):
            yield match.span()


@cache
def _own(kind: Kind) -> dict[str, frozenset[str]]:
    """The stems that no other tag of a kind has, by tag; its own narrower kinds do not count."""
    entries = load("subjects/vocabulary")[kind]
    stems = {
        tag: _stems(" ".join((*entry["words"], label(kind, tag), heading(kind, tag) or "")))
        for tag, entry in entries.items()
    }

    def others(tag: str) -> Iterator[frozenset[str]]:
        return (
            found
            for other, found in stems.items()
            if other != tag and heading(kind, other) != label(kind, tag)
        )

    return {tag: own.difference(*others(tag)) for tag, own in stems.items()}


def _stems(words: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in re.findall(r"\w{4,}", words.lower()))


def merged_pico(rules: Pico, proposed: Proposed | None, question: str) -> tuple[Pico, list[str]]:
    """The parts that the rules left open, where the proposal's words stand in the question."""
    open_parts = [name for name in _PARTS if getattr(rules, name) is None]
    taken = {
        name: words.strip()
        for name in open_parts
        if (words := getattr(proposed, name, None)) and any(_places(words, question))
    }
    return replace(rules, **taken), [f"pico.{name}" for name in taken]
