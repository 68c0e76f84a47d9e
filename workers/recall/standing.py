"""Does a quotation still stand in a newer version, and does it still mean the same? Pure.

Standing there to the letter is not enough: a guideline may keep a sentence and take it back in the
next one. So what is beside it must be the same too, and nothing new may be said about the same
things. Where in doubt it does not stand: the question is asked anew, which costs time and no truth.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from clinical_text.boundaries import cuts_at
from clinical_text.normalize import normalize
from clinical_text.quotes import Source, check
from store.core.spans import Section, Span, Structure
from store.index.terms import term_set


class Doubt(StrEnum):
    """Why a quotation does not stand."""

    WORK_ENDED = "work_ended"
    NO_CURRENT_VERSION = "no_current_version"
    NOT_IN_SECTION = "not_in_section"
    NEIGHBOURS_CHANGED = "neighbours_changed"
    NEW_WORDS_ON_IT = "new_words_on_it"


@dataclass(frozen=True, eq=False)
class Reading:
    """A version's text with its structure; what is derived from them is kept."""

    text: str
    structure: Structure

    @cached_property
    def folded(self) -> list[str]:
        """The sentences, folded, in order."""
        return [_folded(span.of(self.text)) for span in self.structure.sentences]

    @cached_property
    def said(self) -> frozenset[str]:
        """All folded sentences."""
        return frozenset(self.folded)

    @cached_property
    def by_title(self) -> dict[str, list[tuple[int, Source]]]:
        """Where the sections of each title begin, and their words."""
        found: dict[str, list[tuple[int, Source]]] = {}
        for one in self.structure.sections:
            part = (one.start, Source(self.text[one.start : one.end]))
            found.setdefault(_folded(one.title), []).append(part)
        return found

    def section_of(self, span: Span) -> Section | None:
        """The section that `span` begins in."""
        sections = self.structure.sections
        return next((one for one in sections if one.start <= span.start < one.end), None)

    def around(self, span: Span) -> tuple[str, ...]:
        """The folded sentences that `span` touches, and those beside them in its paragraph; an
        empty one where the paragraph ends."""
        paragraph = next(
            (one for one in self.structure.paragraphs if one.start <= span.start < one.end),
            Span(0, len(self.text)),
        )
        inside = [
            (one, folded)
            for one, folded in zip(self.structure.sentences, self.folded, strict=True)
            if one.end > paragraph.start and one.start < max(paragraph.end, span.end)
        ]
        touched = [n for n, (one, _) in enumerate(inside) if one.end > span.start]
        touched = [n for n in touched if inside[n][0].start < span.end]
        if not touched:
            return (_folded(span.of(self.text)),)
        before = inside[touched[0] - 1][1] if touched[0] else ""
        after = inside[touched[-1] + 1][1] if touched[-1] + 1 < len(inside) else ""
        return (before, *(inside[n][1] for n in touched), after)


def _folded(text: str) -> str:
    return normalize(text).text.strip().casefold()


def stands(old: Reading, span: Span, new: Reading, same_subject: float) -> Span | Doubt:
    """Where the words at `span` of `old` stand in `new`, or why they do not.

    Args:
        same_subject: share of common terms from which on a new sentence is about the quotation.
    """
    quote = span.of(old.text)
    section = old.section_of(span)
    title = _folded(section.title) if section else ""
    cuts = set(cuts_at(old.text, span.start, span.end))
    places: list[Span] = []
    for start, source in new.by_title.get(title, ()):
        found = check(quote, source)
        if not found.accepted or found.start is None or found.end is None:
            continue
        place = Span(start + found.start, start + found.end)
        if set(cuts_at(new.text, *place)) <= cuts:
            places.append(place)
    if not places:
        return Doubt.NOT_IN_SECTION
    around = old.around(span)
    for place in places:
        if new.around(place) == around:
            told = _new_words_on(quote, old, new, same_subject)
            return Doubt.NEW_WORDS_ON_IT if told else place
    return Doubt.NEIGHBOURS_CHANGED


def _new_words_on(quote: str, old: Reading, new: Reading, share: float) -> bool:
    """Whether `new` has a sentence that `old` had not and that may be about the quotation."""
    mine = term_set(quote)
    for folded in new.said - old.said:
        theirs = term_set(folded)
        shorter = min(len(mine), len(theirs))
        if shorter and len(mine & theirs) >= share * shorter:
            return True
    return False
