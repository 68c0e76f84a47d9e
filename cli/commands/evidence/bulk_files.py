"""Bulk files of sources: finds them, dates them, and cuts them into slices."""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from store.models import now
from workers.http.errors import Malformed
from workers.ingest.parsers import bulk_json
from workers.ingest.parsers.pubmed import bulk as pubmed_bulk

RECORDS_PER_SLICE = 250
"""PubMed records per message: processed well within a lease; about 3 MB."""
_ENDS = 1024 * 1024  # bytes at each end of a file that its fingerprint covers

_GZIP_OR_XML = re.compile(rb"\x1f\x8b|(\xef\xbb\xbf)?\s*<")


class Slice(NamedTuple):
    """A payload, its number of records, and the number of file bytes read so far."""

    content: bytes
    records: int
    behind: int


@dataclass(frozen=True)
class Format:
    """The file endings of a source, how its files are cut, and the number of bytes to cut."""

    endings: tuple[str, ...]
    cut: Callable[[Path], Iterator[Slice]]
    size: Callable[[Path], int]
    rule: str
    """The rule of the cuts, part of the fingerprint: a file with other cuts is imported anew."""


def _cut_pubmed(path: Path) -> Iterator[Slice]:
    with path.open("rb") as file:
        if path.name.lower().endswith(".gz") and not _GZIP_OR_XML.match(file.read(64)):
            raise Malformed("it is no gzip file, though its name ends in .gz")
        file.seek(0)
        for content, records in pubmed_bulk.slices(file, RECORDS_PER_SLICE):
            yield Slice(content, records, file.tell())


def _cut_json(slices: Callable[[Path], bulk_json.Slices]) -> Callable[[Path], Iterator[Slice]]:
    def cut(path: Path) -> Iterator[Slice]:
        behind = 0
        for content, records in slices(path):
            behind += len(content)
            yield Slice(content, records, behind)

    return cut


def _size(path: Path) -> int:
    return path.stat().st_size


def _unpacked_size(path: Path) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError):
        return _size(path)


_JSON_RULE = f"{bulk_json.MAX_RECORDS} records, {bulk_json.MAX_SLICE_BYTES} bytes"
_OPENFDA = Format(
    (".json", ".json.zip"), _cut_json(bulk_json.openfda_slices), _unpacked_size, _JSON_RULE
)
FORMATS: dict[str, Format] = {
    "pubmed": Format((".xml", ".xml.gz"), _cut_pubmed, _size, f"{RECORDS_PER_SLICE} records"),
    "clinicaltrials": Format(
        (".zip",), _cut_json(bulk_json.ctgov_slices), _unpacked_size, _JSON_RULE
    ),
    "openfda-label": _OPENFDA,
    "openfda-drugsfda": _OPENFDA,
    "openfda-enforcement": _OPENFDA,
}


def files_in(paths: Sequence[Path], endings: tuple[str, ...]) -> list[Path]:
    """Return the files to import; those of a folder sorted by name.

    Raises ValueError: a path does not exist or has another ending, or a folder holds no such file.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.name.lower().endswith(endings))
            if not inside:
                raise ValueError(f"{path} holds no file that ends in {' or '.join(endings)}")
            files += inside
        elif not path.is_file():
            raise ValueError(f"{path} does not exist")
        elif not path.name.lower().endswith(endings):
            raise ValueError(f"{path} does not end in {' or '.join(endings)}")
        else:
            files.append(path)
    return files


def dated(
    source: str, files: Sequence[Path], as_of: datetime | None
) -> list[tuple[Path, datetime]]:
    """Return the files, oldest first, each with the time of its contents.

    PubMed numbers its files, and a later number corrects an earlier one, whenever each was
    downloaded. So they are sorted by name, and none counts as newer than one after it.

    Raises ValueError: a date lies in the future, which would make later data count as outdated.
    """
    if source == "pubmed":
        files = sorted(files, key=lambda path: path.name)
    if as_of is not None:
        return [(path, as_of) for path in files]
    own = [(path, datetime.fromtimestamp(path.stat().st_mtime, UTC)) for path in files]
    for path, at in own:
        if at > now():
            raise ValueError(f"{path} has a date in the future: name the day with --as-of")
    if source != "pubmed":
        return sorted(own, key=lambda item: (item[1], item[0].name))
    latest = own[-1][1]
    dated_files: list[tuple[Path, datetime]] = []
    for path, at in reversed(own):
        latest = min(latest, at)
        dated_files.append((path, latest))
    return dated_files[::-1]


def fingerprint(path: Path, rule: str) -> str:
    """Return what identifies a file: a hash of its name, size, first and last MiB, and cut rule.

    Hashing gigabytes would take minutes and show no more: gzip and zip files end with checksums of
    their whole content.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(f"{path.name}\n{size}\n{rule}\n".encode())
    with path.open("rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(0, size - _ENDS))
        digest.update(file.read(_ENDS))
    return digest.hexdigest()
