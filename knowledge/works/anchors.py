"""Matches held works with the entries of scenario packs (EB-4.1, EB-7.1, EB-9.4). Pure."""

from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit

from knowledge.scenarios import Entry, Scenario, scenarios
from knowledge.works.links import is_direct

ARTICLE = frozenset({"pmid", "pmcid", "doi"})
"""Identifiers of a publication. A registry number beside them names the trial that it reports."""


def anchor_of(identifiers: Mapping[str, str], url: str | None = None) -> Entry | None:
    """The confirmed entry of any pack with this work's PMID, DOI or registry number; with its
    verified address if the work has no identifier.

    Works never match by title (EB-7.1), and an article never matches by the number of its trial,
    which names the registry's record.

    Args:
        identifiers: of the work, by kind; only those not in doubt.
        url: its address, if it is not in doubt.
    """
    keys = _keys(identifiers)
    if not keys and url is not None and is_direct(url) and not ARTICLE & set(identifiers):
        keys = [("url", address(url))]
    return next((_entries()[key] for key in keys if key in _entries()), None)


def trial_of(identifiers: Mapping[str, str]) -> str:
    """The short name of the trial that this work reports according to a pack; "" if none."""
    entry = anchor_of(identifiers)
    return (entry.trial if entry else None) or ""


def entry_of(pack: Scenario, identifiers: Mapping[str, str]) -> Entry | None:
    """The confirmed entry of `pack` that matches a record with these identifiers or, for a registry
    record, that of its trial; never by title, and no other article by trial number (EB-7.1)."""
    keys = set(_keys(identifiers))
    return next(
        (
            entry
            for entry in pack.usable()
            if any((kind, value.lower()) in keys for kind, value in entry.identifiers().items())
        ),
        None,
    )


def _keys(identifiers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The identifiers that name the work itself: kind and value, in lower case."""
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
    """A record with one of these identifiers is this entry: kind and value, in lower case."""
    known = [(kind, value.lower()) for kind, value in known_identifiers(entry).items()]
    return known if known or entry.url is None else [("url", address(entry.url))]


def address(url: str) -> str:
    """The address for comparison: without scheme, case of the host and a slash at the end."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}"
