"""Guideline files that the user may use, from a folder of this machine (WIRE 7). No network.

A file is read only with a sidecar (`NAME.pdf.yaml`, `NAME.yaml` or the same with .json). A removed
file counts as gone: its owner withdrew the permission to use it.
"""

import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers.file_formats import MAX_FILE_BYTES
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.guideline import (
    FORMATS,
    WRITE,
    BadSidecar,
    Sidecar,
    parse_guideline,
    read_sidecar,
)

FILES_A_STEP = 8
BYTES_A_STEP = 64 * 1024 * 1024
_SIDECARS = (".yaml", ".yml", ".json")
_MAX_QUERY = 200
_MAX_FILES = 20_000
_MAX_PATH = 500


class _Unusable(Exception):
    """A file that cannot be used; the message follows its path and says what to do."""


@dataclass(frozen=True)
class _File:
    """A guideline file with its sidecar. `digest` covers both."""

    path: str
    sidecar: Sidecar
    digest: str


@dataclass
class _Scan:
    """The contents of the folder. Paths are relative to it, with slashes."""

    files: list[_File] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)


class Guidelines:
    """Marks: path → {`digest`, `key`} of each file read. Continuation: `todo`, the paths still to
    be read, and `marks`."""

    name = "guidelines"
    fetch_limit = FILES_A_STEP

    def __init__(self, folder: Path | None) -> None:
        """`folder`: ATTEST_GUIDELINES_DIR."""
        self._folder = folder

    def check_query(self, query: str) -> str:
        """Empty for all files, a sub-folder, or a pattern (`nccn/*.pdf`; `*` matches slashes).

        Raises InvalidQuery.
        """
        words = query.strip().strip("/")
        parts = words.split("/")
        if (
            query.strip().startswith(("/", "~"))
            or "\\" in words
            or ":" in words
            or not words.isprintable()
            or len(words) > _MAX_QUERY
            or any(part in (".", "..") or (words and not part) for part in parts)
        ):
            raise InvalidQuery(
                "name a folder inside the guideline folder (nccn), a pattern (nccn/*.pdf), or "
                "nothing for all files"
            )
        return words

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:  # noqa: ARG002
        """Some files at a time; the first page also scans the folder and reports its problems."""
        root = self._root()
        payloads: list[Payload] = []
        if continuation is None:
            scan = _scan(root, ask.query)
            marks = _marks(scan, ask.marks)
            todo = _changed(scan, ask.marks)
            payloads += [_problem(path, reason) for path, reason in scan.unusable.items()]
            missing = _missing(root, scan, ask.marks)
            elsewhere = _elsewhere(root, ask.query, missing)
            payloads += [
                Payload("gone", envelope.gone(key)) for key in missing if key not in elsewhere
            ]
            if elsewhere:
                payloads.append(Payload("moved", envelope.unseen(elsewhere)))
                marks = _kept(ask.marks, elsewhere) | marks
        else:
            todo, marks = _place(continuation)
        read, left = _read_some(root, todo, marks)
        payloads += read
        following = {"todo": left, "marks": marks} if left else None
        # an emptied folder has marks too: without any, the old marks would stay
        return Page(tuple(payloads), following, len(marks), {} if left else {"files": marks})

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:  # noqa: ARG002
        """Guidelines by key."""
        root = self._root()
        wanted = set(keys[: self.fetch_limit])
        paths = [file.path for file in _scan(root, "").files if file.sidecar.key in wanted]
        return Page(tuple(_read_some(root, paths, {})[0]))

    def parse(self, payload: bytes) -> Parsed:
        """Raises Malformed."""
        return parse_guideline(payload)

    def _root(self) -> Path:
        if self._folder is None:
            raise Refused("guidelines: no folder is set; set ATTEST_GUIDELINES_DIR")
        try:
            root = self._folder.resolve(strict=True)
        except (OSError, RuntimeError):
            root = None
        if root is None or not root.is_dir():
            raise Refused(
                "guidelines: the folder in ATTEST_GUIDELINES_DIR is not there; "
                "make it or mount it again"
            )
        return root


def _scan(root: Path, query: str) -> _Scan:
    """Scan the files that the query covers; hidden files and sidecars are skipped.

    Of several versions of a guideline the newest counts; the others are reported as unusable.
    """
    scan = _Scan()
    newest: dict[str, _File] = {}
    for path in _paths(root, scan):
        if not _covers(query, path):
            continue
        try:
            file, _ = _load(root, path)
        except _Unusable as error:
            scan.unusable[path] = str(error)
            continue
        older = newest.get(file.sidecar.key)
        if older is None or older.sidecar.effective_date < file.sidecar.effective_date:
            newest[file.sidecar.key] = file
        else:
            older = file
        if older is not None:
            scan.unusable[older.path] = (
                f"is not newer than {newest[file.sidecar.key].path}, "
                "which says the same title: take one away"
            )
    scan.files = list(newest.values())
    scan.unusable = {path: why for path, why in scan.unusable.items() if _covers(query, path)}
    return scan


def _paths(root: Path, scan: _Scan) -> Iterator[str]:
    """Sorted relative paths. Links to folders are not followed, but reported as unusable."""
    count = 0
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            if (here / name).is_symlink():
                path = (here / name).relative_to(root).as_posix()
                scan.unusable[path] = "is a link to a folder; copy the files instead"
        for name in sorted(names):
            path = (here / name).relative_to(root).as_posix()
            if name.startswith(".") or Path(name).suffix.lower() in _SIDECARS:
                continue
            count += 1
            if count > _MAX_FILES:
                raise Refused(f"guidelines: more than {_MAX_FILES:,} files in the folder")
            yield path


def _covers(query: str, path: str) -> bool:
    if any(mark in query for mark in "*?["):
        return fnmatch.fnmatchcase(path, query)
    return not query or path == query or path.startswith(f"{query}/")


def _load(root: Path, path: str) -> tuple[_File, bytes]:
    """The file with its sidecar, and its content. Raises _Unusable."""
    if not path.isprintable() or len(path) > _MAX_PATH:
        raise _Unusable("has characters in its name that cannot be shown; rename it")
    if Path(path).suffix.lower() not in FORMATS:
        raise _Unusable("is of a kind that is not read; save it as PDF, HTML, Markdown or text")
    sidecar_name = next(
        (name for name in _sidecar_names(path) if os.path.lexists(root / name)), None
    )
    if sidecar_name is None:
        raise _Unusable(f"has no sidecar: write {path}.yaml with {WRITE}")
    sidecar_bytes, content = _bytes(root, sidecar_name), _bytes(root, path)
    try:
        sidecar = read_sidecar(sidecar_bytes, is_json=sidecar_name.lower().endswith(".json"))
    except BadSidecar as error:
        raise _Unusable(f"has a sidecar that {error}") from None
    digest = hashlib.sha256(content + b"\0" + sidecar_bytes).hexdigest()
    return _File(path, sidecar, digest), content


def _sidecar_names(path: str) -> Iterator[str]:
    stem = path[: -len(Path(path).suffix)]
    for base in (path, stem):
        for ending in _SIDECARS:
            yield base + ending


def _bytes(root: Path, path: str) -> bytes:
    """The content of a plain file inside the folder. Raises _Unusable."""
    try:
        place = (root / path).resolve(strict=True)
        if not place.is_relative_to(root):
            raise _Unusable(
                "is or needs a link that leads out of the folder; copy the file instead"
            )
        # O_NONBLOCK: not to wait for a pipe that nobody writes to
        handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with open(handle, "rb") as opened:  # noqa: PTH123 - a descriptor
            plain = stat.S_ISREG(os.fstat(handle).st_mode)
            content = opened.read(MAX_FILE_BYTES + 1) if plain else b""
    except (OSError, RuntimeError):
        raise _Unusable("cannot be opened; look at its permissions, or take it away") from None
    if not plain:
        raise _Unusable("is not a plain file; take it away")
    if len(content) > MAX_FILE_BYTES:
        raise _Unusable(f"has more than {MAX_FILE_BYTES // 2**20} MB; split it")
    return content


def _old(marks: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    files = marks.get("files")
    if not isinstance(files, dict):
        return {}
    return {
        str(path): {"digest": str(mark.get("digest", "")), "key": str(mark.get("key", ""))}
        for path, mark in files.items()
        if isinstance(mark, dict)
    }


def _changed(scan: _Scan, marks: Mapping[str, Any]) -> list[str]:
    """Paths of files that are new or changed."""
    old = _old(marks)
    return [file.path for file in scan.files if old.get(file.path, {}).get("digest") != file.digest]


def _marks(scan: _Scan, marks: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The marks of all usable files, and the old marks of those that are unusable for now."""
    old = _old(marks)
    kept = {path: old[path] for path in scan.unusable if path in old}
    return kept | {
        file.path: {"digest": file.digest, "key": file.sidecar.key} for file in scan.files
    }


def _elsewhere(root: Path, query: str, keys: Sequence[str]) -> list[str]:
    """The keys whose file now lies outside the query: it was moved."""
    if not keys or not query:
        return []
    present = {file.sidecar.key for file in _scan(root, "").files}
    return [key for key in keys if key in present]


def _kept(marks: Mapping[str, Any], keys: Sequence[str]) -> dict[str, dict[str, str]]:
    """The old marks of these keys without digests: files that come back are read again."""
    wanted = set(keys)
    return {
        path: {"digest": "", "key": mark["key"]}
        for path, mark in _old(marks).items()
        if mark["key"] in wanted
    }


def _missing(root: Path, scan: _Scan, marks: Mapping[str, Any]) -> list[str]:
    """Keys without a file that the query covers. A file that exists but is unusable is not
    missing."""
    still = {file.sidecar.key for file in scan.files}
    missing: dict[str, None] = {}
    for path, mark in _old(marks).items():
        if path in scan.unusable and os.path.lexists(root / path):
            still.add(mark["key"])
        missing[mark["key"]] = None
    return [key for key in missing if key and key not in still]


def _read_some(
    root: Path, todo: Sequence[str], marks: dict[str, dict[str, str]]
) -> tuple[list[Payload], list[str]]:
    """The payloads of the first paths, and the remaining paths. A file that proves unusable loses
    its mark, so that it is tried again."""
    payloads: list[Payload] = []
    size = 0
    for index, path in enumerate(todo):
        if index == FILES_A_STEP or size >= BYTES_A_STEP:
            return payloads, list(todo[index:])
        try:
            payloads.append(_document(root, path))
        except _Unusable as error:
            payloads.append(_problem(path, str(error)))
            marks.pop(path, None)
        size += len(payloads[-1].content)
    return payloads, []


def _document(root: Path, path: str) -> Payload:
    """The file in its envelope. Raises _Unusable."""
    file, content = _load(root, path)
    sidecar = file.sidecar.model_dump(mode="json", exclude_none=True)
    digest = hashlib.sha256(content).hexdigest()
    return Payload(
        Path(path).name[:100], envelope.wrap(content, path=path, sidecar=sidecar, sha256=digest)
    )


def _problem(path: str, reason: str) -> Payload:
    shown = path if path.isprintable() else ascii(path)
    return Payload(
        "problem", envelope.problem(f"guidelines:{shown[:200]}", f"{shown[:_MAX_PATH]} {reason}")
    )


def _place(continuation: Continuation) -> tuple[list[str], dict[str, dict[str, str]]]:
    todo = continuation.get("todo")
    if not isinstance(todo, list):
        raise Malformed("the continuation of this refresh is not one of the guideline folder's")
    inside = [path for path in todo if isinstance(path, str) and _is_inside(path)]
    return inside, _old({"files": continuation.get("marks")})


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/")
