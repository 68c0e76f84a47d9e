"""The works that a question names by their identifiers: PMID, PMC, DOI, the number of a trial in
any registry, of a coverage policy, the set id of a label.

Whoever asks for a work by its number is answered from it, whatever words it has; one that is not
held is asked for where it is primary.
"""

import re
from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlmodel import Session

from store.documents import identifiers as works
from store.documents.records import REGISTRY_PATTERN

Identifiers = Mapping[str, frozenset[str]]
"""Values by kind."""

# What `identifiers` and `names` of knowledge/questions/questions.yaml give, by its form
# (store/documents/records.py).
_FORMS: Mapping[str, re.Pattern[str]] = {
    "pmid": re.compile(r"[1-9]\d{0,8}"),
    "pmcid": re.compile(r"PMC[1-9]\d{0,9}", re.IGNORECASE),
    "nct_id": re.compile(r"NCT\d{8}", re.IGNORECASE),
    "doi": re.compile(r"10\.\d{4,9}/\S+"),
    "registry_id": re.compile(REGISTRY_PATTERN, re.IGNORECASE),
    "set_id": re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE),
    "lcd_id": re.compile(r"[LA]\d{5}", re.IGNORECASE),
}


def identifiers(names: Iterable[str]) -> Identifiers:
    """Which of the names of a question (`Understanding.names`) are identifiers. Pure."""
    found: dict[str, set[str]] = {}
    for name in names:
        for kind, form in _FORMS.items():
            if form.fullmatch(name):
                found.setdefault(kind, set()).add(works.normal(kind, name))
    return {kind: frozenset(values) for kind, values in found.items()}


def held_versions(session: Session, named: Identifiers) -> set[UUID]:
    """The current versions of these works."""
    return set[UUID]().union(*works.held(session, named).values())


def missing(session: Session, named: Identifiers) -> dict[str, list[str]]:
    """Those of the identifiers that no held work bears, by kind."""
    found = works.held(session, named)
    lacking = {
        kind: sorted(value for value in values if (kind, value) not in found)
        for kind, values in named.items()
    }
    return {kind: values for kind, values in lacking.items() if values}
