"""What is asked of one work: who runs it, who may take part, how it is told."""

from dataclasses import replace

import pytest

from store.documents.content import Content, content
from store.index.terms import terms
from workers.generate.candidates import Candidate
from workers.generate.extractive import choose
from workers.generate.scoring import Asked
from workers.generate.wording import leans

REGISTRY = Candidate("E1", "clinicaltrials", "", "ALPHA: drug X in colon cancer", 0.5)


def line(text: str, section: str = "Design", **fields: object) -> Candidate:
    return replace(REGISTRY, **{"text": text, "section": section, "asked_for": True, **fields})


def asked(question: str) -> list[Content]:
    return [content(question, dict.fromkeys(terms(question), 1.0))]


def told(question: str, lines: list[Candidate], query_type: str = "general") -> list[str]:
    found = choose(lines, Asked(query_type, asked(question), questions=[question]))
    return [one.text for one in found]


IDENTITY = line("ALPHA (NCT01234567) is a randomized trial of surgery in colon cancer.")
RESULT = line("In ALPHA survival was 93.5% with drug X and 92.4% with placebo.", "Results")


@pytest.mark.parametrize(
    "question",
    [
        "Who sponsors ALPHA?",
        "was ALPHA blinded",
        "How long was follow-up in ALPHA?",
        "limitations of ALPHA",
    ],
)
def test_what_no_source_states_of_a_trial_is_not_answered_with_something_else(
    question: str,
) -> None:
    assert told(question, [IDENTITY, RESULT]) == []


def test_who_runs_a_trial_is_told_though_its_words_are_others() -> None:
    run_by = line("The study is run by the Royal Marsden.", "Design", found=False)
    assert run_by.text in told("Who sponsors ALPHA?", [IDENTITY, RESULT, run_by])


def test_the_arms_of_a_registry_are_shown_to_who_asks_for_them_alone() -> None:
    arm = line(
        '- Arm "Arm A" (experimental): Drug X 125 mg orally once daily.', "Arms and interventions"
    )
    assert any("Arm A" in one for one in told("What are the arms of ALPHA?", [IDENTITY, arm]))
    assert not any("Arm A" in one for one in told("What did ALPHA find?", [IDENTITY, RESULT, arm]))


def label(text: str, section: str = "1 Indications") -> Candidate:
    return Candidate("E1", "label", text, "APIXABAN prescribing information", 0.5, section)


def test_what_only_names_the_drug_of_a_label_leaves_room_for_what_tells_more() -> None:
    lines = [
        Candidate("E1", "label", text, "APIXABAN prescribing information", 0.9)
        for text in (
            "Apixaban is indicated to reduce the risk of stroke in adults.",
            "Apixaban is indicated for the treatment of deep vein thrombosis.",
        )
    ]
    lines.append(
        Candidate(
            "E1",
            "label",
            "Avoid concomitant use with rifampin or carbamazepine.",
            "APIXABAN prescribing information",
            0.5,
        )
    )
    assert told("Can someone on rifampin take apixaban?", lines) == [lines[-1].text]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What documentation does Medicare want for a CPAP device?", False),
        ("Does coverage require a sleep test?", False),
        ("What documentation does Medicare want?", True),
    ],
)
def test_a_policy_on_another_item_does_not_answer_by_the_words_of_policies(
    question: str, shown: bool
) -> None:
    other = Candidate(
        "E1",
        "payer",
        "Medicare coverage of each device requires documentation by the supplier.",
        "Seat Lift Mechanisms (L33801)",
        0.5,
    )
    assert bool(told(question, [other], "coverage_policy")) is shown


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("galleri trial primary endpoint missed?", False),
        ("What did the pathfinder study find on the primary endpoint?", False),
        ("ctdna trial primary endpoint", True),
        ("recent trial primary endpoint", True),
        ("Was the primary endpoint met in a multinational trial?", True),
    ],
)
def test_another_trial_is_not_told_for_one_that_nothing_speaks_of(
    question: str, shown: bool
) -> None:
    one = line("The primary endpoint of ctDNA clearance was not met.", asked_for=False)
    assert bool(told(question, [one], "clinical_trials")) is shown


def test_what_was_mentioned_before_leans_on_it_wherever_it_stands() -> None:
    assert leans("Lower doses should be considered with the aforementioned drugs.")
    assert leans("Lower doses are advised with the above-mentioned agents.")
    assert not leans("Lower doses should be considered with clarithromycin.")
