"""Which documents they are, whether they can be read, and how the gold is compared."""

from typing import Any

import pytest

from benchmarks.extraction_reports import Report, reports
from cli.evaluate.extraction import evaluate_extraction
from tests.unit.extract.made import REPORT
from workers.extract.documents import classify
from workers.extract.extraction import extract_text
from workers.extract.gold import compare, right
from workers.extract.readability import Unreadable, assess, require_readable
from workers.extract.rubrics import DOCUMENT_TYPES, field_named, rubric

READABLE = [one for one in reports() if one.type != "unreadable"]


@pytest.mark.parametrize("document_type", DOCUMENT_TYPES)
def test_each_of_the_nine_types_has_a_rubric_with_required_fields(document_type: str) -> None:
    assert rubric(document_type).required


def test_the_rubrics_name_the_fields_of_the_specification() -> None:
    assert rubric("pathology").required == ("histology", "grade")
    assert rubric("pathology").important == ("margins", "ihc_markers")
    assert rubric("radiology").required == ("impression",)
    assert rubric("radiology").important == ("findings", "measurements")
    assert rubric("genomics").required == ("mutations",)
    assert rubric("genomics").important == ("msi_status", "tmb")
    assert rubric("lab-report").required == ("lab_values",)
    assert rubric("surgical-notes").important[0] == "margins"


@pytest.mark.parametrize("report", READABLE, ids=lambda one: one.name)
def test_documents_are_classified_with_confidence(report: Report) -> None:
    found = classify(report.text)
    assert found.document_type == report.type
    assert 0.0 <= found.confidence <= 1.0


def test_a_composite_is_split_and_its_fields_merged_in_places_of_the_whole() -> None:
    (report,) = (one for one in READABLE if one.name == "composite_1")
    found = extract_text(report.text)
    assert [one.part.document_type for one in found.parts] == ["pathology", "genomics"]
    assert found.parts[0].part.end == found.parts[1].part.start
    second = found.parts[1].part.start
    assert found.fields["histology"].items[0].end <= second
    item = found.fields["mutations"].items[0]
    assert item.start >= second
    assert "L" in report.text[item.start : item.end]


def test_a_text_of_words_is_readable() -> None:
    found = assess(REPORT)
    assert found.readable
    assert found.confidence == 1.0
    assert found.issues == ()


@pytest.mark.parametrize("number", [0, 1, 2])
def test_debris_is_refused_with_the_stated_error(number: int) -> None:
    (report,) = (one for one in reports() if one.name == f"unreadable_{number}")
    with pytest.raises(Unreadable, match="Document quality too low for extraction") as caught:
        require_readable(report.text)
    found = caught.value.readability
    assert found.confidence < 0.5
    assert found.issues
    assert "Upload a clearer scan" in found.suggestions


@pytest.mark.parametrize(
    ("name", "document_type", "field"),
    [
        ("ihcMarkers", "pathology", "ihc_markers"),
        ("IHC", "pathology", "ihc_markers"),
        ("msiStatus", "genomics", "msi_status"),
        ("conclusion", "radiology", "impression"),
        ("Report Date", "pathology", "date"),
        ("diagnosis", "pathology", "diagnosis"),
        ("shoe size", "pathology", None),
    ],
)
def test_other_names_of_a_field(name: str, document_type: str, field: str | None) -> None:
    assert field_named(name, document_type) == field


FOUND = extract_text(REPORT).fields


@pytest.mark.parametrize(
    ("name", "gold", "share"),
    [
        ("grade", "Grade II", 1.0),
        ("grade", 2, 1.0),
        ("grade", "moderately differentiated", 1.0),
        ("grade", "3", 0.0),
        ("grade", None, 0.0),
        ("histology", "invasive ductal carcinoma (NST)", 1.0),
        ("histology", "carcinoma", 1.0),
        ("histology", "invasive lobular carcinoma", 0.0),
        ("margins", {"status": "negative", "distance": "0.3 cm"}, 1.0),
        ("margins", "negative", 1.0),
        ("margins", "negative, 5 mm", 0.0),
        ("ihcMarkers", {"ER": "95%", "PR": 40, "HER2": "1+", "Ki-67": "18%"}, 1.0),
        ("ihcMarkers", {"ER": "95%"}, 0.4),
        ("Ki67", "18%", 1.0),
        ("date", "17 May 2024", 1.0),
        ("date", {"value": "2024-05-17", "status": "found"}, 1.0),
        ("tnm", "not present", 1.0),
        ("tnm", {"value": None, "status": "not_present"}, 1.0),
        ("institution", "lakeside general hospital", 1.0),
    ],
)
def test_a_gold_value_is_read_by_meaning(name: str, gold: Any, share: float) -> None:
    assert right(name, gold, FOUND, "pathology") == pytest.approx(share)


def test_an_ambiguous_gold_wants_an_ambiguous_field() -> None:
    assert compare("grade", {"value": None, "status": "ambiguous"}, FOUND["grade"]) == 0.0
    text = REPORT + "Comment: the tumor is grade 3.\n"
    assert compare("grade", "ambiguous", extract_text(text).fields["grade"]) == 1.0


def test_a_folder_is_evaluated_in_the_documented_layout(tmp_path: Any) -> None:
    from benchmarks.extraction_reports import write

    assert write(tmp_path) >= 60
    report = evaluate_extraction(tmp_path)
    assert list(report)[:5] == ["field_accuracy", "by_type", "score_vs_accuracy_r",
                                "iterations_mean", "reached_threshold"]  # fmt: skip
    assert report["unreadable"] == {"right": 3, "total": 3}
    assert isinstance(report["field_accuracy"], float)
    assert report["field_accuracy"] >= 0.95


def test_a_folder_without_cases_is_an_error_that_says_so(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match=r"NAME\.txt beside NAME\.json"):
        evaluate_extraction(tmp_path)
