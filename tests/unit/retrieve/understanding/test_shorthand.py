"""Short forms are written out where they mean one thing only."""

import pytest

from tests.grid import grid
from workers.retrieve.understanding.read import names, understand
from workers.retrieve.understanding.shorthand import spelled_out


@grid(
    ("asked", "searched"),
    [
        ("GALAXY HR for DFS", "GALAXY hazard ratio for disease-free survival"),
        ("what percent of ctDNA+ pts", "what percent of ctDNA-positive patients"),
        ("ctdna neg stage III", "ctdna negative stage III"),
        ("ctDNA-pos, mets s/p surgery", "ctDNA-positive, metastases after surgery"),
        ("imvigor011 os benefit", "imvigor011 overall survival benefit"),
        ("OS w/o chemo", "overall survival without chemo"),
        ("my mother's ctDNA is pos", "patient ctDNA is pos"),
        ("does he need adjuvant io", "does he need adjuvant immunotherapy"),
        ("Is it true that ctDNA clears?", "ctDNA clears?"),
        ("TAS 102 dose", "trifluridine/tipiracil dose"),
    ],
)
def test_what_is_searched_for_is_spelled_out(asked: str, searched: str) -> None:
    assert [one.text for one in understand(asked).sub_queries] == [searched]


@pytest.mark.parametrize(
    "question",
    [
        "HR 120 in atrial fibrillation",
        "os odontoideum",
        "A+ blood, OSA and RFS-2",
        "io access in a child of a nursing mother",
        "What is the evidence for ctDNA in stage III colon cancer?",
    ],
)
def test_what_may_mean_something_else_stays_as_it_is_written(question: str) -> None:
    assert spelled_out(question) == question


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("hr for dfs imvigor011", ("IMvigor011",)),
        ("imvigor 011 survival", ("IMvigor011",)),
        ("dynamic iii results", ("DYNAMIC-III",)),
        ("dynamic results of stage iii disease", ()),
    ],
)
def test_a_numbered_trial_is_named_in_any_letters(question: str, found: tuple[str, ...]) -> None:
    assert names(question) == found


@grid(
    ("question", "found"),
    [
        ("tas 102 dose altair", ("ALTAIR",)),
        ("galaxy study hazard ratio", ("GALAXY",)),
        ("what does tombola say", ("TOMBOLA",)),
        ("c-trak tn clearance", ("c-TRAK",)),
        ("how long was follow up in dynamic", ("DYNAMIC",)),
        ("is it true that dynamic showed omitting chemo is safe", ("DYNAMIC",)),
        ("cobra and dynamic trials", ("COBRA", "DYNAMIC")),
        ("dynamic changes of ctDNA in colon cancer", ()),
        ("dynamic contrast imaging, bespoke assays and modern care", ()),
        ("does cobra insurance cover it", ()),
    ],
)
def test_a_trial_without_a_number_is_named_in_lower_case_where_it_can_be_nothing_else(
    question: str, found: tuple[str, ...]
) -> None:
    assert set(names(question)) == set(found)


def test_a_stage_by_tnm_and_a_unit_name_no_trial() -> None:
    assert names("65M, pT3N0 ypT2N1a, T4bN2M1, ctDNA 0.5 MTM/mL, IMvigor011?") == ("IMvigor011",)


def test_a_gene_a_drug_or_a_disease_is_no_trial_unless_it_is_called_one() -> None:
    for question, found in (
        ("What is the effect of carbamazepine on CYP3A4?", ()),
        ("Which protein is encoded by APOBEC3C?", ()),
        ("What causes common variable immunodeficiency (CVID)?", ()),
        ("Which genes does the MECP2 trial read?", ("MECP2",)),
        ("What did SPRINT show?", ("SPRINT",)),
        ("What is CamurWeb?", ("CamurWeb",)),
    ):
        assert names(question) == found, question
