"""What the generate stage proposes: claims with evidence keys, not yet checked."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from contracts.body import Body, Part
from contracts.retrieval import Request

_NONE: Mapping[str, int] = {}


class AlsoSays(Part):
    """Another source that reports the same, and its words."""

    evidence_id: str
    quote: str


class DraftedClaim(Part):
    """A claim as it was proposed, with the evidence it names and the words it leans on.

    `covers` is the share of the question that it and its title hold.
    """

    claim_id: str
    text: str
    evidence_id: str
    quote: str
    heading: str
    also: tuple[AlsoSays, ...] = ()
    covers: float = 1.0
    answers: int = 0
    """Its place, from 1, among the claims that its drafter calls the answer; 0: it is none."""
    begins: float | None = None
    """How well it begins the answer by what it says; None where nobody read that."""
    further: tuple[str, ...] = ()
    """Evidence keys beside the first: the quotation, or a part of it, may stand in any of them."""


class Fallback(Part):
    """Why a draft is not the language model's."""

    reason: str
    note: str


class Lacks(Part):
    """Of whom no source speaks that speaks to all else that is asked."""

    who: Annotated[str, Field(description="names, patients, payers or regulators")]
    asked: tuple[str, ...]


class Proposal(Part):
    """Claims, and who drafted them.

    Those of a language model have the facts of the request (`note` to `cost_usd`) and what was not
    taken of its draft (`refused`, by reason; `moved` to another section). A draft of sources'
    sentences that stands in its place has those facts in `consulted`, and the reason in `fallback`.
    """

    generator: str
    prompt_version: str
    claims: tuple[DraftedClaim, ...]
    considered: int | None = None
    lacks: Lacks | None = None
    fallback: Fallback | None = None
    consulted: Request | None = None
    cost_usd: str | None = None
    note: str | None = None
    model: str | None = None
    prompt_hash: str | None = None
    output_hash: str | None = None
    form: str | None = None
    abstained: bool = False
    missing: tuple[str, ...] = ()
    refused: Mapping[str, int] = _NONE
    moved: int = 0

    @property
    def is_extractive(self) -> bool:
        """Whether it is made of the sources' own sentences."""
        return self.generator == "extractive"

    @property
    def request(self) -> "Request | Proposal":
        """Where the facts of the request to a language model stand, if there was one."""
        return self.consulted or self


class Draft(Proposal, Body):
    """The draft of a question; beside a language model's stands the keyless one (`keyless`)."""

    keyless: Proposal | None = None
