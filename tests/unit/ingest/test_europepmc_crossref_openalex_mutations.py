"""Whatever arrives, the parsers of Europe PMC, Crossref and OpenAlex give a result or Malformed."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.records import Notice
from tests.examples import examples
from tests.fakes.crossref import Crossref, update
from tests.fakes.europepmc import EuropePmc
from tests.fakes.openalex import OpenAlex
from tests.fakes.web import Clock
from workers.http.errors import Malformed
from workers.ingest.enrichment import Statement
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.crossref import crossref_statement
from workers.ingest.parsers.europepmc.search import full_text, parse
from workers.ingest.parsers.openalex import openalex_statement

CLOCK = Clock(datetime(2026, 3, 1, tzinfo=UTC))
STRANGE: list[Any] = [
    None, True, 0, -1, 10**30, 1.5, "", " ", "x", "\x00", "\ud800", "10.5555/x", "2026-02-30",
    [], [None], [[None]], {}, {"a": 1}, [{"type": "Retraction in"}], "<h4>", "&lt;sup&gt;" * 50,
]  # fmt: skip


def _results() -> Any:
    fake = EuropePmc(CLOCK)
    links = [{"type": "Erratum in", "source": "MED", "id": "2"}]
    mesh = [{"descriptorName": "Humans", "meshQualifierList": {"meshQualifier": [{"a": "b"}]}}]
    rows = [
        fake.put("1", commentCorrectionList={"commentCorrection": links}, doi="10.5555/x"),
        fake.put("PPR1", "PPR", title="WITHDRAWN: x", versionNumber=2),
        fake.put("PMC1", "PMC", meshHeadingList={"meshHeading": mesh}, license="cc by"),
    ]
    return {"version": "6.9", "hitCount": 3, "resultList": {"result": rows}}


def _work() -> Any:
    updates = [update("retraction", "10.5555/n"), update("correction", None, (None,))]
    relation = {"is-preprint-of": [{"id-type": "doi", "id": "10.5555/y"}]}
    message = Crossref(CLOCK).put("10.5555/x", updated_by=updates, relation=relation)
    message["update-to"] = [update("retraction", "10.5555/x")]
    return {"status": "ok", "message-type": "work", "message": message}


def _full_text() -> Any:
    fake = EuropePmc(CLOCK)
    fake.put_full_text("PMC1", "Invented words.")
    notices = [Notice(kind="retraction", notice_id="pmid:1").model_dump(mode="json")]
    return json.loads(full_text(fake.full_texts["PMC1"], notices))


CASES: dict[str, tuple[Callable[[bytes], Parsed | Statement], Any]] = {
    "europepmc": (parse, _results()),
    "europepmc full text": (parse, _full_text()),
    "crossref": (lambda payload: crossref_statement(payload, "pmid:1"), _work()),
    "openalex": (
        lambda payload: openalex_statement(payload, "pmid:1"),
        OpenAlex(CLOCK).put("10.5555/x", mesh=[{"descriptor_name": "Humans"}]),
    ),
}


def mutated(value: Any, random: Random) -> Any:
    """`value` with one of its fields dropped, doubled or of another type."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(sorted(value))
        if random.random() < 0.1:
            return {key: inner for key, inner in value.items() if key != name}
        return value | {name: mutated(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        if random.random() < 0.1:
            return [*value, value[place]]
        return [*value[:place], mutated(value[place], random), *value[place + 1 :]]
    return random.choice(STRANGE)


def damaged(payload: bytes, random: Random) -> bytes:
    """`payload` with some bytes cut out, doubled or replaced."""
    start = random.randrange(len(payload))
    end = start + random.choice([1, 2, 10, len(payload)])
    piece = payload[start:end]
    middle = random.choice([b"", piece * 2, random.randbytes(len(piece[:20])), b'"', b"\\ud800"])
    return payload[:start] + middle + payload[end:]


def check(name: str, random: Random) -> None:
    """One example: what is left of a real shape after some damage."""
    read, value = CASES[name]
    for _ in range(random.randrange(4)):
        value = mutated(value, random)
    payload = json.dumps(value).encode()
    if random.random() < 0.3:
        payload = damaged(payload, random)
    try:
        found = read(payload)
    except Malformed:
        return
    if isinstance(found, Parsed):
        assert all(record.text.strip() for record in found.records)
        assert all(problem.reason for problem in found.problems)
    else:
        assert len({(one.kind, one.notice_id) for one in found.notices}) == len(found.notices)


@pytest.mark.parametrize("name", CASES)
@examples(200)
@given(random=st.randoms(use_true_random=False))
def test_a_damaged_answer_is_read_in_part_or_malformed(name: str, random: Random) -> None:
    check(name, random)


@pytest.mark.parametrize("name", CASES)
@examples(100)
@given(payload=st.binary(max_size=200))
def test_any_bytes_are_read_or_malformed(name: str, payload: bytes) -> None:
    read, _ = CASES[name]
    try:
        found = read(payload)
    except Malformed:
        return
    assert isinstance(found, Parsed | Statement)
