"""The view of a note's summary and plan beside the note, with the words that items cite. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages.clocks import moment
from api_gateway.pages.highlights import Place, Run, inside, runs
from api_gateway.pages.wording import Badge
from api_gateway.resources.page_routes import SentLine
from knowledge.documents.notes import LISTS
from store.models import Note

TITLES: Mapping[str, str] = {
    "patient_snapshot": "Patient",
    "key_problems": "Key problems",
    "pertinent_history": "Pertinent history",
    "medicines_allergies": "Medicines and allergies",
    "objective_findings": "Objective findings",
    "labs_imaging": "Labs and imaging",
    "assessment": "Assessment",
}
STATE: Mapping[str, Badge] = {
    "queued": Badge("Waiting", "quiet", "clock", "It is being read and sorted"),
    "done": Badge("Summarized", "good", "check", "Its items and their places are there"),
    "failed": Badge("Failed", "bad", "cross", "It was given up on"),
    "erased": Badge("Erased", "quiet", "question", "Its words were erased"),
}
_UNKNOWN = Badge("Unknown", "warn", "question", "This page does not know its state")
_PLACE = re.compile(r":([0-9]{1,9})-([0-9]{1,9})$")
"""The end of a citation: `SECTION section, chunk_N:START-END`, in code points of the note."""


@dataclass(frozen=True)
class NoteItem:
    """An item of a list, or a recommendation; `name` is the name of its span in the note."""

    name: str
    text: str
    source: str
    placed: bool
    confidence: str = ""
    caution: str = ""


@dataclass(frozen=True)
class NoteView:
    """The lists with items, the empty lists, the plan, the orders and problems that neither holds,
    the marked note, facts and warnings."""

    lists: Sequence[tuple[str, Sequence[NoteItem]]]
    empty: Sequence[str]
    plan: Sequence[NoteItem]
    uncovered: Sequence[NoteItem]
    runs: Sequence[Run]
    facts: Sequence[tuple[str, str]]
    warnings: Sequence[str]


def note_line(note: Note) -> SentLine:
    """The view of a line of the list."""
    erased = note.status == "erased"
    unnamed = "A note whose words were erased" if erased else "A note without a title"
    return SentLine(
        id=str(note.id),
        name=note.title or unnamed,
        badge=STATE.get(note.status, _UNKNOWN),
        sent=moment(note.created_at),
    )


def note_view(text: str, result: Mapping[str, Any], chosen: str | None) -> NoteView:
    """The view of a result; offsets are code points of `text`. What the plan has stands there only.

    Args:
        chosen: the item whose words are highlighted.
    """
    places: list[Place] = []
    planned = {item["source"] for item in result["plan"]["recommendations"]}
    lists = [
        (
            TITLES[name],
            [
                _item(text, f"{name}-{n}", item["text"], item, places)
                for n, item in enumerate(result["summary"].get(name, ()), start=1)
                if item["source"] not in planned
            ],
        )
        for name in LISTS
    ]
    plan = [
        _item(text, f"plan-{n}", item["recommendation"], item, places)
        for n, item in enumerate(result["plan"]["recommendations"], start=1)
    ]
    left = [
        _item(text, f"uncovered-{n}", f"{item['act']}: {item['text']}", item, places)
        for n, item in enumerate(result.get("uncovered", ()), start=1)
    ]
    return NoteView(
        lists=[(title, items) for title, items in lists if items],
        empty=[title for title, items in lists if not items],
        plan=plan,
        uncovered=left,
        runs=runs(text, places, chosen),
        facts=_facts(result),
        warnings=[str(item["detail"]) for item in result.get("warnings", ())],
    )


def _item(
    text: str, name: str, words: str, body: Mapping[str, Any], places: list[Place]
) -> NoteItem:
    """The view of an item; its place is added to `places` if it lies in the note."""
    match = _PLACE.search(str(body["source"]))
    start, end = (int(match[1]), int(match[2])) if match else (0, 0)
    placed = inside(text, start, end)
    if placed:
        places.append(Place(name, start, end))
    sure = body.get("confidence")
    return NoteItem(
        name=name,
        text=words,
        source=str(body["source"]),
        placed=placed,
        confidence="" if sure is None else f"{sure:.0%} sure",
        caution=str(body.get("hallucination_guard_note") or ""),
    )


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    provenance, checked = result.get("provenance") or {}, result.get("validation") or {}
    facts = {
        "Made by": str(provenance.get("generator") or ""),
        "Items": str(checked.get("items", "")),
        "Orders and problems left out": str(len(result.get("uncovered", ()))),
        "Citations that do not hold": str(checked.get("invalid_citations", "")),
        "Cost": f"US$ {provenance['cost_usd']}" if provenance.get("cost_usd") else "",
    }
    facts |= {
        f"Rules did {purpose}": str(fallback.get("note", ""))
        for purpose, fallback in (provenance.get("fallback") or {}).items()
    }
    return [(name, value) for name, value in facts.items() if value]
