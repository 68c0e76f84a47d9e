"""`attest evaluate packs`: checks the scenario packs, and that the works they name exist."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import yaml
from pydantic import ValidationError
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cli.evaluate.scratch import scratch
from knowledge.links import is_search_page
from knowledge.loader import load, parse
from knowledge.scenarios import Entry, Kind, Scenario
from store.core.settings import Settings
from store.documents.records import ENDING_NOTICES, Notice
from workers.http.client import SourceClient
from workers.http.errors import SourceError
from workers.http.factory import client_for
from workers.ingest.connectors.base import Connector
from workers.ingest.connectors.clinicaltrials import CLINICALTRIALS
from workers.ingest.connectors.crossref import CROSSREF
from workers.ingest.connectors.pubmed import PUBMED
from workers.ingest.enrichment import NoWord, Work

GROUPS: Mapping[str, tuple[Kind, ...]] = {
    "guidelines": ("guideline",),
    "reviews": ("systematic_review",),
    "trials or cohorts": ("pivotal_trial", "cohort"),
}
"""The kinds of evidence that a pack should have (EB-4.1)."""
SOURCES = {"pmid": "pubmed", "doi": "crossref", "nct_id": "clinicaltrials"}
"""The source that is asked about an identifier of each kind."""
SAME_TITLE = 0.75
"""Our choice: the share of the shorter title's words that the other must have. Sources omit
subtitles and names of committees, and spell compounds in two ways."""
YEARS_APART = 1
"""Difference allowed: a work may be online in December and in print in January."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Fault:
    """What is wrong; `title` is that of the entry, None for the whole pack."""

    pack: str
    title: str | None
    problem: str


@dataclass(frozen=True)
class Found:
    """A source's record of an identifier. `names` are its titles, `text` all its words (for
    registries, whose records name the trial there)."""

    names: tuple[str, ...]
    year: int | None = None
    notices: tuple[Notice, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Report:
    """The packs that could be read, the faults, and the number of identifiers looked up; None if
    the check was offline."""

    packs: tuple[Scenario, ...]
    faults: tuple[Fault, ...]
    looked_up: int | None


def evaluate_packs(
    files: Mapping[str, str], clients: Mapping[str, SourceClient] | None = None
) -> Report:
    """Check the packs in `files` (text by file name). With `clients` (by source name) also check
    that each identifier of a confirmed entry exists and is that of the work (EB-4.1, EB-7.5)."""
    packs, faults = _read(files)
    for pack in packs:
        faults += [Fault(pack.name, title, problem) for title, problem in _faults_within(pack)]
    faults += _faults_across(packs)
    looked_up = None
    if clients is not None:
        looked_up, differing = _look_up(packs, clients)
        faults += differing
    return Report(tuple(packs), tuple(faults), looked_up)


@contextmanager
def source_clients(settings: Settings) -> Iterator[dict[str, SourceClient]]:
    """Yield clients of the sources, with a scratch database for their rate limits."""
    with scratch(settings) as worker:
        engine = worker.store.engine
        yield {name: client_for(name, settings, engine) for name in SOURCES.values()}


def missing_groups(pack: Scenario) -> list[str]:
    """Return the groups of which the pack has no usable entry."""
    kinds = {entry.kind for entry in pack.usable()}
    return [group for group, members in GROUPS.items() if not kinds & set(members)]


def same_title(ours: str, theirs: str) -> bool:
    """Return true if two titles are of one work, by the words of the shorter."""
    short, long = sorted((_words(ours), _words(theirs)), key=len)
    return bool(short) and len(short & long) / len(short) >= SAME_TITLE


def _words(title: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", title).casefold()
    return set(_WORD.findall("".join(mark for mark in plain if not unicodedata.combining(mark))))


def _read(files: Mapping[str, str]) -> tuple[list[Scenario], list[Fault]]:
    packs, faults = [], []
    for name, text in files.items():
        try:
            pack = Scenario.model_validate(parse(text))
        except ValidationError as error:
            for problem in error.errors(include_url=False):
                where = ".".join(map(str, problem["loc"])) or "the file"
                faults.append(Fault(name, None, f"{where}: {problem['msg']}"))
            continue
        except yaml.YAMLError as error:
            faults.append(Fault(name, None, f"no YAML: {' '.join(str(error).split())}"))
            continue
        packs.append(pack)
        if name != f"{pack.name}.yaml":
            faults.append(Fault(pack.name, None, f"its file is called {name}"))
    return packs, faults


def _faults_within(pack: Scenario) -> Iterator[tuple[str | None, str]]:
    for group in ("diseases", "decisions"):
        for tag in sorted(set(getattr(pack, group)) - set(load("vocabulary")[group])):
            yield None, f"{tag} is no tag among the vocabulary's {group}"
    for entry in pack.entries:
        named = entry.identifiers()
        if entry.confirmed and not (named or entry.url):
            yield entry.title, "confirmed, and leads to no work: no identifier, no address"
        if not entry.confirmed and named:
            yield entry.title, f"not confirmed, and yet it has {_listed(named)}"
        if entry.url and is_search_page(entry.url):
            yield entry.title, f"its address is a search page: {entry.url}"
    counts = Counter(_keys(pack.entries))
    for kind, value in (key for key, count in counts.items() if count > 1):
        yield None, f"{kind} {value} occurs {counts[kind, value]} times"


def _faults_across(packs: Sequence[Scenario]) -> list[Fault]:
    """Return a fault where two packs name the same identifier but describe the work differently."""
    first_uses: dict[tuple[str, str], tuple[str, Entry]] = {}
    faults = []
    for pack in packs:
        for entry in pack.entries:
            for key in _keys([entry]):
                other_pack, first = first_uses.setdefault(key, (pack.name, entry))
                for field in ("title", "year", "kind"):
                    if other_pack != pack.name and getattr(entry, field) != getattr(first, field):
                        problem = f"{key[0]} {key[1]}: another {field} than in {other_pack}"
                        faults.append(Fault(pack.name, entry.title, problem))
    return faults


def _keys(entries: Collection[Entry]) -> list[tuple[str, str]]:
    return [
        (kind, value.lower()) for entry in entries for kind, value in entry.identifiers().items()
    ]


def _listed(named: Mapping[str, str]) -> str:
    return ", ".join(f"{kind} {value}" for kind, value in named.items())


def _look_up(
    packs: Sequence[Scenario], clients: Mapping[str, SourceClient]
) -> tuple[int, list[Fault]]:
    """Ask about every identifier once. If a source does not answer, that is a fault of all its
    identifiers, because nothing is shown for them."""
    wanted: dict[str, dict[str, list[tuple[str, Entry]]]] = defaultdict(lambda: defaultdict(list))
    for pack in packs:
        for entry in pack.usable():
            for kind, value in entry.identifiers().items():
                wanted[kind][value.lower()].append((pack.name, entry))
    faults = []
    for kind, uses in wanted.items():
        try:
            records = _ASK[kind](clients[SOURCES[kind]], list(uses))
        except SourceError as error:
            problem = f"{SOURCES[kind]} did not answer for {len(uses)} identifiers: {error}"
            faults.append(Fault("all", None, problem))
            continue
        for value, entries in uses.items():
            for pack_name, entry in entries:
                for problem in _differences(entry, kind, records.get(value)):
                    faults.append(Fault(pack_name, entry.title, f"{kind} {value}: {problem}"))
    return sum(map(len, wanted.values())), faults


def _differences(entry: Entry, kind: str, found: Found | None) -> Iterator[str]:
    """Yield how `found` differs from the entry. A registry's record has the title and dates of the
    trial, not of the article, so they are compared only if the entry is the trial itself."""
    if found is None:
        yield f"{SOURCES[kind]} has no such record"
        return
    if any(notice.kind in ENDING_NOTICES for notice in found.notices):
        yield f"{SOURCES[kind]} says that it is retracted or withdrawn"
    if kind == "nct_id" and (entry.pmid or entry.doi):
        return
    by_name = entry.trial is not None and entry.trial.casefold() in found.text.casefold()
    if not by_name and not any(same_title(entry.title, name) for name in found.names):
        yield f"{SOURCES[kind]} has another title: {'; '.join(found.names)}"
    if found.year is not None and abs(found.year - entry.year) > YEARS_APART:
        yield f"{SOURCES[kind]} has the year {found.year}, not {entry.year}"


def _ask_pubmed(client: SourceClient, pmids: Sequence[str]) -> dict[str, Found]:
    return _fetched(PUBMED, client, "pmid", pmids)


def _ask_registry(client: SourceClient, nct_ids: Sequence[str]) -> dict[str, Found]:
    return _fetched(CLINICALTRIALS, client, "nct_id", nct_ids)


def _fetched(
    connector: Connector, client: SourceClient, kind: str, values: Sequence[str]
) -> dict[str, Found]:
    by_identifier = {}
    for batch in _batches(values, connector.fetch_limit):
        page = connector.fetch(client, [f"{kind}:{value}" for value in batch])
        for payload in page.payloads:
            for record in connector.parse(payload.content).records:
                published = record.published_at if kind == "pmid" else None
                by_identifier[str(getattr(record.identifiers, kind)).lower()] = Found(
                    names=(record.title,),
                    year=published.year if published else None,
                    notices=record.notices,
                    text=record.text if kind == "nct_id" else "",
                )
    return by_identifier


def _ask_crossref(client: SourceClient, dois: Sequence[str]) -> dict[str, Found]:
    by_identifier = {}
    for batch in _batches(dois, CROSSREF.fetch_limit):
        for answer in CROSSREF.ask(client, [Work(doi, doi) for doi in batch]):
            if isinstance(answer, NoWord):
                raise answer.error
            if answer.known:
                by_identifier[answer.key] = Found(
                    (answer.title or "",), answer.year, answer.notices
                )
    return by_identifier


def _batches(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (values[start : start + size] for start in range(0, len(values), size))


_ASK: Mapping[str, Callable[[SourceClient, Sequence[str]], dict[str, Found]]] = {
    "pmid": _ask_pubmed,
    "doi": _ask_crossref,
    "nct_id": _ask_registry,
}


def body(report: Report) -> dict[str, Any]:
    """Return the report as JSON."""
    return {
        "packs": [
            {
                "name": pack.name,
                "diseases": list(pack.diseases),
                "decisions": list(pack.decisions),
                "confirmed": len(pack.usable()),
                "unconfirmed": len(pack.entries) - len(pack.usable()),
                "usable": _counts(pack),
                "missing": missing_groups(pack),
            }
            for pack in report.packs
        ],
        "faults": [asdict(fault) for fault in report.faults],
        "existence": "not checked" if report.looked_up is None else "checked",
        "looked_up": report.looked_up or 0,
    }


def _counts(pack: Scenario) -> dict[str, int]:
    kinds = Counter(entry.kind for entry in pack.usable())
    return {group: sum(kinds[kind] for kind in members) for group, members in GROUPS.items()}


def shown(report: Report) -> Group:
    """Return the report as a table, with a line for each thing that is missing or wrong."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("pack", no_wrap=True)
    for heading in ("confirmed", "in doubt", *GROUPS):
        table.add_column(heading, justify="right")
    lines = []
    for pack in report.packs:
        confirmed = len(pack.usable())
        numbers = [confirmed, len(pack.entries) - confirmed, *_counts(pack).values()]
        table.add_row(pack.name, *map(str, numbers))
        if missing := missing_groups(pack):
            lines.append(Text(f"{pack.name} has no usable {', no usable '.join(missing)}"))
    for fault in report.faults:
        where = f"{fault.pack}: {fault.title}" if fault.title else fault.pack
        lines.append(Text(f"{where}: {fault.problem}", style="red"))
    if report.looked_up is None:
        lines.append(Text("existence was not checked: --online asks the sources"))
    else:
        lines.append(Text(f"{report.looked_up} identifiers were looked up"))
    wrong = len(report.faults)
    lines.append(Text(f"{wrong} faults" if wrong else "no fault", "red" if wrong else "green"))
    return Group(table, *lines)
