"""An extraction cut into steps that are stored: the plan, one iteration after another, the result.

Pure: a step is a function of the text and of what was stored before it, so a step that is made
again gives the same.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

import contracts
from knowledge.documents.extraction import extraction_policy
from knowledge.version import knowledge_version
from workers.extract.documents import Classification, Part, as_type, classify
from workers.extract.intake.readability import Readability
from workers.extract.loop.extraction import Extraction, PartResult, merged, readable
from workers.extract.loop.loop import Iteration, Outcome, Stop, best_of, stops
from workers.extract.rubrics import Profile, policy


class TooLong(ValueError):
    """The text is longer than what is extracted; the message says what to do."""


class Memory(BaseModel):
    """A remembered prompt: its id, and the fields that it names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    fields: tuple[str, ...]


class PlannedPart(BaseModel):
    """A part of the document, and what its first prompt remembers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    start: int
    end: int
    person: int = 0
    rest: bool = False
    memory: Memory | None = None

    @property
    def part(self) -> Part:
        """Where it is."""
        return Part(self.type, self.start, self.end, self.person, self.rest)

    @property
    def remembered(self) -> tuple[str, ...]:
        """The fields to name from the start."""
        return self.memory.fields if self.memory else ()


class Plan(BaseModel):
    """What is decided once, before the first iteration, and holds for all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    readability: Readability
    type: str
    confidence: float
    parts: tuple[PlannedPart, ...]
    profile: Profile
    knowledge_version: str


class Next(NamedTuple):
    """The step after this one."""

    part: int
    iteration: int


Remembers = Callable[[str], Memory | None]
"""Of a type of document: the prompt that did best for it."""


def require_length(text: str) -> None:
    """Whether the text is short enough.

    Raises:
        TooLong: it is not.
    """
    most = extraction_policy().max_chars
    if len(text) > most:
        raise TooLong(
            f"the document has {len(text):,} characters, and up to {most:,} are extracted: split it"
        )


def plan_of(
    text: str,
    document_type: str | None,
    profile: str,
    remembers: Remembers,
    readability: Readability | None = None,
) -> Plan:
    """Readability, type, parts, and what is remembered of each type.

    Args:
        document_type: what somebody said it is; None: found out by its words.
        readability: as it was found when the text was read from a file.

    Raises:
        Unreadable: the text is too bad.
        TooLong: there is too much of it.
        ValueError: there is no such type or profile.
    """
    require_length(text)
    readability = readable(text, readability)
    found = classify(text) if document_type is None else as_type(text, document_type)
    return Plan(
        readability=readability,
        type=found.document_type,
        confidence=found.confidence,
        parts=tuple(
            PlannedPart(
                type=one.document_type,
                start=one.start,
                end=one.end,
                person=one.person,
                rest=one.rest,
                memory=remembers(one.document_type),
            )
            for one in found.parts
        ),
        profile=policy().profile(profile),
        knowledge_version=knowledge_version(),
    )


def next_of(plan: Plan, part: int, history: Sequence[Iteration], seconds: float) -> Next | None:
    """The step after the last iteration of `history`; None: the extraction is at its end.

    Args:
        history: all iterations of the part, in order.
        seconds: that they took to work, waiting aside.
    """
    if stops(history, plan.profile, seconds) is None:
        return Next(part, len(history) + 1)
    return Next(part + 1, 1) if part + 1 < len(plan.parts) else None


def outcome_of(plan: Plan, history: Sequence[Iteration], seconds: float) -> Outcome:
    """What became of a part whose loop has stopped."""
    stopped = stops(history, plan.profile, seconds)
    return Outcome(best_of(history), history, stopped or Stop.MAXIMUM, plan.profile, seconds)


def extraction_of(
    plan: Plan, histories: Sequence[Sequence[Iteration]], seconds: Sequence[float]
) -> Extraction:
    """The whole, of the histories of all parts in order and the seconds that each took."""
    results = [
        PartResult(one.part, outcome_of(plan, history, took))
        for one, history, took in zip(plan.parts, histories, seconds, strict=True)
    ]
    parts = [one.part for one in plan.parts]
    found = Classification(plan.type, plan.confidence, parts)
    return Extraction(plan.readability, found, results, merged(results))


def unreadable_body(
    error: str,
    readability: Readability | None,
    issues: Sequence[str] = (),
    suggestions: Sequence[str] | None = None,
) -> contracts.Extraction:
    """The result where a document cannot be extracted (seed marc_v1, section 7.1).

    Args:
        suggestions: what to do; left out, what helps with scans.
    """
    helps = extraction_policy().suggestions if suggestions is None else tuple(suggestions)
    said = readability or Readability(
        readable=False, confidence=0.0, issues=tuple(issues), suggestions=helps
    )
    return contracts.Extraction.model_validate(
        {
            "outcome": "unreadable",
            "error": error,
            "readability": said.model_dump(mode="json"),
            "suggestions": list(said.suggestions),
            "fields": {},
        }
    )


def result_body(found: Extraction, provenance: Mapping[str, Any]) -> contracts.Extraction:
    """The result of an extraction, with how it came about."""
    return contracts.Extraction.model_validate(
        {"outcome": "extracted", **found.as_body(), "provenance": dict(provenance)}
    )
