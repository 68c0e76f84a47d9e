"""`attest evaluate packs`: checks the files of the scenario packs. Nobody is asked."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import yaml
from pydantic import ValidationError
from rich.console import Group
from rich.table import Table
from rich.text import Text

from knowledge.links import is_search_page
from knowledge.loader import load, parse
from knowledge.scenarios import Entry, Kind, Scenario

GROUPS: Mapping[str, tuple[Kind, ...]] = {
    "guidelines": ("guideline",),
    "reviews": ("systematic_review",),
    "trials or cohorts": ("pivotal_trial", "cohort"),
}
"""The kinds of evidence that a pack should have (EB-4.1)."""


@dataclass(frozen=True)
class Fault:
    """What is wrong; `title` is that of the entry, None for the whole pack."""

    pack: str
    title: str | None
    problem: str


@dataclass(frozen=True)
class Report:
    """The packs that could be read, and the faults."""

    packs: tuple[Scenario, ...]
    faults: tuple[Fault, ...]


def evaluate_packs(files: Mapping[str, str]) -> Report:
    """Check the packs in `files` (text by file name)."""
    packs, faults = _read(files)
    for pack in packs:
        faults += [Fault(pack.name, title, problem) for title, problem in _faults_within(pack)]
    faults += _faults_across(packs)
    return Report(tuple(packs), tuple(faults))


def missing_groups(pack: Scenario) -> list[str]:
    """Return the groups of which the pack has no usable entry."""
    kinds = {entry.kind for entry in pack.usable()}
    return [group for group, members in GROUPS.items() if not kinds & set(members)]


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
    wrong = len(report.faults)
    lines.append(Text(f"{wrong} faults" if wrong else "no fault", "red" if wrong else "green"))
    return Group(table, *lines)
