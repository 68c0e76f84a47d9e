"""Bulk files become pages as the connectors have them, record for record, and no bomb goes off."""

import json
import zipfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.clinicaltrials import made_up_study
from tests.fakes.openfda import made_up_label
from workers.http.errors import Malformed, SourceError, TooLarge
from workers.ingest.parsers import bulk_json
from workers.ingest.parsers.bulk_json import ctgov_slices, openfda_slices
from workers.ingest.parsers.clinicaltrials.study import parse
from workers.ingest.parsers.openfda.label import parse_label

Slices = Callable[[Path], Iterator[tuple[bytes, int]]]


def _zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def _studies(count: int) -> dict[str, bytes]:
    return {
        f"NCT{n:08d}.json": json.dumps(made_up_study(f"NCT{n:08d}", date(2026, 3, 1))).encode()
        for n in range(count)
    }


def _labels(count: int) -> bytes:
    rows = [made_up_label(n) for n in range(count)]
    return json.dumps({"meta": {"last_updated": "2026-03-01"}, "results": rows}).encode()


def _read(slices: Slices, path: Path) -> tuple[list[tuple[bytes, int]], SourceError | None]:
    """What comes before the error, and the error."""
    found = []
    try:
        for part in slices(path):
            found.append(part)
    except SourceError as error:
        return found, error
    return found, None


def test_studies_come_in_pages_of_the_connector(tmp_path: Path) -> None:
    found, error = _read(ctgov_slices, _zip(tmp_path / "all.zip", _studies(230)))
    assert error is None
    assert [count for _, count in found] == [100, 100, 30]
    keys = [record.key for payload, _ in found for record in parse(payload).records]
    assert keys == [f"nct_id:nct{n:08d}" for n in range(230)]


@pytest.mark.parametrize("zipped", [True, False])
def test_labels_come_in_pages_of_the_connector_with_the_file_s_meta(
    tmp_path: Path, zipped: bool
) -> None:
    path = tmp_path / "labels"
    if zipped:
        _zip(path, {"drug-label-0001-of-0013.json": _labels(230)})
    else:
        path.write_bytes(_labels(230))
    found, error = _read(openfda_slices, path)
    assert error is None
    assert [count for _, count in found] == [100, 100, 30]
    assert json.loads(found[2][0])["meta"] == {"last_updated": "2026-03-01"}
    records = [record for payload, _ in found for record in parse_label(payload).records]
    assert [record.facts["set_id"][:8] for record in records] == [f"{n:08d}" for n in range(230)]
    assert records[0] == parse_label(_labels(1)).records[0]


def test_a_slice_ends_where_it_would_be_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_json, "MAX_SLICE_BYTES", 5000)
    found, _ = _read(ctgov_slices, _zip(tmp_path / "all.zip", _studies(20)))
    assert sum(count for _, count in found) == 20
    assert all(len(payload) < 5100 for payload, _ in found)
    monkeypatch.setattr(bulk_json, "MAX_SLICE_BYTES", 10)
    found, _ = _read(ctgov_slices, _zip(tmp_path / "all.zip", _studies(3)))
    assert [count for _, count in found] == [1, 1, 1]


def test_a_study_that_is_cut_off_leaves_the_others_whole(tmp_path: Path) -> None:
    members = _studies(5)
    members["NCT00000002.json"] = members["NCT00000002.json"][:-10]
    found, error = _read(ctgov_slices, _zip(tmp_path / "all.zip", members))
    assert [count for _, count in found] == [4]
    assert isinstance(error, Malformed)
    assert "NCT00000002" in str(error)


def test_other_members_of_a_zip_file_are_passed_over(tmp_path: Path) -> None:
    members = {"README.txt": b"words", "folder/": b"", **_studies(1)}
    found, error = _read(ctgov_slices, _zip(tmp_path / "all.zip", members))
    assert ([count for _, count in found], error) == ([1], None)


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.999])
def test_a_download_that_is_cut_off_gives_its_whole_records_first(
    tmp_path: Path, kept: float
) -> None:
    whole = _labels(230)
    path = tmp_path / "labels.json"
    path.write_bytes(whole[: int(len(whole) * kept)])
    found, error = _read(openfda_slices, path)
    assert isinstance(error, Malformed)
    count = sum(count for _, count in found)
    assert 230 * kept - 2 < count <= 230
    records = [record for payload, _ in found for record in parse_label(payload).records]
    assert [record.facts["set_id"][:8] for record in records] == [f"{n:08d}" for n in range(count)]


@pytest.mark.parametrize("slices", [ctgov_slices, openfda_slices])
@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 half a zip", b"words", b"[]", b"{}", b'{"results": []}', b"\xff"]
)
def test_what_is_no_bulk_file_is_malformed(tmp_path: Path, slices: Slices, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    found, error = _read(slices, path)
    assert found == []
    assert isinstance(error, Malformed)
    assert isinstance(_read(slices, tmp_path / "missing")[1], Malformed)


@pytest.mark.parametrize("slices", [ctgov_slices, openfda_slices])
def test_every_byte_of_a_zip_file_may_be_wrong(tmp_path: Path, slices: Slices) -> None:
    members = _studies(3) if slices is ctgov_slices else {"labels.json": _labels(3)}
    content = _zip(tmp_path / "good.zip", members).read_bytes()
    path = tmp_path / "bad.zip"
    for at in range(0, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        found, error = _read(slices, path)  # no other error than ours
        assert found or error


@pytest.mark.parametrize("slices", [ctgov_slices, openfda_slices])
def test_a_zip_bomb_does_not_go_off(
    tmp_path: Path, slices: Slices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_json, "MAX_RECORD_BYTES", 10**12)  # only the ratio tells
    bomb = b'{"results": [' + b" " * 30_000_000 + b"{}]}"
    found, error = _read(slices, _zip(tmp_path / "bomb.zip", {"a.json": bomb}))
    assert found == []
    assert isinstance(error, TooLarge)


def test_a_record_without_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_json, "MAX_RECORD_BYTES", 2_000_000)
    path = tmp_path / "labels.json"
    head: Any = _labels(2).removesuffix(b"]}")
    path.write_bytes(head + b', {"a": "' + b"x" * 5_000_000 + b'"}]}')
    found, error = _read(openfda_slices, path)
    assert [count for _, count in found] == [2]
    assert isinstance(error, TooLarge)
