"""Which held work is an entry of a scenario pack (EB-4.1, EB-7.1, EB-9.4). Pure."""

from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit

from knowledge.links import is_direct
from knowledge.scenarios import Entry, Scenario, scenarios

ARTICLE = frozenset({"pmid", "pmcid", "doi"})
"""What names a publication. A registry number beside one of these names the trial it tells of."""


def anchor_of(identifiers: Mapping[str, str], url: str | None = None) -> Entry | None:
    """The confirmed entry of any pack that is this work by PMID, DOI or registry number; by its
    verified address where the work has no identifier.

    Never by title (EB-7.1), and no article by the number of its trial: that is the registry's
    record.

    Args:
        identifiers: of the work, by kind; only those in no doubt.
        url: its address, in no doubt either.
    """
    keys = _keys(identifiers)
    if not keys and url is not None and is_direct(url) and not ARTICLE & set(identifiers):
        keys = [("url", _address(url))]
    return next((_entries()[key] for key in keys if key in _entries()), None)


def trial_of(identifiers: Mapping[str, str]) -> str:
    """The trial that a pack knows this work to report, by its short name; "" if none."""
    entry = anchor_of(identifiers)
    return (entry.trial if entry else None) or ""


def entry_of(pack: Scenario, identifiers: Mapping[str, str]) -> Entry | None:
    """The confirmed entry of `pack` that a record with these identifiers is or, in the registry,
    whose trial it is; never by title, and no other article by the number of the trial (EB-7.1)."""
    keys = set(_keys(identifiers))
    return next(
        (
            entry
            for entry in pack.usable()
            if any((kind, one.lower()) in keys for kind, one in entry.identifiers().items())
        ),
        None,
    )


def _keys(identifiers: Mapping[str, str]) -> list[tuple[str, str]]:
    """What names a work itself: kind and value, in lower case."""
    kinds = ("pmid", "doi") if ARTICLE & set(identifiers) else ("nct_id",)
    return [(kind, identifiers[kind].lower()) for kind in kinds if kind in identifiers]


def known_identifiers(entry: Entry) -> dict[str, str]:
    """The identifiers of the entry that name the work itself, by kind."""
    named = entry.identifiers()
    return {
        kind: value for kind, value in named.items() if kind in ARTICLE or ARTICLE.isdisjoint(named)
    }


@cache
def _entries() -> dict[tuple[str, str], Entry]:
    return {
        key: entry
        for scenario in scenarios()
        for entry in scenario.usable()
        for key in keys_of(entry)
    }


def keys_of(entry: Entry) -> list[tuple[str, str]]:
    """What a record must have one of to be this entry: kind and value, in lower case."""
    known = [(kind, value.lower()) for kind, value in known_identifiers(entry).items()]
    return known if known or entry.url is None else [("url", _address(entry.url))]


def _address(url: str) -> str:
    """Scheme, case of the host and a slash at the end tell no two pages apart."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}"
