"""Without a language model only the source's own words are verified: families of lines and claims.

Their words are made up, so that no list of the product knows them: what holds, holds by form.
"""

import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.grid import grid
from tests.unit.reading import test_notation as notation
from tests.unit.verify.pasted.test_check import check
from workers.verify.guards.omissions import introduces
from workers.verify.passages.comparable import is_quoted_whole

ENDINGS = ("akor", "elim", "inut", "obar", "umek", "osil", "aruk", "ipon", "etak")
WORDS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["bra", "cro", "dre", "flo", "gri", "plu", "sta", "tre", "vla", "zwi"]),
    st.sampled_from(["b", "d", "f", "k", "m", "p", "t", "v", "z"]),
    st.sampled_from(ENDINGS),
)
NAMES = st.lists(WORDS, min_size=2, max_size=4).map(lambda some: " ".join(some).capitalize())
VALUES = st.one_of(
    st.sampled_from(["none", "no", "absent", "negative", "denied", "not identified", "present"]),
    st.lists(WORDS, min_size=1, max_size=3).map(" ".join),
    st.integers(2, 999).map(lambda number: f"{number} mg"),
)
ENDS = st.sampled_from(["", "."])
LINES = st.dictionaries(NAMES, VALUES, min_size=1, max_size=5)
SENTENCES = st.builds(
    "{} lowered {} by {}% in {} {}.".format,
    WORDS.map(str.capitalize),
    WORDS,
    st.integers(2, 99),
    WORDS,
    WORDS,
)


def verdict(claim: str, text: str) -> str:
    """What `attest verify` says of a claim against one document."""
    found: str = told(claim, text)[-1]["verification_status"]
    return found


def told(claim: str, text: str) -> list[dict[str, Any]]:
    statements: list[dict[str, Any]] = check(claim, {"title": "", "text": text})["statements"]
    return statements


def every_word_once(text: str) -> bool:
    """Whether no made-up word stands twice in a text, as what two things share tells them apart."""
    words = re.findall(r"[a-z]{7,8}", text.lower())
    made = [one for one in words if one.endswith(ENDINGS)]
    return len(made) == len(set(made))


def report(lines: dict[str, str], end: str, between: str = "\n") -> str:
    return between.join(f"{name}: {value}{end}" for name, value in lines.items())


@settings(max_examples=30)
@given(LINES, ENDS, ENDS, st.sampled_from(["\n", "\n\n"]))
def test_a_labelled_line_verifies_itself(
    lines: dict[str, str], end: str, stop: str, between: str
) -> None:
    text = report(lines, end, between)
    assume(every_word_once(text))
    for name, value in lines.items():
        assert verdict(f"{name}: {value}{stop}", text) == "verified"


@settings(max_examples=30)
@given(LINES, ENDS, st.data())
def test_a_labelled_line_verifies_nothing_but_itself(
    lines: dict[str, str], end: str, data: st.DataObject
) -> None:
    text, name = report(lines, end), data.draw(st.sampled_from(list(lines)))
    other = data.draw(VALUES)
    claims = [
        f"{name}.",
        f"{name} was found.",
        f"{name} was not found.",
        f"There was no {name.lower()}.",
        f"The patient had {name.lower()}.",
        f"{name} was {lines[name]}.",
    ]
    claims += [f"{name}: {other}."] if other != lines[name] else []
    assert {verdict(one, text) for one in claims} <= {"unverified", None}


@settings(max_examples=30)
@given(NAMES, st.lists(SENTENCES, min_size=2, max_size=4, unique=True))
def test_what_follows_a_label_is_read_with_it(name: str, sentences: list[str]) -> None:
    text = f"{name}: {' '.join(sentences)}\n\nNobody else was seen."
    assume(every_word_once(text))
    assert verdict(f"{name}: {sentences[0]}", text) == "verified"
    for one in sentences:
        assert verdict(one, text) == "unverified"


@settings(max_examples=30)
@given(
    NAMES,
    st.lists(SENTENCES, min_size=2, max_size=4, unique=True),
    st.sampled_from(["{}:\n", "{}:\n\n", "## {}\n\n", "**{}:**\n", "{}\n"]),
    st.sampled_from(["- ", "* ", "1. ", "  • ", "(a) "]),
)
def test_an_item_of_a_list_is_read_with_what_leads_on_to_it(
    name: str, sentences: list[str], lead: str, mark: str
) -> None:
    listed = lead.format(name) + "\n".join(mark + one for one in sentences)
    text = f"Nobody else was seen.\n\n{listed}\n"
    for one in sentences:
        assert verdict(one, text) == "unverified"
    states = [one["verification_status"] for one in told(text, text) if one["claims"]]
    assert set(states) == {"verified"}  # the same list, with the same words over it


@settings(max_examples=30)
@given(st.lists(SENTENCES, min_size=2, max_size=4, unique=True), st.sampled_from(["- ", "1. "]))
def test_items_that_nothing_leads_on_to_speak_for_themselves(
    sentences: list[str], mark: str
) -> None:
    text = "Nobody else was seen.\n\n" + "\n".join(mark + one for one in sentences)
    assert {verdict(one, text) for one in sentences} == {"verified"}


@settings(max_examples=30)
@given(NAMES, st.lists(st.tuples(NAMES, st.integers(2, 99)), min_size=1, max_size=3))
def test_a_row_of_a_table_is_read_with_its_head(name: str, rows: list[tuple[str, int]]) -> None:
    head = f"| {name} | Events |\n|---|---|\n"
    body = [f"| {words} | {number}% |" for words, number in rows]
    assume(len({words for words, _ in rows}) == len(rows))
    text = head + "\n".join(body)
    assert {verdict(one, text) for one in body} == {"unverified"}
    assert {verdict(head + one, text) for one in body} == {"verified"}


@settings(max_examples=30)
@given(SENTENCES, st.sampled_from(["However", "In conclusion", "Moreover", "Thus", "Finally",
                                   "In addition", "Interestingly", "Overall"]))  # fmt: skip
def test_an_introduction_that_only_joins_may_be_left_out(sentence: str, begins: str) -> None:
    text = f"{begins}, {sentence[0].lower()}{sentence[1:]}"
    assert introduces(begins)
    assert verdict(sentence, text) == "verified"
    assert verdict(text, text) == "verified"


@settings(max_examples=30)
@given(
    SENTENCES,
    st.one_of(
        st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
        WORDS.map("In {}".format),
        WORDS.map("{}ly".format),
        WORDS.map("If {}".format),
        WORDS.map("Without {}".format),
        st.sampled_from(["In mice", "In vitro", "Allegedly", "If untreated", "At 1 year", "Never",
                         "Among women", "Previously", "According to reports", "In the other group",
                         "Not surprisingly", "In theory"]),
    ),
)  # fmt: skip
def test_an_introduction_that_may_tell_something_is_a_part_of_its_sentence(
    sentence: str, begins: str
) -> None:
    text = f"{begins.capitalize()}, {sentence[0].lower()}{sentence[1:]}"
    assert verdict(sentence, text) == "unverified"
    assert verdict(text, text) == "verified"


FIGURES = st.one_of(
    st.integers(2, 999).map("(n = {})".format),
    st.integers(1, 9).map("[{}]".format),
    st.lists(st.integers(1, 99), min_size=2, max_size=3).map(lambda some: str(sorted(some))),
    st.integers(1, 9).map("(Table {})".format),
    st.integers(10, 99).map("(HR 0.{}; 95% CI, 0.10 to 0.99)".format),
    st.text("BCDFGKLMRT", min_size=2, max_size=4).map("({})".format),
)
TELLING = st.one_of(
    st.lists(WORDS, min_size=1, max_size=4).map(lambda some: f"({' '.join(some)})"),
    st.tuples(st.integers(2, 99), WORDS).map("({0[0]} {0[1]})".format),
    st.sampled_from(["(not shown)", "(in mice)", "(planned)", "(P = 0.6)", "(allegedly)",
                     "(unless 12 mg)", "(NOT 12)", "(women)"]),
)  # fmt: skip


@st.composite
def bracketed(draw: st.DrawFn, brackets: st.SearchStrategy[str]) -> tuple[str, str]:
    """A sentence, and the same with brackets behind some of its words."""
    plain = draw(SENTENCES)
    words = plain.removesuffix(".").split()
    behind = [n for n, word in enumerate(words) if word not in ("by", "in")]
    at = draw(st.sets(st.sampled_from(behind), min_size=1, max_size=2))
    told = [f"{word} {draw(brackets)}" if n in at else word for n, word in enumerate(words)]
    return plain, " ".join(told) + "."


@settings(max_examples=30)
@given(bracketed(FIGURES))
def test_brackets_of_figures_short_forms_and_references_may_be_left_out(
    pair: tuple[str, str],
) -> None:
    plain, text = pair
    assert verdict(plain, text) == "verified"


@settings(max_examples=30)
@given(bracketed(TELLING))
def test_a_bracket_of_words_is_a_part_of_its_sentence(pair: tuple[str, str]) -> None:
    plain, text = pair
    assert verdict(plain, text) == "unverified"
    assert verdict(text, text) == "verified"


@settings(max_examples=30)
@given(SENTENCES, st.data())
def test_a_word_changed_left_out_or_put_in_is_a_rewording(
    sentence: str, data: st.DataObject
) -> None:
    words = sentence.removesuffix(".").split()
    at = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.one_of(WORDS, st.sampled_from(["not", "no", "may", "all", "some"])))
    how = data.draw(st.sampled_from(["changed", "left out", "put in", "moved"]))
    changed = {
        "changed": [*words[:at], other, *words[at + 1 :]],
        "left out": [*words[:at], *words[at + 1 :]],
        "put in": [*words[:at], other, *words[at:]],
        "moved": [*words[at:], *words[:at]],
    }[how]
    assume([one.lower() for one in changed] != [one.lower() for one in words])
    claim = " ".join(changed)
    assert verdict(f"{claim[0].upper()}{claim[1:]}.", sentence) == "unverified"


@settings(max_examples=30)
@given(SENTENCES, st.sampled_from(["{}", "{} ", "“{}", "{};", "- {}", "{}\n"]))
def test_what_the_quotation_check_folds_makes_no_rewording(sentence: str, form: str) -> None:
    words = sentence.removesuffix(".").replace(" ", " \n")
    text = f"Nobody was seen. {sentence}"
    assert verdict(form.format(words).replace("“", ""), text) == "verified"


@grid(
    ("text", "claim"),
    [
        ("Did the drug lower pressure in adults?", "Did the drug lower pressure in adults."),
        ("Does dralokor lower pressure in adults?", "Dralokor lower pressure in adults."),
        ("Unlike brafakor, the drug lowered pressure.", "The drug lowered pressure."),
        ("Dialysis: No. Anticoagulation: none.", "Dialysis."),
        ("Family history: Cancer of the breast was seen.", "Cancer of the breast was seen."),
        ("**Myth:** Vitamins cure colds. They cure cancer.", "They cure cancer."),
        ("Not seen were:\n\nBleeding rose in adults.\n", "Bleeding rose in adults."),
        ("Not seen:\n- Cardiac:\n  - Heart rate rose.", "Cardiac: Heart rate rose."),
    ],
)
def test_what_a_line_does_not_say_alone_is_not_verified(text: str, claim: str) -> None:
    assert verdict(claim, text) != "verified"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("RESULTS: Mortality fell in adults. It did so by 9%.", "Mortality fell in adults."),
        ("Results: Mortality fell in adults. Deaths fell too.", "Deaths fell too."),
        ("Not seen:\n- Cardiac:\n  - Heart rate rose.", "Not seen: Cardiac: Heart rate rose."),
        ("Not seen were:\n\nBleeding rose.\n\nDeaths fell in adults.", "Deaths fell in adults."),
        ("# Myths\n\nDeaths fell in adults.", "Deaths fell in adults."),
    ],
)
def test_names_of_parts_and_what_is_over_lead_nothing(text: str, claim: str) -> None:
    assert verdict(claim, text) == "verified"


def test_a_statement_of_many_brackets_takes_no_time() -> None:
    text = f"Pressure fell {'(n = 3) ' * 400}in adults."
    found: Any = verdict("Pressure fell in adults.", text)
    assert found == "unverified"


@given(data=st.data())
def test_the_source_s_own_sentence_in_another_notation_of_its_numbers_is_its_own(
    data: st.DataObject,
) -> None:
    value, units = data.draw(notation.VALUES), data.draw(notation.UNITS)
    theirs, ours = (data.draw(st.sampled_from(notation.writings(value))) for _ in range(2))
    frame = data.draw(SENTENCES).replace("%", " {}")
    number = re.search(r"\d+ \{\}", frame)
    assert number is not None
    frame = frame.replace(number[0], "{}")
    source = frame.format(f"{theirs} {units[0]}")
    assert verdict(frame.format(f"{ours} {units[0]}"), source) == "verified"
    other = data.draw(notation.VALUES.filter(lambda one: one != value))
    assert verdict(frame.format(f"{other} {units[0]}"), source) != "verified"


@grid(
    ("claim", "whole"),
    [
        ("It raised bleeding in men.", True),
        ("It raised bleeding in men. Deaths were alike.", True),
        ("It raised bleeding in", False),
        ("raised bleeding in men.", False),
        ("Was it safe", False),
    ],
)
def test_a_claim_of_whole_sentences_is_quoted_whole_and_no_part_of_one(
    claim: str, whole: bool
) -> None:
    passage = "Aspirin lowered stroke. It raised bleeding in men. Deaths were alike. Was it safe?"
    assert is_quoted_whole(claim, passage) is whole
