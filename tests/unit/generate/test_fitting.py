"""Works without what a question names are no answer; where none has it, that is told."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from contracts.retrieval import Asked
from tests.bodies import filled
from workers.generate.candidates import Candidate
from workers.generate.fitting import fitting
from workers.retrieve.understanding.asked.read import read_asked

SCLC = "Durvalumab in small-cell lung cancer"
NSCLC = "Durvalumab in NSCLC"
OSIMERTINIB = "Osimertinib in non-small-cell lung cancer"
WARFARIN = "Warfarin in atrial fibrillation"


def found(question: str, *titles: str) -> tuple[list[str], Sequence[str]]:
    """The titles of the works that may answer, and what none has."""
    works = [Candidate(title, "pubmed", "It helped.", title, 0.5) for title in titles]
    fit = fitting(works, Asked.model_validate(read_asked(question).as_body()))
    return [one.title for one in fit.candidates], fit.missing


@pytest.mark.parametrize(
    ("question", "titles", "kept", "missing"),
    [
        ("Does durvalumab help in NSCLC?", [SCLC, NSCLC], [NSCLC], ()),
        ("Is apremilast effective?", [SCLC, NSCLC], [], ("apremilast",)),
        ("Is apremilast effective in SCLC?", [SCLC], [], ("apremilast",)),
        ("Is apixaban better than warfarin?", [WARFARIN], [WARFARIN], ()),
        ("Should adults on warfarin be given apixaban?", [WARFARIN], [], ("apixaban",)),
        ("Does vexatinib001 work in NSCLC?", [NSCLC], [], ("vexatinib001",)),
        ("What is new in cancer?", [SCLC, WARFARIN], [SCLC, WARFARIN], ()),
    ],
)
def test_the_works_that_may_answer(
    question: str, titles: list[str], kept: list[str], missing: tuple[str, ...]
) -> None:
    assert found(question, *titles) == (kept, missing)


def test_a_disease_by_another_name_of_its_tag_is_kept_where_nothing_has_the_name() -> None:
    urothelial = "Pembrolizumab in urothelial carcinoma"
    assert found("Does pembrolizumab help in bladder cancer?", urothelial) == ([urothelial], ())


def test_a_tag_of_a_part_of_a_name_is_no_other_name_of_it() -> None:
    assert found("What is the management of Ludwig angina?", "Stable angina") == (
        [],
        ("Ludwig angina",),
    )


def test_names_that_stand_only_apart_are_missing_together() -> None:
    question = "Does osimertinib help in Hodgkin lymphoma?"
    hodgkin = "Brentuximab in Hodgkin lymphoma"
    kept, missing = found(question, OSIMERTINIB, hodgkin)
    assert (kept, missing) == ([], ("osimertinib", "Hodgkin lymphoma"))


def test_a_name_that_a_pack_gives_a_work_stands_in_it() -> None:
    work = Candidate("E1", "pubmed", "It helped.", "Adjuvant treatment", 0.5)
    asked = filled(Asked, required=["imvigor011"])
    assert not fitting([work], asked).candidates
    known = replace(work, named="doi:10.1/x IMvigor011")
    assert fitting([known], asked).candidates == [known]
