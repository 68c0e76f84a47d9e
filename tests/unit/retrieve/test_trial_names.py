"""A trial is told from the next one of its series."""

import pytest

from knowledge.scenarios import scenarios
from knowledge.subjects.naming import mentions, trials
from tests.grid import grid
from tests.unit.retrieve.ranking_examples import candidate, place, question
from workers.retrieve.ranking.candidates import Candidate
from workers.retrieve.ranking.ranking import rank
from workers.retrieve.ranking.topicality import is_named
from workers.retrieve.understanding.read import understand


@grid(
    ("words", "name", "found"),
    [
        ("DYNAMIC: ctDNA in stage II", "DYNAMIC", True),
        ("DYNAMIC-III: ctDNA in stage III", "DYNAMIC", False),
        ("DYNAMIC III: ctDNA in stage III", "DYNAMIC", False),
        ("DYNAMIC-III: ctDNA in stage III", "DYNAMIC-III", True),
        ("DYNAMIC III: ctDNA in stage III", "DYNAMIC-III", True),
        ("DYNAMIC and DYNAMIC-III", "DYNAMIC", True),
        ("DYNAMIC 2-year survival", "DYNAMIC", True),
        ("DYNAMIC 2022", "DYNAMIC", True),
        ("CIRCULATE-Japan: an adaptive platform", "CIRCULATE", True),
        ("NCCN, Version 2.2026", "NCCN", True),
        ("NCCN 2.2026", "NCCN", True),
        ("a dynamic trial", "DYNAMIC", False),
        ("MERMAID-2: durvalumab", "MERMAID", True),
        ("MERMAID-2: durvalumab", "MERMAID-1", False),
    ],
)
def test_the_numeral_behind_a_name_makes_it_another_trial(
    words: str, name: str, found: bool
) -> None:
    assert mentions(words, name) is found


def test_a_question_on_a_trial_does_not_name_the_work_of_the_next_one() -> None:
    other = candidate(1, title="The randomized phase 2/3 DYNAMIC-III trial")
    assert not is_named(other, ("DYNAMIC",))
    assert is_named(other, ("DYNAMIC-III",))


def test_each_trial_that_a_question_names_has_its_own_works_in_the_list() -> None:
    registered = [
        candidate(n, 0.9, title=f"A trial of CIRCULATE-{n}", source_type="clinicaltrials")
        for n in range(1, 5)
    ]
    found = [
        *registered,
        candidate(5, 0.8, title="DYNAMIC-Rectal: a trial", source_type="clinicaltrials"),
        candidate(6, 0.5, title="DYNAMIC: a trial", source_type="clinicaltrials"),
        candidate(7, 0.4, title="CIRCULATE AIO: a trial", source_type="clinicaltrials"),
    ]
    asked = question("clinical_trials", (), (), ("CIRCULATE", "DYNAMIC"))
    kept = {one.candidate.document_id.int for one in rank(found, asked, None, most=8).kept}
    assert {6, 7} <= kept


def test_of_several_trials_one_that_can_hold_but_its_part_of_the_question_is_told_of() -> None:
    def work(number: int, title: str, covered: float) -> Candidate:
        return candidate(number, title=title, places=(place(covered=covered, dense=0.3),))

    found = [work(1, "c-TRAK: a trial", 0.7), work(2, "ZEST: a trial", 0.2)]
    both = rank(found, question("general", (), (), ("c-TRAK", "ZEST")), None, most=8)
    assert {one.candidate.document_id.int for one in both.kept} == {1, 2}
    alone = rank(found, question("general", (), (), ("ZEST",)), None, most=8)
    assert not any(one.candidate.document_id.int == 2 for one in alone.kept)


def test_a_work_that_says_which_trial_it_reports_is_that_trials() -> None:
    told = place(text="Here we report results from GALAXY, which is an observational arm.")
    assert is_named(candidate(1, title="Residual disease", places=(told,)), ("GALAXY",))
    cites = place(text="We report 30 patients. Results from GALAXY were similar.")
    assert not is_named(candidate(1, title="Residual disease", places=(cites,)), ("GALAXY",))


@pytest.mark.parametrize(("source_type", "named"), [("clinicaltrials", True), ("pubmed", False)])
def test_a_registered_trial_is_named_by_its_acronym(source_type: str, named: bool) -> None:
    told = place(text="- Official title: A long title.\n- Acronym: PALLAS.\n- Phase: 3.")
    record = candidate(1, title="A long title", source_type=source_type, places=(told,))
    assert is_named(record, ("PALLAS",)) is named
    assert not is_named(record, ("PALLAS-2",))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("The Adaptive COVID-19 Treatment Trial (ACTT)", True),
        ("ACTT-1: remdesivir", True),
        ("ACTT-2: baricitinib", False),
        ("ACTT II", False),
    ],
)
def test_the_first_of_a_series_is_found_by_the_name_it_had_before_there_was_a_second(
    words: str, named: bool
) -> None:
    assert mentions(words, "ACTT-1") is named


def test_a_series_that_was_numbered_from_the_first_and_a_protein_are_not_called_so() -> None:
    assert not mentions("MERMAID-2: durvalumab", "MERMAID-1")
    assert not mentions("PD", "PD-1")


def test_a_work_of_the_trial_that_is_asked_about_need_hold_less_of_the_question() -> None:
    far = {"covered": 0.4, "dense": 0.1}
    record = candidate(1, title="ZEST: niraparib", places=(place(**far),), diseases=())
    other = candidate(2, title="A review", places=(place(**far, text="ZEST"),), diseases=())
    body = candidate(3, title="FDA: a guidance", places=(place(**far),), diseases=())
    told = candidate(4, title="ZEST: results", places=(place(),), diseases=())
    mentions_it = candidate(5, title="B review", places=(place(text="As in ZEST."),), diseases=())
    sibling = candidate(6, title="ZEST-Rectal: olaparib", places=(place(**far),), diseases=())
    asked = understand("why was ZEST stopped, says the FDA")
    kept = rank([record, other, body, told, mentions_it, sibling], asked, None, most=10).kept
    assert {one.candidate.title for one in kept} == {"ZEST: niraparib", "ZEST: results", "B review"}


def test_a_trial_that_is_called_after_a_country_is_no_regulator() -> None:
    assert trials(["CIRCULATE-US", "CIRCULATE-Japan", "FDA", "NCCN", "EMA"]) == (
        "CIRCULATE-US",
        "CIRCULATE-Japan",
    )


def test_the_publication_of_a_trial_is_its_own_whatever_else_is_asked() -> None:
    entry = next(
        one
        for pack in scenarios()
        for one in pack.usable()
        if one.trial == "IMvigor011" and one.pmid
    )
    paper = candidate(1, title=entry.title, identifiers={"pmid": entry.pmid})
    assert is_named(paper, ["IMvigor011"])
    assert not is_named(paper, ["IMvigor010"])
