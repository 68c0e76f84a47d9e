"""Whom a claim is about is whom its source is about."""

import pytest

from tests.grid import grid
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.population import guard
from workers.verify.hard_facts import hard_facts

PASSAGE = (
    "Among ctDNA-positive patients with stage II colon cancer, adjuvant chemotherapy improved "
    "recurrence-free survival."
)
GROUNDS = Grounds(
    PASSAGE,
    title="Circulating tumor DNA in colon cancer",
    text="We enrolled adults with stage II colon cancer. The trial was done in outpatients.",
)


@pytest.mark.parametrize(
    "claim",
    [
        "In stage 2 colon cancer with positive ctDNA, adjuvant chemotherapy improved survival.",
        "MRD-positive patients with stage II colon cancer had better survival.",
        "Among ctDNA-positive adults with stage II colon cancer, survival improved.",
        "Survival improved in ctDNA+ outpatients with stage II colon cancer.",
        "Survival improved in ctDNA-positive patients with stage II cancer.",
    ],
)
def test_a_population_that_the_source_states_passes(claim: str) -> None:
    assert guard(claim, GROUNDS) == []


@grid(
    "claim",
    [
        "ctDNA-negative patients with stage II colon cancer had better survival.",
        "MRD-negative patients with stage II colon cancer had better survival.",
        "ctDNA-positive patients with stage III colon cancer had better survival.",
        "ctDNA-positive patients with stage II-III colon cancer had better survival.",
        "ctDNA-positive patients with stage IIA colon cancer had better survival.",
        "ctDNA-positive patients with stage II breast cancer had better survival.",
        "ctDNA-positive children with stage II colon cancer had better survival.",
        "ctDNA-positive women with stage II colon cancer had better survival.",
        "In ctDNA-positive stage II colon cancer neoadjuvant chemotherapy improved survival.",
        "ctDNA-positive patients with metastatic stage II colon cancer had better survival.",
        "ctDNA-positive hospitalized patients with stage II colon cancer had better survival.",
        "ctDNA-positive, EGFR-mutant stage II colon cancer had better survival.",
    ],
)
def test_another_population_is_vetoed(claim: str) -> None:
    assert {finding.code for finding in guard(claim, GROUNDS)} == {"population"}


@grid(
    ("claim", "passage"),
    [
        ("Mortality fell in men.", "Mortality fell in women."),
        ("Mortality fell in adults.", "Mortality fell in children."),
        ("Mortality fell in premenopausal women.", "Mortality fell in postmenopausal women."),
        ("It helps in type 1 diabetes.", "It helps in type 2 diabetes."),
        ("It helps as second-line therapy.", "It helps as first-line therapy."),
        ("It helps in previously treated patients.", "It helps in treatment-naive patients."),
        ("It helps in EGFR wild-type tumors.", "It helps in EGFR-mutant tumors."),
        ("It helps in rats.", "It helps in mice."),
        ("It helps patients.", "It helps mice."),
        ("It helps in atrial fibrillation.", "It helps in heart failure."),
        ("In this phase III trial it helps.", "In this phase II trial it helps."),
        ("It helps in severe asthma.", "It helps in mild asthma."),
    ],
)
def test_one_group_is_not_put_for_another(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage)) != []
    assert guard(passage, Grounds(passage)) == []


def test_the_title_may_state_what_the_passage_leaves_out_but_not_contradict_it() -> None:
    title = "Zinc for diarrhea in children"
    assert guard("Zinc helps children.", Grounds("Zinc helps.", title=title)) == []
    assert guard("Zinc helps adults.", Grounds("Zinc helps.", title=title)) != []
    assert guard("Zinc helps children.", Grounds("Zinc helps adults.", title=title)) != []


def test_a_text_that_speaks_of_both_groups_settles_nothing() -> None:
    both = Grounds("The drug worked.", text="Women and men were enrolled.")
    assert guard("The drug worked in women.", both) != []


def test_a_bare_status_is_that_of_the_only_marker_of_the_source() -> None:
    text = "ctDNA was measured. Survival was 87% in negative and 49% in positive patients."
    passage = "Survival was 87% in negative and 49% in positive patients."
    claim = "Survival was 87% in ctDNA-negative and 49% in ctDNA-positive patients."
    known = "Patients were ctDNA-positive or ctDNA-negative. " + text
    assert guard(claim, Grounds(passage, text=known)) == []
    another = "Patients were ctDNA-positive, tumors HER2-positive. " + text
    assert {one.code for one in guard(claim, Grounds(passage, text=another))} == {"population"}


def test_words_of_how_are_no_marker() -> None:
    passage = "Brain recurrence was poorly seen."
    assert guard("Brain recurrence is poorly detected.", Grounds(passage)) == []


def test_an_analysis_that_detected_something_has_no_status() -> None:
    passage = "Serial ctDNA analyses revealed recurrence ahead of imaging."
    grounds = Grounds(passage, text=f"Patients were ctDNA-positive or not. {passage}")
    assert guard("Serial ctDNA analyses detected recurrence ahead of imaging.", grounds) == []


@grid(
    ("claim", "passage"),
    [
        ("Patients who never turned HPV-positive did well.", "HPV-negative patients did well."),
        (
            "It is not for stage II to IV disease, elsewhere stage IV only.",
            "Not in stage II to IV.",
        ),
        ("It helps in stage III disease.", "It helps in stages II to IV."),
    ],
)
def test_a_denied_status_and_a_stage_of_both_are_asked_about_and_veto_nothing(
    claim: str, passage: str
) -> None:
    grounds = Grounds(passage, text=passage)
    assert hard_facts(claim, grounds) == ()
    assert (
        hard_facts("It helps in stage I disease.", Grounds("It helps in stage IV disease.")) != ()
    )


@grid(
    "claim",
    ["Testing that was completed detected 14 relapses.", "HPV had become undetectable in 87%."],
)
def test_a_plain_word_before_a_status_is_no_marker(claim: str) -> None:
    assert guard(claim, Grounds("Serial testing picked up 14 relapses; HPV went in 87%.")) == []


@grid(
    ("claim", "passage"),
    [
        (
            "It is covered for lung cancer whether or not it can be resected.",
            "It is covered for lung cancer, resectable or unresectable.",
        ),
        ("It helps regardless of whether the tumor was resected.", "It helps in unresectable too."),
        ("It helps irrespective of EGFR-mutant status.", "It helps in EGFR wild-type and others."),
        ("It helps whether or not patients were children.", "It helps adults and anybody else."),
        ("It helps, no matter whether given as second-line therapy.", "It helps as first-line."),
    ],
)
def test_who_is_named_with_the_others_is_asked_about_and_no_certain_fact(
    claim: str, passage: str
) -> None:
    assert all(finding.unsaid for finding in guard(claim, Grounds(passage)))
    assert not hard_facts(claim, Grounds(passage))


@grid(
    ("claim", "passage"),
    [
        ("It helps in resected cancer whether or not it is given early.", "It helps unresectable."),
        ("Whether or not it works, children were treated.", "Adults were treated."),
    ],
)
def test_what_stands_beside_such_words_is_held_to_the_passage(claim: str, passage: str) -> None:
    assert any(not finding.unsaid for finding in guard(claim, Grounds(passage)))
