"""Ingests documents in the layouts of data sets, through the product's own readers."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from cli.commands.evidence.bulk_files import FORMATS
from store.documents.submissions import Origin, submit_item
from workers.http.errors import SourceError
from workers.inline import InlineWorker

_TEXTS = (".md", ".markdown", ".html", ".htm", ".pdf")
_LINES = (".jsonl",)


@dataclass
class TakenIn:
    """What was ingested. `skipped`: files that hold no documents, by name."""

    files: int = 0
    skipped: list[str] = field(default_factory=list)


class NothingThere(ValueError):
    """A path does not exist or holds no documents."""


def take_in_path(worker: InlineWorker, path: Path) -> TakenIn:
    """Ingest the documents of a file or folder and work until they are indexed.

    Read are PubMed XML (plain or gzip), JSON Lines with records or abstracts, Markdown, HTML and
    PDF. Other files, and XML that is no set of PubMed records, are skipped.

    Raises:
        NothingThere: the path does not exist, or nothing in it is a document.
    """
    if not path.exists():
        raise NothingThere(f"{path} does not exist")
    files = (
        sorted(entry for entry in path.rglob("*") if entry.is_file()) if path.is_dir() else [path]
    )
    taken = TakenIn()
    for file in files:
        if _submit(worker, file):
            taken.files += 1
            worker.run()
        else:
            taken.skipped.append(file.name)
    if not taken.files:
        raise NothingThere(f"{path} holds no documents")
    return taken


def _submit(worker: InlineWorker, file: Path) -> bool:
    name = file.name.lower()
    if name.endswith(FORMATS["pubmed"].endings):
        return _submit_pubmed(worker, file)
    if name.endswith(_LINES):
        content = b"\n".join(_records(file))
    elif name.endswith(_TEXTS):
        content = file.read_bytes()
    else:
        return False
    if content:
        _put(worker, file.name, content, None)
    return bool(content)


def _submit_pubmed(worker: InlineWorker, file: Path) -> bool:
    """Submit the records of a PubMed file in the slices of `attest import`, up to any fault."""
    read, origin = False, Origin("pubmed", datetime.now(UTC))
    try:
        for part in FORMATS["pubmed"].cut(file):
            _put(worker, file.name, part.content, origin)
            read = True
    except SourceError:
        return read
    return read


def _put(worker: InlineWorker, name: str, content: bytes, origin: Origin | None) -> None:
    with worker.store.unit_of_work("evaluate") as work:
        submit_item(
            work,
            filename=name,
            media_type=None,
            content=content,
            source_type=None if origin else "pubmed",
            batch_id=uuid4(),
            origin=origin,
        )


def _records(file: Path) -> Iterator[bytes]:
    """Yield the lines that are records; a line with an abstract is made into a record."""
    for line in file.read_bytes().splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        if "text" in row:
            yield line
        elif row.get("abstract") and row.get("title"):
            yield json.dumps(_of_abstract(row)).encode()


def _of_abstract(row: Mapping[str, Any]) -> dict[str, Any]:
    identifiers = {kind: row[kind] for kind in ("pmid", "pmcid", "doi") if row.get(kind)}
    record = {
        "source_type": "pubmed",
        "title": row["title"],
        "text": row["abstract"],
        "identifiers": identifiers,
        "publisher": row.get("journal"),
    }
    if row.get("year"):
        record["published_at"] = f"{row['year']}-01-01T00:00:00Z"
        record["published_precision"] = "year"
    return record
