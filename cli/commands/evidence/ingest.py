"""`attest ingest` and `attest search`."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session

from cli.output.bars import terminal_bars
from cli.output.printing import say
from knowledge.matching.choosing import one_of
from store.core.plurals import counted
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents import claimed_works, indexing
from store.documents.records import SourceType
from store.documents.submissions import submit_item
from workers.encoder import encoder_for
from workers.retrieve.search import Hits, Passage, search
from workers.retrieve.stage import asked_filter

SUFFIXES = {".txt", ".md", ".markdown", ".html", ".htm", ".pdf", ".json", ".jsonl"}
LINES_PER_ITEM = 64
"""Records of a JSON Lines file per packet, which is one message and one transaction."""

# Every message that a batch causes has the batch as its request id, so the outbox shows when the
# whole batch is done.
_STATE = sa.text(
    """
    SELECT items.*, messages.* FROM
        (SELECT count(*) FILTER (WHERE status <> 'pending') AS read,
                coalesce(sum(jsonb_array_length(outcome -> 'documents')), 0) AS documents
         FROM ingest_item WHERE batch_id = :batch) AS items,
        (SELECT count(*) FILTER (WHERE status IN ('pending', 'published')) AS open,
                count(*) FILTER (WHERE status = 'dead') AS dead,
                coalesce(sum(jsonb_array_length(payload -> 'version_ids'))
                         FILTER (WHERE stage = 'embed'), 0) AS fresh,
                coalesce(sum(jsonb_array_length(payload -> 'version_ids'))
                         FILTER (WHERE stage = 'anchor' AND status = 'done'), 0) AS indexed
         FROM outbox WHERE request_id = :batch) AS messages
    """
)


class NothingToIngest(ValueError):
    """The named paths hold no file of a known kind."""


def check_source_type(source_type: str | None) -> None:
    """Raises ValueError for a source type that does not exist."""
    if source_type is not None and source_type not in get_args(SourceType):
        raise ValueError(
            f"there is no source type {source_type!r}: {one_of(source_type, get_args(SourceType))}"
        )


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return the files to read, in a stable order; folders are searched recursively.

    Raises:
        NothingToIngest: a path does not exist, or there is nothing readable.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(
                path_inside
                for path_inside in path.rglob("*")
                if path_inside.suffix.lower() in SUFFIXES
            )
        elif path.is_file():
            files.append(path)
        else:
            raise NothingToIngest(f"{path} does not exist")
    if not files:
        raise NothingToIngest(f"no file with one of the endings {', '.join(sorted(SUFFIXES))}")
    return files


def packets(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the items of a file, each with the number of its first line: the whole file, or packets
    of lines of a JSON Lines file."""
    if path.suffix.lower() != ".jsonl":
        yield 1, path.read_bytes()
        return
    lines: list[bytes] = []
    first = 1
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            lines.append(line)
            if len(lines) == LINES_PER_ITEM:
                yield first, b"".join(lines)
                lines, first = [], number + 1
    if lines:
        yield first, b"".join(lines)


def submit(store: Store, paths: Iterable[Path], source_type: str | None) -> tuple[UUID, int]:
    """Submit all files as one batch; return its id and the number of items."""
    batch_id, count = uuid4(), 0
    for path in files_in(paths):
        for first_line, content in packets(path):
            with store.unit_of_work("cli", request_id=batch_id) as work:
                submit_item(
                    work,
                    filename=path.name,
                    media_type=None,
                    content=content,
                    source_type=source_type,
                    batch_id=batch_id,
                    first_line=first_line,
                )
            count += 1
    return batch_id, count


def follow(store: Store, batch_id: UUID, items: int) -> dict[str, Any]:
    """Wait with a progress bar until the batch is read and indexed; return its result."""
    with terminal_bars() as progress:
        reading = progress.add_task("read", total=items)
        indexed = progress.add_task("indexed", total=None)
        while True:
            with Session(store.engine) as session:
                state = session.execute(_STATE, {"batch": batch_id}).one()
            progress.update(reading, completed=state.read)
            progress.update(indexed, completed=int(state.indexed), total=int(state.fresh) or None)
            is_done = state.read == items and state.open == 0
            if is_done and not _still_read(store, batch_id):
                break
            time.sleep(0.1)
    return {
        "batch_id": str(batch_id),
        "items": items,
        "documents": int(state.documents),
        "new_versions": int(state.fresh),
        "indexed": int(state.indexed),
        "failed": failures(store, batch_id),
        "claims": claimed(store, batch_id),
        "dead": state.dead + _died_before(store, batch_id),
    }


def _became(session: Session, batch_id: UUID) -> Sequence[str]:
    """Return the version ids of a batch; a repeated batch gives the versions already held."""
    versions = sa.text(
        "SELECT one ->> 'version_id' FROM ingest_item, "
        "jsonb_array_elements(outcome -> 'documents') AS one WHERE batch_id = :batch"
    )
    return session.execute(versions, {"batch": batch_id}).scalars().all()


def claimed(store: Store, batch_id: UUID) -> list[dict[str, Any]]:
    """Return the documents of a batch that are filed under the identifier of a work that a source
    holds (`store.documents.claimed_works`)."""
    with store.reading() as session:
        ids = session.execute(
            sa.text(
                "SELECT DISTINCT CAST(one ->> 'document_id' AS uuid) FROM ingest_item, "
                "jsonb_array_elements(outcome -> 'documents') AS one WHERE batch_id = :batch"
            ),
            {"batch": batch_id},
        )
        claims = claimed_works.of_documents(session, ids.scalars().all())
    return [
        {"document_id": str(document_id), **claim}
        for document_id, document_claims in claims.items()
        for claim in document_claims
    ]


def _still_read(store: Store, batch_id: UUID) -> bool:
    """Return true if the versions are not indexed yet: an earlier batch may have sent them."""
    with store.reading() as session:
        return indexing.still_read(session, _became(session, batch_id))


def _died_before(store: Store, batch_id: UUID) -> int:
    """Count dead letters of these versions from earlier batches: a repeated batch makes none."""
    with store.reading() as session:
        died = indexing.deaths(session, _became(session, batch_id))
    return sum(death.state == "open" and death.request_id != batch_id for death in died)


_FAILURES = sa.text(
    """
    SELECT filename, first_line, CAST(NULL AS int) AS line, error FROM ingest_item
    WHERE batch_id = :batch AND status = 'failed' AND outcome -> 'problems' IS NULL
    UNION ALL
    SELECT filename, first_line, CAST(one ->> 'line' AS int), one ->> 'reason'
    FROM ingest_item, jsonb_array_elements(outcome -> 'problems') AS one
    WHERE batch_id = :batch
    ORDER BY filename, first_line, line
    """
)


def failures(store: Store, batch_id: UUID) -> list[dict[str, Any]]:
    """Return what could not be read, and why: items, or single lines where `line` is set."""
    with Session(store.engine) as session:
        rows = session.execute(_FAILURES, {"batch": batch_id})
        return [{"file": row.filename, "line": row.line, "error": row.error} for row in rows]


def find(settings: Settings, store: Store, text: str, options: Mapping[str, Any], k: int) -> Hits:
    """Return the best `k` passages for `text`, as the retrieve stage finds them.

    Args:
        options: of a question; its `filters` and `as_of` restrict the search.
    """
    vector = encoder_for(settings).encode([text])[0]
    with store.reading() as session:
        return search(session, text, vector, {}, only=asked_filter(options), limit=k)


def show(found: Iterable[Passage]) -> None:
    """Print passages for people."""
    for number, passage in enumerate(found, start=1):
        say(f"{number}. {passage.title}  [{passage.source_type}]  {passage.fused.score:.3f}")
        say(f"   {passage.section or 'BODY'}, {passage.chunk_id}:{passage.start}-{passage.end}")
        say(f"   {' '.join(passage.text.split())[:240]}")


def in_words(report: Mapping[str, Any]) -> str:
    """Return the result of a batch in words."""
    read = counted(report["documents"], "document")
    fresh = counted(report["new_versions"], "new version")
    bad = sum(failure["line"] is not None for failure in report["failed"])
    lines = f", {counted(bad, 'line')} could not be read" if bad else ""
    return f"{read}, {fresh}, {report['indexed']} indexed{lines}"


def about_the_claims(report: Mapping[str, Any]) -> str:
    """Return a sentence about documents under a source's identifiers, with the first as example."""
    claims = report["claims"]
    more = f" So it is with {len(claims) - 1} more." if len(claims) > 1 else ""
    return f"{claimed_works.in_words(claims[0])}{more} See: attest findings --kind claimed"


def about_the_dead(report: Mapping[str, Any]) -> str:
    """Return a sentence about the dead letters of a batch, and what to do."""
    return (
        f"{counted(report['dead'], 'message')} died, nothing is lost: `attest dead-letters list` "
        "says why, and once that is mended `attest dead-letters replay` does the work again"
    )


def passage_body(passage: Passage) -> dict[str, Any]:
    """Return a passage for programs."""
    return {
        "document_id": str(passage.document_id),
        "version": passage.n,
        "title": passage.title,
        "source_type": passage.source_type,
        "chunk_id": passage.chunk_id,
        "section": passage.section,
        "start": passage.start,
        "end": passage.end,
        "score": round(passage.fused.score, 4),
        "lexical": passage.fused.lexical,
        "dense": passage.fused.dense,
        "text": passage.text,
    }
