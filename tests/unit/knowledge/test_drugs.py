"""One room knows drugs by all their names, and all who retrieve, choose and check ask there."""

import pytest

from knowledge.guards.guard_terms import drug_terms
from knowledge.subjects.drugs import (
    asked_about,
    brands,
    classes_asked_about,
    drugs,
    drugs_at,
    names_one,
)
from tests.grid import grid


def test_every_brand_of_the_list_is_its_generic_drug() -> None:
    for name, others in drug_terms().names.items():
        for one in (name, *others):
            assert name in drugs(f"What is the dose of {one}?"), one


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Zolbetuximab, Tagrisso and the concept of aspirin.", "zolbetuximab osimertinib aspirin"),
        ("The cholesterol of those on statins fell.", ""),
        ("Azacytidine is Vidaza, and cytology is none.", "azacitidine azacitidine"),
        ("Two of these rofecoxibs.", "rofecoxib"),
        ("An asa.", ""),
    ],
)
def test_drugs_are_known_by_name_and_by_stem_and_classes_are_none(text: str, named: str) -> None:
    assert [one.name for one in drugs_at(text)] == named.split()


def test_an_abbreviation_that_stands_for_more_is_no_brand() -> None:
    assert brands("aspirin") == ("acetylsalicylic acid",)
    assert brands("Semaglutide") == ("ozempic", "wegovy", "rybelsus")
    assert brands("nothing") == ()


@grid(
    ("text", "asked", "holds"),
    [
        ("ELIQUIS is contraindicated.", {"apixaban"}, True),
        ("DOACs are recommended.", {"apixaban"}, True),
        ("Direct oral\nanticoagulants are recommended.", {"apixaban"}, True),
        ("Statins are recommended.", {"apixaban"}, False),
        ("Those of ASA class III; an asa.", {"warfarin"}, False),
        ("It is rt-PA.", {"alteplase"}, True),
        ("Insulin glargine was given.", {"insulin"}, True),
        ("Apixaban1 was given.", {"apixaban"}, True),
        ("Whatever.", set(), False),
    ],
)
def test_words_name_a_drug_by_any_of_its_names_or_by_its_class(
    text: str, asked: set[str], holds: bool
) -> None:
    assert names_one(text, frozenset(asked)) is holds


@pytest.mark.parametrize(
    ("question", "asked", "else_taken"),
    [
        ("Is Celebrex of use in colon cancer?", {"celecoxib"}, {"celecoxib"}),
        ("Is etoricoxib of use?", {"etoricoxib"}, {"etoricoxib"}),
        ("Is Eliquis better than warfarin?", {"apixaban", "warfarin"}, {"apixaban", "warfarin"}),
        ("A patient taking celecoxib has AF; what now?", set(), {"celecoxib"}),
        ("Which diuretic helps patients on lithium?", set(), set()),
        ("Can patients on warfarin take ibuprofen?", {"ibuprofen"}, {"ibuprofen"}),
        ("Does ctDNA help?", set(), set()),
    ],
)
def test_a_question_is_on_the_drugs_that_nobody_takes_already(
    question: str, asked: set[str], else_taken: set[str]
) -> None:
    assert asked_about(question) == asked
    assert asked_about(question, else_taken=True) == else_taken


@pytest.mark.parametrize(
    ("question", "classes"),
    [
        ("Do statins help?", {"statin"}),
        ("Are TNF blockers safe?", {"tnf_inhibitor"}),
        ("Should patients on anticoagulants take aspirin?", set()),
        ("Does aspirin help?", set()),
    ],
)
def test_a_question_may_be_on_a_class(question: str, classes: set[str]) -> None:
    assert classes_asked_about(question) == classes


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Statins were given.", True),
        ("Rosuvastatin was given.", True),
        ("LIPITOR was given.", True),
        ("Cystatin was measured.", False),
        ("Ezetimibe was given.", False),
    ],
)
def test_a_class_is_named_by_its_words_and_by_its_drugs(text: str, holds: bool) -> None:
    assert names_one(text, frozenset(), frozenset({"statin"})) is holds


def test_clinicians_short_forms_are_the_drug() -> None:
    found = drugs("pembro, nivo, atezo or durva")
    assert found == {"pembrolizumab", "nivolumab", "atezolizumab", "durvalumab"}


def test_a_class_is_known_by_its_short_name() -> None:
    assert classes_asked_about("GLP-1 for weight loss") == {"glp1_agonist"}
    assert classes_asked_about("SGLT2i in CKD") == {"sglt2_inhibitor"}


def test_a_drug_that_is_in_no_list_here_is_known_by_the_tables() -> None:
    for text, name in (
        ("Tegretol was stopped.", "carbamazepine"),
        ("What is the dose of verapamil?", "verapamil"),
        ("BI 1015550 slowed the decline.", "nerandomilast"),
        ("Apretude™ prevents HIV.", "cabotegravir"),
    ):
        assert drugs(text) == {name}, text
    assert names_one("Rinvoq is approved.", frozenset({"upadacitinib"}))
    assert not names_one("Humira is approved.", frozenset({"upadacitinib"}))
