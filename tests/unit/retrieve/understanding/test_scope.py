"""Whether a question is none of ours: only where a reader is sure of it."""

from pathlib import Path

import pytest

from tests.grid import grid
from workers.encoder import HashEncoder, MiniLM
from workers.retrieve.understanding.read import understand
from workers.retrieve.understanding.scope import is_none_of_ours, names_clinical

QUESTIONS = Path(__file__).parents[4] / "benchmarks" / "questions"


def _lines(name: str) -> list[str]:
    return [line.split("\t")[-1] for line in (QUESTIONS / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    return MiniLM(tmp_path_factory.mktemp("encoder"), threads=1)


def test_no_plain_clinical_question_is_refused(encoder: MiniLM) -> None:
    for name in ("clinical_first.tsv", "clinical_second.tsv", "lay_second.txt"):
        refused = [one for one in _lines(name) if is_none_of_ours(one, encoder)]
        assert refused == [], name


def test_none_is_refused_for_want_of_a_listed_word(
    encoder: MiniLM,
) -> None:
    for question in (
        "Is quoxatinib better than placebo?",
        "What is Quox syndrome?",
        "QUOX-3 results",
        "eGFR 28, what now?",
        "Does coffee lower mortality?",
        "Does the Bruce test suit the elderly?",
        "folfox 3 months",
        "Is psoriasis curable?",
    ):
        assert not is_none_of_ours(question, encoder), question


def test_what_is_surely_not_clinical_is_told(encoder: MiniLM) -> None:
    for question in (
        "Write a poem about the sea.",
        "Which stocks should I buy this year?",
        "What is the capital of France?",
        "Book me a table for two tonight",
        "How do I appeal a parking ticket?",
    ):
        assert is_none_of_ours(question, encoder), question
    others = _lines("other_second.txt")
    assert sum(is_none_of_ours(one, encoder) for one in others) >= len(others) / 4


def test_a_known_name_of_medicine_is_enough_and_another_encoder_says_nothing() -> None:
    asked = "Who won the race for an apixaban generic?"
    assert names_clinical(asked)
    assert not is_none_of_ours(asked, HashEncoder(384))
    assert not is_none_of_ours("Write a poem about the sea.", HashEncoder(384))


@grid(
    "question", ["What time is it?", "no", "Is it better?", "Does it work?", "a b", "a\x01b", "??"]
)
def test_a_question_on_nothing_in_particular_is_known_by_its_words(question: str) -> None:
    assert not understand(question).names_something


@pytest.mark.parametrize(
    "question",
    [
        "Does zanubrutinib work?",
        "Is coffee good?",
        "pembrolizumab",
        "肺癌",
        "What is ctDNA?",
        "Does time to surgery matter?",
    ],
)
def test_a_question_on_something_names_it(question: str) -> None:
    assert understand(question).names_something
