"""A batch of works: whom to blame when one of them, or all, are asked about in vain."""

import pytest

from workers.http.errors import (
    Malformed,
    NotOurTurn,
    QuotaExhausted,
    Refused,
    SourceError,
    Unreachable,
)
from workers.ingest.enrichment import (
    Answer,
    BrokenOff,
    BudgetSpent,
    NoWord,
    RefusesThisWork,
    Statement,
    Work,
    ask_each,
)

Outcome = SourceError | None
ONE, DOWN, SOURCE = RefusesThisWork("no"), Unreachable("gone"), Refused("who are you?")


def _ask(*outcomes: Outcome, late: bool = False) -> list[Answer]:
    def ask(work: Work) -> Statement:
        outcome = outcomes[int(work.key)]
        if outcome is not None:
            raise outcome
        return Statement(work.key, "crossref", known=True)

    works = [Work(str(n), f"10.5555/{n}") for n in range(len(outcomes))]
    return ask_each(works, ask, lambda: late)


def _told(answers: list[Answer] | tuple[Answer, ...]) -> str:
    return "".join("-" if isinstance(one, NoWord) else "+" for one in answers)


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ((), ""),
        ((None, None), "++"),
        ((ONE, None), "-+"),
        ((None, ONE, ONE, Malformed("?")), "+---"),
        ((DOWN, None), "-+"),
        ((None, DOWN), "+-"),
        ((DOWN, None, DOWN, ONE, DOWN), "-+---"),
    ],
)
def test_a_work_that_is_asked_about_in_vain_does_not_end_the_batch(
    outcomes: tuple[Outcome, ...], told: str
) -> None:
    assert _told(_ask(*outcomes)) == told


@pytest.mark.parametrize(
    "outcomes", [(ONE,), (ONE, Malformed("?")), (DOWN,), (DOWN, DOWN), (SOURCE,)]
)
def test_where_it_answers_about_no_work_it_is_the_source(outcomes: tuple[Outcome, ...]) -> None:
    with pytest.raises(SourceError) as caught:
        _ask(*outcomes)
    assert caught.value in outcomes


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [((None, DOWN, DOWN, None), "+"), ((None, ONE, SOURCE), "+-"), ((None, DOWN, SOURCE), "+")],
)
def test_what_came_before_the_source_fell_silent_is_kept(
    outcomes: tuple[Outcome, ...], told: str
) -> None:
    with pytest.raises(BrokenOff) as caught:
        _ask(*outcomes)
    assert _told(caught.value.statements) == told
    assert caught.value.cause in outcomes


def test_a_batch_that_takes_too_long_ends_with_what_it_has() -> None:
    assert _told(_ask(ONE, None, None, late=True)) == "-+"


def test_a_turn_that_is_not_ours_is_no_word_of_the_source() -> None:
    with pytest.raises(BrokenOff) as caught:
        _ask(None, NotOurTurn("later", 40.0))
    assert _told(caught.value.statements) == "+"
    assert isinstance(caught.value.cause, NotOurTurn)


def test_a_budget_ends_the_batch_and_keeps_what_came() -> None:
    with pytest.raises(BudgetSpent) as caught:
        _ask(None, ONE, QuotaExhausted("enough", 90.0))
    assert _told(caught.value.statements) == "+-"
    assert caught.value.seconds == 90.0
