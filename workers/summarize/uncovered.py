"""The orders and problems of a note that its plan and its problems do not hold. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from knowledge.documents.notes import plan_policy
from store.core.spans import Span
from workers.summarize.items import Item, Places, says_something
from workers.summarize.persons import is_of_a_relative, names_a_person
from workers.summarize.plan import Recommendation
from workers.summarize.sections import ADMINISTRATIVE, NoteOutline

_PROBLEMS = ("key_problems", "assessment", "patient_snapshot")


def uncovered(
    places: Places,
    outline: NoteOutline,
    items: Sequence[Item],
    recommended: Sequence[Recommendation],
) -> Iterator[dict[str, str]]:
    """`act`, `text` and `source` of each order that no recommendation covers, and of each problem
    that stands neither among problems nor in the assessment, in the order of the note.

    An order of an earlier day and what is told of a relative are none.
    """
    planned = _marked(len(places.text), (Span(one.item.start, one.item.end) for one in recommended))
    told = _marked(
        len(places.text), (Span(one.start, one.end) for one in items if one.list in _PROBLEMS)
    )
    for unit in outline.units:
        section = outline.sections[unit.section]
        held = {"order": planned, "problem": told}.get(unit.act.name)
        words = places.text[unit.start : unit.end]
        if held is None or unit.divider or unit.earlier or unit.act.sure < plan_policy().moved:
            continue
        if section.kind in (ADMINISTRATIVE, "family_social") or is_of_a_relative(words):
            continue
        if not says_something(words) or names_a_person(words) or any(held[unit.start : unit.end]):
            continue
        for start, end, chunk in places.holding(unit.start, unit.end):
            one = Item("assessment", start, end, chunk, section.kind)
            yield {"act": unit.act.name, **one.as_body(places.text)}


def _marked(length: int, spans: Iterable[Span]) -> bytearray:
    held = bytearray(length)
    for one in spans:
        held[one.start : one.end] = b"\x01" * (one.end - one.start)
    return held
