"""Readers of foreign text in reading, readers, ingest, http, the index of the store and pages."""

import html
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from uuid import UUID

from api_gateway.documents import evidence_view
from api_gateway.http.host_names import is_loopback
from api_gateway.http.preferences import preferred_wait
from api_gateway.http.uploads import clean_filename
from api_gateway.pages import differences
from api_gateway.questions import exports
from api_gateway.reviews import view
from clinical_text import (
    doc,
    fates,
    instructions,
    labels,
    persons,
    quantities,
    quotes,
    titles,
)
from clinical_text.chunks import chunk
from clinical_text.effects.estimates import estimates
from clinical_text.identifiers import identifiers
from clinical_text.identities import identities
from clinical_text.invisible import smuggles, visible
from clinical_text.layouts.plain import plain_view
from clinical_text.marker_statuses import marker_statuses
from clinical_text.names import names
from clinical_text.normalize import normalize
from clinical_text.numbers.numbered_names import numbered_names
from clinical_text.sentences import boundaries
from clinical_text.sentences.enclosures import enclosed
from clinical_text.structure import segment
from knowledge.feeds.queries import MAX_QUERY_CHARS, QueryRefused, plain_query
from knowledge.subjects.drugs import drugs_at
from knowledge.works.kinds import kind_of
from knowledge.works.links import is_direct
from store.core.spans import Span, Structure
from store.documents.content import content_terms
from store.documents.editions import Held
from store.documents.records import SourceRecord
from store.index.terms import terms
from workers import file_formats
from workers.file_formats.flow import whole
from workers.file_formats.layout import Run, laid_out
from workers.http.errors import Malformed
from workers.http.redact import redact, without_words
from workers.ingest import identity
from workers.ingest.connectors.openfda_query import check_search
from workers.ingest.editions import Edition, relation
from workers.ingest.enrichment import doi_path
from workers.ingest.parsers import dailymed, html_text, inline_markup, json_payload, markup
from workers.ingest.parsers.cms.coverage import plain
from workers.ingest.parsers.cms.cpt import without_cpt
from workers.ingest.parsers.jats.article import parse_jats
from workers.ingest.parsers.openfda.tables import table_rows
from workers.ingest.parsers.pubmed.dates import medline_date
from workers.ingest.parsers.registries import registry_id_fits
from workers.ingest.parsers.xml import parse_xml
from workers.language_model.masking import Masks

Reader = Callable[[str], object]

REAL = (
    "Background: aspirin (100 mg daily) was compared with placebo in 1,250 patients.\n\n"
    "RESULTS: Mortality was lower with aspirin (HR 0.80; 95% CI 0.70 to 0.92; P = 0.002), 12.1% "
    "versus 15.0%. HER2-positive tumors did not respond. Metastases: none.\n"
)
"""What a hostile text is read against."""
_AT = datetime(2026, 1, 1, tzinfo=UTC)


def _whole(text: str) -> Structure:
    whole = Span(0, len(text))
    return Structure.model_construct(sections=(), paragraphs=(whole,), sentences=(whole,))


def _ingested(text: str) -> object:
    """Everything that happens to a document without the database: ingest, embed, anchor."""
    structure = segment(text)
    chunks = chunk(text, structure)
    kept = instructions.without_instructions(text, structure.sentences)
    found = estimates(text, structure.sentences)
    return chunks, kept, found, [terms(text[one.start : one.end]) for one in chunks]


def _file(name: str) -> Reader:
    def read(text: str) -> object:
        try:
            return file_formats.read(text.encode("utf-8", "replace"), filename=name)
        except file_formats.UnreadableDocument as refused:
            return refused

    return read


def _page(before: str, after: str, name: str = "a.html") -> Reader:
    read = _file(name)
    return lambda text: read(f"{before}{text}{after}")


def _edition(text: str) -> object:
    older, newer = (
        Edition(
            Held(
                document_id=UUID(int=number),
                key=f"k:{number}",
                source=None,
                title=title[:1000] or "-",
                opening=text,
                source_type="guideline",
                publisher=text[:1000],
                version_label=text[:1000],
                identifiers={},
                authors=[text[:1000]],
                facts={},
                published_at=datetime(2000 + number, 1, 1, tzinfo=UTC),
            )
        )
        for number, title in ((1, "2012 ESC guidelines for gout"), (2, text))
    )
    return relation(newer, older), relation(older, newer)


def _page_of_runs(text: str) -> object:
    """Pieces of the text as runs that stand beside, above and below each other."""
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    runs = [
        Run(piece, 40.0 * (n % 12), 40.0 * (n % 12) + 30, 15.0 * (n // 3 % 50), 8.0 + n % 5)
        for n, piece in enumerate(pieces)
    ]
    return whole(laid_out([runs, runs]))


def _malformed_or(parse: Callable[[bytes], object]) -> Callable[[bytes], object]:
    def read(payload: bytes) -> object:
        try:
            return parse(payload)
        except Malformed as refused:
            return refused

    return read


def _jats(text: str) -> object:
    words = html.escape("".join(one for one in text if one.isprintable() or one in "\n\t"))
    article = (
        "<article><front><article-meta><article-id pub-id-type='pmc'>1</article-id><title-group>"
        f"<article-title>{words}</article-title></title-group><abstract><p>{words}</p></abstract>"
        f"</article-meta></front><body><sec><title>A</title><p>{words}</p></sec></body></article>"
    )
    return _malformed_or(parse_jats)(article.encode())


def _words_of_xml(text: str) -> object:
    """Text that is XML, or is refused; elements stand in each other or beside each other."""
    try:
        return markup.words(parse_xml(f"<p>{text}</p>".encode("utf-8", "replace")))
    except Malformed as refused:
        return refused


def _located(text: str, words: str) -> object:
    try:
        return view.located(text, words)
    except view.NotFound as refused:
        return refused


def _query(text: str) -> object:
    try:
        return plain_query("pubmed", text[: 2 * MAX_QUERY_CHARS])
    except QueryRefused as refused:
        return refused


def _search(text: str) -> object:
    try:
        return check_search(text)
    except ValueError as refused:
        return refused


def _differs(text: str) -> object:
    sentences = [one.of(text) for one in segment(text).sentences]
    return differences.rows(sentences, [*sentences[::2], "Another.", *sentences[1::2]])


_REAL_SOURCE = quotes.Source(REAL * 5)

READERS: Mapping[str, Reader] = {
    "structure": segment,
    "assertions": lambda text: [doc.Doc(text).cues(0, len(text)), list(doc.Doc(text).words)],
    "layouts": plain_view.__wrapped__,
    "chunks": lambda text: chunk(text, segment(text)),
    "a document through its stages": _ingested,
    "effects, of one sentence": lambda text: estimates(text, _whole(text).sentences),
    "quantities": quantities.quantities,
    "names with numbers": quantities.names,
    "names": names,
    "many drugs": lambda text: drugs_at.__wrapped__(re.sub(r"\S+", "aspirin", text)),
    "numbered names": numbered_names,
    "identifiers": identifiers,
    "markers": lambda text: list(marker_statuses(text)),
    "instructions": instructions.addresses_reader,
    "enclosures": enclosed,
    "sentences without instructions": lambda text: instructions.without_instructions(
        text, segment(text).sentences
    ),
    "sentences outside enclosures": lambda text: instructions.outside_enclosures(
        text, segment(text).sentences
    ),
    "persons": lambda text: persons.people(text, ()),
    "identities": identities,
    "masks": Masks,
    "the body of a sentence": labels.body_of,
    "folding": normalize,
    "invisible characters": lambda text: (visible(text), smuggles(text)),
    "a hostile quotation": lambda text: quotes.check(text, _REAL_SOURCE),
    "a quotation of a hostile source": lambda text: quotes.check(REAL[:200], quotes.Source(text)),
    "the edges of a passage": lambda text: boundaries.cuts_at(text, 1, len(text) - 1),
    "a text file": _file("a.txt"),
    "a Markdown file": _file("a.md"),
    "front matter": _page("---\n", "", "a.md"),
    "a page": _page("<html><body><p>", "</p></body></html>"),
    "the style of a page": _page("<style>", "</style><p class=a>words</p>"),
    "the style of a tag": _page("<p style='", "'>words</p>"),
    "the document type of a page": _page("<!doctype html [", "]><p>words</p>"),
    "JSON": _file("a.json"),
    "JSON Lines": _file("a.jsonl"),
    "the text of a JSON record": lambda text: (
        file_formats.read(
            json.dumps({"title": "A", "text": f"words {text}"}).encode(), filename="a.json"
        )
        if "\x00" not in text
        else None
    ),
    "HTML in a payload": html_text.html_text,
    "marks in an abstract": inline_markup.paragraphs,
    "an article of JATS": _jats,
    "XML": _words_of_xml,
    "CPT codes": without_cpt,
    "a coverage text": plain,
    "a table of a label": table_rows,
    "registry numbers": lambda text: list(identity.malformed_nct(text)),
    "two titles, both hostile": lambda text: titles.same_title(text, text[::-1]),
    "a title against a hostile one": lambda text: titles.title_match(REAL, text),
    "what became of a work": lambda text: fates.fate(text, text),
    "what a work replaces": _edition,
    "the kind of a work": lambda text: kind_of("pubmed", None, None, title=text, text=text),
    "runs of a page": _page_of_runs,
    "a DOI": doi_path,
    "a date": medline_date,
    "a field of JSON": lambda text: (
        json_payload.one_line(text),
        json_payload.sentence(text),
        json_payload.shorten(text, 300),
        json_payload.when(text),
    ),
    "a set id": dailymed.is_set_id,
    "a registry's number": lambda text: registry_id_fits("CTRI", text),
    "a search at openFDA": _search,
    "a query": _query,
    "an address": is_direct,
    "secrets in a reason": lambda text: redact(text, ["secret-key"]),
    "words of a query in a reason": lambda text: without_words(text, [REAL]),
    "terms": terms,
    "what a question asks for": content_terms,
    "a header Prefer": lambda text: preferred_wait([text], 60),
    "a host": is_loopback,
    "a file's name": clean_filename,
    "words of a correction": lambda text: _located(text, REAL[:100]),
    "hostile words of a correction": lambda text: _located(text, text[: len(text) // 2]),
    "differences of versions": _differs,
    "a page of evidence": lambda text: evidence_view.parts(text, segment(text), None),
    "Markdown of an answer": exports._md,
    "a record": lambda text: (
        SourceRecord(title="A", text=f"words {text}") if "\x00" not in text else None
    ),
}
