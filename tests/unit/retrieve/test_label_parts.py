"""What is asked is told in its own part of a label, and to who prescribes before patients."""

from dataclasses import replace

import pytest

from tests.grid import grid
from tests.unit.retrieve.ranking_examples import candidate, place, question
from workers.retrieve.ranking.label_parts import part_weight
from workers.retrieve.ranking.ranking import rank
from workers.retrieve.understanding.model import SubQuery


@grid(
    ("section", "asked", "sign"),
    [
        ("2.1 Recommended Dose", "What is the maximum dose of apixaban?", 1),
        ("DOSAGE AND ADMINISTRATION", "How much apixaban is given?", 1),
        ("20 REFERENCES", "What is the maximum dose of apixaban?", 0),
        ("6 ADVERSE REACTIONS", "Humira side effects", 1),
        ("4 CONTRAINDICATIONS", "Is Humira contraindicated?", 1),
        ("1.6 Ulcerative Colitis", "Is Humira contraindicated?", 0),
        ("1.6 Ulcerative Colitis", "Is Humira indicated in colitis?", 1),
        ("8.1 Pregnancy", "Is it safe in pregnant women?", 1),
        ("MEDICATION GUIDE", "Humira side effects", -1),
        ("17 PATIENT COUNSELING INFORMATION", "What is the dose?", -1),
        ("14 CLINICAL STUDIES", "Humira side effects", 0),
    ],
)
def test_a_part_gains_by_telling_what_is_asked_and_loses_by_telling_patients(
    section: str, asked: str, sign: int
) -> None:
    weight = part_weight(section, asked)
    assert (weight > 0) - (weight < 0) == sign


@pytest.mark.parametrize(("source_type", "kept"), [("label", 4), ("document", 2)])
def test_a_label_gives_more_passages_and_those_of_the_part_asked_for_first(
    source_type: str, kept: int
) -> None:
    sections = ["MEDICATION GUIDE", "14 CLINICAL STUDIES", "6 ADVERSE REACTIONS", "3", "12"]
    places = tuple(
        place(0.8 - n / 100, section=one, chunk_id=f"chunk_{n}") for n, one in enumerate(sections)
    )
    asked = replace(
        question(diseases=(), decisions=()),
        sub_queries=(SubQuery("What are the side effects of Humira?", "whole"),),
    )
    work = candidate(1, diseases=(), source_type=source_type, places=places)
    (first,) = rank([work], asked, None, most=8).kept
    assert len(first.places) == kept
    if source_type == "label":
        assert first.places[0].section == "6 ADVERSE REACTIONS"
        assert "MEDICATION GUIDE" not in {one.section for one in first.places}
