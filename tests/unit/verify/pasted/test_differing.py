"""Where a statement differs from its passage, and what its source has there."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.verify.pasted.test_against import OTHER, TRIAL
from tests.unit.verify.pasted.test_check import check
from workers.verify.pasted.differing import differences

WORD = st.from_regex(r"[a-wé]{2,9}", fullmatch=True)
FIGURE = st.from_regex(r"[1-9][0-9]{0,3}(?:\.[1-9])?%?", fullmatch=True)


@given(
    before=st.lists(WORD, min_size=2, max_size=8, unique=True),
    after=st.lists(WORD, min_size=2, max_size=8, unique=True),
    pair=st.one_of(
        st.tuples(FIGURE, FIGURE),
        st.tuples(WORD.map("x{}".format), WORD.map("y{}".format)),
    ).filter(lambda pair: pair[0] != pair[1]),
    around=st.text("z ,.", max_size=20),
)
def test_the_source_has_what_stands_between_the_same_words(
    before: list[str], after: list[str], pair: tuple[str, str], around: str
) -> None:
    """One word or figure of a passage is exchanged: that one is told, whatever stands around."""
    said, held = pair
    statement = " ".join([*before, said, *after])
    passage = " ".join([around, *before, held, *after, around])
    (found,) = differences(statement, passage, [said])
    assert found.place.of(statement) == said
    assert found.source == held


@given(statement=st.text(max_size=80), passage=st.text(max_size=80), named=st.text(max_size=8))
def test_any_texts_give_words_of_their_own(statement: str, passage: str, named: str) -> None:
    for one in differences(statement, passage, [named]):
        assert one.place.of(statement) == named
        assert one.source is None or one.source in passage


def test_a_figure_inside_a_longer_one_is_not_marked() -> None:
    said, held = "It was 112.5 of 2,125 in all", "It was 13 of 2,125 in all"
    assert differences(said, held, ["12", "125"]) == []


def test_the_reason_is_what_the_source_has_for_that_statement() -> None:
    (line,) = check("Relapse occurred in 14% with drug X in ALPHA.", TRIAL, OTHER)["statements"]
    assert line["relation"] == "contradicted"
    assert line["reason"] == "the source has “12%” where this says “14%”"
    (place,) = line["differences"]
    assert (place["start"], place["end"], place["source_has"]) == (20, 23, "12%")


def test_what_no_source_says_is_not_stated_and_never_contradicted() -> None:
    (line,) = check("ALPHA was stopped for futility.", TRIAL, OTHER)["statements"]
    assert (line["relation"], line["differences"]) == ("not_stated", [])
    assert line["reason"]


def test_a_number_of_another_trial_is_wrong() -> None:
    named = {"title": "CIRCULATE", "text": "CIRCULATE is registered apart from CIRCULATE-US."}
    found = check("CIRCULATE-US is registered as NCT04264703.", named)
    assert [one["state"] for one in found["identifiers"]] == ["misattributed"]
