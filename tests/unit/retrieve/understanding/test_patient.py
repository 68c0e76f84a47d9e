"""Ages, sex and measured values, as a question states them."""

import pytest
from pydantic import ValidationError

from knowledge.loader import load
from knowledge.subjects.labs import LabPolicy, age_group, readings
from tests.grid import grid
from workers.retrieve.understanding.patient import read_patient
from workers.retrieve.understanding.read import search_terms, understand


@grid(
    ("text", "years", "group"),
    [
        ("A 65-year-old man", 65, "aged"),
        ("aged 80", 80, "aged 80 and over"),
        ("6 months old", 0.5, "infant"),
        ("82F with AF", 82, "aged 80 and over"),
        ("72 y/o", 72, "aged"),
        ("a 130-year-old tree, then a 14 year old", 14, "adolescent"),
        ("adults aged 65 or older", None, None),
        ("aged 18-65", None, None),
        ("5 year survival", None, None),
    ],
)
def test_the_age_of_a_patient_gives_its_group(
    text: str, years: float | None, group: str | None
) -> None:
    found = read_patient(text)
    assert (found.age_years, found.age_group) == (years, group)


def test_age_groups_begin_where_mesh_says() -> None:
    assert [age_group(years) for years in (1.9, 2, 18.9, 19, 64.9, 65)] == [
        "infant",
        "preschool child",
        "adolescent",
        "adult",
        "middle aged",
        "aged",
    ]


@pytest.mark.parametrize(
    ("text", "sex"),
    [
        ("a woman whose father", "female"),
        ("She asks", "female"),
        ("men and women", None),
        ("his wife and her sister", None),
        ("a 70M", "male"),
    ],
)
def test_sex_is_the_nouns_else_the_only_pronouns(text: str, sex: str | None) -> None:
    assert read_patient(text).sex == sex


@grid(
    ("text", "value", "category", "tag"),
    [
        ("eGFR 28 mL/min/1.73m2", 28, "G4", "chronic_kidney_disease"),
        ("eGFR of 14.9", 14.9, "G5", "chronic_kidney_disease"),
        ("eGFR is 45 mL/min/1.73 m²", 45, "G3a", "chronic_kidney_disease"),
        ("eGFR 30", 30, "G3b", "chronic_kidney_disease"),
        ("eGFR < 30", 30, None, "chronic_kidney_disease"),
        ("eGFR 60", 60, "G2", None),
        ("eGFR above 60", 60, None, None),
        ("HbA1c 9.2 %", 9.2, "diabetes range", "diabetes"),
        ("HbA1c of 48 mmol/mol", 6.54, "diabetes range", "diabetes"),
        ("A1c 6.4", 6.4, "prediabetes range", None),
        ("LDL-C 4.9 mmol/L", 189.48, "severe hypercholesterolemia range", "hypercholesterolemia"),
        ("BMI 34", 34, "obesity", "obesity"),
        ("platelets 80,000/µL", 80, "ARC-HBR major criterion", None),
        ("Hb 104 g/L", 10.4, "ARC-HBR major criterion", None),
    ],
)
def test_a_value_is_called_what_its_published_threshold_calls_it(
    text: str, value: float, category: str | None, tag: str | None
) -> None:
    (found,) = readings(f"({text})")
    assert (found.value, found.category, found.tag) == (value, category, tag)


@pytest.mark.parametrize(
    "text", ["EGFR 19 deletion", "HbA1c 2024", "LDL 200", "eGFR unknown", "platelets 1.73m2"]
)
def test_a_gene_a_year_or_a_number_without_its_unit_is_no_value(text: str) -> None:
    assert list(readings(text)) == []


def test_a_value_adds_its_tag_behind_what_is_named_and_is_never_searched_for() -> None:
    question = "Which anticoagulant for AF at an eGFR of 24?"
    assert understand(question).diseases == ("atrial_fibrillation", "chronic_kidney_disease")
    assert search_terms(question)["diseases"] == ["atrial_fibrillation"]


def test_a_threshold_without_a_source_or_with_an_unknown_tag_is_refused() -> None:
    file = load("subjects/labs")
    egfr = file["labs"]["egfr"]
    bands = [{"category": "x", "tag": "nowhere"}]
    for wrong in ({**egfr, "source": ""}, {**egfr, "bands": bands}):
        with pytest.raises(ValidationError, match=r"labs\.yaml|source"):
            LabPolicy.model_validate({**file, "labs": {"egfr": wrong}})
