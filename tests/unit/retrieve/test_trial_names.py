"""A trial is told from the next one of its series."""

import pytest

from knowledge.naming import mentions
from tests.unit.retrieve.ranking_examples import candidate, place
from workers.retrieve.topicality import is_named


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(("source_type", "named"), [("clinicaltrials", True), ("pubmed", False)])
def test_a_registered_trial_is_named_by_its_acronym(source_type: str, named: bool) -> None:
    told = place(text="- Official title: A long title.\n- Acronym: PALLAS.\n- Phase: 3.")
    record = candidate(1, title="A long title", source_type=source_type, places=(told,))
    assert is_named(record, ("PALLAS",)) is named
    assert not is_named(record, ("PALLAS-2",))
