"""What a sidecar says, and what a guideline is made of it."""

import json
from typing import Any

import pytest

from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers import envelope
from workers.ingest.parsers.guideline import (
    MAX_SIDECAR_BYTES,
    BadSidecar,
    check_sidecar,
    parse_guideline,
    read_sidecar,
)

GOOD: dict[str, Any] = {
    "title": "Made-up tumours",
    "organisation": "Invented Society",
    "version": "1.10",
    "effective_date": "2026-01-31",
    "licence_note": "made up for tests",
}


@pytest.mark.parametrize(
    ("organisation", "source_type"),
    [
        ("NCCN", "nccn"),
        ("National Comprehensive Cancer Network®", "nccn"),
        ("asco", "asco"),
        ("American Society of Clinical Oncology", "asco"),
        ("European Society for Medical Oncology", "esmo"),
        ("Invented Society", "guideline"),
        ("Not NCCN", "guideline"),
    ],
)
def test_the_organisation_decides_what_kind_it_is(organisation: str, source_type: str) -> None:
    assert check_sidecar(GOOD | {"organisation": organisation}).source_type == source_type


def test_a_new_version_is_the_same_document() -> None:
    first = check_sidecar(GOOD)
    second = check_sidecar(GOOD | {"version": "2", "effective_date": "2026-12-31"})
    assert first.key == second.key == "guideline:invented-society/made-up-tumours"
    assert check_sidecar(GOOD | {"title": "MADE-UP  TUMOURS!"}).key == first.key


def test_american_spelling_is_understood() -> None:
    body = {"organization": "A", "license_note": "B"} | {
        name: words for name, words in GOOD.items() if name not in ("organisation", "licence_note")
    }
    sidecar = check_sidecar(body)
    assert (sidecar.organisation, sidecar.licence_note) == ("A", "B")


@pytest.mark.parametrize(
    ("content", "is_json"),
    [
        (b"title: T\norganisation: O\nversion: 1.10\neffective_date: 2026-01-31\nlicence_note: N",
         False),
        (b'{"title": "T", "organisation": "O", "version": 1.10, "effective_date": "2026-01-31",'
         b' "licence_note": "N"}', True),
    ],
)  # fmt: skip
def test_a_version_is_taken_as_it_is_written(content: bytes, is_json: bool) -> None:
    assert read_sidecar(content, is_json=is_json).version == "1.10"


@grid(
    "content",
    [
        b"", b"just words", b"- a\n- b", b"title: [", b"\xff\xfe", b"a: &a [*a, *a]",
        b"[" * 10_000, b"title: {a: b}", b"x: !!python/x y",
        b"x" * (MAX_SIDECAR_BYTES + 1), b'{"title": NaN}',
    ],
)  # fmt: skip
@grid("is_json", [True, False])
def test_a_sidecar_that_is_none_says_so_in_one_line(content: bytes, is_json: bool) -> None:
    with pytest.raises(BadSidecar) as caught:
        read_sidecar(content, is_json=is_json)
    assert len(str(caught.value).splitlines()) == 1


def test_a_message_names_fields_and_never_their_values() -> None:
    with pytest.raises(BadSidecar) as caught:
        check_sidecar(GOOD | {"effective_date": "secret", "url": "secret"})
    assert "effective_date, url" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["e\fective_date", "a\x1cb", "\x85", "\u2028", "é", "", "\n"])
def test_a_message_stays_one_line_whatever_a_field_is_called(name: str) -> None:
    """The first was found by `make fuzz`, as a damaged escape of a name."""
    with pytest.raises(BadSidecar) as caught:
        check_sidecar(GOOD | {name: "x"})
    assert len(str(caught.value).splitlines()) == 1
    assert "wrong in ?;" in str(caught.value)


def _payload(content: bytes = b"# H\n\nWords.", path: str = "a.md", **sidecar: Any) -> bytes:
    return envelope.wrap(content, path=path, sidecar=GOOD | sidecar, sha256="0" * 64)


def test_the_sidecar_goes_before_what_the_file_says_of_itself() -> None:
    content = b"---\ntitle: Another\npmid: 123\n---\n# H\n\nWords."
    (record,) = parse_guideline(_payload(content, url="https://example.test/x")).records
    assert (record.title, record.text) == ("Made-up tumours", "# H\n\nWords.")
    assert record.identifiers.pmid == "123"
    assert record.key == "guideline:invented-society/made-up-tumours"
    assert record.facts == {
        "organisation": "Invented Society",
        "version": "1.10",
        "effective_date": "2026-01-31",
        "licence_note": "made up for tests",
        "path": "a.md",
        "sha256": "0" * 64,
    }


@pytest.mark.parametrize(
    ("content", "path"), [(b"", "a.md"), (b"\xff\xff", "a.txt"), (b"x", "a.pdf"), (b"x", "a.docx")]
)
def test_a_file_that_cannot_be_read_is_a_problem_that_names_it(content: bytes, path: str) -> None:
    parsed = parse_guideline(_payload(content, path))
    assert parsed.records == []
    assert parsed.problems[0].source_id == "guideline:invented-society/made-up-tumours"
    assert parsed.problems[0].reason.startswith(f"{path}: ")


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        _payload(path=""),
        _payload(effective_date="soon"),
        json.dumps({"content": "", "path": "a"}).encode(),
    ],
)
def test_a_broken_envelope_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse_guideline(payload)
