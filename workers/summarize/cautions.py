"""What a reader must know of a note before its summary: it takes back, or says both. Pure."""

import re
from collections.abc import Iterator, Sequence

from clinical_text.doc import doc
from clinical_text.instructions import without_instructions
from clinical_text.language import other_language
from clinical_text.persons import number_of_people
from knowledge.documents.notes import plan_policy
from knowledge.reading.languages import seems_english
from knowledge.subjects.drugs import drugs
from store.core.spans import Span
from workers.summarize.items import Item
from workers.summarize.persons import is_of_a_relative

_WORD = re.compile(r"[^\W\d_]+")
_ALLERGY = re.compile(r"(?i)\b(?:allerg(?:y|ic|ies)|anaphyla\w+)\b")

_ALLERGIC_TO = re.compile(
    r"(?i)\b(?:allerg(?:ic|y)|anaphyla\w+|intoleran(?:t|ce)|reaction|rash|hives)\s++"
    r"(?:reaction\s++)?"
    r"(?:to|with|after)\s++(?P<to>[^\W\d_]{5,})|\b(?P<kind>[^\W\d_]{5,})\s++allergy\b"
)
_LEAST = 5
"""Letters of a word that names what somebody is allergic to (ours)."""


def cautions(text: str, items: Sequence[Item], entries: int = 0) -> Iterator[dict[str, str]]:
    """Code and words of each warning, the gravest first; `entries` of different days there are."""
    told = plan_policy().warnings
    count = number_of_people(text)
    if count > 1:
        yield {"code": "several_patients", "detail": told.several_patients.format(count=count)}
    if entries > 1:
        yield {"code": "several_days", "detail": told.several_days.format(count=entries)}
    if plan_policy().has("taken_back", text):
        yield {"code": "taken_back", "detail": told.taken_back}
    if addressed(text, items):
        yield {"code": "addressed_to_program", "detail": told.addressed_to_program}
    if _allergies_contradict(text, items):
        yield {"code": "allergies_contradict", "detail": told.allergies_contradict}
    if other_language(text) is not None or not seems_english(text):
        yield {"code": "not_english", "detail": told.not_english}


def addressed(text: str, items: Sequence[Item]) -> frozenset[Item]:
    """The items that may speak to the program that reads the note.

    They stay in the summary: "ignore prior instructions" may well be meant for the patient.
    """
    spans = {Span(one.start, one.end) for one in items}
    plain = set(without_instructions(text, sorted(spans)))
    return frozenset(one for one in items if Span(one.start, one.end) not in plain)


def opposed_words(text: str, items: Sequence[Item]) -> frozenset[str]:
    """What the note tells of an allergy to: drugs by their generic names, and as written."""
    found = set[str]()
    for one in items:
        words = one.text_in(text)
        if _tells_of_one(text, one):
            found |= drugs(words) | {word.casefold() for word in _allergens(one.kind, words)}
    return frozenset(found)


def tells_of_a_reaction(words: str) -> bool:
    """Whether words tell what somebody reacts to."""
    return _ALLERGY.search(words) is not None or _ALLERGIC_TO.search(words) is not None


def named_in(words: str) -> frozenset[str]:
    """The names by which an order is compared with these."""
    return drugs(words) | {one.casefold() for one in _WORD.findall(words)}


def _allergens(kind: str, words: str) -> Iterator[str]:
    if kind == "allergies":
        yield from (one for one in _WORD.findall(words) if len(one) >= _LEAST)
    for match in _ALLERGIC_TO.finditer(words):
        yield match["to"] or match["kind"]


def _allergies_contradict(text: str, items: Sequence[Item]) -> bool:
    none = any(_denies_all(text, one) for one in items)
    return none and any(_tells_of_one(text, one) for one in items)


def _denies_all(text: str, item: Item) -> bool:
    words = item.text_in(text)
    if is_of_a_relative(words):
        return False
    about = item.kind == "allergies" or "nk" in words.lower() or _ALLERGY.search(words) is not None
    return about and plan_policy().has("no_allergy", words) and not drugs(words)


def _tells_of_one(text: str, item: Item) -> bool:
    """Whether it tells of the patient's allergy to a drug."""
    words = item.text_in(text)
    about = item.kind == "allergies" or tells_of_a_reaction(words)
    if not about or is_of_a_relative(words):
        return False
    if not drugs(words) and not any(_allergens(item.kind, words)):
        return False
    if item.kind == "allergies" and plan_policy().has("no_allergy", words):
        return False
    return not _is_denied(words)


def _is_denied(words: str) -> bool:
    """Whether they deny the reaction, or what it is to: "not tolerated" denies neither."""
    reading = doc(words)
    told = [*_ALLERGY.finditer(words), *_ALLERGIC_TO.finditer(words)]
    spans = [one.span() for one in told] or [one.span() for one in _WORD.finditer(words)]
    return any(reading.is_negated(*span) for span in spans)
