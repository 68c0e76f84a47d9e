"""What holds of any input, as hypothesis and atheris ask it alike. Each raises AssertionError."""

import json
import unicodedata
from collections.abc import Callable
from itertools import pairwise

from clinical_text.chunks import Chunk, chunk
from clinical_text.normalize import MINUS, normalize
from clinical_text.quotes import Source, Verdict, check
from clinical_text.structure import segment
from store.core.spans import Structure
from workers.file_formats import UnreadableDocument, read
from workers.http.errors import Malformed
from workers.ingest.enrichment import Statement
from workers.ingest.parsers.base import Parsed

DIGITS_AND_MARKS = frozenset("0123456789.,·<>≤≥=±%‰²₂")
DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212")

# Payloads of sources


def a_payload_is_read_or_malformed(
    parse: Callable[[bytes], Parsed | Statement], payload: bytes
) -> Parsed | Statement | None:
    """Records that can be stored and a word on the rest, or Malformed, which is None here."""
    said = ""
    try:
        found = parse(payload)
    except Malformed as error:
        said = str(error)
        found = None
    assert len(said.splitlines()) == (found is None)
    if isinstance(found, Statement):
        assert len({(one.kind, one.notice_id) for one in found.notices}) == len(found.notices)
    elif found is not None:
        parsed_holds(found)
    return found


def parsed_holds(parsed: Parsed) -> None:
    """What came out of a payload holds together."""
    for record in parsed.records:
        assert record.text.strip()
        assert record.key
        assert json.loads(json.dumps(record.facts)) == record.facts
        assert record.content_hash()
        record.model_dump_json().encode()
        structure_holds(record.text, segment(record.text))
    for problem in parsed.problems:
        assert problem.reason
        assert len(problem.reason.splitlines()) == 1
        assert len(problem.reason) < 200
    assert all(count > 0 and len(path) < 6000 for path, count in parsed.unmapped.items())


# Files


def a_file_is_read_or_refused_in_one_line(data: bytes, filename: str) -> None:
    """Documents with words and a title, or one line that says what to do."""
    message = ""
    try:
        records = read(data, filename=filename)
    except UnreadableDocument as error:
        records, message = [], str(error)
    assert all(record.text.strip() and record.title for record in records)
    assert len(message.splitlines()) == (0 if records else 1)
    for record in records:
        record.text.encode()  # PostgreSQL stores UTF-8, and no NUL
        assert "\x00" not in record.text
        structure_holds(record.text, segment(record.text))


# Folding and quotations


def folding_keeps_what_carries_meaning(text: str) -> None:
    """Twice is once; digits, comparators, decimal marks, dashes and minus signs stay, in order."""
    folded = normalize(text).text
    assert normalize(folded).text == folded

    def kept(string: str) -> str:
        return "".join(c for c in string if c in DIGITS_AND_MARKS)

    assert kept(folded) == kept(text)
    assert sum(c in DASHES for c in folded) == sum(c in DASHES for c in text)
    assert folded.count(MINUS) >= text.count(MINUS)


def folded_characters_map_to_where_they_came_from(text: str) -> None:
    """Each to a place of the raw text, in order, and an ASCII letter or digit to its like."""
    result = normalize(text)
    ranges = [result.raw_range(i) for i in range(len(result.text))]
    assert all(0 <= start < end <= len(text) for start, end in ranges)
    assert all(before == after or before[1] <= after[0] for before, after in pairwise(ranges))
    for (start, end), character in zip(ranges, result.text, strict=True):
        if character.isascii() and character.isalnum():
            assert character in unicodedata.normalize("NFKC", text[start:end])


def a_part_is_found_back_to_the_letter(text: str, start: int, end: int) -> None:
    """A quotation that is a part of its source is verbatim, at a place that says just that."""
    quote = text[start:end]
    if not quote.strip():
        return
    result = check(quote, Source(text))
    assert result.verdict is Verdict.VERBATIM
    assert text[result.start : result.end] == quote


def what_is_accepted_is_what_the_source_says(quote: str, text: str) -> None:
    """An accepted quotation equals its place, raw or folded; a place lies in the source."""
    result = check(quote, Source(text))
    if result.start is not None:
        assert result.end is not None
        assert 0 <= result.start < result.end <= len(text)
    found = text[result.start : result.end]
    if result.verdict is Verdict.VERBATIM:
        assert found == quote
    elif result.verdict is Verdict.NORMALIZED:
        assert normalize(found).text == normalize(quote).text.strip()


# Structure and chunks


def structure_holds(text: str, structure: Structure) -> None:
    """Sections, paragraphs and sentences cover the text, in order, each within the one above."""
    at = 0
    for section in structure.sections:
        assert section.start == at <= section.end
        at = section.end
    assert at == len(text)
    for spans in (structure.paragraphs, structure.sentences):
        at = 0
        for span in spans:
            words = span.of(text)
            assert words
            assert words == words.strip()
            assert at <= span.start
            assert not text[at : span.start].strip()
            at = span.end
        assert not text[at:].strip()
    for outer, inner in (
        (structure.sections, structure.paragraphs),
        (structure.paragraphs, structure.sentences),
    ):
        parents = iter(outer)
        parent = next(parents, None)
        for span in inner:  # both are in order, so one walk finds the parent of each
            while parent is not None and parent.end < span.end:
                parent = next(parents, None)
            assert parent is not None
            assert parent.start <= span.start


def chunks_hold(text: str, overlap: int, size: int, longest: int) -> list[Chunk]:
    """All that CN-2 asks of the chunks of `text` cut to these sizes."""
    structure = segment(text)
    chunks = chunk(text, structure, size=size, overlap=overlap, max_paragraph=longest)
    chunks_cover(text, structure, chunks, longest)
    overlaps_are_bounded(text, chunks, overlap)
    nothing_short_is_cut(text, structure, chunks, longest)
    return chunks


def chunks_cover(text: str, structure: Structure, chunks: list[Chunk], longest: int) -> None:
    """Numbered, stripped, each in its section; every visible character is in one; sentences that
    are not too long lie whole in one."""
    assert [c.ordinal for c in chunks] == list(range(len(chunks)))
    covered = bytearray(len(text))
    for c in chunks:
        assert text[c.start : c.end].strip() == text[c.start : c.end] != ""
        assert any(
            s.start <= c.start and c.end <= s.end and s.title == c.section
            for s in structure.sections
        )
        covered[c.start : c.end] = b"\x01" * (c.end - c.start)
    assert all(covered[i] for i, character in enumerate(text) if not character.isspace())
    for sentence in structure.sentences:
        if sentence.end - sentence.start <= longest:
            assert any(c.start <= sentence.start and sentence.end <= c.end for c in chunks)


def overlaps_are_bounded(text: str, chunks: list[Chunk], overlap: int) -> None:
    """Chunks go forward; what two share is short, of one section, and begins with a word."""
    for one, two in pairwise(chunks):
        assert one.start < two.start
        assert one.end < two.end
        shared = one.end - two.start
        assert shared <= overlap
        if shared > 0:
            assert one.section == two.section
            assert text[two.start - 1].isspace()
            assert not text[two.start].isspace()


def nothing_short_is_cut(
    text: str, structure: Structure, chunks: list[Chunk], longest: int
) -> None:
    """A paragraph is whole unless it is too long; a word is cut only if it alone is."""
    for paragraph in structure.paragraphs:
        if paragraph.end - paragraph.start <= longest:
            assert any(c.start <= paragraph.start and paragraph.end <= c.end for c in chunks)
    edges = {span.end for span in structure.sentences}
    for c in chunks:
        if c.end not in edges and not text[c.end].isspace():
            assert not any(character.isspace() for character in text[c.end - longest : c.end])
