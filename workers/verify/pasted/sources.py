"""What a pasted text is compared with: documents sent along, or the evidence that is held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from clinical_text.fates import Fate, fate
from clinical_text.quotes import Source
from clinical_text.structure import segment
from knowledge.loader import load
from store.documents import identifiers as works
from store.documents.documents import get_versions
from store.documents.records import ENDING_NOTICES
from store.index import dense, lexical, partitions
from store.index.filters import Filter
from store.index.terms import terms
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context
from workers.verify.answers.answer import Held
from workers.verify.passages.locating import CitedText
from workers.verify.passages.texts import Cut, chunks_of, cited_text, held_versions
from workers.verify.pasted.identifiers import in_one_form, kind_and_value
from workers.verify.pasted.statements import Statement, TooLong

_VERSIONS_OF_CHUNKS = """
    SELECT id, version_id FROM chunk WHERE id = ANY(:ids)
"""


@dataclass(frozen=True)
class Sources:
    """The sources of each statement by its id, those it names itself, and what is known of all."""

    texts: Mapping[str, Mapping[str, CitedText]]
    cited: Mapping[str, Sequence[str]]
    held: Mapping[str, Held] = field(default_factory=dict)
    chunks: Mapping[str, Sequence[Cut]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    bearers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Identifier as the text writes it → keys of the sources that bear it."""
    fates: Mapping[str, Fate] = field(default_factory=dict)
    """What documents that were sent along say became of them."""
    without: Sequence[str] = ()
    """The partitions of the index that were not searched."""


def sent_along(documents: Sequence[Mapping[str, Any]], statements: Sequence[Statement]) -> Sources:
    """Every document is a source of every statement; one that names some is held to those. One that
    says that it was retracted, withdrawn or removed is none.

    Raises:
        TooLong: all of them together are longer than `knowledge/answering/verifying.yaml` allows.
    """
    _within("documents_characters", sum(len(one["text"]) for one in documents), "characters")
    texts, titles, names = {}, {}, {}
    for number, one in enumerate(documents, start=1):
        key = f"D{number}"
        identifiers = {
            kind: in_one_form(kind, str(value))
            for kind, value in (one.get("identifiers") or {}).items()
        }
        title = one.get("title") or ""
        texts[key] = CitedText(
            Source(one["text"]), segment(one["text"]).sentences, title, identifiers
        )
        titles[key] = title
        names[key] = {(kind, value.lower()) for kind, value in identifiers.items()}
    count = sum(len(one.sentences) for one in texts.values())
    _within("documents_sentences", count, "sentences")
    found = {key: fate(one.title, one.source.text) for key, one in texts.items()}
    fates = {key: kind for key, kind in found.items() if kind}
    texts = {key: one for key, one in texts.items() if fates.get(key) not in ENDING_NOTICES}
    bearers = _bearers(statements, names)
    return Sources(
        texts={one.statement_id: texts for one in statements},
        cited={
            one.statement_id: [key for key in _keys(one, bearers) if key in texts]
            for one in statements
        },
        titles=titles,
        bearers=bearers,
        fates=fates,
    )


def _within(limit: str, count: int, what: str) -> None:
    most = int(load("answering/verifying")[limit])
    if count > most:
        raise TooLong(
            f"the documents have {count:,} {what}; a text is compared with at most {most:,}"
        )


def held_evidence(context: Context, statements: Sequence[Statement]) -> Sources:
    """The versions that a statement names, or those that a search finds for it.

    The encoder reads the first statements of a very long text; the others are searched by words.

    Raises:
        Permanent: the index was made with another encoder.
    """
    judged = [one for one in statements if one.claims or one.quotations]
    vectors = context.encoder.encode(_read_by_meaning(judged))
    segments = context.cache.setdefault("lexical_segments", {})
    many = int(load("answering/verifying")["candidates"])
    with context.store.reading() as session:
        try:
            dense.require_encoder(session, context.encoder.name, context.encoder.dimensions)
        except dense.EncoderMismatch as error:
            raise Permanent(str(error)) from error
        named = _named(session, statements)
        found: dict[str, list[UUID]] = {}
        for one, vector in zip_longest(judged, vectors):
            read = lexical.prepare(session, terms(one.words), segments)
            by_words = lexical.best(session, read, many, Filter())
            by_meaning = [] if vector is None else dense.search(session, vector, many)
            found[one.statement_id] = _versions(
                session, [chunk for chunk, _ in [*by_words, *by_meaning]]
            )
        ids = list(dict.fromkeys([*_flat(named.values()), *_flat(found.values())]))
        versions = {f"E{n}": one for n, one in enumerate(get_versions(session, ids), start=1)}
        held = held_versions(session, versions, context.now())
        chunks = chunks_of(session, ids)
        without = partitions.without(session)
    key_of = {version.id: key for key, version in versions.items()}
    usable = {key for key, one in held.items() if one.may_be_cited(in_the_past=False)}
    bearers = {name: [key_of[one] for one in some] for name, some in named.items()}
    texts = {key: cited_text(context, held[key]) for key in usable}
    cited = {one.statement_id: _keys(one, bearers) for one in statements}
    return Sources(
        texts={
            one.statement_id: {
                key: texts[key]
                for key in dict.fromkeys(
                    [
                        *cited[one.statement_id],
                        *(key_of[v] for v in found.get(one.statement_id, ())),
                    ]
                )
                if key in usable
            }
            for one in statements
        },
        cited=cited,
        held=held,
        chunks={key: chunks[version.id] for key, version in versions.items()},
        titles={key: version.title for key, version in versions.items()},
        bearers=bearers,
        without=without,
    )


def _read_by_meaning(statements: Sequence[Statement]) -> list[str]:
    """What the encoder reads: the beginning of each statement, as far as there is time for them."""
    policy = load("answering/verifying")
    each, left, found = int(policy["meaning_characters"]), int(policy["meaning_in_all"]), []
    for one in statements:
        words = one.words[:each]
        left -= len(words)
        if left < 0:
            break
        found.append(words)
    return found


def _named(session: Session, statements: Sequence[Statement]) -> dict[str, list[UUID]]:
    """The current versions that bear the identifiers of the text."""
    wanted: dict[str, set[str]] = {"pmid": set(), "pmcid": set(), "doi": set(), "nct_id": set()}
    names = {name for one in statements for name in (*one.identifiers, *one.cited)}
    for name in names:
        kind, value = kind_and_value(name)
        if kind in wanted:
            wanted[kind].add(value)
    held = works.held(session, wanted)
    return {
        name: sorted(held[kind_and_value(name)]) for name in names if kind_and_value(name) in held
    }


def _versions(session: Session, chunk_ids: Sequence[int]) -> list[UUID]:
    """The versions of the chunks, in their order."""
    rows = session.execute(sa.text(_VERSIONS_OF_CHUNKS), {"ids": [int(one) for one in chunk_ids]})
    version_of = {row.id: row.version_id for row in rows}
    return list(dict.fromkeys(version_of[one] for one in chunk_ids if one in version_of))


def _bearers(
    statements: Sequence[Statement], names: Mapping[str, set[tuple[str, str]]]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in {name for one in statements for name in (*one.identifiers, *one.cited)}:
        kind, value = kind_and_value(name)
        keys = [key for key, known in names.items() if (kind, value.lower()) in known]
        if keys:
            found[name] = keys
    return found


def _keys(statement: Statement, bearers: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(key for name in statement.cited for key in bearers.get(name, ())))


def _flat(lists: Any) -> list[UUID]:
    return [one for some in lists for one in some]
