"""Keys, verdicts and lists as models write them: many forms of one meaning, and never a guess."""

from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import examples
from workers.language_model.names import joined, meant, named, the_one_named, without_keys

KNOWN = [f"E{n}" for n in range(1, 13)]
AROUND = [("", ""), *(tuple(one) for one in ("[]", "()", "``", '""', "<>", "**")), ("#", "")]
LABELS = ["", "evidence ", "Evidence: ", "source ", "key=", "see ", "Quelle ", "Ref. "]
BETWEEN = [", ", "; ", " and ", " & ", "/", "][", " + ", "\n", " und ", ","]
ENDS = ["", ".", ",", ":", " ", "\n", "?"]


@st.composite
def forms(draw: st.DrawFn, keys: Sequence[str]) -> str:
    """One way of many to write keys."""
    between, (opened, closed) = draw(st.sampled_from(BETWEEN)), draw(st.sampled_from(AROUND))
    each = draw(st.booleans())
    case = draw(st.sampled_from([str.upper, str.lower, str.title]))
    written = [case(key) for key in keys]
    if each:
        written = [f"{opened}{key}{closed}" for key in written]
    text = between.join(written)
    text = text if each else f"{opened}{text}{closed}"
    return f"{draw(st.sampled_from(LABELS))}{text}{draw(st.sampled_from(ENDS))}"


@examples(150)
@given(st.data(), st.lists(st.sampled_from(KNOWN), min_size=1, max_size=4, unique=True))
def test_every_form_of_known_keys_names_these_keys_in_their_order(
    data: st.DataObject, keys: list[str]
) -> None:
    written = data.draw(forms(keys))
    assert named(written, KNOWN) == tuple(keys), written
    assert the_one_named(written, KNOWN) == (keys[0] if len(keys) == 1 else None)


UNKNOWN = ["E13", "E0", "E01", "E1a", "F1", "1", "PMID 35657320", "E1E2", "NCT04120701"]


@examples(150)
@given(
    st.data(),
    st.lists(st.sampled_from(KNOWN), max_size=3, unique=True),
    st.sampled_from(UNKNOWN),
)
def test_no_form_of_an_unknown_key_names_anything_whatever_stands_beside_it(
    data: st.DataObject, keys: list[str], unknown: str
) -> None:
    place = data.draw(st.integers(0, len(keys)))
    written = data.draw(forms([*keys[:place], unknown, *keys[place:]]))
    assert named(written, KNOWN) == (), written


@examples(100)
@example("E1-E3")
@example("E1 \u2013 E3")
@given(st.text(max_size=60))
def test_whatever_is_written_only_keys_that_stand_in_it_are_named(written: str) -> None:
    found = named(written, KNOWN)
    assert all(key.casefold() in written.casefold() for key in found)
    assert named("E1-E3", KNOWN) == named("E1 \u2013 E3", KNOWN) == ()


def test_keys_that_differ_in_case_alone_are_not_told_apart() -> None:
    assert named("e1", ["E1", "e1"]) == ()


VERDICTS = {"supported": 1, "not supported": 2, "unsupported": 2}


def test_a_word_of_an_enumeration_is_read_in_any_case_and_marks_and_no_other_word_is() -> None:
    wrong = {
        written: (found, wanted)
        for written, wanted in {
            "Supported.": 1,
            "**SUPPORTED**": 1,
            "NOT SUPPORTED": 2,
            "not_supported": 2,
            "Not-Supported!": 2,
            "unsupported\n": 2,
            "supported by the passage": "supported by the passage",
            "not": "not",
            "": "",
            "SUPPORTED or NOT SUPPORTED": "SUPPORTED or NOT SUPPORTED",
        }.items()
        if (found := meant(written, VERDICTS)) != wanted
    }
    assert wrong == {}
    assert meant(None, VERDICTS) is None


def test_a_list_of_texts_is_one_text_and_anything_else_stays() -> None:
    assert joined(["E1", "E3"], ", ") == "E1, E3"
    assert joined("E1", ", ") == "E1"
    assert joined(["E1", 3], ", ") == ["E1", 3]
    assert joined(None, ", ") is None


def test_keys_in_brackets_leave_a_statement_and_other_brackets_stay() -> None:
    assert without_keys("Risk fell [E1] by half [e2, E3].", KNOWN) == "Risk fell by half."
    for text in ("Risk fell [E99].", "Levels [3-5] rose.", "PGE1 (E1) rose.", "[sic] Risk fell."):
        assert without_keys(text, KNOWN) == text
