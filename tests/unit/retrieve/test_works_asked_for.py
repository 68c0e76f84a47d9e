"""A question that holds nothing but the number of a work is on all that the work says."""

from dataclasses import replace

from tests.grid import grid
from workers.retrieve.ranking.topicality import asks_for_works
from workers.retrieve.understanding.read import understand


@grid(
    ("question", "of_itself"),
    [
        ("PMID 35657320", True),
        ("Summarize PMID 35657320, please", True),
        ("What is NCT04264702 about?", True),
        ("PMID 35657320 and PMC9701133", True),
        ("Does PMID 35657320 report bleeding?", False),
        ("What is known of bleeding?", False),
        ("What does NCCN recommend?", False),
        ("What did DYNAMIC find?", False),
    ],
)
def test_only_the_number_of_a_work_asks_for_the_work(question: str, of_itself: bool) -> None:
    assert asks_for_works(understand(question)) is of_itself


def test_without_a_question_no_work_is_asked_for() -> None:
    assert not asks_for_works(replace(understand("PMID 35657320"), sub_queries=()))
