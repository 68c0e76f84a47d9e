"""Who gives way to whom on a busy machine."""

from itertools import pairwise

from messages import QUESTION_STAGES, Stage
from workers.main import niceness


def test_a_process_yields_to_those_that_people_wait_for_more() -> None:
    pools = [tuple(Stage), QUESTION_STAGES, (Stage.INGEST, Stage.EMBED), (Stage.ANCHOR,)]
    found = [niceness(stages) for stages in pools]
    assert found[:2] == [0, 0], "somebody waits for one of them"
    assert all(first < then for first, then in pairwise(found[1:]))
