"""Checks a finished summary against its note, from its JSON alone. Pure.

It knows nothing of how a summary was made: it reads citations as any reader would (clinical notes
seed, "Citation Validation in Evaluation").
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from knowledge.documents.notes import LISTS

_PLACE = re.compile(r"(?P<chunk>chunk_\d{1,9}):(?P<start>\d{1,9})-(?P<end>\d{1,9})")
"""What stands in a citation behind the name of the section."""


class Cited(NamedTuple):
    """What a citation names; the place in code points of the note."""

    section: str
    chunk: str
    start: int
    end: int


def cited(source: str) -> Cited | None:
    """What a citation names, None where it is none: "PLAN section, chunk_2:10-20"."""
    section, _, words = source.rpartition(" section, ")
    place = _PLACE.fullmatch(words)
    if place is None or not section or "\n" in section:
        return None
    return Cited(section, place["chunk"], int(place["start"]), int(place["end"]))


def validate(note: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Counts over the items and recommendations of `result`, made of `note`.

    `items` and `recommendations` that there are; `items_inside_span`, both of them, whose words
    stand within the span they cite; `orphans` without a citation; `malformed` ones; those with an
    `unknown_chunk`, a section that is not the chunk's (`section_mismatches`) or a span outside
    of it (`out_of_bounds`); `not_inherited`, recommendations whose citation no assessment item has;
    `invalid_citations`, all that have any of these faults but the first; `unsupported` words that
    are not in their span; `coverage`, the share with a valid citation (1.0 where there is nothing);
    `chunks_cited`, the share of chunks.
    """
    chunks = {one["chunk_id"]: one for one in result["chunks"]}
    inherited = {one["source"] for one in result["summary"]["assessment"]}
    counts = dict.fromkeys(
        ("orphans", "malformed", "unknown_chunk", "section_mismatches", "out_of_bounds"), 0
    )
    cited: set[str] = set()
    claims = inside = invalid = not_inherited = valid = 0
    for words, source, is_plan in _claims(result):
        claims += 1
        fault, place = _fault(source, chunks, len(note))
        foreign = is_plan and source not in inherited
        not_inherited += foreign
        if fault is not None:
            counts[fault] += 1
        invalid += foreign or fault not in (None, "orphans")
        valid += fault is None and not foreign
        if fault is None and place is not None:
            cited.add(place[0])
            inside += bool(words) and words in note[place[1] : place[2]]
    recommended = len(result["plan"]["recommendations"])
    return {
        "items": claims - recommended,
        "recommendations": recommended,
        "items_inside_span": inside,
        "invalid_citations": invalid,
        **counts,
        "not_inherited": not_inherited,
        "unsupported": claims - inside,
        "coverage": round(valid / claims, 4) if claims else 1.0,
        "chunks_cited": round(len(cited) / len(chunks), 4) if chunks else 1.0,
    }


def _claims(result: Mapping[str, Any]) -> Iterator[tuple[str, str | None, bool]]:
    for name in LISTS:
        for one in result["summary"][name]:
            yield one["text"], one.get("source"), False
    for one in result["plan"]["recommendations"]:
        yield one["recommendation"], one.get("source"), True


def _fault(
    source: str | None, chunks: Mapping[str, Mapping[str, Any]], length: int
) -> tuple[str | None, tuple[str, int, int] | None]:
    """What is wrong with a citation, and the place that it names."""
    if not source or not source.strip():
        return "orphans", None
    found = cited(source)
    if found is None:
        return "malformed", None
    chunk = chunks.get(found.chunk)
    if chunk is None:
        return "unknown_chunk", None
    place = (found.chunk, found.start, found.end)
    if found.section != chunk["section_title"]:
        return "section_mismatches", place
    if not chunk["start_char"] <= found.start < found.end <= min(chunk["end_char"], length):
        return "out_of_bounds", place
    return None, place
