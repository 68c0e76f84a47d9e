"""Whether a question is on medicine, as far as its words can tell."""

import pytest

from tests.grid import grid
from workers.retrieve.understanding.read import understand


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Write a poem about the sea.",
        "Who won the world cup in 2014?",
        "How do I sort a list in Python?",
        "Which stocks should I buy this year?",
    ],
)
def test_a_question_on_something_else_is_known_by_its_words(question: str) -> None:
    assert not understand(question).is_clinical


@grid(
    "question",
    [
        "Does ctDNA predict recurrence in colon cancer?",
        "Is apixaban safe at 92 years?",
        "What did PMID 35657320 find?",
        "Is colchicine used after pericarditis?",
        "eGFR 28, what now?",
        "Does coffee lower mortality?",
        "Which arrhythmias follow ablation with nephropathy?",
        "CIRCULATE trial results",
        "Is tebentafusp approved in the United States?",
        "Does the Bruce test suit the elderly?",
        "Can Humira be used while nursing?",
        "Does hydroxychloroquine prevent it?",
        "coenzyme Q10 IVF",
        "potassium 6.2 what to do",
        "GALAXY hazard ratio",
        "oncotype dx score chemo refusal",
        "is radiation better than io",
        "imunotherapy or surgry",
        "folfox 3 months",
    ],
)
def test_a_clinical_question_is_one_whether_or_not_its_disease_has_a_tag(question: str) -> None:
    assert understand(question).is_clinical


@grid(
    "question",
    [
        "What time is it?",
        "no",
        "Is it better?",
        "Does it work?",
        "a b",
        "a\x01b",
        "Can I go there?",
        "??",
    ],
)
def test_a_question_on_nothing_in_particular_is_known_by_its_words(question: str) -> None:
    understood = understand(question)
    assert (understood.is_clinical, understood.names_something) == (False, False)


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
