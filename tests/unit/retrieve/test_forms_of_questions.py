"""What asks for something is not answered by yes or no, whatever it is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.retrieve.understanding.asked.reader import ANSWER_TYPES, Marked, read

SUBJECTS = ("IMvigor011", "COBRA", "apixaban", "the Natera assay", "celiac disease", "a low TSH")
FORMS = (
    "What happened in {}?",
    "What assay does {} use",
    "which patients did {} include?",
    "How does {} work?",
    "Who was treated with {}?",
    "when is {} given?",
)


@given(st.sampled_from(FORMS), st.sampled_from(SUBJECTS))
def test_a_question_that_begins_with_what_is_no_yes_or_no(form: str, subject: str) -> None:
    question = form.format(subject)
    likeliest = Marked({}, dict.fromkeys(ANSWER_TYPES, 0.0) | {"yesno": 1.0})
    assert likeliest.type(question) != "yesno"
    assert read(question).type(question) != "yesno"


@pytest.mark.parametrize(
    "question",
    ["Is it safe? What dose?", "What about metformin in CKD, is it safe?", "Can I stop aspirin"],
)
def test_one_that_also_asks_whether_may_be(question: str) -> None:
    likeliest = Marked({}, dict.fromkeys(ANSWER_TYPES, 0.0) | {"yesno": 1.0})
    assert likeliest.type(question) == "yesno"
