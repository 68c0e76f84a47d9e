"""The view of an extraction: fields beside the words that state them, and iterations. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from api_gateway.extractions.values import written
from api_gateway.pages.clocks import dollars, moment
from api_gateway.pages.highlights import Place, Run, inside, runs
from api_gateway.pages.wording import Badge
from api_gateway.resources.page_routes import SentLine
from store.models import ExtractionRow

STATUS: Mapping[str, Badge] = {
    "found": Badge("Found", "good", "check", "The document states it at the marked place"),
    "ambiguous": Badge(
        "Ambiguous", "warn", "half", "The document states several, and nobody can say which"
    ),
    "not_present": Badge("Not stated", "quiet", "question", "The document does not state it"),
}
STATE: Mapping[str, Badge] = {
    "queued": Badge("Waiting", "quiet", "clock", "It has not been read yet"),
    "running": Badge("Running", "quiet", "clock", "It is being gone over"),
    "extracted": Badge("Extracted", "good", "check", "Its fields were read"),
    "unreadable": Badge("Unreadable", "bad", "cross", "Its text is too bad to read fields from"),
    "failed": Badge("Failed", "bad", "cross", "It was given up on"),
    "erased": Badge("Erased", "quiet", "question", "Its words were erased"),
}
LOW = Badge("Low score", "warn", "half", "Its fields were read, but not as well as was asked for")
REVIEW: Mapping[str, Badge] = {
    "open": Badge("Open", "warn", "half", "A person should look at it"),
    "accepted": Badge("Accepted", "good", "check", "A person found it right"),
    "corrected": Badge("Corrected", "good", "check", "A person put some fields right"),
}
_UNKNOWN = Badge("Unknown", "quiet", "question", "Nothing is known of its state")
RAW = "raw_text"
"""The field that holds the whole document; the document itself is shown instead."""
_SHORT = frozenset({"tnm", "ihc", "msi", "tmb", "psa", "icd", "mrn"})
_MOST_WORDS = 240
"""Our choice: the most characters of a quote beside a field; the text itself is next to it."""
_WHOLE = 0.5
"""Our choice: a span of more than this share of the text is not marked unless it is chosen."""


@dataclass(frozen=True)
class ItemView:
    """A value of a field: the document's words, and the value that was read from them."""

    name: str
    words: str
    value: str
    placed: bool


@dataclass(frozen=True)
class FieldView:
    """A field that the document states."""

    name: str
    label: str
    badge: Badge
    items: Sequence[ItemView]


@dataclass(frozen=True)
class ResultView:
    """The fields beside the text."""

    fields: Sequence[FieldView]
    missing: Mapping[str, Sequence[str]]
    """Those that it does not state, by the reason why they are called so."""
    runs: Sequence[Run]
    facts: Sequence[tuple[str, str]]


def score(value: float | None) -> str:
    """A score (0-1) to three places; empty if there is none."""
    return "" if value is None else f"{value:.3f}"


def extraction_line(row: ExtractionRow) -> SentLine:
    """The view of a line of the list."""
    kind = label(row.document_type) if row.document_type else ""
    is_low = row.outcome == "extracted" and not row.met_threshold
    return SentLine(
        id=str(row.id),
        name=row.title or row.filename or f"{kind or 'A document'} without a title",
        sent=moment(row.created_at),
        badge=LOW if is_low else STATE.get(row.outcome or row.status, _UNKNOWN),
        detail=kind if row.score is None else f"{kind} · score {score(row.score)}",
    )


def label(name: str) -> str:
    """The name of a field or type in words."""
    words = name.replace("_", " ").replace("-", " ").split(" ")
    words = [word.upper() if word in _SHORT else word for word in words]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def result_view(text: str, result: Mapping[str, Any], chosen: str | None) -> ResultView:
    """The view of a result, its fields as they follow in the text; spans count its code points.

    Args:
        chosen: the item whose words are highlighted.
    """
    placed, places = [], []
    missing: dict[str, list[str]] = {}
    for name, body in result.get("fields", {}).items():
        if name == RAW:
            continue
        if body["status"] == "not_present":
            missing.setdefault(body.get("reason") or "no value was read", []).append(label(name))
            continue
        items, item_places = _items(text, name, body)
        places += item_places
        badge = STATUS.get(body["status"], _UNKNOWN)
        begin = min((place.start for place in item_places), default=len(text))
        placed.append((begin, FieldView(name, label(name), badge, items)))
    lit = [
        place
        for place in places
        if place.name == chosen or place.end - place.start <= _WHOLE * max(len(text), 1)
    ]
    return ResultView(
        fields=[field for _, field in sorted(placed, key=lambda one: one[0])],
        missing=missing,
        runs=runs(text, lit, chosen),
        facts=_facts(result),
    )


def _items(text: str, name: str, body: Mapping[str, Any]) -> tuple[list[ItemView], list[Place]]:
    items, places = [], []
    for n, item in enumerate(body.get("items") or [body], start=1):
        start, end = item.get("start"), item.get("end")
        placed = inside(text, start, end)
        key = f"{name}-{n}"
        if placed:
            places.append(Place(key, start, end))
        words = text[start:end] if placed else ""
        items.append(ItemView(key, _cut(words), _value(item.get("value"), words), placed))
    return items, places


def _cut(words: str) -> str:
    return words if len(words) <= _MOST_WORDS else words[: _MOST_WORDS - 1] + "…"


def _value(value: Any, words: str) -> str:
    """A read value; empty if it says no more than the document's own words."""
    text = written(value)
    if words and (
        text.split() == words.split()
        or (isinstance(value, Mapping) and value.get("kind") == "words")
    ):
        return ""
    return _cut(text)


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    provenance = result.get("provenance") or {}
    facts = {
        "Type": label(str(result.get("type", "unknown"))),
        "Sure of the type": f"{result['confidence']:.0%}" if "confidence" in result else "",
        "Parts": ", ".join(label(part["type"]) for part in result.get("parts", []))
        if result.get("composite")
        else "",
        "Read by": str(provenance.get("generator") or ""),
        "Cost": dollars(Decimal(str(provenance["cost_usd"]))) if provenance.get("cost_usd") else "",
    }
    return [(name, value) for name, value in facts.items() if value]
