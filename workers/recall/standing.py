"""Checks whether a quotation still stands in a newer version with the same meaning. Pure.

The same words are not enough: a guideline may keep a sentence and retract it in the next one. So
the adjacent sentences must be the same too, and there must be no new sentence on the same subject.
In doubt the quotation does not stand: asking the question anew costs time, but no correctness.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from clinical_text.normalize import normalize
from clinical_text.quotes import Source, check
from clinical_text.sentences.boundaries import cuts_at
from store.core.spans import Section, Span, Structure
from store.index.terms import term_set


class Doubt(StrEnum):
    """The reason why a quotation does not stand."""

    WORK_ENDED = "work_ended"
    NO_CURRENT_VERSION = "no_current_version"
    NOT_IN_SECTION = "not_in_section"
    NEIGHBOURS_CHANGED = "neighbours_changed"
    NEW_WORDS_ON_IT = "new_words_on_it"


@dataclass(frozen=True, eq=False)
class Reading:
    """A version's text with its structure; derived values are cached."""

    text: str
    structure: Structure

    @cached_property
    def folded(self) -> list[str]:
        """The sentences in order, normalized and case-folded."""
        return [_folded(span.of(self.text)) for span in self.structure.sentences]

    @cached_property
    def said(self) -> frozenset[str]:
        """The set of all folded sentences."""
        return frozenset(self.folded)

    @cached_property
    def by_title(self) -> dict[str, list[tuple[int, Source]]]:
        """By title, the sections' starts and texts."""
        parts: dict[str, list[tuple[int, Source]]] = {}
        for section in self.structure.sections:
            part = (section.start, Source(self.text[section.start : section.end]))
            parts.setdefault(_folded(section.title), []).append(part)
        return parts

    def section_of(self, span: Span) -> Section | None:
        """The section in which `span` begins."""
        sections = self.structure.sections
        return next(
            (section for section in sections if section.start <= span.start < section.end), None
        )

    def around(self, span: Span) -> tuple[str, ...]:
        """The folded sentences that `span` touches, and the adjacent ones of its paragraph; "" at
        either end of the paragraph."""
        paragraph = next(
            (part for part in self.structure.paragraphs if part.start <= span.start < part.end),
            Span(0, len(self.text)),
        )
        inside = [
            (part, folded)
            for part, folded in zip(self.structure.sentences, self.folded, strict=True)
            if part.end > paragraph.start and part.start < max(paragraph.end, span.end)
        ]
        touched = [n for n, (part, _) in enumerate(inside) if part.end > span.start]
        touched = [n for n in touched if inside[n][0].start < span.end]
        if not touched:
            return (_folded(span.of(self.text)),)
        before = inside[touched[0] - 1][1] if touched[0] else ""
        after = inside[touched[-1] + 1][1] if touched[-1] + 1 < len(inside) else ""
        return (before, *(inside[n][1] for n in touched), after)


def _folded(text: str) -> str:
    return normalize(text).text.strip().casefold()


def stands(old: Reading, span: Span, new: Reading, same_subject: float) -> Span | Doubt:
    """The place in `new` of the words at `span` of `old`, or the reason why they do not stand.

    Args:
        same_subject: the least share of common terms that makes a new sentence about the quotation.
    """
    quote = span.of(old.text)
    section = old.section_of(span)
    title = _folded(section.title) if section else ""
    cuts = set(cuts_at(old.text, span.start, span.end))
    places: list[Span] = []
    for start, source in new.by_title.get(title, ()):
        match = check(quote, source)
        if not match.accepted or match.start is None or match.end is None:
            continue
        place = Span(start + match.start, start + match.end)
        if set(cuts_at(new.text, *place)) <= cuts:
            places.append(place)
    if not places:
        return Doubt.NOT_IN_SECTION
    around = old.around(span)
    for place in places:
        if new.around(place) == around:
            has_new = _new_words_on(quote, old, new, same_subject)
            return Doubt.NEW_WORDS_ON_IT if has_new else place
    return Doubt.NEIGHBOURS_CHANGED


def _new_words_on(quote: str, old: Reading, new: Reading, share: float) -> bool:
    """Whether `new` has a sentence that `old` lacks and that may be about the quotation."""
    quote_terms = term_set(quote)
    for folded in new.said - old.said:
        sentence_terms = term_set(folded)
        shorter = min(len(quote_terms), len(sentence_terms))
        if shorter and len(quote_terms & sentence_terms) >= share * shorter:
            return True
    return False
