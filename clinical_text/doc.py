"""One reading of a text: every check, the extraction and the summary ask it, none reads again.

What is asked for is worked out then, and kept. Offsets count code points of the text as it stands.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from clinical_text.assertion.labels import Label, labels
from clinical_text.assertion.lexicon import lexicon
from clinical_text.assertion.marks import Assertion, Cue, Reading, reading
from clinical_text.assertion.reading import Marks, marks
from clinical_text.sentences.clauses import Placed, placed
from clinical_text.sentences.tokens import Token, tokens, words_alone
from clinical_text.structure import segment
from store.core.spans import Section, Span, Structure

_KEPT = 256
"""Texts whose reading a process keeps (ours): a question reads some fifty."""


class Doc:
    """A text and what it says, part by part."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._marks: dict[int, Marks] = {}

    @cached_property
    def structure(self) -> Structure:
        """Sections, paragraphs and sentences."""
        return segment(self.text)

    @property
    def sentences(self) -> Sequence[Span]:
        """The sentences, in order; a heading and an item of a list are sentences."""
        return self.structure.sentences

    @cached_property
    def words(self) -> Sequence[Placed]:
        """The words and numbers with their sentences and clauses."""
        return tuple(placed(self.tokens_of(span) for span in self.sentences))

    @cached_property
    def labels(self) -> Sequence[Label]:
        """`label: value` places, within a line or of a heading and what stands behind it."""
        return labels(self.text, self.sentences)

    def tokens_of(self, span: tuple[int, int]) -> Sequence[Token]:
        """The words, numbers and signs of a span that is a sentence, a label or a value."""
        return tuple(tokens(self.text, *span))

    def sentence_at(self, at: int) -> int:
        """The number of the sentence that holds a place, or that begins last before it; from 0."""
        return max(0, bisect_right(self.sentences, at, key=lambda span: span.start) - 1)

    def section_at(self, at: int) -> Section:
        """The section that holds a place."""
        sections = self.structure.sections
        return sections[max(0, bisect_right(sections, at, key=lambda one: one.start) - 1)]

    def marks_of(self, sentence: int) -> Marks:
        """What is said of each word of a sentence."""
        found = self._marks.get(sentence)
        if found is None:
            span = self.sentences[sentence]
            title = self.section_at(span.start).title
            within = [(label, self.tokens_of(label.value)) for label in self._labels_in(span)]
            found = self._marks[sentence] = marks(
                self.text, span, self.tokens_of(span), within, title
            )
        return found

    def _labels_in(self, span: Span) -> Sequence[Label]:
        first = bisect_left(self.labels, span.start, key=lambda label: label.name.start)
        last = bisect_left(self.labels, span.end, first, key=lambda label: label.name.start)
        return self.labels[first:last]

    def reading(self, start: int, end: int) -> Reading:
        """What the text says of the words at `[start, end)`.

        Raises ValueError where that is no place in the text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(
                f"[{start}, {end}) is not inside a text of {len(self.text)} characters"
            )
        if not self.sentences:
            return reading(frozenset())
        return self.marks_of(self.sentence_at(start)).at(start, end)

    @property
    def denials(self) -> Iterator[Cue]:
        """The cues of all that the text denies, in order of its sentences."""
        for number in range(len(self.sentences)):
            for cue, _ in self.marks_of(number).cues if self._may_deny(number) else ():
                if cue.means is Assertion.NEGATED:
                    yield cue

    def _may_deny(self, sentence: int) -> bool:
        """Whether a sentence is worth reading for its denials: by far the most deny nothing."""
        if sentence in self._marks:
            return True
        span = self.sentences[sentence]
        if self.section_at(span.start).title or self._labels_in(span):
            return True
        return lexicon().may_deny(words_alone(self.text[span.start : span.end]))

    def denies_beside(self, at: int) -> bool:
        """Whether anything is denied in the sentence around a place."""
        if not self.sentences:
            return False
        cues = self.marks_of(self.sentence_at(at)).cues
        return any(cue.means is Assertion.NEGATED for cue, _ in cues)

    def is_negated(self, start: int, end: int) -> bool:
        """Whether the text denies the words at `[start, end)`."""
        return Assertion.NEGATED in self.reading(start, end).marks

    def denied_from_outside(self, start: int, end: int) -> bool:
        """Whether a denial that does not begin in `[start, end)` reaches any of its words. Those of
        a sentence begin in it, or in the value of a label that it has."""
        for number in range(self.sentence_at(start), len(self.sentences)):
            sentence = self.sentences[number]
            if sentence.start >= end:
                break
            if start <= sentence.start and sentence.end <= end and not self._labels_in(sentence):
                continue
            for cue in self.marks_of(number).anywhere(start, end):
                if cue.means is Assertion.NEGATED and not start <= cue.start < end:
                    return True
        return False

    def cues(self, start: int, end: int) -> frozenset[Cue]:
        """Every cue that reaches any of the words at `[start, end)`."""
        found: set[Cue] = set()
        for number in range(self.sentence_at(start), len(self.sentences)):
            if self.sentences[number].start >= end:
                break
            found |= self.marks_of(number).anywhere(start, end)
        return frozenset(found)


@lru_cache(maxsize=_KEPT)
def doc(text: str) -> Doc:
    """The reading of `text`; the same object for the same text while it is kept."""
    return Doc(text)
