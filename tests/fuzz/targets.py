"""What is fuzzed: each target takes any bytes, and raises where a property does not hold.

A target's corpus lies in `corpus/NAME/`: made of the fakes of this repository and of nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz import mutations, properties
from workers.ingest.enrichment import Statement
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.clinicaltrials import study
from workers.ingest.parsers.cms.coverage import parse_cms
from workers.ingest.parsers.crossref import crossref_statement
from workers.ingest.parsers.dailymed import parse_dailymed, parse_listing
from workers.ingest.parsers.ema import parse_ema
from workers.ingest.parsers.europepmc import search
from workers.ingest.parsers.feeds import parse_feed
from workers.ingest.parsers.guideline import parse_guideline
from workers.ingest.parsers.jats.article import parse_jats
from workers.ingest.parsers.openalex import openalex_statement
from workers.ingest.parsers.openfda.drugsfda import parse_drugsfda
from workers.ingest.parsers.openfda.enforcement import parse_enforcement
from workers.ingest.parsers.openfda.event import parse_event
from workers.ingest.parsers.openfda.label import parse_label
from workers.ingest.parsers.pubmed import records as pubmed

CORPUS = Path(__file__).parent / "corpus"
Mutate = Callable[[bytes, Random], bytes]


@dataclass(frozen=True)
class Target:
    """One thing to fuzz. `mutate` knows the shape of its inputs."""

    name: str
    run: Callable[[bytes], object]
    mutate: Mutate

    def corpus(self) -> list[bytes]:
        """The inputs kept for it, by name of file."""
        return [path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))]


def _parser(
    name: str, parse: Callable[[bytes], Parsed | Statement], mutate: Mutate
) -> tuple[str, Target]:
    def run(data: bytes) -> None:
        properties.a_payload_is_read_or_malformed(parse, data)

    return name, Target(name, run, mutate)


def _reader(kind: str, filename: str, mutate: Mutate) -> tuple[str, Target]:
    def run(data: bytes) -> None:
        properties.a_file_is_read_or_refused_in_one_line(data, filename)

    name = f"read-{kind}"
    return name, Target(name, run, mutate)


def _listing(payload: bytes) -> Parsed:
    parse_listing(payload, 1, "testovax")
    return Parsed()


def _in_feed(content: bytes) -> Parsed:
    return parse_feed(envelope.wrap(content, feed="fda-press"))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _split(data: bytes, numbers: int) -> tuple[list[int], str]:
    """The first bytes as numbers, the rest as a text."""
    head = data[:numbers].ljust(numbers, b"\x00")
    return list(head), _text(data[numbers:])


def _normalizer(data: bytes) -> None:
    text = _text(data)
    properties.folding_keeps_what_carries_meaning(text)
    properties.folded_characters_map_to_where_they_came_from(text)


def _quotes(data: bytes) -> None:
    """Two bytes say which part of the text is quoted; its words are damaged by the third."""
    (begin, length, how), text = _split(data, 3)
    start = begin * len(text) // 256
    end = start + 1 + length * (len(text) - start) // 256
    properties.a_part_is_found_back_to_the_letter(text, start, end)
    quote = text[start:end]
    other = mutations.damaged_text(quote.encode(), Random(how)).decode("utf-8", "replace")
    properties.what_is_accepted_is_what_the_source_says(other, text)


def _chunker(data: bytes) -> None:
    (overlap, more, longer), text = _split(data, 3)
    size = overlap + 1 + more
    properties.chunks_hold(text, overlap, size, size + longer)


def _damaged_behind(numbers: int) -> Mutate:
    def mutate(data: bytes, random: Random) -> bytes:
        head = bytearray(data[:numbers].ljust(numbers, b"\x00"))
        if random.random() < 0.4:
            head[random.randrange(numbers)] = random.randrange(256)
        return bytes(head) + mutations.damaged_text(data[numbers:], random)

    return mutate


_JSON, _XML = mutations.damaged_json, mutations.damaged_xml
_WORDS, _BYTES = mutations.damaged_text, mutations.damaged

TARGETS: dict[str, Target] = dict(
    [
        _parser("pubmed", pubmed.parse, _XML),
        _parser("clinicaltrials", study.parse, _JSON),
        _parser("openfda-label", parse_label, _JSON),
        _parser("openfda-drugsfda", parse_drugsfda, _JSON),
        _parser("openfda-enforcement", parse_enforcement, _JSON),
        _parser("openfda-event", parse_event, _JSON),
        _parser("dailymed", parse_dailymed, _XML),
        _parser("dailymed-listing", _listing, _JSON),
        _parser("feed", _in_feed, _XML),
        _parser("guideline", parse_guideline, _JSON),
        _parser("ema", parse_ema, _JSON),
        _parser("cms", parse_cms, _JSON),
        _parser("europepmc", search.parse, _JSON),
        _parser("jats", parse_jats, _XML),
        _parser("crossref", lambda data: crossref_statement(data, "pmid:1"), _JSON),
        _parser("openalex", lambda data: openalex_statement(data, "pmid:1"), _JSON),
        _reader("text", "a.txt", _WORDS),
        _reader("markdown", "a.md", _WORDS),
        _reader("html", "a.html", _WORDS),
        _reader("json", "a.json", _JSON),
        _reader("json-lines", "a.jsonl", _BYTES),
        _reader("pdf", "a.pdf", _BYTES),
        ("normalizer", Target("normalizer", _normalizer, _WORDS)),
        ("quotes", Target("quotes", _quotes, _damaged_behind(3))),
        ("chunker", Target("chunker", _chunker, _damaged_behind(3))),
    ]
)
