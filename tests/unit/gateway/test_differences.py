"""Differences of versions: texts that repeat themselves are compared by their ends."""

from api_gateway.pages.differences import MOST_PAIRS, rows


def test_texts_that_repeat_themselves_change_between_their_common_ends() -> None:
    # 400 equal sentences on each side are more pairs than are compared
    same = ["The drug was given."] * 400
    assert len(same) ** 2 > MOST_PAIRS

    found = rows(["Begin.", *same, "End."], ["Begin.", "New.", *same[1:], "End."])

    assert [one.kind for one in found] == ["same", "changed", "same", "same", "skipped"]
    assert "".join(word.text for word in found[1].new) == "New."


def test_a_repetition_that_grew_is_an_addition() -> None:
    same = ["The drug was given."] * 400

    found = rows(same, [*same, *same])

    assert [one.kind for one in found][-1] == "added"
    assert len(found[-1].new) == 400


def test_passages_of_the_same_words_are_not_compared_word_by_word() -> None:
    old, new = "a b " * 700, "b a " * 700

    (found,) = rows([old], [new])

    assert [(word.text, word.changed) for word in found.old] == [(old, True)]
    assert [(word.text, word.changed) for word in found.new] == [(new, True)]
