"""A draft by a language model: asked for in a shape, and kept only where it is in bounds. Pure.

Nothing here says that a claim is true: the gate does that, claim by claim (invariant 6). Here a
draft becomes one that the gate can read: known evidence, known sections in their order, bounded
texts. What was dropped is counted by reason.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from knowledge.answering.generation import generation_policy
from workers.generate.prompting import Instructions, Section, instructions_for
from workers.generate.snippets import Shown, as_data
from workers.language_model.names import joined, meant, named, without_keys
from workers.language_model.port import Consulted, LanguageModel, ModelUnusable, Prompt

PURPOSE = "generate"
_BETWEEN = ", "
"""Between the keys of a claim that names several."""


_VERDICTS = {
    "answer": "ANSWER",
    "abstain": "ABSTAIN_UNVERIFIED",
    "abstain unverified": "ABSTAIN_UNVERIFIED",
}


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WrittenClaim(_Shape):
    """A claim as the model writes it."""

    heading: Annotated[str, Field(description="the section it belongs to")]
    text: Annotated[str, Field(description="one statement that can be read alone")]
    evidence_id: Annotated[
        str,
        BeforeValidator(lambda written: joined(written, ", ")),
        Field(description="the key of the one source it leans on"),
    ]
    quote: Annotated[
        str,
        BeforeValidator(lambda written: joined(written, " [...] ")),
        Field(description="copied letter by letter from that source's passages"),
    ]


class Written(_Shape):
    """What is asked for: claims, or an abstention (SentinelPharma plan, section 8)."""

    verdict: Annotated[
        Literal["ANSWER", "ABSTAIN_UNVERIFIED"],
        BeforeValidator(lambda written: meant(written, _VERDICTS)),
    ]
    claims: list[WrittenClaim]
    answer: Annotated[
        list[int],
        Field(description="numbers, from 1, of the claims that answer the question, best first"),
    ] = Field(default_factory=list)
    missing: Annotated[
        list[str],
        Field(description="headings that the question asks for and the evidence has nothing for"),
    ]


@dataclass(frozen=True)
class Accepted:
    """What of a written draft goes on to the gate."""

    claims: Sequence[WrittenClaim]
    """In the order of the sections, under their headings."""
    answer: Sequence[int]
    """For each of them its place among those that answer the question, from 1; 0: it is none."""
    missing: Sequence[str]
    """Sections that the model calls empty and that no source shown belongs to."""
    refused: Mapping[str, int]
    """How many claims were dropped, by reason."""
    moved: int
    """How many claims stand in another section than the model put them in."""
    abstained: bool


@dataclass(frozen=True)
class ModelDraft:
    """A draft, and what asking for it was."""

    instructions: Instructions
    consulted: Consulted
    accepted: Accepted
    maker: str = "anthropic"
    """What the answer calls the model's service."""

    def as_body(self) -> dict[str, Any]:
        """As the draft is stored; `claims` as the gate reads them."""
        claims = self.accepted.claims
        return {
            "generator": self.maker,
            **self.consulted.as_body(),
            "form": self.instructions.form,
            "abstained": self.accepted.abstained,
            "claims": list(map(_stored, count(1), claims, self.accepted.answer)),
            "missing": list(self.accepted.missing),
            "refused": dict(self.accepted.refused),
            "moved": self.accepted.moved,
        }


def _stored(number: int, claim: WrittenClaim, place: int) -> dict[str, Any]:
    key, *further = claim.evidence_id.split(_BETWEEN)
    body = {"claim_id": f"c{number}", **claim.model_dump(), "evidence_id": key}
    return body | ({"further": further} if further else {}) | ({"answers": place} if place else {})


def draft(
    model: LanguageModel,
    question: str,
    query_type: str,
    evidence: Sequence[Shown],
    maker: str = "anthropic",
) -> ModelDraft:
    """Ask once for a draft. The patient context is not sent.

    Raises:
        ModelUnusable: too, where no claim is left and the model did not abstain.
        ModelError: as the model raises it.
    """
    told, bounds = instructions_for(query_type), generation_policy().draft
    made = model.propose(
        Prompt(
            PURPOSE,
            told.version,
            told.text,
            as_data(question, evidence),
            Written,
            max_tokens=bounds.max_tokens,
            patience=bounds.patience,
        )
    )
    accepted = accept(made.value, evidence, told.sections)
    if not (accepted.claims or accepted.abstained):
        raise ModelUnusable("The language model's draft has no claim on the evidence it was given")
    consulted = Consulted(
        "the language model abstained" if accepted.abstained else "drafted by a language model",
        made.model,
        told.version,
        made.prompt_hash,
        made.output_hash,
        made.usage,
    )
    return ModelDraft(told, consulted, accepted, maker)


def accept(written: Written, evidence: Sequence[Shown], sections: Sequence[Section]) -> Accepted:
    """Keep the claims that name a source shown and are in bounds, each in a section that takes it.

    An abstention has no claims, whatever else was written.
    """
    if written.verdict == "ABSTAIN_UNVERIFIED":
        dropped = {"abstained": len(written.claims)} if written.claims else {}
        missing = _missing(written.missing, (), evidence, sections)
        return Accepted((), (), missing, dropped, 0, abstained=True)
    known = {one.evidence_id: one for one in evidence}
    refused: Counter[str] = Counter()
    kept: dict[tuple[str, str], WrittenClaim] = {}
    moved, places = 0, _places(written.answer)
    answering: dict[tuple[str, str], int] = {}
    for number, claim in enumerate((_tidy(one, known) for one in written.claims), 1):
        reason = _refusal(claim, kept)
        if reason:
            refused[reason] += 1
            continue
        home = _home(claim, known[claim.evidence_id.split(_BETWEEN)[0]], sections)
        moved += home != claim.heading
        kept[claim.evidence_id, claim.text] = claim.model_copy(update={"heading": home})
        answering[claim.evidence_id, claim.text] = places.get(number, 0)
    place = {section.heading: n for n, section in enumerate(sections)}
    claims = sorted(kept.values(), key=lambda one: place[one.heading])
    missing = _missing(written.missing, claims, evidence, sections)
    answer = [answering[one.evidence_id, one.text] for one in claims]
    return Accepted(claims, answer, missing, refused, moved, abstained=False)


def _places(numbers: Sequence[int]) -> dict[int, int]:
    """The place of each claim that is named as an answer, by its number."""
    return {number: place for place, number in enumerate(dict.fromkeys(numbers), 1)}


def _tidy(claim: WrittenClaim, known: Collection[str]) -> WrittenClaim:
    """A claim on one line, with the keys that it names; none, where one of them is not known. The
    quotation keeps its letters, only its edges are trimmed."""
    return WrittenClaim(
        heading=_heading(claim.heading),
        text=without_keys(" ".join(claim.text.split()), known),
        evidence_id=_BETWEEN.join(named(claim.evidence_id, known)),
        quote=claim.quote.strip(),
    )


def _heading(written: str) -> str:
    """A heading without the number, marks and colon that it may have been written with."""
    return " ".join(written.strip(" \t\r\n#*:.0123456789").split()).upper()


def _refusal(claim: WrittenClaim, kept: Mapping[tuple[str, str], WrittenClaim]) -> str | None:
    """Why a claim is dropped; None: it is not."""
    bounds = generation_policy().draft
    if not claim.evidence_id:
        return "unknown_evidence"
    if not (claim.text and claim.quote):
        return "empty"
    if len(claim.text) > bounds.claim_chars or len(claim.quote) > bounds.quote_chars:
        return "too_long"
    if (claim.evidence_id, claim.text) in kept:
        return "repeated"
    return "too_many" if len(kept) >= bounds.claims else None


def _home(claim: WrittenClaim, source: Shown, sections: Sequence[Section]) -> str:
    """The section that was asked for if it takes the source, else the first that does (MC-2.1b)."""
    fitting = [
        one.heading for one in sections if one.takes(source.source_type, source.publication_type)
    ]
    if claim.heading in fitting:
        return claim.heading
    return fitting[0] if fitting else sections[-1].heading


def _missing(
    named: Sequence[str],
    claims: Sequence[WrittenClaim],
    evidence: Sequence[Shown],
    sections: Sequence[Section],
) -> list[str]:
    wanted = set(map(_heading, named)) - {one.heading for one in claims}
    return [
        section.heading
        for section in sections
        if section.heading in wanted
        and not any(section.takes(one.source_type, one.publication_type) for one in evidence)
    ]
