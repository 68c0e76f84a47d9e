"""A note becomes a summary and a plan: the result as callers see it. Pure.

The service writes every citation; a model, where there is one, only names chunks and copies words
(`workers.summarize.model`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clinical_text.chunks import Chunk, chunk
from contracts import Summary
from knowledge.documents.notes import LISTS
from knowledge.version import knowledge_version
from store.core.hashes import text_hash
from workers.summarize.cautions import cautions
from workers.summarize.items import Item, Places, items_of
from workers.summarize.plan import Recommendation, recommendations
from workers.summarize.sections import NoteOutline, outline
from workers.summarize.statements import as_read
from workers.summarize.uncovered import uncovered
from workers.summarize.validation import validate

GENERATOR = "extractive"
UNTITLED = "BODY"
"""The section name of what no heading stands over, as `store.core.spans.citation` writes it."""


@dataclass(frozen=True)
class Reading:
    """A note, its outline and its chunks."""

    text: str
    outline: NoteOutline

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The chunks by CN-2, in order."""
        return chunk(self.text, self.outline.structure)

    @cached_property
    def items(self) -> list[Item]:
        """What the rules put into the seven lists."""
        return items_of(self.text, self.outline, self.chunks)


def read(text: str, inferred: Sequence[tuple[int, str, str]] = ()) -> Reading:
    """The note with its sections; `inferred` as in `sections.outline`."""
    return Reading(text, as_read(text, outline(text, inferred)))


def summarize(text: str) -> dict[str, Any]:
    """`by_rules` as JSON, as a command prints it."""
    return by_rules(text).as_body()


def by_rules(text: str) -> Summary:
    """The result for a note, by rules alone: nothing is written that does not stand in the note.

    `summary` has the seven lists of `{text, source}`, an empty one where there is nothing; `plan`
    the `recommendations`; `uncovered` the orders and problems that neither holds; `sections` and
    `chunks` what the citations name, in code points; `validation` what `validate` counts;
    `warnings` what is wrong with the note itself; `provenance` who made it.
    """
    reading = read(text)
    return result_of(reading, reading.items, recommendations(text, reading.items))


def result_of(
    reading: Reading,
    items: Sequence[Item],
    recommended: Sequence[Recommendation],
    provenance: Mapping[str, Any] | None = None,
) -> Summary:
    """The result that is stored, with its citations counted."""
    text = reading.text
    body: dict[str, Any] = {
        "text_hash": text_hash(text),
        "sections": [
            {"title": one.title or UNTITLED, "kind": one.kind, "start": one.start, "end": one.end}
            for one in reading.outline.sections
        ],
        "chunks": [
            {
                "chunk_id": one.chunk_id,
                "section_title": one.section or UNTITLED,
                "start_char": one.start,
                "end_char": one.end,
            }
            for one in reading.chunks
        ],
        "summary": {
            name: [one.as_body(text) for one in items if one.list == name] for name in LISTS
        },
        "plan": {"recommendations": [one.as_body(n) for n, one in enumerate(recommended, start=1)]},
    }
    places = Places(text, reading.chunks)
    body["uncovered"] = list(uncovered(places, reading.outline, items, recommended))
    body["validation"] = validate(text, body)
    body["warnings"] = list(cautions(text, items, reading.outline.entries))
    body["provenance"] = {
        "generator": GENERATOR,
        **(provenance or {}),
        "knowledge_version": knowledge_version(),
    }
    return Summary.model_validate(body)
