"""The works of a scenario's pack: which of them are held, and which are to be asked for."""

from collections.abc import Sequence
from uuid import UUID

from sqlmodel import Session

from knowledge.scenarios import Entry, Scenario
from knowledge.works.anchors import known_identifiers
from store.documents import identifiers

_KINDS = ("pmid", "nct_id", "doi")
"""What a primary source can be asked for; what it knows most surely first."""


def held_versions(session: Session, scenario: Scenario | None) -> set[UUID]:
    """The current versions of the pack's works."""
    if scenario is None:
        return set()
    found = identifiers.held(session, _wanted(scenario.usable()))
    return set[UUID]().union(*found.values())


def missing(session: Session, scenario: Scenario | None) -> dict[str, list[str]]:
    """The works of the pack that no source has brought, each by one identifier, by kind."""
    if scenario is None:
        return {}
    found = identifiers.held(session, _wanted(scenario.usable()), by_a_source=True)
    asked: dict[str, list[str]] = {}
    for named in map(_named, scenario.usable()):
        if named and not found.keys() & set(named):
            kind, value = named[0]
            asked.setdefault(kind, []).append(value)
    return asked


def _named(entry: Entry) -> list[tuple[str, str]]:
    known = known_identifiers(entry)
    if "doi" in known:
        known["doi"] = known["doi"].lower()  # as `works.held` gives it back
    return [(kind, known[kind]) for kind in _KINDS if kind in known]


def _wanted(entries: Sequence[Entry]) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for entry in entries:
        for kind, value in _named(entry):
            wanted.setdefault(kind, set()).add(value)
    return wanted
