"""What of the evidence a language model is shown: texts, of long ones the passages found. Pure.

Texts of sources are data. They are sent as strings of one JSON object, which no text can close, and
what speaks to a program instead of a reader is left out before (clinical_text/instructions.py).
A snippet is one unbroken piece of a stored text, so whatever is copied from it is verbatim there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from clinical_text.instructions import addresses_reader, without_instructions
from contracts.retrieval import Found
from knowledge.answering.generation import generation_policy
from store.core.spans import Span, Structure

_DATE_CHARS = {"year": 4, "month": 7, "day": 10}


class Version(Protocol):
    """What a drafter reads of a version (`store.documents.documents.VersionText`). Drafting is
    pure: it knows the shape, not the store, and takes documents that no store held, as benchmarks
    give them."""

    title: str
    text: str
    structure: dict[str, Any]
    source_type: str
    publication_type: str | None
    publisher: str | None
    version_label: str | None
    identifiers: dict[str, str]
    published_at: datetime | None
    published_precision: str


@dataclass(frozen=True)
class Shown:
    """A version that is evidence, as the model sees it."""

    evidence_id: str
    source_type: str
    publication_type: str | None
    title: str
    version: str | None
    published: str | None
    identifiers: Mapping[str, str]
    passages: Sequence[str]

    def as_data(self) -> dict[str, Any]:
        """The object that is sent for it."""
        return {
            "key": self.evidence_id,
            "kind": self.source_type,
            "title": self.title,
            "version": self.version,
            "published": self.published,
            "identifiers": dict(self.identifiers),
            "passages": list(self.passages),
        }


def shown(evidence: Sequence[tuple[Found, Version]]) -> list[Shown]:
    """The evidence of a retrieval as far as it can be shown; what has nothing to show is left out.

    Args:
        evidence: the retrieval's entries with their versions, best first.
    """
    rooms = _rooms([len(version.text) for _, version in evidence])
    found = (_shown(*one, room) for one, room in zip(evidence, rooms, strict=True))
    return [one for one in found if one.passages]


def _rooms(lengths: Sequence[int]) -> list[int]:
    """How many characters of each text are shown: the short ones whole, the others alike."""
    bounds = generation_policy().evidence
    rooms, left = [0] * len(lengths), bounds.all_chars
    shortest_first = sorted(range(len(lengths)), key=lengths.__getitem__)
    for waiting, number in zip(range(len(lengths), 0, -1), shortest_first, strict=True):
        rooms[number] = min(lengths[number], bounds.document_chars, left // waiting)
        left -= rooms[number]
    return rooms


def _shown(entry: Found, version: Version, room: int) -> Shown:
    title = " ".join(version.title.split())[: generation_policy().evidence.title_chars]
    day = version.published_at.isoformat() if version.published_at else None
    return Shown(
        evidence_id=entry.evidence_id,
        source_type=version.source_type,
        publication_type=version.publication_type,
        title="" if addresses_reader(title) else title,
        version=version.version_label,
        published=day and day[: _DATE_CHARS[version.published_precision]],
        identifiers=version.identifiers,
        passages=[
            span.of(version.text)
            for span in _snippets(
                version.text,
                Structure.model_validate(version.structure).sentences,
                [Span(0, len(version.text))]
                if len(version.text) <= room
                else [Span(one.start, one.end) for one in entry.passages],
                room,
            )
        ],
    )


def _snippets(
    text: str, sentences: Sequence[Span], passages: Sequence[Span], room: int
) -> list[Span]:
    """Runs of whole sentences inside the passages, in reading order, so many characters in all."""
    kept = set(without_instructions(text, sentences))
    runs: list[Span] = []
    open_run = False
    for sentence in sentences:
        wanted = sentence in kept and any(
            one.start <= sentence.start and sentence.end <= one.end for one in passages
        )
        if wanted and open_run:
            runs[-1] = Span(runs[-1].start, sentence.end)
        elif wanted:
            runs.append(sentence)
        open_run = wanted
    return list(_within(runs, sentences, room))


def _within(runs: Sequence[Span], sentences: Sequence[Span], room: int) -> Iterator[Span]:
    for run in runs:
        if run.end - run.start > room:  # ends with the last sentence that still fits
            ends = (one.end for one in sentences if run.start < one.end <= run.start + room)
            run = Span(run.start, max(ends, default=run.start))
        if run.end > run.start:
            yield run
        room -= run.end - run.start


def as_data(question: str, evidence: Sequence[Shown]) -> str:
    """The one message that the model gets: a JSON object."""
    data = {"question": question, "evidence": [one.as_data() for one in evidence]}
    return json.dumps(data, ensure_ascii=False, indent=1)
