"""What stands beside an answer: its limits."""

import pytest

from store.documents.content import Content, content
from store.index.terms import terms
from workers.generate.candidates import Candidate
from workers.generate.details import limits, naming
from workers.generate.facets import states

ANSWER = "Drug X is contraindicated in pregnancy."


def asked(question: str) -> list[Content]:
    return [content(question, dict.fromkeys(terms(question), 1.0))]


def line(text: str, source_type: str = "label", section: str = "5 Warnings") -> Candidate:
    return Candidate("E1", source_type, text, "Drug X tablets", 0.5, section=section)


def limits_of(one: Candidate, question: str = "Can drug X be used in pregnancy?") -> list[str]:
    answer = line(ANSWER, one.source_type, "4 Contraindications")
    found = limits([answer], [[answer, one]], lambda _: True, asked(question))
    return [limit.text for limit in found]


def test_an_instruction_for_use_is_no_limit_of_a_study() -> None:
    assert not states("limitation", "Use with caution in older adults.")
    assert not states("limitation", "Patients should be treated with caution.")
    assert states("limitation", "The results should be read with caution.")
    assert states("limitation", "Interpret with caution, for few were treated.")


@pytest.mark.parametrize("source_type", ["label", "payer", "regulator"])
def test_what_instructs_or_decides_has_no_limits_of_a_study(source_type: str) -> None:
    small = line("The study in pregnancy was small and underpowered.", source_type)
    assert limits_of(small) == []


def test_a_study_s_limits_are_those_of_all_that_it_found() -> None:
    small = line("The cohort was small and came from one hospital.", "pubmed", "Discussion")
    assert limits_of(small) == [small.text]


def test_what_a_long_work_leaves_open_must_touch_the_question_or_the_part_that_answers() -> None:
    beside = "The long-term immunogenicity of drug X is unknown."
    assert limits_of(line(beside)) == []
    assert limits_of(line(beside, section="4 Contraindications")) == [beside]
    touching = "Whether drug X passes into milk in pregnancy is unknown."
    assert limits_of(line(touching)) == [touching]


def test_what_a_work_is_is_told_by_what_was_done_and_not_by_why() -> None:
    def of_trial(text: str, section: str) -> Candidate:
        return Candidate("E1", "pubmed", text, "Drug X in bladder cancer", 0.5, section=section)

    why = of_trial("Patients with bladder cancer have varied outcomes.", "Background")
    done = of_trial("In a trial in bladder cancer patients were given drug X.", "Methods")
    result = of_trial("The median survival was 32.8 months.", "Results")
    found = naming([result], [why, done, result], lambda _: True, strictly=False)
    assert found is done
    assert naming([result], [why, result], lambda _: True, strictly=False) is why


def test_a_registration_is_named_by_its_own_number_and_not_by_another_s() -> None:
    def of_trial(text: str) -> Candidate:
        return Candidate("E1", "clinicaltrials", text, "Iron", 0.5, named="NCT01234567")

    other = of_trial("Follow-up of 24 weeks after the study NCT07654321.")
    own = of_trial("The trial NCT01234567 follows the study NCT07654321.")
    shown = of_trial("Enrollment: 41 participants.")
    assert naming([shown], [other, own], lambda _: True, strictly=True) == own
    assert naming([shown], [other], lambda _: True, strictly=True) is None
