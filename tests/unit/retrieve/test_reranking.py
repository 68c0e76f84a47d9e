"""A language model proposes an order; scores, candidates and every later rule stay ours."""

import json
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.answering.policy import retrieval_policy
from tests.examples import examples
from tests.unit.retrieve.ranking_examples import candidate, pack, place, question
from workers.language_model.port import ModelRefused, Prompt, Proposal, T, Usage
from workers.retrieve.ranking.candidates import Candidate
from workers.retrieve.ranking.ranking import rank
from workers.retrieve.ranking.reranking import Reranked, rerank

QUESTION = "Is apixaban safe in end-stage kidney disease?"
MOST = retrieval_policy().rerank.most
CHARS = retrieval_policy().rerank.chars


class Says:
    """A language model that answers with an order, or raises; it keeps what it was asked."""

    name = "made-up-model"

    def __init__(self, *order: str, error: Exception | None = None) -> None:
        self.order = list(order)
        self.error = error
        self.asked: list[str] = []

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        self.asked.append(prompt.user)
        if self.error:
            raise self.error
        value = prompt.shape.model_validate({"order": self.order})
        return Proposal(value, self.name, Usage(10, 5, cost_usd=Decimal("0.001")), "p", "o")


def found(*scores: float) -> list[Candidate]:
    """Candidates of these scores, numbered from 1."""
    return [candidate(n, score) for n, score in enumerate(scores, start=1)]


def numbers(candidates: Sequence[Candidate]) -> list[int]:
    return [one.document_id.int for one in candidates]


def scores(candidates: Sequence[Candidate]) -> list[float]:
    return [one.score for one in candidates]


@pytest.mark.requirement("MC-1.3c")
def test_the_order_is_the_models_and_the_scores_are_handed_out_again() -> None:
    ordered, told = rerank(Says("C3", "C1", "C2"), QUESTION, found(0.9, 0.5, 0.2))
    assert numbers(ordered) == [3, 1, 2]
    assert scores(ordered) == [0.9, 0.5, 0.2]
    assert (told.moved, told.ignored) == (3, 0)


def test_what_the_model_leaves_out_follows_in_its_old_order() -> None:
    ordered, told = rerank(Says("C4"), QUESTION, found(0.9, 0.7, 0.5, 0.3))
    assert numbers(ordered) == [4, 1, 2, 3]
    assert (told.moved, told.ignored) == (4, 0)


def test_unknown_and_repeated_keys_are_ignored_and_counted() -> None:
    model = Says("C9", "C2", "C2", "c1", " C1", "", "C2")
    ordered, told = rerank(model, QUESTION, found(0.9, 0.7, 0.5))
    assert numbers(ordered) == [2, 1, 3]
    assert (told.moved, told.ignored) == (2, 6)


@pytest.mark.requirement("MC-1.3c")
def test_only_the_first_thirty_are_shown_and_the_others_stay_where_they_are() -> None:
    candidates = found(*(1 - n / 100 for n in range(MOST + 5)))
    model = Says(f"C{MOST + 1}", f"C{MOST}")
    ordered, told = rerank(model, QUESTION, candidates)
    shown = json.loads(model.asked[0])["candidates"]
    assert MOST == 30
    assert [one["key"] for one in shown] == [f"C{n}" for n in range(1, 31)]
    assert numbers(ordered) == [30, *range(1, 30), *range(31, 36)]
    assert ordered[30:] == candidates[30:]
    assert told.ignored == 1


def test_passages_keep_their_share_of_the_best_ones_score() -> None:
    two = candidate(2, places=(place(0.4), place(0.1, chunk_id="chunk_1", covered=0.3)))
    (first, _), _ = rerank(Says("C2"), QUESTION, [candidate(1, 0.8), two])
    assert [one.score for one in first.places] == [0.8, pytest.approx(0.2)]
    assert [(one.covered, one.dense, one.lexical) for one in first.places] == [
        (one.covered, one.dense, one.lexical) for one in two.places
    ]


def test_no_passage_passes_its_best_one_where_a_score_is_zero_or_below() -> None:
    low = candidate(2, places=(place(-0.1), place(-0.2, chunk_id="chunk_1")))
    high = candidate(1, places=(place(0.8), place(0.4, chunk_id="chunk_1")))
    ordered, _ = rerank(Says("C2", "C1"), QUESTION, [high, low])
    assert [[place.score for place in one.places] for one in ordered] == [[0.8, 0.8], [-0.1, -0.1]]


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_is_asked_where_there_is_nothing_to_order(count: int) -> None:
    model = Says("C1")
    candidates = found(*[0.5] * count)
    ordered, told = rerank(model, QUESTION, candidates)
    assert ordered == candidates
    assert model.asked == []
    assert told == Reranked("no language model was asked: nothing to order")


def test_where_the_model_fails_nothing_changes_and_the_body_says_so() -> None:
    candidates = found(0.9, 0.5)
    ordered, told = rerank(Says(error=ModelRefused("no")), QUESTION, candidates)
    assert ordered == candidates
    assert told.as_body() == {
        "note": "in the order of the search: ModelRefused",
        "model": "made-up-model",
        "prompt_version": "rerank-1",
        "prompt_hash": None,
        "output_hash": None,
        "ignored": 0,
        "moved": 0,
        "cost_usd": None,
    }


def test_an_error_that_is_not_the_models_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        rerank(Says(error=ZeroDivisionError()), QUESTION, found(0.9, 0.5))


def test_the_model_sees_title_kind_year_and_the_best_passage_and_no_more() -> None:
    best = place(0.9, text="Bleeding was\n rarer.", chunk_id="chunk_7")
    other = place(0.2, text="Unseen words.")
    first = candidate(1, title="A  trial", source_type="pubmed", year=None, places=(best, other))
    model = Says()
    rerank(model, QUESTION, [first, candidate(2)])
    asked = json.loads(model.asked[0])
    assert asked["question"] == QUESTION
    assert asked["candidates"][0] == {
        "key": "C1",
        "title": "A trial",
        "source": "pubmed",
        "year": None,
        "passage": "Bleeding was rarer.",
    }
    assert "Unseen" not in model.asked[0]


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        pytest.param("a" * CHARS, "a" * CHARS, id="fits"),
        pytest.param(
            "b " + "a" * (CHARS - 2) + " c", "b " + "a" * (CHARS - 2) + " …", id="at a word"
        ),
        pytest.param("word " + "a" * CHARS, "word …", id="not within a word"),
        pytest.param("a" * (CHARS + 1), "a" * CHARS + " …", id="no space at all"),
    ],
)
def test_a_long_passage_is_cut_after_a_word(text: str, passage: str) -> None:
    model = Says()
    rerank(model, QUESTION, [candidate(1, places=(place(text=text),)), candidate(2)])
    assert json.loads(model.asked[0])["candidates"][0]["passage"] == passage


@pytest.mark.requirement("EB-5.2")
@pytest.mark.requirement("EB-5.3")
def test_a_lie_about_the_order_moves_no_anchor_and_brings_back_nothing_excluded() -> None:
    anchor = candidate(1, 0.9, identifiers={"doi": "10.1000/g"}, source_type="guideline")
    plain = candidate(2, 0.6)
    elsewhere = candidate(3, 0.3, diseases={"diabetes"})
    retracted = candidate(4, 0.2, evidence_level="Retracted publication")
    candidates = [anchor, plain, elsewhere, retracted]
    lied, told = rerank(Says("C4", "C3", "C2", "C1"), QUESTION, candidates)
    assert numbers(lied) == [4, 3, 2, 1]
    assert told.moved == 4
    for found in (candidates, lied):
        ranked = rank(found, question(), pack(guideline="10.1000/g"), most=8)
        assert numbers([one.candidate for one in ranked.kept]) == [1, 2]


def test_the_body_holds_no_words_of_question_passage_or_answer() -> None:
    secret = "Zebrafinch"
    candidates = [candidate(n, title=secret, places=(place(text=secret),)) for n in (1, 2)]
    model = Says("C2", secret)
    _, told = rerank(model, secret, candidates)
    assert model.asked[0].count(secret) == 5
    assert secret not in f"{told} {told.as_body()}"
    assert told.as_body() == {
        "note": "in the order of a language model",
        "model": "made-up-model",
        "prompt_version": "rerank-1",
        "prompt_hash": "p",
        "output_hash": "o",
        "ignored": 1,
        "moved": 2,
        "cost_usd": "0.001",
    }


SCORES = st.floats(0, 1)
KEYS = st.integers(0, MOST + 10).map(lambda n: f"C{n}") | st.text(max_size=3)


@st.composite
def lists(draw: st.DrawFn) -> list[Candidate]:
    """Any candidates, best first, with one to three passages each, best first."""
    held = draw(st.lists(st.lists(SCORES, min_size=1, max_size=3), max_size=MOST + 5))
    held = sorted((sorted(one, reverse=True) for one in held), key=lambda one: -one[0])
    return [
        candidate(
            n, places=tuple(place(score, chunk_id=f"chunk_{k}") for k, score in enumerate(of))
        )
        for n, of in enumerate(held, start=1)
    ]


@pytest.mark.requirement("MC-1.3c")
@examples(200)
@given(candidates=lists(), order=st.lists(KEYS, max_size=50))
def test_whatever_is_proposed_the_candidates_and_the_scale_of_scores_stay(
    candidates: list[Candidate], order: list[str]
) -> None:
    ordered, told = rerank(Says(*order), QUESTION, candidates)
    assert sorted(numbers(ordered)) == numbers(candidates)
    assert scores(ordered) == scores(candidates)
    assert ordered[MOST:] == candidates[MOST:]
    by_number = {one.document_id.int: one for one in candidates}
    for one in ordered:
        before = by_number[one.document_id.int]
        assert [part.chunk_id for part in one.places] == [part.chunk_id for part in before.places]
        held = [part.score for part in one.places]
        assert held == sorted(held, reverse=True)
        assert all(0 <= score <= 1 for score in held)
    known = {f"C{n}" for n in range(1, min(len(candidates), MOST) + 1)}
    proposed = [key for n, key in enumerate(order) if key in known and key not in order[:n]]
    if len(candidates) > 1:
        assert numbers(ordered)[: len(proposed)] == [int(key[1:]) for key in proposed]
        assert told.ignored == len(order) - len(proposed)
        left = [one for one in numbers(ordered) if f"C{one}" not in proposed]
        assert left == sorted(left)


@examples(100)
@given(title=st.text(), text=st.text(), asked=st.text())
def test_no_text_leaves_its_string(title: str, text: str, asked: str) -> None:
    model = Says()
    first = candidate(1, title=title, places=(place(text=text),))
    rerank(model, asked, [first, candidate(2)])
    data = json.loads(model.asked[0])
    assert data.keys() == {"question", "candidates"}
    assert data["question"] == asked
    assert [one["key"] for one in data["candidates"]] == ["C1", "C2"]
    assert data["candidates"][0]["title"] == " ".join(title.split())
