"""Clinical documents through the extract stage, by rules alone."""

import json

import pytest
import sqlalchemy as sa

from store.extractions import reviews
from store.extractions.extractions import File
from tests.integration.clinical.extracting import DEBRIS, result_of, stored, submit, timeless
from tests.integration.runtime.harness import count, rows
from tests.unit.extract.made import REPORT
from workers.extract.loop.extraction import extract_text
from workers.inline import InlineWorker

COMPOSITE = f"""=== SURGICAL PATHOLOGY REPORT ===
{REPORT.partition(chr(10))[2]}

=== RADIOLOGY REPORT ===
Lakeside General Hospital, 2024-05-20
FINDINGS:
A nodule of 14 mm in the right upper lobe of the lung.
IMPRESSION:
New metastasis of the right lung.
"""


def test_without_a_model_the_stage_stores_what_the_loop_makes_in_one_process(
    inline: InlineWorker,
) -> None:
    extraction_id = submit(inline)
    inline.run()
    result = result_of(inline.store, extraction_id)
    whole = json.loads(json.dumps(extract_text(REPORT).as_body()))
    assert timeless({key: result[key] for key in whole}) == timeless(whole)
    assert result["outcome"] == "extracted"
    assert result["provenance"]["generator"] == "rules"
    assert float(result["provenance"]["cost_usd"]) == 0


def test_every_span_of_a_result_is_in_the_stored_text(inline: InlineWorker) -> None:
    extraction_id = submit(inline)
    inline.run()
    row, result = stored(inline.store, extraction_id), result_of(inline.store, extraction_id)
    grade = result["fields"]["grade"]
    assert row.text is not None
    assert row.text[grade["start"] : grade["end"]] == "Nottingham grade 2"


@pytest.mark.requirement("MV-7.2")
def test_mv_7_2_a_composite_goes_part_by_part_and_is_merged(inline: InlineWorker) -> None:
    extraction_id = submit(inline, COMPOSITE)
    inline.run()
    result = result_of(inline.store, extraction_id)
    assert [one["type"] for one in result["parts"]] == ["pathology", "radiology"]
    assert result["fields"]["grade"]["status"] == "found"
    assert result["fields"]["impression"]["status"] == "found"
    whole = json.loads(json.dumps(extract_text(COMPOSITE).as_body()))
    assert timeless({key: result[key] for key in whole}) == timeless(whole)
    parts = {row.part for row in rows(inline.store, "SELECT part FROM extraction_iteration")}
    assert parts == {0, 1}


@pytest.mark.requirement("MV-7.1")
def test_mv_7_1_what_cannot_be_read_gets_the_stated_error_and_what_to_do(
    inline: InlineWorker,
) -> None:
    extraction_id = submit(inline, DEBRIS)
    inline.run()
    result = result_of(inline.store, extraction_id)
    assert result["outcome"] == "unreadable"
    assert result["error"] == "Document quality too low for extraction"
    said = result["readability"]
    assert not said["readable"]
    assert said["confidence"] < 0.5
    assert said["issues"]
    assert "Upload a clearer scan" in result["suggestions"]
    assert count(inline.store, "extraction_iteration", "true") == 0
    assert count(inline.store, "dead_letter", "true") == 0


def test_a_file_is_read_and_its_bytes_are_not_kept(inline: InlineWorker) -> None:
    page = f"<html><body><pre>{REPORT}</pre></body></html>".encode()
    for file in (
        File("report.txt", "text/plain", REPORT.encode()),
        File("report.html", "text/html", page),
    ):
        extraction_id = submit(inline, file)
        inline.run()
        row, result = stored(inline.store, extraction_id), result_of(inline.store, extraction_id)
        assert row.content is None
        assert row.text is not None
        grade = result["fields"]["grade"]
        assert "grade 2" in row.text[grade["start"] : grade["end"]]


def test_a_file_that_is_none_is_refused_with_a_reason(inline: InlineWorker) -> None:
    extraction_id = submit(inline, File("report.pdf", "application/pdf", b"%PDF-1.7 nothing"))
    inline.run()
    result = result_of(inline.store, extraction_id)
    assert result["outcome"] == "unreadable"
    assert result["error"]
    assert result["suggestions"]


def test_a_document_longer_than_what_is_taken_is_refused_with_the_limit(
    inline: InlineWorker,
) -> None:
    extraction_id = submit(inline, "word " * 60_001)
    inline.run()
    assert "80,000" in result_of(inline.store, extraction_id)["error"]


def test_a_document_whose_hash_does_not_fit_dies_and_says_why(inline: InlineWorker) -> None:
    extraction_id = submit(inline)
    with inline.store.unit_of_work("test") as work:
        work.session.execute(sa.text("UPDATE extraction SET content_hash = 'x'"))
    inline.run()
    row = stored(inline.store, extraction_id)
    assert (row.status, row.result) == ("failed", None)
    assert "no document" in str(row.error)


def test_doing_every_step_twice_changes_nothing(inline: InlineWorker) -> None:
    extraction_id = submit(inline)
    inline.run()
    before = stored(inline.store, extraction_id)
    with inline.store.unit_of_work("test") as work:
        work.session.execute(
            sa.text("UPDATE outbox SET status = 'pending', done_at = NULL, not_before = now()")
        )
    inline.run()
    assert stored(inline.store, extraction_id) == before


# --- reviews --------------------------------------------------------------------------


@pytest.mark.requirement("MV-9.3")
def test_mv_9_3_a_score_below_0_8_opens_a_review(inline: InlineWorker) -> None:
    good = submit(inline)
    bad = submit(
        inline,
        "GENOMIC REPORT of the laboratory. Mutations were looked for in BRCA1 and KRAS; variants, "
        "tumor mutational burden and microsatellite status are told in a letter.",
        document_type="genomics",
        owner="ward-7",
    )
    inline.run()
    score = stored(inline.store, bad).score
    assert score is not None
    assert score < 0.8
    with inline.store.reading() as session:
        (review,) = reviews.listing(session).rows
        assert (review.extraction_id, review.status, review.owner) == (bad, "open", "ward-7")
        assert reviews.listing(session, owner="local").rows == []
        assert reviews.of_extraction(session, good) is None
