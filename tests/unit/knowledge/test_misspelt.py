"""Words that are nearly a name are offered as it, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.names.spelling import fold
from knowledge.names.tables import tables
from knowledge.subjects.drugs import names
from knowledge.subjects.misspelt import (
    Meant,
    _drug_names,
    _Index,
    _medical,
    distance,
    meant,
    words_meant,
)
from tests.grid import grid


@grid(
    ("word", "name", "of"),
    [
        ("eliqis", "Eliquis", "apixaban"),
        ("zarelto", "Xarelto", "rivaroxaban"),
        ("warfrin", "warfarin", None),
        ("coumidin", "Coumadin", "warfarin"),
        ("clopidegrol", "clopidogrel", None),
        ("pembrolizmab", "pembrolizumab", None),
        ("Signaterra", "Signatera", None),
        ("Gardant", "Guardant Reveal", None),
        ("DYNAMC", "DYNAMIC", None),
        ("DYNAMC-III", "DYNAMIC-III", None),
        ("IMvigr011", "IMvigor011", None),
    ],
)
def test_a_misspelt_name_is_offered_as_it_is_written(word: str, name: str, of: str | None) -> None:
    assert meant(f"what is known of {word}?") == (Meant(word, name, of),)


@grid(
    ("word", "name"),
    [
        ("imunotherapy", "immunotherapy"),
        ("colorectel", "colorectal"),
        ("metastisis", "metastasis"),
        ("recurence", "recurrence"),
        ("recruting", "recruiting"),
        ("specificty", "specificity"),
        ("surveilance", "surveillance"),
        ("chemotherpy", "chemotherapy"),
        ("guidline", "guideline"),
        ("Lousiana", "Louisiana"),
    ],
)
def test_a_misspelt_word_of_medicine_is_offered_as_it_is_spelled(word: str, name: str) -> None:
    assert words_meant(f"what is known of {word}?") == (Meant(word, name),)


@pytest.mark.parametrize(
    "words",
    [
        "recurrences recurrent metastatic metastases colorectum immunotherapies surveilled tumoral",
        "hypotension injection junction internal ischaemia prediction pneumonitis enrolment",
        "pancreatin melatonin thrombin",  # drugs, listed or not
        "arteritis cervicitis carditis adenitis neuritis aortitis tendinitis vaginitis orchitis",
        "presenting repressive elective osteogenic mission morality leukocoria",
        "adjuvants coverages neoadjuvant intravesical histological oncologically prognostication",
    ],
)
def test_no_right_word_is_offered_as_another(words: str) -> None:
    assert words_meant(words) == ()


@pytest.mark.parametrize("first_letters", ["abc", "defgh", "ijklm", "nopq", "rstuvwxyz"])
def test_no_word_or_name_of_the_tables_is_taken_for_another_however_near(
    first_letters: str,
) -> None:
    """A rare disease or drug is often one letter from a common one: all that the tables have and
    that is a letter from a word of medicine or a drug."""
    near = {
        word
        for known in (*_medical(), *_drug_names().names)
        if known[0] in first_letters
        for word in one_letter_away(known)
        if tables().is_word(fold(word))
    }
    assert len(near) > 100
    assert [word for word in near if words_meant(word) or meant(word)] == []


def one_letter_away(word: str) -> set[str]:
    """What a word becomes by one letter less or another one."""
    parts = [(word[:at], word[at:]) for at in range(len(word))]
    less = {head + tail[1:] for head, tail in parts}
    return less | {
        head + letter + tail[1:] for head, tail in parts for letter in "abcdefghijklmnopqrstuvwxyz"
    }


def test_a_trial_in_lower_case_is_offered_where_it_is_called_one() -> None:
    assert meant("what did the dynamc trial show") == (Meant("dynamc", "DYNAMIC"),)
    assert meant("dynamc imaging") == meant("a trial of dynamics") == ()


@pytest.mark.parametrize(
    "words",
    [
        "Eliquis, apixaban, Signatera and DYNAMIC",
        "esomeprazole, escitalopram, esketamine, ampicillin, saxagliptin",  # drugs of their own
        "DYNAMIC-II and IMvigor012",  # other trials, or none
        "prednisolne",  # prednisone or prednisolone
        "program activates interfering lyrics inulin dioxin heparan",
        "statins, insulins, estrogens, fluoroquinolones and aspirins",
        "ctDNA dynamics in trials, CHANGE of practice",
    ],
)
def test_what_is_a_word_or_could_be_several_names_is_not_offered_as_one(words: str) -> None:
    assert meant(words) == ()


@given(st.sampled_from(sorted(names())))
def test_no_name_that_is_known_is_offered_as_another(name: str) -> None:
    assert meant(name) == ()


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_distance_is_the_same_both_ways_and_nought_only_of_the_same(one: str, two: str) -> None:
    assert distance(one, two) == distance(two, one)
    assert (distance(one, two) == 0) is (one == two)


def test_two_letters_that_changed_places_are_one_change() -> None:
    assert distance("opidvo", "opdivo") == 1


def test_a_word_longer_than_every_name_is_near_none_and_is_not_taken_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is left of a word when two letters are taken out is the cube of its length."""
    index = _Index(["osimertinib", "atezolizumab"])
    assert index.alike("osimertinb") == {"osimertinib"}
    assert index.alike("atezolizumabxx") == {"atezolizumab"}
    monkeypatch.setattr(index, "_rests", None)
    for word in ("atezolizumabxxx", "x" * 4000):
        assert index.alike(word) == set()
