"""Cuts a document into chunks: section, then paragraph, then sentence (CN-2).

Chunks are places in the stored text and nothing else: `text[start:end]` is the chunk. Rules and
sizes: seeds/clinical_note_prompt_and_retrieval_strategy.md, "Chunk Assembly Rules" and "Overlap
Strategy", in knowledge/reading/chunking.yaml.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.loader import load
from store.core.spans import Section, Span, Structure

_POLICY = load("reading/chunking")
CHUNK_SIZE: int = _POLICY["size"]
CHUNK_OVERLAP: int = _POLICY["overlap"]
MAX_PARAGRAPH: int = _POLICY["max_paragraph"]
_MAX_HEADING: int = _POLICY["heading"]

_WORD_START = re.compile(r"(?<=\s)\S")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch `[start, end)` of the whole text, in code points, within one section.

    `ordinal` counts from 0 over the document; `section` is the section's title as in the text.
    """

    ordinal: int
    section: str
    start: int
    end: int

    @property
    def chunk_id(self) -> str:
        """The chunk's name, unique in its document: `chunk_0`, `chunk_1`, ..."""
        return f"chunk_{self.ordinal}"


def chunk(
    text: str,
    structure: Structure,
    *,
    size: int = CHUNK_SIZE,
    overlap: int = CHUNK_OVERLAP,
    max_paragraph: int = MAX_PARAGRAPH,
) -> list[Chunk]:
    """The chunks of `text`, in order; sizes in characters.

    Every visible character is in a chunk, and every sentence of at most `max_paragraph` characters
    lies whole in one. No chunk crosses a section. Paragraphs are merged up to `size`, overlap
    included; a longer chunk is a single paragraph, with its heading, or a single sentence. A
    paragraph is cut, at sentence ends, only above `max_paragraph`, a sentence too (at white space;
    a word only if it is itself longer). A heading stays with the words under it. A chunk that
    follows another in its section begins with at most `overlap` characters, and at most half, of
    it: from the first sentence that begins there, else from the first word.

    Raises ValueError unless 0 <= overlap < size <= max_paragraph.
    """
    if not 0 <= overlap < size <= max_paragraph:
        raise ValueError("chunk sizes must satisfy 0 <= overlap < size <= max_paragraph")
    sentence_starts = [span.start for span in structure.sentences]
    chunks: list[Chunk] = []
    paragraph = sentence = 0
    for section in structure.sections:
        paragraphs, paragraph = _within(structure.paragraphs, paragraph, section.end)
        if not paragraphs:
            continue
        sentences, sentence = _within(structure.sentences, sentence, section.end)
        pieces = list(_pieces(text, paragraphs, sentences, size, max_paragraph))
        words_from = _heading_end(text, section, paragraphs)
        for start, end in _merged(
            text, pieces, words_from, sentence_starts, size, overlap, max_paragraph
        ):
            chunks.append(Chunk(len(chunks), section.title, start, end))
    return chunks


def _within(spans: tuple[Span, ...], first: int, end: int) -> tuple[tuple[Span, ...], int]:
    """The spans from index `first` that begin before `end`, and the index behind them."""
    last = bisect_left(spans, end, lo=first, key=lambda span: span.start)
    return spans[first:last], last


def _heading_end(text: str, section: Section, paragraphs: tuple[Span, ...]) -> int:
    """Where a section's heading ends: several lines when it stands under bare higher headings."""
    if not section.title:
        return section.start
    for span in paragraphs:
        if span.end - section.start > _MAX_HEADING:
            break
        if section.title in text[span.start : span.end]:
            return span.end
    return paragraphs[0].end


def _pieces(
    text: str,
    paragraphs: tuple[Span, ...],
    sentences: tuple[Span, ...],
    size: int,
    max_paragraph: int,
) -> Iterator[Span]:
    """What is not cut any further: paragraphs, or sentences of long ones, or parts of long ones."""
    sentence = 0
    for paragraph in paragraphs:
        own, sentence = _within(sentences, sentence, paragraph.end)
        if paragraph.end - paragraph.start <= max_paragraph:
            yield paragraph
            continue
        for span in own:
            if span.end - span.start <= max_paragraph:
                yield span
            else:
                yield from _cut_at_words(text, span, size, max_paragraph)


def _cut_at_words(text: str, span: Span, size: int, max_paragraph: int) -> Iterator[Span]:
    """Parts of a sentence: of at most `size`, up to `max_paragraph` where its words are longer."""
    start, end = span
    while end - start > size:
        at = _last_word_end(text, start, start + size)
        if at < 0:
            limit = min(start + max_paragraph, end)
            at = next((i for i in range(start + size, limit) if text[i].isspace()), limit)
        yield Span(start, at)
        while at < end and text[at].isspace():
            at += 1
        start = at
    if start < end:
        yield Span(start, end)


def _last_word_end(text: str, start: int, limit: int) -> int:
    """The last place in `(start, limit]` where a word ends; -1 if the first word goes further."""
    at = limit
    while at > start and not text[at].isspace():
        at -= 1
    while at > start and text[at - 1].isspace():
        at -= 1
    return at if at > start else -1


def _merged(
    text: str,
    pieces: list[Span],
    words_from: int,
    sentence_starts: list[int],
    size: int,
    overlap: int,
    max_paragraph: int,
) -> Iterator[Span]:
    start, end = pieces[0]
    for piece in pieces[1:]:
        bare = end <= words_from  # nothing but the heading so far
        if piece.end - start <= size or (bare and end - start <= _MAX_HEADING):
            end = piece.end
            continue
        yield Span(start, end)
        limit = size if piece.end - piece.start <= size else max_paragraph
        earliest = max(end - overlap, piece.end - limit, (start + end + 1) // 2)
        start = _overlap_start(text, earliest, end, piece.start, sentence_starts)
        end = piece.end
    yield Span(start, end)


def _overlap_start(
    text: str, earliest: int, end: int, otherwise: int, sentence_starts: list[int]
) -> int:
    """Where the next chunk begins within `[earliest, end)` of the last one."""
    if earliest >= end:
        return otherwise
    index = bisect_left(sentence_starts, earliest)
    if index < len(sentence_starts) and sentence_starts[index] < end:
        return sentence_starts[index]
    word = _WORD_START.search(text, earliest, end)
    return word.start() if word else otherwise
