"""Every recorded file of the five sources has a reader, or a reason why nothing asks for it.

A file without a rule fails, one with two does, and so does a rule without a file. Answers that
need a status or a request to mean something are replayed to the connector that would have asked
(WIRE 1 to 6); the rest goes to the parser as it is.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from knowledge.feeds.sources import connector_policy
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.web import FakeWeb, Reply, Request, Service
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, QuotaExhausted, Refused, Unreachable
from workers.ingest.connectors.base import Ask
from workers.ingest.connectors.clinicaltrials import CLINICALTRIALS
from workers.ingest.connectors.cms import Cms
from workers.ingest.connectors.crossref import CROSSREF
from workers.ingest.connectors.dailymed import DAILYMED
from workers.ingest.connectors.ema import EMA
from workers.ingest.connectors.europepmc import EUROPEPMC
from workers.ingest.connectors.eutils import efetch, esearch
from workers.ingest.connectors.news import NEWS
from workers.ingest.connectors.openalex import OPENALEX
from workers.ingest.connectors.openfda import (
    OPENFDA_DRUGSFDA,
    OPENFDA_ENFORCEMENT,
    OPENFDA_EVENT,
    OPENFDA_LABEL,
)
from workers.ingest.connectors.pubmed import PUBMED
from workers.ingest.enrichment import Work
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.dailymed import parse_listing
from workers.ingest.parsers.europepmc.search import full_text

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"
FOLDERS = ("pubmed_xml", "ctgov_v2", "openfda", "europepmc", "wire_samples")

pytestmark = pytest.mark.skipif(
    not all((DATA / folder).is_dir() for folder in FOLDERS),
    reason="needs the shared data beside the repository",
)

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ASK = Ask("made up", None, NOW)
CMS = Cms(accept_license=True)
OPENFDA = (OPENFDA_LABEL, OPENFDA_DRUGSFDA, OPENFDA_ENFORCEMENT, OPENFDA_EVENT)
CONNECTORS = (PUBMED, CLINICALTRIALS, *OPENFDA, EUROPEPMC, DAILYMED, CMS, EMA, NEWS)
LABELS, DRUGSFDA, RECALLS, EVENTS = (connector.parse for connector in OPENFDA)
NOTICE = {"kind": "retraction"}


class Replay(Protocol):
    """A client of `source` to which every request is answered with `answer`."""

    def __call__(
        self, source: str, answer: Reply | Callable[[Request], Reply]
    ) -> AbstractContextManager[SourceClient]: ...


Check = Callable[[bytes, Replay], None]


@dataclass
class Recorded:
    """A service that says what was recorded."""

    origin: str
    answer: Callable[[Request], Reply]


@pytest.fixture
def replay(source_client: MakeClient) -> Replay:
    @contextmanager
    def replaying(
        source: str, answer: Reply | Callable[[Request], Reply]
    ) -> Iterator[SourceClient]:
        says = (lambda request: answer) if isinstance(answer, Reply) else answer
        origins = connector_policy(source).origins
        services: list[Service] = [Recorded(origin, says) for origin in origins]
        with FakeWeb(*services) as web:
            yield source_client(source, web)

    return replaying


def _reply(sample: dict[str, Any]) -> Reply:
    """The answer in a wrapped recording: text as it is, anything else as JSON."""
    body = sample["body"]
    content = (body or "") if isinstance(body, str | None) else json.dumps(body)
    return Reply(sample.get("status") or sample.get("http_status") or 200, content.encode())


# What is read ---------------------------------------------------------------------------------


def _entries(payload: bytes) -> int:
    return len(re.findall(rb"<MedlineCitation[ >]", payload))


def _articles(payload: bytes) -> int:
    return len(re.findall(rb"<article[ >]", payload))


def _one(payload: bytes) -> int:
    return 1


def _studies(payload: bytes) -> int:
    value = json.loads(payload)
    return len(value["studies"]) if "studies" in value else 1


def _results(payload: bytes) -> int:
    return len(json.loads(payload)["results"])


def _found(payload: bytes) -> int:
    return len(json.loads(payload)["resultList"]["result"])


def _reads(
    parse: Callable[[bytes], Parsed], held: Callable[[bytes], int], unknown: str = ""
) -> Check:
    """All that the payload holds becomes records, and no field but `unknown` is left unread."""

    def check(payload: bytes, replay: Replay) -> None:
        parsed = parse(payload)
        assert (parsed.problems, parsed.doubts) == ([], [])
        assert {path for path in parsed.unmapped if not unknown or unknown not in path} == set()
        assert len(parsed.records) == held(payload) > 0
        assert all(record.title and record.text for record in parsed.records)

    return check


def _full_text(payload: bytes, replay: Replay) -> None:
    """Alone, and as Europe PMC's connector hands on that of an article with a notice."""
    _reads(EUROPEPMC.parse, _articles)(payload, replay)
    _reads(lambda raw: EUROPEPMC.parse(full_text(raw, [NOTICE])), _articles)(payload, replay)


def _label_row(payload: bytes, replay: Replay) -> None:
    row = {name: value for name, value in json.loads(payload).items() if name != "_note"}
    _reads(LABELS, _results)(json.dumps({"results": [row]}).encode(), replay)


def _cms_rows(payload: bytes, replay: Replay) -> None:
    told = {"report": "lcd", "data": json.loads(payload), "asked_on": "2026-07-15"}
    _reads(CMS.parse, lambda raw: len(told["data"]))(json.dumps(told).encode(), replay)


def _labels_listed(payload: bytes, replay: Replay) -> None:
    rows = json.loads(payload)["data"]
    everything, named = parse_listing(payload, 1, None), parse_listing(payload, 1, "siliq")
    assert list(everything.set_ids) == [row["setid"] for row in rows]
    assert list(named.set_ids) == [row["setid"] for row in rows if "SILIQ " in row["title"]]
    assert (named.next_page, named.total, named.strange) == (None, len(rows), 0)


def _pmids(payload: bytes, replay: Replay) -> None:
    result = json.loads(payload)["esearchresult"]
    with replay("pubmed", Reply(200, payload)) as client:
        listing = esearch(client, "made up", None, strict=True)
    assert (str(listing.count), list(listing.pmids)) == (result["count"], result["idlist"])
    assert listing.pmids


def _counts(payload: bytes, replay: Replay) -> None:
    """A count is read as a part of the document about a query."""
    reports = b'{"meta":{"results":{"total":20000}},"results":[{"safetyreportid":"1"}]}'
    with replay(
        "openfda-event", lambda asked: Reply(200, payload if "count" in asked.params else reports)
    ) as client:
        (page,) = OPENFDA_EVENT.page(client, ASK, None).payloads
    parsed = EVENTS(page.content)
    assert (parsed.problems, parsed.doubts, dict(parsed.unmapped)) == ([], [], {})
    assert parsed.records[0].facts["reactions"] == [
        {"term": row["term"], "reports": row["count"]} for row in json.loads(payload)["results"]
    ]


def _works(samples: Callable[[Any], list[dict[str, Any]]]) -> Check:
    def check(payload: bytes, replay: Replay) -> None:
        for body in samples(json.loads(payload)):
            doi = body["message"]["DOI"]
            with replay("crossref", _reply({"body": body})) as client:
                (said,) = CROSSREF.ask(client, [Work("pmid:1", doi)])
            assert (said.known, said.doi) == (True, doi.lower())

    return check


def _openalex(payload: bytes, replay: Replay) -> None:
    """A work of the recorded list, which as a list is refused: works are asked for one by one."""
    body = json.loads(payload)["body"]
    work = Work("pmid:1", body["results"][0]["doi"].removeprefix("https://doi.org/"))
    with replay("openalex", _reply({"body": body["results"][0]})) as client:
        (said,) = OPENALEX.ask(client, [work])
    assert (said.known, said.doi) == (True, work.doi)
    with replay("openalex", _reply({"body": body})) as client, pytest.raises(Malformed):
        OPENALEX.ask(client, [work])


# Recorded errors and answers with nothing in them ---------------------------------------------


def _pmids_refused(error: type[Exception], *statuses: int) -> Check:
    def check(payload: bytes, replay: Replay) -> None:
        for status in statuses or (200,):
            with replay("pubmed", Reply(status, payload)) as client, pytest.raises(error):
                esearch(client, "made up", None, strict=True)

    return check


def _nothing_at_openfda(payload: bytes, replay: Replay) -> None:
    for connector in OPENFDA:
        with replay(connector.name, Reply(404, payload)) as client:
            page = connector.page(client, ASK, None)
        assert (list(page.payloads), page.next) == ([], None)


def _nothing_at_europepmc(payload: bytes, replay: Replay) -> None:
    assert EUROPEPMC.parse(payload) == Parsed()
    with replay("europepmc", Reply(200, payload)) as client:
        page = EUROPEPMC.page(client, ASK, None)
    assert (list(page.payloads), page.next, page.total, page.complete) == ([], None, 0, True)


def _europepmc_errors(payload: bytes, replay: Replay) -> None:
    expected = {"empty": InvalidQuery, "pageSize=1001": Refused, "maintenance": Unreachable}
    for sample in json.loads(payload):
        with replay("europepmc", _reply(sample)) as client:
            trigger = sample["trigger"].split()[0]
            if trigger == "fullTextXML":
                place = {"cursor": None, "seen": 0, "full_texts": [["PMC1", []]]}
                assert list(EUROPEPMC.page(client, ASK, place).payloads) == []
            else:
                with pytest.raises(expected[trigger]):
                    EUROPEPMC.page(client, ASK, None)


def _trial_errors(payload: bytes, replay: Replay) -> None:
    for sample in json.loads(payload):
        refusal = _reply(sample)

        def answer(asked: Request, refusal: Reply = refusal) -> Reply:
            return Reply(200, b"{}") if asked.path.endswith("/version") else refusal

        with replay("clinicaltrials", answer) as client:
            if sample["body"] is None:
                assert list(CLINICALTRIALS.fetch(client, ["nct_id:nct00000000"]).payloads) == []
            elif sample["http_status"] == 404:  # of another address: the list is always there
                with pytest.raises(Unreachable):
                    CLINICALTRIALS.page(client, ASK, None)
            else:
                with pytest.raises(InvalidQuery, match=re.escape(sample["body"])):
                    CLINICALTRIALS.page(client, ASK, None)


def _crossref_unknown(payload: bytes, replay: Replay) -> None:
    with replay("crossref", _reply(json.loads(payload))) as client:
        (said,) = CROSSREF.ask(client, [Work("pmid:1", "10.5555/one")])
    assert not said.known


def _crossref_refused(payload: bytes, replay: Replay) -> None:
    with replay("crossref", _reply(json.loads(payload))) as client, pytest.raises(Refused):
        CROSSREF.ask(client, [Work("pmid:1", "10.5555/one")])


# What nothing asks for ------------------------------------------------------------------------


def _unasked(reason: str) -> Check:
    """Not read, because of `reason`: every parser refuses it, or tells of rows it cannot read; none
    makes a record of it."""

    def check(payload: bytes, replay: Replay) -> None:
        assert reason
        for connector in CONNECTORS:
            assert _refused(connector.parse, payload), connector.name
        assert _refused(EUROPEPMC.parse, full_text(payload, [NOTICE]))

    return check


def _refused(parse: Callable[[bytes], Parsed], payload: bytes) -> bool:
    try:
        parsed = parse(payload)
    except Malformed:
        return True
    return not parsed.records and bool(parsed.problems)


def _unasked_of_ncbi(reason: str) -> Check:
    """As `_unasked`; and neither search nor efetch takes it for its answer."""

    def check(payload: bytes, replay: Replay) -> None:
        _unasked(reason)(payload, replay)
        with replay("pubmed", Reply(200, payload)) as client:
            with pytest.raises(Malformed):
                esearch(client, "made up", None, strict=True)
            with pytest.raises(Malformed):
                efetch(client, ["1"])

    return check


def _ids_only(payload: bytes, replay: Replay) -> None:
    """Results are asked for in full; rows of ids are told as problems, one by one."""
    parsed = EUROPEPMC.parse(payload)
    assert (parsed.records, len(parsed.problems)) == ([], _found(payload))


_PUBMED = _reads(PUBMED.parse, _entries)
_TRIALS = _reads(CLINICALTRIALS.parse, _studies, unknown=".locations_nested[]")  # its capturer's
_EUROPEPMC = _reads(EUROPEPMC.parse, _found)
_SEARCH = "searches are asked for as JSON"
_FIELDS = "a schema, or fragments of answers by field"
_XML = "XML and Dublin Core: results are asked for as JSON, supplements not at all"
_VARIANTS = "pubmed_xml/biomcp/variant_articles_683__pubmed__"

RULES: dict[str, Check] = {
    # E-utilities and PMC
    "pubmed_xml/{biomcp/efetch_citation_,biopython/pubmed,titipata/}*.xml": _PUBMED,
    "{pubmed_xml/titipata/*.xml.gz,wire_samples/pubmed_efetch_*.xml}": _PUBMED,
    "pubmed_xml/{biomcp/ncbi_efetch__pmc*,biopython/efetch_pmc}.xml": _full_text,
    "pubmed_xml/titipata/*.nxml": _full_text,
    "wire_samples/pmc_efetch_jats_head.xml": _unasked("the first 6,000 bytes of an article"),
    "wire_samples/pmc_s3_metadata.json": _unasked("PMC's bucket is not a source of ours"),
    f"{_VARIANTS}{{2ebc,a7c2}}*.json": _pmids,
    "wire_samples/eutils_esearch_{json_a,json_c,edat}.json": _pmids,
    f"{{{_VARIANTS}4c7a,wire_samples/eutils_esearch_json_err}}*": _pmids_refused(InvalidQuery),
    "wire_samples/eutils_esearch_retstart_error.json": _pmids_refused(Malformed),
    f"{{{_VARIANTS}25d2,wire_samples/eutils_429}}*": _pmids_refused(QuotaExhausted, 200, 429),
    "wire_samples/idconv*.json": _unasked(
        "PMC's ID converter: records name their PMCID themselves"
    ),
    "{pubmed_xml/biopython/esearch,wire_samples/eutils_esearch_}*.xml": _unasked_of_ncbi(_SEARCH),
    "pubmed_xml/biopython/einfo*.xml": _unasked_of_ncbi("einfo is not asked"),
    "{pubmed_xml/biopython/,wire_samples/eutils_}elink*": _unasked_of_ncbi("elink is not asked"),
    "{pubmed_xml/biopython/,wire_samples/eutils_}epost*": _unasked_of_ncbi("epost is not asked"),
    "{pubmed_xml/biopython/,wire_samples/eutils_}esummary*": _unasked_of_ncbi("efetch is asked"),
    "wire_samples/eutils_error_no_id.xml": _unasked_of_ncbi("esummary's word for no id"),
    # ClinicalTrials.gov
    "ctgov_v2/{biomcp/get_,biomcp/search_[!m],biomcp/search_melanoma_r,full/}*.json": _TRIALS,
    "wire_samples/ctgov_{results,search,study}*.json": _TRIALS,
    "wire_samples/ctgov_errors.json": _trial_errors,
    "ctgov_v2/biomcp/search_melanoma_2*.json": _unasked("a search of the NCI, by its receipt"),
    "ctgov_v2/legacy/*.xml": _unasked("the registry's old XML, which is not asked for"),
    # openFDA, DailyMed, CMS
    "{openfda/biomcp/drugsfda_*,wire_samples/openfda_drugsfda}.json": _reads(DRUGSFDA, _results),
    "wire_samples/openfda_enforcement.json": _reads(RECALLS, _results),
    "wire_samples/openfda_event.json": _reads(EVENTS, _results),
    "{openfda/biomcp/,wire_samples/openfda_}label_keytruda_*.json": _reads(LABELS, _results),
    "wire_samples/openfda_label_record.json": _label_row,
    "{openfda/biomcp/faers_count_*,wire_samples/openfda_event_count}.json": _counts,
    "{openfda/biomcp/device_*,wire_samples/openfda_notfound_404}.json": _nothing_at_openfda,
    "openfda/spl/*.xml": _reads(DAILYMED.parse, _one),
    "wire_samples/dailymed_spls.json": _labels_listed,
    "wire_samples/cms_lcd_rows.json": _cms_rows,
    "openfda/drugsfda/*.zip": _unasked("the flat files behind the API"),
    "openfda/faers/*.json": _unasked("steps of the FDA's own import"),
    "openfda/res/*.json": _unasked("recalls before the API, one a line, with other names"),
    "openfda/{api_doc_examples/*.json,fields/*.yaml,schemas/*.json}": _unasked(_FIELDS),
    "{ctgov_v2/*.yaml,wire_samples/{pubmed_*.dtd.txt,openfda_event_docs_*}}": _unasked(_FIELDS),
    # Europe PMC
    "europepmc/{biomcp/search,pyeuropepmc/search_post}_*.json": _EUROPEPMC,
    "europepmc/pyeuropepmc/search_cancer{,_core,_page2,_sorted_cited}.json": _EUROPEPMC,
    "wire_samples/epmc_search_*.json": _EUROPEPMC,
    "europepmc/pyeuropepmc/search_no_results.json": _nothing_at_europepmc,
    "wire_samples/epmc_errors.json": _europepmc_errors,
    "europepmc/pyeuropepmc/search_cancer_idlist.json": _ids_only,
    "{europepmc/pyeuropepmc/*,europepmc/biomcp/*,wire_samples/epmc_errorbean}.xml": _unasked(_XML),
    # Crossref and OpenAlex
    "wire_samples/crossref_work.json": _works(lambda sample: [sample["body"]]),
    "wire_samples/crossref_retraction.json": _works(lambda sample: list(sample.values())),
    "wire_samples/crossref_404_{text,cursor}.json": _crossref_unknown,
    "wire_samples/crossref_400_*.json": _crossref_refused,
    "wire_samples/openalex_works.json": _openalex,
    # Not of a source
    "{pubmed_xml,ctgov_v2,openfda,europepmc}/SOURCE.txt": _unasked("where the files are from"),
    "wire_samples/SOURCES.txt": _unasked("where the files are from"),
    "{pubmed_xml,ctgov_v2,openfda,europepmc}/*_receipts.json": _unasked("how they were captured"),
    "wire_samples/anthropic_*": _unasked("of the model's port, not of a source"),
    "wire_samples/perplexity_*.json": _unasked("of a peer, not of a source"),
}


def _globs(rule: str) -> list[str]:
    """The patterns that a rule stands for: one for each word in {braces,like,these}."""
    found = re.search(r"\{([^{}]*)\}", rule)
    if not found:
        return [rule]
    before, after = rule[: found.start()], rule[found.end() :]
    return [glob for one in found[1].split(",") for glob in _globs(before + one + after)]


CHECKS = {glob: check for rule, check in RULES.items() for glob in _globs(rule)}
FILES = {path for name in FOLDERS for path in (DATA / name).rglob("*") if path.is_file()}
NAMED = {glob: FILES.intersection(DATA.glob(glob)) for glob in CHECKS}


@pytest.mark.parametrize("glob", CHECKS)
def test_every_rule_is_about_files_that_are_there(glob: str) -> None:
    assert NAMED[glob]


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: str(path.relative_to(DATA)))
def test_every_file_is_read_or_refused_as_its_one_rule_says(path: Path, replay: Replay) -> None:
    (glob,) = [glob for glob, named in NAMED.items() if path in named]
    payload = path.read_bytes()
    CHECKS[glob](gzip.decompress(payload) if path.suffix == ".gz" else payload, replay)
