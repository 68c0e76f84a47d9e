"""What the summarize stage makes of a clinical note: lists and a plan, each item with its place."""

from collections.abc import Mapping

from contracts.body import Body, Part
from contracts.draft import Fallback
from contracts.retrieval import Request

_NONE: Mapping[str, int] = {}
_NO_FALLBACK: Mapping[str, Fallback] = {}


class NoteSection(Part):
    """A part of the note, in code points."""

    title: str
    kind: str
    start: int
    end: int


class NoteChunk(Part):
    """A chunk that citations name."""

    chunk_id: str
    section_title: str
    start_char: int
    end_char: int


class Item(Part):
    """Words of the note, and their citation."""

    text: str
    source: str


class Uncovered(Part):
    """Words that seem to order something or name a problem (`act`), and stand neither in the plan
    nor among the problems."""

    act: str
    text: str
    source: str


class Recommendation(Part):
    """A recommendation in the words of the note; `confidence` is a share."""

    number: int
    recommendation: str
    source: str
    confidence: float
    hallucination_guard_note: str | None = None


class Plan(Part):
    """The recommendations, the most urgent first."""

    recommendations: tuple[Recommendation, ...]


class Validation(Part):
    """What was counted of the citations: in all, those that hold, and faults by kind."""

    items: int
    recommendations: int
    items_inside_span: int
    invalid_citations: int
    malformed: int = 0
    orphans: int = 0
    unknown_chunk: int = 0
    section_mismatches: int = 0
    out_of_bounds: int = 0
    not_inherited: int = 0
    unsupported: int = 0
    coverage: float = 1.0
    chunks_cited: float = 1.0


class NoteWarning(Part):
    """What is wrong with the note itself."""

    code: str
    detail: str


class NoteProvenance(Part):
    """Who made it. With a language model: its requests, what of it was not taken (`refused`, by
    reason) or was added by rules, and for which purposes rules took its place (`fallback`)."""

    generator: str
    knowledge_version: str
    model: str | None = None
    consulted: tuple[Request, ...] = ()
    refused: Mapping[str, int] = _NONE
    supplemented: int = 0
    sections_inferred: int = 0
    fallback: Mapping[str, Fallback] = _NO_FALLBACK
    cost_usd: str | None = None


class Summary(Body):
    """The result of a note; offsets count its code points."""

    text_hash: str | None = None
    sections: tuple[NoteSection, ...]
    chunks: tuple[NoteChunk, ...]
    summary: Mapping[str, tuple[Item, ...]]
    plan: Plan
    uncovered: tuple[Uncovered, ...] = ()
    validation: Validation
    warnings: tuple[NoteWarning, ...] = ()
    provenance: NoteProvenance
