"""Rules of the gateway that need no server: names, cursors, abstentions."""

import contextlib
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api_gateway.app import MissingSetting, create_app
from api_gateway.http.publishing import PublishingThread
from api_gateway.http.uploads import (
    MAX_FILENAME_CHARS,
    PARSED_BYTES,
    PDF_HEADER_WITHIN,
    UnreadableFile,
    UnsupportedFile,
    clean_filename,
    media_type_of,
)
from api_gateway.problems import GIVEN_UP
from api_gateway.questions.answers import failed_answer
from api_gateway.verifications.schemas import VerificationIn
from store.core.cursors import InvalidCursor, pack, position, unpack
from store.core.database import connect
from store.core.settings import Settings
from tests.grid import grid

NOWHERE = "postgresql://127.0.0.1:1/nothing"


@pytest.mark.parametrize("missing", ["database_url", "redis_url"])
def test_a_missing_url_is_named_with_its_variable(missing: str) -> None:
    urls = {"database_url": NOWHERE, "redis_url": "redis://127.0.0.1:1/0", missing: ""}
    with pytest.raises(MissingSetting, match=f"ATTEST_{missing.upper()}"):
        create_app(Settings().model_copy(update=urls))


def test_the_answer_to_a_failed_question_has_every_key_of_an_answer() -> None:
    # DESIGN section 5, "Answer object"
    answer = failed_answer()
    assert set(answer) == {
        *(
            "asked",
            "lead",
            "query_type",
            "classification",
            "pico",
            "tags",
            "sub_queries",
            "sufficiency",
        ),
        *("abstained", "abstain_reason", "abstain_detail", "cure", "cure_refreshes"),
        *("summary", "sections", "claims", "evidence", "references", "images", "conflicts"),
        *("verification_summary", "freshness_summary", "recall", "provenance"),
    }
    assert (answer["abstained"], answer["abstain_reason"]) == (True, "unchecked")
    assert answer["abstain_detail"].endswith(GIVEN_UP)
    assert answer["cure"]["action"] == "replay"
    assert set(answer["pico"]) == {
        *("patient", "intervention", "comparison", "outcome", "condition")
    }


@given(st.lists(st.one_of(st.text(max_size=12), st.integers(0, 2**63 - 1)), max_size=4))
def test_a_cursor_gives_its_key_back(key: list[str | int]) -> None:
    assert unpack(pack(key), [type(part) for part in key]) == key


@given(st.text(max_size=60))
def test_any_other_word_is_no_cursor(word: str) -> None:
    with pytest.raises(InvalidCursor):
        unpack(word, [str, str, int, str])


def test_a_cursor_holds_no_number_that_the_database_cannot_compare() -> None:
    for number in (2**63, -1):
        with pytest.raises(InvalidCursor):
            unpack(pack([number]), [int])


@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "nonsense"],
)
def test_a_cursor_holds_no_moment_that_has_no_time_in_utc(moment: str) -> None:
    here = "2026-11-22T10:00:00+02:00"
    last = UUID(int=7)
    assert position(pack([here, str(last)])) == (datetime(2026, 11, 22, 8, tzinfo=UTC), last)
    with pytest.raises(InvalidCursor):
        position(pack([moment, str(last)]))


@given(st.text(max_size=400))
def test_a_file_name_is_one_printable_part_of_bounded_length(name: str) -> None:
    shown = clean_filename(name)
    assert shown.isprintable()
    assert "/" not in shown
    assert "\\" not in shown
    assert 0 < len(shown) <= MAX_FILENAME_CHARS


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("C:\\notes\\re\tport.txt", "report.txt"),
        ("../../a.pdf", "a.pdf"),
        ("..", "upload"),
        ("a/", "a"),
        (None, "upload"),
    ],
)
def test_a_file_name_loses_path_and_control_characters(name: str | None, shown: str) -> None:
    assert clean_filename(name) == shown


@given(st.binary(max_size=200), st.sampled_from(["a.txt", "a.pdf", "a.json", "a.jsonl", "a.html"]))
def test_any_bytes_are_accepted_or_refused_with_a_problem(content: bytes, name: str) -> None:
    with contextlib.suppress(UnsupportedFile, UnreadableFile):
        assert media_type_of(name, None, content).partition("/")[0] in ("text", "application")


@grid(
    ("name", "content"),
    [
        ("a.pdf", b"%PDF-1.7\n"),
        ("a.pdf", b"x" * (PDF_HEADER_WITHIN - 5) + b"%PDF-1.7\n"),
        ("a.txt", b"\xef\xbb\xbfFever."),
        ("a.txt", b" " * 1024 * 1024 + "\N{MICRO SIGN}".encode()),
        ("a.txt", b"x" * (1024 * 1024 - 1) + "\N{MICRO SIGN}".encode()),
        ("a.json", b'\xef\xbb\xbf \n{"text": "x"}'),
        ("a.json", b"[]"),
        ("a.jsonl", b'\n {"text": "x"}\nno JSON, which the ingest stage tells'),
        ("a.json", b'{"text": "' + b"x" * PARSED_BYTES),
    ],
)
def test_a_file_that_may_be_what_it_claims_to_be_is_accepted(name: str, content: bytes) -> None:
    assert media_type_of(name, None, content)


@grid(
    ("name", "content", "told"),
    [
        ("a.txt", b"", "the file is empty"),
        ("a.txt", b"PK\x03\x04", "text/plain and is a ZIP archive"),
        ("a.pdf", b"PK\x03\x04", "application/pdf and is a ZIP archive"),
        ("a.pdf", b"words", "no PDF header"),
        ("a.pdf", b"x" * (PDF_HEADER_WITHIN - 4) + b"%PDF-1.7\n", "no PDF header"),
        ("a.txt", b"%PDF-1.7\n", "text/plain and is a PDF"),
        ("a.txt", "Fever.".encode("utf-16-le"), "NUL bytes"),
        ("a.txt", b"\xff\xfeF\x00", "UTF-16"),
        ("a.txt", b"\xfe\xff\x00F", "UTF-16"),
        ("a.txt", b" \n\t", "no words"),
        ("a.txt", b"5 \xb5g", "not UTF-8 (see byte 2)"),
        ("a.txt", b"x" * (1024 * 1024 - 1) + b"\xc2x", "not UTF-8 (see byte 1048575)"),
        ("a.txt", b"5 \xc2", "not UTF-8 (see byte 2)"),
        ("a.txt", b"x" * (1024 * 1024 - 1) + b"\xc2", "not UTF-8 (see byte 1048575)"),
        ("a.json", b"{" + b" " * (PARSED_BYTES - 1), "the file is no JSON"),
        ("a.json", b"[" * 65 + b"]" * 65, "more than 64 brackets in brackets"),
        ("a.jsonl", b"[" * 65 + b"]" * 65, "more than 64 brackets in brackets"),
        ("a.json", b"\n{", "the file is no JSON (line 1, column 2"),
        ("a.json", b"5", "the file holds no record"),
        ("a.json", b"x" * (PARSED_BYTES + 1), "the file holds no record"),
        ("a.jsonl", b'\n"word"\n{}', "its first line holds no record"),
        ("a.jsonl", b"{\n}", "its first line is no JSON"),
    ],
)
def test_a_file_that_is_not_what_it_claims_to_be_is_refused_with_the_reason(
    name: str, content: bytes, told: str
) -> None:
    with pytest.raises((UnsupportedFile, UnreadableFile), match=re.escape(told)):
        media_type_of(name, None, content)


def test_what_cannot_be_taken_over_is_left_to_the_relay() -> None:
    publishing = PublishingThread(connect(NOWHERE), lambda _: None)  # never started
    for _ in range(1000):
        publishing([])
    with pytest.raises(ConnectionError):
        publishing([])


@pytest.mark.parametrize(
    "body",
    [
        {"text": "x" * 100_001},
        {"text": "x", "documents": [{"text": "x" * 1_000_001}]},
        {"text": "x", "documents": [{"text": "x", "title": "x" * 1001}]},
        {"text": "x", "documents": [{"text": "x", "identifiers": {"pmid": "1" * 301}}]},
    ],
)
def test_a_text_that_is_too_long_is_told_so_in_characters(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"should have at most \d+ characters"):
        VerificationIn.model_validate(body)
