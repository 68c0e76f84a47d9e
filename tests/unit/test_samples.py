"""The sample corpus: valid, honest about its identifiers, and in the project's own words."""

import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from store.documents.records import SourceRecord
from tests.grid import grid

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "records"
ABSTRACTS = ROOT.parent / "shared" / "data" / "ctdna" / "abstracts.jsonl"

SOURCE_TYPES = {
    "publications": {"pubmed"},
    "trials": {"clinicaltrials"},
    "guidelines": {"nccn", "asco", "esmo", "guideline"},
    "coverage": {"payer"},
    "regulator": {"regulator"},
}

# Which trial a registry number belongs to. Closed on purpose: a number that is not here was not
# confirmed. Public texts mix several of these up (samples/README.md, "Registry numbers").
TRIAL_OF_NUMBER = {
    "ACTRN12615000381583": "DYNAMIC",
    "ACTRN12617001560381": "DYNAMIC-Rectal",
    "ACTRN12617001566325": "DYNAMIC-III",
    "ISRCTN12569958": "c-TRAK TN",
    "NCT01150045": "80702",
    "NCT01682083": "COMBI-AD",
    "NCT02450331": "IMvigor010",
    "NCT03145961": "c-TRAK TN",
    "NCT04050345": "TRACC",
    "NCT04068103": "COBRA",
    "NCT04089631": "AIO-KRK-0217",
    "NCT04120701": "PRODIGE 70",
    "NCT04138628": "TOMBOLA",
    "NCT04264702": "BESPOKE CRC",
    "NCT04385368": "MERMAID-1",
    "NCT04457297": "ALTAIR",
    "NCT04642469": "MERMAID-2",
    "NCT04660344": "IMvigor011",
    "NCT04915755": "ZEST",
    "NCT05174169": "CIRCULATE-US",
    "NCT05658172": "SURVIVE",
    "NCT05987241": "MODERN",
    "UMIN000037765": "COSMOS",
    "UMIN000039205": "GALAXY",
    "jRCT1031200006": "VEGA",
}
REGISTRY_NUMBER = re.compile(r"NCT\d+|ACTRN\d+|UMIN\d+|ISRCTN\d+|jRCT\w+")

SEARCH_PARAMETERS = {"q", "query", "search", "search_query", "term", "keywords"}
QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]*)[\"”“»]")
MIN_CHARS, MAX_CHARS = 500, 2500
MAX_SHORT_RECORDS = 12


def read(kind: str) -> list[SourceRecord]:
    lines = (SAMPLES / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [SourceRecord.model_validate_json(line) for line in lines]


def corpus() -> list[SourceRecord]:
    return [record for kind in SOURCE_TYPES for record in read(kind)]


def trial_record(number: str) -> SourceRecord:
    """The one record of trials.jsonl that carries this registry number."""
    found = [
        r for r in read("trials") if number in (r.identifiers.nct_id, r.identifiers.registry_id)
    ]
    assert len(found) == 1, f"{number} stands in {len(found)} trial records"
    return found[0]


def quoted_runs(text: str) -> list[str]:
    """Texts of four words or more between quotation marks."""
    return [run for run in QUOTED.findall(text) if len(run.split()) >= 4]


def sentences(text: str) -> set[str]:
    """Sentences of eight words or more, lower-cased, letters and digits only."""
    parts = re.split(r"(?<=[.!?])\s+|\n+", text)
    plain = (re.sub(r"[^a-z0-9]+", " ", part.lower()).strip() for part in parts)
    return {sentence for sentence in plain if len(sentence.split()) >= 8}


@pytest.mark.parametrize("kind", SOURCE_TYPES)
def test_every_line_is_a_valid_record_of_its_kind(kind: str) -> None:
    records = read(kind)
    assert records
    assert {r.source_type for r in records} <= SOURCE_TYPES[kind]


def test_no_other_record_file_lies_beside_the_five_kinds() -> None:
    assert {p.stem for p in SAMPLES.glob("*.jsonl")} == set(SOURCE_TYPES)


def test_the_corpus_has_at_least_forty_records() -> None:
    assert len(corpus()) >= 40


def test_every_record_is_labeled_as_a_paraphrase() -> None:
    assert [r.title for r in corpus() if "sample-paraphrase" not in r.labels] == []


def test_every_record_names_its_publisher_and_the_day_of_compilation() -> None:
    for record in corpus():
        assert record.publisher, record.title
        assert record.fetched_at is not None, record.title
        assert record.fetched_at.isoformat() == "2026-11-21T00:00:00+00:00", record.title
        if record.published_at is not None:
            assert record.published_at <= record.fetched_at, record.title


def test_only_billing_articles_of_unknown_version_lack_a_date() -> None:
    undated = {r.identifiers.lcd_id for r in corpus() if r.published_at is None}
    assert undated == {"A58454", "A58456"}


def test_no_identifier_and_no_title_stands_on_two_records() -> None:
    records = corpus()
    seen = Counter(
        value.lower()
        for record in records
        for value in record.identifiers.model_dump(exclude_none=True).values()
    )
    assert [value for value, n in seen.items() if n > 1] == []
    titles = Counter(record.title.lower() for record in records)
    assert [title for title, n in titles.items() if n > 1] == []


def test_a_record_without_identifier_has_a_source_key_of_its_own() -> None:
    records = corpus()
    keyless = [
        r.title
        for r in records
        if r.source_key is None and not r.identifiers.model_dump(exclude_none=True)
    ]
    assert keyless == []
    keys = Counter(r.source_key for r in records if r.source_key is not None)
    assert [key for key, n in keys.items() if n > 1] == []


def test_every_url_is_a_distinct_page_and_never_a_search_page() -> None:
    urls = [record.url for record in corpus()]
    assert None not in urls
    assert [url for url, n in Counter(urls).items() if n > 1] == []
    for url in filter(None, urls):
        parts = urlsplit(url)
        assert parts.scheme == "https", url
        assert not SEARCH_PARAMETERS & set(parse_qs(parts.query)), url
        assert not {"search", "results"} & set(parts.path.strip("/").split("/")), url


def test_urls_of_pubmed_and_clinicaltrials_carry_the_identifier_of_the_record() -> None:
    for record in corpus():
        parts = urlsplit(record.url or "")
        if parts.netloc == "pubmed.ncbi.nlm.nih.gov":
            assert parts.path == f"/{record.identifiers.pmid}/", record.title
        if parts.netloc == "clinicaltrials.gov":
            assert parts.path == f"/study/{record.identifiers.nct_id}", record.title
        if parts.netloc == "doi.org":
            assert parts.path == f"/{record.identifiers.doi}", record.title


def test_every_registry_number_is_a_confirmed_one_and_stands_with_its_trial() -> None:
    for record in corpus():
        carried = (record.identifiers.nct_id, record.identifiers.registry_id)
        for number in {*REGISTRY_NUMBER.findall(record.text), *filter(None, carried)}:
            assert number in TRIAL_OF_NUMBER, f"{number} in {record.title}"
            assert TRIAL_OF_NUMBER[number] in f"{record.title}\n{record.text}", number


@grid(
    ("number", "name", "wrong_name"),
    [
        ("NCT04264702", "BESPOKE CRC", "CIRCULATE"),
        ("NCT04068103", "COBRA", "CIRCULATE"),
        ("NCT05174169", "CIRCULATE-US", "PRODIGE"),
        ("NCT04089631", "CIRCULATE AIO-KRK-0217", "PRODIGE"),
        ("NCT04120701", "CIRCULATE PRODIGE 70", "AIO"),
        ("NCT03145961", "c-TRAK TN", "ZEST"),
        ("NCT04660344", "IMvigor011", "IMvigor010"),
        ("ACTRN12615000381583", "DYNAMIC", "DYNAMIC-III"),
        ("UMIN000039205", "GALAXY", "VEGA"),
    ],
)
def test_a_registry_number_names_the_right_trial(number: str, name: str, wrong_name: str) -> None:
    title = trial_record(number).title
    assert name in title
    assert wrong_name not in title


def test_dynamic_and_galaxy_have_no_nct_number() -> None:
    for number in ("ACTRN12615000381583", "UMIN000039205"):
        record = trial_record(number)
        assert record.identifiers.nct_id is None
        assert "has no NCT number" in record.text


def test_trials_tell_design_endpoints_status_and_results() -> None:
    for record in read("trials"):
        headings = re.findall(r"^## (.+)$", record.text, flags=re.MULTILINE)
        assert headings == ["Design", "Endpoints", "Status", "Results"], record.title
        number = record.identifiers.nct_id or record.identifiers.registry_id
        assert number is not None, record.title
        assert number in record.text, record.title


def test_texts_are_sectioned_and_of_readable_length() -> None:
    short = 0
    for record in corpus():
        assert record.text.startswith("## "), record.title
        assert len(record.text) <= MAX_CHARS, record.title
        if len(record.text) < MIN_CHARS:
            short += 1
            assert "bibliographic-only" in record.labels, record.title
    assert short <= MAX_SHORT_RECORDS


def test_bibliographic_records_state_no_figure_and_say_what_was_not_read() -> None:
    records = [r for r in corpus() if "bibliographic-only" in r.labels]
    assert records
    for record in records:
        assert re.search(r"%|hazard ratio|\bP [<=]", record.text) is None, record.title
        assert re.search(r"were confirmed|were not read", record.text), record.title


def test_no_text_quotes_four_words_or_more() -> None:
    assert quoted_runs('he said "one two three four" there') == ["one two three four"]
    assert quoted_runs("a “short one” only") == []
    assert [(r.title, quoted_runs(r.text)) for r in corpus() if quoted_runs(r.text)] == []


def test_no_sentence_equals_one_of_the_abstracts() -> None:
    if not ABSTRACTS.exists():
        pytest.skip("the abstracts (../shared/data/ctdna) are not on this machine")
    lines = ABSTRACTS.read_text(encoding="utf-8").splitlines()
    theirs = {s for line in lines for s in sentences(json.loads(line)["abstract"])}
    assert len(theirs) > 100
    ours = {s for record in corpus() for s in sentences(record.text)}
    assert ours & theirs == set()


def test_provenance_has_a_line_for_every_record_and_no_machine_path() -> None:
    text = (SAMPLES.parent / "PROVENANCE.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    titles = [line.removeprefix("- ").split(" -> ")[0] for line in lines]
    assert sorted(titles) == sorted(record.title for record in corpus())
    assert all(line.count(" -> ") == 2 for line in lines)
    assert re.search(r"(^|[\s(])/(work|tmp|home|root)/", text) is None
