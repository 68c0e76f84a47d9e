"""Cuts bulk files of ClinicalTrials.gov and openFDA into pages like those of their connectors.

No file is loaded whole: memory holds one slice and the directory of a zip file.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import IO, Any

import ijson  # type: ignore[import-untyped]

from workers.http.errors import Malformed, TooLarge
from workers.ingest.parsers.json_payload import load

Slices = Iterator[tuple[bytes, int]]
"""Payloads, each with its number of records."""

MAX_RECORDS = 100
MAX_SLICE_BYTES = 8 * 1024 * 1024
"""A slice ends at whichever limit is reached first; a single record may be larger than it."""
MAX_RECORD_BYTES = 64 * 1024 * 1024
MAX_RATIO = 250
"""Uncompressed bytes per compressed byte: JSON of either source has 5 to 40, a zip bomb 1,000."""

_SMALL = 1024 * 1024  # the ratio counts only above this; `meta` stands within the first this many
_CHUNK = 256 * 1024
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def ctgov_slices(path: Path) -> Slices:
    """Pages `{"studies": […]}` from a zip file with one `NCT….json` per study, in its order.

    Errors are raised after all readable members were yielded: Malformed for members that are not
    JSON, TooLarge for a member larger than any study. Also raises Malformed for other files.
    """
    broken: list[str] = []
    first: TooLarge | None = None
    page = _Slice(b'{"studies":[', b"]}")
    with _opened(path) as archive:
        for member in archive.infolist():
            if member.is_dir() or not member.filename.lower().endswith(".json"):
                continue
            try:
                content = _member(archive, member)
                load(content)
            except TooLarge as error:
                first = first or error
                continue
            except (Malformed, OSError, *_BROKEN):
                broken.append(Path(member.filename).stem[:20])
                continue
            yield from page.add(content)
    yield from page.rest()
    if first:
        raise first
    if not page.total and not broken:
        raise Malformed("no studies in the zip file")
    if broken:
        some = ", ".join(broken[:5]) + (" and others" if len(broken) > 5 else "")
        raise Malformed(f"{len(broken):,} members of the zip file are not readable JSON: {some}")


def openfda_slices(path: Path) -> Slices:
    """Pages `{"meta": …, "results": […]}` from an openFDA download, zipped or not.

    Each page repeats the file's meta. Raises Malformed, after all complete records were yielded, if
    the file is truncated or not JSON; TooLarge for an impossibly large record and for zip bombs.
    """
    with ExitStack() as stack:
        meta = _meta(path)
        page = _Slice(b'{"meta":' + meta + b',"results":[', b"]}")
        failure: Exception | None = None
        for part in _parts(path, stack):
            source = _Guarded(*part)
            try:
                for row in ijson.items(source, "results.item", use_float=True, buf_size=_CHUNK):
                    source.record_done()
                    yield from page.add(json.dumps(row, allow_nan=False).encode())
            except TooLarge as error:
                failure = error
            except (ijson.JSONError, UnicodeError, OSError, ValueError, *_BROKEN):
                failure = Malformed("openFDA download: cut off, or not JSON")
            if failure:
                break
        yield from page.rest()
        if failure:
            raise failure from None
        if not page.total:
            raise Malformed("openFDA download: no records in it")


class _Slice:
    """A page that collects records until it is full."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        self._head, self._tail = head, tail
        self._records: list[bytes] = []
        self._size = 0
        self.total = 0
        """Records added so far."""

    def add(self, record: bytes) -> Slices:
        """Add a record; if the page is full, yield that page first."""
        full = len(self._records) >= MAX_RECORDS or self._size + len(record) > MAX_SLICE_BYTES
        if full:
            yield from self.rest()
        self._records.append(record)
        self._size += len(record)
        self.total += 1

    def rest(self) -> Slices:
        """Yield the current page if it has any records."""
        if self._records:
            yield self._head + b",".join(self._records) + self._tail, len(self._records)
        self._records, self._size = [], 0


class _Guarded:
    """A file that limits the bytes read per record and the compression ratio."""

    def __init__(self, file: IO[bytes], packed: int | None) -> None:
        self._file = file
        self._most = None if packed is None else max(_SMALL, packed * MAX_RATIO)
        self._given = 0
        self._at_record = 0

    def read(self, size: int = -1) -> bytes:
        """Read like a file. Raises TooLarge."""
        chunk = self._file.read(_CHUNK if size < 0 else size)
        self._given += len(chunk)
        if self._most is not None and self._given > self._most:
            raise TooLarge(f"a zip file that grows more than {MAX_RATIO}-fold is not read")
        if self._given - self._at_record > MAX_RECORD_BYTES:
            raise TooLarge(f"a record of more than {MAX_RECORD_BYTES // 1024**2} MB is not read")
        return chunk

    def record_done(self) -> None:
        """Note that a whole record has been read."""
        self._at_record = self._given


def _opened(path: Path) -> AbstractContextManager[zipfile.ZipFile]:
    try:
        return zipfile.ZipFile(path)
    except (OSError, ValueError, *_BROKEN):
        raise Malformed("not a whole zip file") from None


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as file:
        guarded = _Guarded(file, member.compress_size)
        chunks = []
        while chunk := guarded.read(_CHUNK):
            chunks.append(chunk)
    return b"".join(chunks)


def _parts(path: Path, stack: ExitStack) -> Iterator[tuple[IO[bytes], int | None]]:
    """The file, or the JSON members of a zip file, each with its compressed size."""
    try:
        zipped = zipfile.is_zipfile(path)
    except OSError:
        raise Malformed("not a readable file") from None
    if not zipped:
        try:
            yield stack.enter_context(path.open("rb")), None
        except OSError:
            raise Malformed("not a readable file") from None
        return
    archive = stack.enter_context(_opened(path))
    for member in archive.infolist():
        if not member.is_dir() and member.filename.lower().endswith(".json"):
            try:
                yield stack.enter_context(archive.open(member)), member.compress_size
            except _BROKEN:
                raise Malformed("a member of the zip file is not readable") from None


def _meta(path: Path) -> bytes:
    """The file's `meta` object, which stands before the records and includes `last_updated`."""
    with ExitStack() as stack:
        for file, _ in _parts(path, stack):
            meta: Any = {}
            try:
                head = _Head(file)
                meta = next(ijson.items(head, "meta", use_float=True, buf_size=8192), {})
            except (ijson.JSONError, UnicodeError, OSError, ValueError, *_BROKEN):
                meta = {}
            return json.dumps(meta if isinstance(meta, dict) else {}).encode()
    return b"{}"


class _Head:
    """A view of the first bytes of a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left = _SMALL

    def read(self, size: int = -1) -> bytes:
        """Read like a file that ends after these bytes."""
        chunk = self._file.read(min(size, self._left) if size >= 0 else self._left)
        self._left -= len(chunk)
        return chunk
