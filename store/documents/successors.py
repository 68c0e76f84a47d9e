"""Works whose own records say which other work goes on in them: an update, a preprint's article."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.core.copying import text_array, uuid_array

_OLDER, _NEWER = ("update_of", "preprints"), ("update_in", "preprint_of")
"""Facts that name a work which this one goes on from, or which goes on from it: PubMed's UpdateOf
and UpdateIn (WIRE 1), Europe PMC's "Preprint in" and "Preprint of" (WIRE 4)."""


@dataclass(frozen=True)
class Linked:
    """A current version, as others name it and with whom it names."""

    document_id: UUID
    key: str
    source: str | None
    identifiers: Mapping[str, str]
    facts: Mapping[str, Any]

    def names(self) -> set[str]:
        """What a link may call it: `pmid:1`, `doi:10.1/x`, `ppr:PPR1`."""
        own = {self.key, self.key.removeprefix("preprint:").removeprefix("europepmc:")}
        return own | {
            f"{kind}:{value.lower() if kind == 'doi' else value}"
            for kind, value in self.identifiers.items()
        }

    def links(self, kinds: Sequence[str]) -> set[str]:
        """The names that it gives in these facts."""
        found = (self.facts.get(kind) for kind in kinds)
        return {
            name
            for names in found
            if isinstance(names, list)
            for name in names
            if isinstance(name, str)
        }

    @property
    def names_others(self) -> bool:
        """Whether it has such facts at all."""
        return not self.facts.keys().isdisjoint((*_OLDER, *_NEWER))

    def follows(self, other: "Linked") -> bool:
        """Whether one of the two says that this one goes on from the other."""
        return not (
            self.links(_OLDER).isdisjoint(other.names())
            and other.links(_NEWER).isdisjoint(self.names())
        )


def linked(session: Session, document_ids: Collection[UUID]) -> list[Linked]:
    """The current versions of these documents."""
    return _rows(session.execute(_MINE, {"ids": uuid_array(document_ids)}))


def successions(session: Session, mine: Collection[Linked]) -> Iterator[tuple[Linked, Linked]]:
    """Pairs of held works, the older first, of which one is among `mine`.

    What two works say of each other in both directions says nothing, nor does what a caller's
    record says of a source's work. Call `editions.wait_for_others` first.
    """
    names = {name for one in mine for name in one.names()}
    links = {name for one in mine for name in one.links((*_OLDER, *_NEWER))}
    named = {f"preprint:{name}" for name in links if name.startswith("ppr:")} | links
    by_number = {
        kind: [name.removeprefix(f"{kind}:") for name in links if name.startswith(f"{kind}:")]
        for kind in ("pmid", "doi")
    }
    parameters = {
        "names": text_array(names),
        "keys": text_array(named),
        "pmids": text_array(by_number["pmid"]),
        "dois": text_array(by_number["doi"]),
    }
    others = _rows(session.execute(_OTHERS, parameters)) if mine else []
    for one in mine:
        for other in others:
            if one.document_id == other.document_id or one.follows(other) is other.follows(one):
                continue
            older, newer = (other, one) if one.follows(other) else (one, other)
            if newer.source is not None or older.source is None:
                yield older, newer


def _rows(rows: Any) -> list[Linked]:
    return [Linked(**row._mapping) for row in rows]


# As in the index of migration 0024, so it must not change.
_LINKS = " || ".join(f"coalesce(v.facts -> '{kind}', '[]')" for kind in (*_OLDER, *_NEWER))
_SELECT = """
    SELECT v.document_id, d.source_key AS key, v.source, v.identifiers, v.facts
    FROM document_version v JOIN document d ON d.id = v.document_id WHERE v.status = 'current'
"""
_MINE = sa.text(f"{_SELECT} AND v.document_id = ANY(CAST(:ids AS uuid[]))")
_OTHERS = sa.text(
    f"""
    {_SELECT} AND v.id IN (
        SELECT v.id FROM document_version v WHERE v.status = 'current'
          AND v.facts ?| array['update_of', 'preprints', 'update_in', 'preprint_of']
          AND ({_LINKS}) ?| CAST(:names AS text[])
        UNION ALL
        SELECT v.id FROM document_version v JOIN document d ON d.id = v.document_id
        WHERE d.source_key = ANY(CAST(:keys AS varchar[])) AND v.status = 'current'
        UNION ALL
        SELECT v.id FROM document_version v WHERE v.status = 'current' AND v.identifiers ? 'pmid'
          AND v.identifiers ->> 'pmid' = ANY(CAST(:pmids AS text[]))
        UNION ALL
        SELECT v.id FROM document_version v WHERE v.status = 'current' AND v.identifiers ? 'doi'
          AND lower(v.identifiers ->> 'doi') = ANY(CAST(:dois AS text[])))
    """  # noqa: S608  our own names
)
