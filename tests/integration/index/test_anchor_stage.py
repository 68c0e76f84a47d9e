"""The anchor stage and `attest anchors`: what is stored, replaced and counted."""

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
import sqlalchemy as sa

from cli.commands.evidence.anchors import BATCH, generate_anchors
from messages import AnchorV1
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents import anchors as held
from store.documents.anchors import Found
from store.models import Anchor, DocumentVersion, EffectEstimate
from tests.commands import Attest
from tests.servers import ingest
from workers.anchor.stage import commit, work
from workers.inline import InlineWorker
from workers.verify.conflicts.found import conflicts
from workers.verify.conflicts.witnesses import witness_of

TEXT = (
    "Testing with examplumab is recommended after surgery. In patients with colon cancer, the "
    "hazard ratio for recurrence was 0.60 (95% CI 0.41 to 0.87; P<0.01) with examplumab versus "
    "placebo. The primary endpoint was recurrence-free survival. The trial is registered as "
    "NCT04068103. Nothing is known of older adults yet."
)
REPORT: dict[str, Any] = {
    "source_type": "pubmed",
    "title": "Example report on recurrence",
    "text": TEXT,
    "source_key": "example-report",
}
"""A made-up record: no real study."""
SHORT = REPORT | {
    "title": "Example note",
    "text": "Only one sentence is in this note of ours.",
    "source_key": "example-note",
}


def rows(store: Store, table: type[Anchor] | type[EffectEstimate]) -> list[dict[str, Any]]:
    """What is stored, without the numbers of the rows."""
    with store.reading() as session:
        found = session.execute(sa.select(table).order_by("version_id", "start")).scalars()
        return [one.model_dump(exclude={"id"}) for one in found]


def texts(store: Store) -> dict[UUID, str]:
    """The text of each version."""
    with store.reading() as session:
        return dict(session.execute(sa.text("SELECT id, text FROM document_version")).all())


@pytest.fixture
def held_report(inline: InlineWorker) -> Store:
    """The report and the note are ingested, through all stages."""
    ingest(inline.store, REPORT, SHORT)
    inline.run()
    return inline.store


def test_anchors_are_stored_with_their_kinds(held_report: Store) -> None:
    stored = rows(held_report, Anchor)
    kinds = {kind for one in stored for kind in one["kinds"]}
    assert {"recommendation", "statistic", "endpoint", "identifier"} <= kinds
    for one in stored:
        quote = texts(held_report)[one["version_id"]][one["start"] : one["end"]]
        assert quote.endswith(".")


def test_the_effects_that_a_version_states_are_stored_beside_its_anchors(
    held_report: Store,
) -> None:
    (one,) = rows(held_report, EffectEstimate)
    text = texts(held_report)[one["version_id"]]
    assert text[one["start"] : one["end"]].startswith("hazard ratio for recurrence was 0.60")
    assert (one["measure"], str(one["value"]), one["direction"]) == ("HR", "0.60", "lower")
    assert (str(one["low"]), str(one["high"])) == ("0.41", "0.87")
    assert one["body"]["p"] == ["<", "0.01"]
    for name, words in (("outcome", "recurrence"), ("comparator", "placebo")):
        start, end, written = one["body"][name]
        assert text[start:end] == written == words


def test_stored_effects_are_what_conflicts_are_found_in(inline: InlineWorker) -> None:
    other = TEXT.replace("0.60 (95% CI 0.41 to 0.87", "1.40 (95% CI 1.10 to 1.80")
    trial = {"evidence_level": "randomized controlled trial"}
    cohort = {"evidence_level": "observational study", "source_key": "other-report"}
    ingest(inline.store, REPORT | trial, REPORT | cohort | {"text": other})
    inline.run()
    with inline.store.reading() as session:
        versions = list(session.execute(sa.select(DocumentVersion)).scalars())
        stored = held.estimates_of(session, [one.id for one in versions])
    keys = {one.evidence_level: f"key of the {one.evidence_level}" for one in versions}
    found = conflicts(
        [witness_of(keys[one.evidence_level], one, stored[one.id]) for one in versions]
    )
    assert found == conflicts([witness_of(keys[one.evidence_level], one, None) for one in versions])
    assert [(one.why, one.rule, one.stands) for one in found] == [
        ("opposite_direction", "design", "key of the randomized controlled trial")
    ]


def test_finding_again_replaces_and_adds_nothing(inline: InlineWorker, held_report: Store) -> None:
    before = rows(held_report, Anchor), rows(held_report, EffectEstimate)
    message = AnchorV1.model_validate(
        {
            "request_id": str(UUID(int=1)),
            "version_ids": [str(one) for one in texts(held_report)],
        }
    )
    for _ in range(2):
        result = work(inline.context, message)
        with held_report.unit_of_work("test") as unit:
            commit(unit, message, result)
    assert (rows(held_report, Anchor), rows(held_report, EffectEstimate)) == before


def test_a_replacement_that_fails_leaves_what_was_there(held_report: Store) -> None:
    before = rows(held_report, Anchor)
    broken = {"start": 5, "end": 5, "measure": "HR", "value": Decimal(1), "body": {}}
    broken |= dict.fromkeys(("low", "high", "direction"))
    with pytest.raises(psycopg.errors.CheckViolation), held_report.unit_of_work("test") as unit:
        held.replace(unit, {before[0]["version_id"]: Found([], [broken])})
    assert rows(held_report, Anchor) == before


def test_generate_takes_only_documents_that_lack_anchors_or_their_kinds(
    held_report: Store,
) -> None:
    def generate(*, everything: bool = False) -> int:
        report = generate_anchors(held_report, everything=everything, advance=lambda *_: None)
        return report.documents

    assert generate() == 0
    assert generate(everything=True) == 2
    with held_report.unit_of_work("test") as unit:  # as they were before there were kinds
        unit.session.execute(sa.text("UPDATE anchor SET kinds = '[]'"))
    before = [one["kinds"] for one in rows(held_report, Anchor)]
    assert not any(before)
    assert generate() == 1  # the note's only anchor has no signal, and so no kind to lack
    assert any(one["kinds"] for one in rows(held_report, Anchor))
    with held_report.unit_of_work("test") as unit:
        unit.session.execute(sa.text("DELETE FROM anchor"))
    assert generate() == 2


def test_generate_goes_through_more_than_a_batch_with_one_audit_event_each(
    inline: InlineWorker,
) -> None:
    many = [SHORT | {"source_key": f"note-{number}"} for number in range(BATCH + 1)]
    ingest(inline.store, *many)
    inline.run()
    steps: list[tuple[int, int]] = []
    report = generate_anchors(
        inline.store, everything=True, advance=lambda done, total: steps.append((done, total))
    )
    assert (report.documents, report.batches) == (BATCH + 1, 2)
    assert steps == [(BATCH, BATCH + 1), (BATCH + 1, BATCH + 1)]
    with inline.store.reading() as session:
        events = session.execute(
            sa.text(
                "SELECT payload FROM audit_event WHERE event = 'versions.anchored' "
                "AND actor = 'cli' ORDER BY seq"
            )
        ).scalars()
        assert [event["versions"] for event in events] == [BATCH, 1]


def test_the_command_prints_what_it_found_and_which_documents_have_few(
    settings: Settings, held_report: Store
) -> None:
    run = Attest.on(settings)

    def attest(*arguments: str) -> str:
        ran = run("anchors", *arguments)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    said = attest("generate", "--all")
    assert said.startswith("2 documents, 5 anchors, 1 effect estimates\n")
    assert "  recommendation: 1\n" in said
    assert "fewer than 3 anchors: 1 documents\n  " in said
    assert "example-note: 1 of 1 whole sentence" in said
    body = json.loads(attest("generate", "--all", "--json"))
    assert body["kinds"]["identifier"] == 1
    assert [one["anchors"] for one in body["fewer_than_three"]] == [1]
    shown = attest("show", key_of(held_report))
    assert "recommendation: Testing with examplumab is recommended" in shown
    assert "lower: hazard ratio for recurrence was 0.60" in shown


def key_of(store: Store) -> str:
    """The source key of the report."""
    with store.reading() as session:
        return str(
            session.execute(
                sa.text("SELECT source_key FROM document WHERE source_key LIKE '%example-report'")
            ).scalar_one()
        )
