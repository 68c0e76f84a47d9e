"""The learned reader of questions: its parts are words of the question, in order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from workers.retrieve.understanding.asked.reader import LONGEST, load, read


@settings(max_examples=60)
@given(st.text(max_size=400))
def test_parts_are_places_in_order_and_apart(question: str) -> None:
    marked = read(question)
    for parts in marked.parts.values():
        at = 0
        for part in parts:
            assert at <= part.start < part.end <= len(question)
            assert 0 < part.share <= 1
            at = part.end
    assert abs(sum(marked.types.values()) - 1) < 1e-3


def test_a_question_longer_than_a_stretch_is_read_to_its_end() -> None:
    told = "She is well and takes no other drugs. " * (LONGEST // 8)
    marked = load().read(told + "Does quoxatinib help in gout?")
    assert any(part.start >= len(told) for part in marked.parts["names"])


def test_what_is_asked_stands_in_what_asks() -> None:
    question = "58-year-old man with asthma. Is allopurinol of use in gout?"
    asking = read(question).parts["asking"]
    assert any(part.start <= question.index("allopurinol") < part.end for part in asking)
