"""What is asked of which source for the works of a scenario pack. Pure.

`pack:NAME` is a query that any of these sources takes: it follows the pack as the release has it.
"""

from collections.abc import Mapping

from knowledge.matching.choosing import one_of
from knowledge.questions.cures import cure_policy, record_query
from knowledge.scenarios import Entry, Scenario, scenarios
from knowledge.works.anchors import known_identifiers

PREFIX = "pack:"


def primary_source(entry: Entry) -> str | None:
    """The source that has the work: the first that knows one of its identifiers; for a work without
    them the one that is searched by titles. None: no source has it."""
    known = known_identifiers(entry)
    for source, policy in cure_policy().sources.items():
        if not known.keys().isdisjoint(policy.identifiers) or (
            policy.title is not None and not known and entry.url is None
        ):
            return source
    return None


def pack_queries(pack: Scenario) -> dict[str, str]:
    """The query of each source that has works of the pack, in its own language: by identifiers, for
    trials also the registry's record, and by the whole title where no identifier is confirmed."""
    numbers: dict[str, dict[str, list[str]]] = {}
    titles: dict[str, list[str]] = {}
    for entry in pack.entries:
        source = primary_source(entry)
        if source is None:
            continue
        policy = cure_policy().sources[source]
        known = entry.identifiers()
        kind = next((kind for kind in policy.identifiers if kind in known), None)
        if kind is not None:
            numbers.setdefault(source, {}).setdefault(kind, []).append(known[kind])
        elif policy.title is not None:
            title = entry.title.replace('"', " ").replace("\\", " ")
            titles.setdefault(source, []).append(policy.title.format(title=title))
        if kind != "nct_id" and entry.nct_id:
            registry = numbers.setdefault("clinicaltrials", {})
            registry.setdefault("nct_id", []).append(entry.nct_id)
    return {
        source: policy.joint.join(parts)
        for source, policy in cure_policy().sources.items()
        if (
            parts := [
                *filter(None, [record_query(source, numbers.get(source, {}))]),
                *titles.get(source, ()),
            ]
        )
    }


def pack_named(name: str) -> Scenario:
    """The pack of this name. Raises LookupError, which lists the names."""
    known: Mapping[str, Scenario] = {pack.name: pack for pack in scenarios()}
    if name not in known:
        raise LookupError(f"there is no pack {name}: {one_of(name, known)}")
    return known[name]


def written_out(source: str, query: str) -> str:
    """The query as `source` is asked: that of the pack for `pack:NAME`, else the query itself.

    Raises LookupError: there is no such pack, or the source has none of its works.
    """
    if not query.startswith(PREFIX):
        return query
    queries = pack_queries(pack_named(query.removeprefix(PREFIX)))
    if source not in queries:
        raise LookupError(f"{source} has no work of it: use {', '.join(queries)}")
    return queries[source]
