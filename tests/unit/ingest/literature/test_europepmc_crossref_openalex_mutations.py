"""Whatever arrives, the parsers of Europe PMC, Crossref and OpenAlex give a result or Malformed."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.documents.records import Notice
from tests.examples import examples
from tests.fakes.crossref import Crossref, update
from tests.fakes.europepmc import EuropePmc
from tests.fakes.openalex import OpenAlex
from tests.fakes.web import Clock
from tests.fuzz.mutations import damaged, mutated
from tests.fuzz.properties import a_payload_is_read_or_malformed
from workers.ingest.enrichment import Statement
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.crossref import crossref_statement
from workers.ingest.parsers.europepmc.search import full_text, parse
from workers.ingest.parsers.openalex import openalex_statement

CLOCK = Clock(datetime(2026, 3, 1, tzinfo=UTC))


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


def _full_text(pmcid: str = "") -> Any:
    fake = EuropePmc(CLOCK)
    fake.put_full_text("PMC1", "Invented words.")
    notices = [Notice(kind="retraction", notice_id="pmid:1").model_dump(mode="json")]
    return json.loads(full_text(fake.full_texts["PMC1"], notices, pmcid))


CASES: dict[str, tuple[Callable[[bytes], Parsed | Statement], Any]] = {
    "europepmc": (parse, _results()),
    "europepmc full text": (parse, _full_text()),
    "europepmc named full text": (parse, _full_text("PMC1")),
    "crossref": (lambda payload: crossref_statement(payload, "pmid:1"), _work()),
    "openalex": (
        lambda payload: openalex_statement(payload, "pmid:1"),
        OpenAlex(CLOCK).put("10.5555/x", mesh=[{"descriptor_name": "Humans"}]),
    ),
}


def check(name: str, random: Random) -> None:
    """One example: what is left of a real shape after some damage."""
    read, value = CASES[name]
    for _ in range(random.randrange(4)):
        value = mutated(value, random)
    payload = json.dumps(value).encode()
    if random.random() < 0.3:
        payload = damaged(payload, random)
    a_payload_is_read_or_malformed(read, payload)


@pytest.mark.parametrize("name", CASES)
@examples(200)
@given(random=st.randoms(use_true_random=False))
def test_a_damaged_answer_is_read_in_part_or_malformed(name: str, random: Random) -> None:
    check(name, random)


@pytest.mark.parametrize("name", CASES)
@examples(100)
@given(payload=st.binary(max_size=200))
def test_any_bytes_are_read_or_malformed(name: str, payload: bytes) -> None:
    a_payload_is_read_or_malformed(CASES[name][0], payload)
