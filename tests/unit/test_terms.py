"""Lexical terms: what is written in several ways is found in each."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from store.index import terms as rules
from store.index.terms import TERM_MASK, TERM_RULE, stems, terms
from tests.grid import grid


@grid(
    ("asked", "written"),
    [
        ("IL6", "IL-6"),
        ("interleukin 6", "interleukin6"),
        ("CD4", "CD 4"),
        ("p53", "p-53"),
        ("COVID19", "COVID-19"),
        ("TNFα", "TNF-alpha"),
        ("TNF α", "TNFα"),
        ("β-catenin", "beta catenin"),
        ("λ phage", "lambda phage"),
        ("5 µg", "5 μg"),  # the micro sign and the Greek letter
        ("Sjögren", "Sjogren"),
        ("Sjo\u0308gren", "Sjögren"),  # a letter with its accent, in two characters and in one
        ("10³", "103"),
        ("recurrences", "recurrence"),
    ],
)
def test_what_is_asked_one_way_is_found_written_the_other_way(asked: str, written: str) -> None:
    common = terms(asked).keys() & terms(written).keys()
    assert common
    assert common in (terms(asked).keys(), terms(written).keys())


def test_a_name_with_digits_counts_as_itself_and_as_its_parts() -> None:
    assert stems("KRAS G12C") == ["kras", "g12c", "g", "12", "c"]


def test_two_codes_with_a_common_part_stay_apart() -> None:
    assert terms("p53").keys() - terms("p21").keys()
    assert terms("p53 p53").total() == 2 * terms("p53").total()


def is_mark(sign: str) -> bool:
    """Whether a sign is a raised symbol, such as that of a trade mark."""
    raised = unicodedata.decomposition(sign).startswith("<super>")
    return raised and unicodedata.category(sign) == "So"


def test_a_mark_on_a_name_is_no_part_of_it() -> None:
    raised = [sign for sign in map(chr, range(0x80, 0x20000)) if is_mark(sign)]
    assert {"™", "℠"} <= set(raised)
    for sign in (*raised, "®"):
        for name in ("Apretude", "Épogen", "α-Tocopherol"):
            written, bare = f"{name}{sign} 5 mg", f"{name} 5 mg"
            assert stems(written) == stems(bare), (sign, name)
            assert stems(f"{name}{sign}, ½ of it") == stems(f"{name}, ½ of it"), (sign, name)


def test_words_in_greek_are_not_spelled_out() -> None:
    assert stems("ελλαδα") == ["ελλαδα"]


WRITTEN = (
    "The TNF-α inhibitors were not recommended in Sjögren's syndrome: IL-6, CD4+ and KRAS G12C "
    "mutations, 5 µg of 10³, after re-treatment of COVID-19."
)


STEMS = (
    "tnf alpha inhibitor not recommend sjogren syndrom il 6 cd4 cd 4 kras g12c g 12 c mutat 5 mu g "
    "103 after re treatment covid 19"
)


def test_rules_that_give_other_terms_than_before_have_another_name() -> None:
    """Else the words of an old index are asked for in vain: give `TERM_RULE` a new name as well."""
    assert (TERM_RULE, " ".join(stems(WRITTEN))) == ("snowball-parts-3", STEMS)
    assert sorted(terms("tumor DNA")) == [183557815, 1901374729]


def test_stop_words_carry_nothing_but_negations_do() -> None:
    assert stems("it is not recommended") == ["not", "recommend"]


@given(st.text())
def test_terms_are_numbers_of_31_bits_one_for_each_stem(text: str) -> None:
    counted = terms(text)
    assert counted.total() == len(stems(text))
    assert all(0 <= term <= TERM_MASK for term in counted)


@given(st.text(alphabet="abcαβ019-éµ ³\u0308"))
def test_case_never_matters(text: str) -> None:
    assert terms(text.upper().lower()) == terms(text.lower())
    assert terms(text) == terms(text.lower())


@given(
    st.text()
    | st.text(
        alphabet="aZ0_ -\u2265\u2013\u00b5\u00b3\u00bd\u2122\u0301\u00e9\u03b1\u00a0\u0130\n."
    )
)
def test_words_are_those_of_a_search_whatever_parts_them(text: str) -> None:
    bare = "".join(" " if is_mark(sign) else sign for sign in text.lower())
    folded = rules._ACCENT.sub("", unicodedata.normalize("NFKD", bare))
    spelled = rules._GREEK_LETTER.sub(lambda one: f" {rules._GREEK_NAMES[one[0]]} ", folded)
    assert rules._words(text) == re.findall(r"[^\W_]+", spelled)


def test_each_character_that_parts_words_is_none_of_a_word() -> None:
    for code in (*range(0x80, 0xD800), *range(0xE000, 0x20000)):
        text = f"a{chr(code)}b".lower()
        if rules._parts_words(chr(code).lower()[0]) and not is_mark(text[1]):
            folded = rules._ACCENT.sub("", unicodedata.normalize("NFKD", text))
            assert re.findall(r"[^\W_]+", folded) == ["a", "b"]
