"""What a clause says of a margin, affirmed and denied: never the opposite of what it says."""

import pytest

from tests.grid import grid
from workers.extract.fields import FieldResult, Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.tumors.tumors import margin_of
from workers.extract.values import Margin

HEAD = "SURGICAL PATHOLOGY REPORT\nSpecimen: left breast, lumpectomy\n" \
       "Diagnosis: Invasive ductal carcinoma, grade 2\n"  # fmt: skip
SUBJECTS = ["Tumor", "Carcinoma", "Residual invasive carcinoma", "Ductal carcinoma in situ"]
PLACES = ["at the inked margin", "at the margins", "at the deep margin", "on ink at the margin"]
NOT_THERE = [
    "{subject} is not present {place}",
    "No {subject} is present {place}",
    "No {subject} {place}",
    "No evidence of {subject} is present {place}",
    "{subject} not seen {place}",
    "{subject} isn't present {place}",
    "{subject} is never present {place}",
    "{subject} is absent {place}",
    "Neither {subject} nor dysplasia is present {place}",
    "No dysplasia, hyperplasia, or {subject} is present {place}",
    "Absence of {subject} {place}",
    "Negative for {subject} {place}",
    "Free of {subject} {place}",
    "{subject} present {place}: none",
    "{subject} {place}: no",
    "{subject} {place}? No",
    "{subject} present {place} - not identified",
    "{subject} present {place}: absent",
    "{subject} {place} is not identified",
    "{subject} does not extend to the margins",
    "{subject} doesn't reach the margin",
    "{subject} does not extend, even focally, to the margins",
]
CALLED_POSITIVE = ["positive", "involved", "involved by carcinoma", "incompletely excised", "R1"]
NOT_CALLED = [
    "Margins {sign}: none",
    "Margins {sign}: no",
    "Margins {sign}: None identified",
    "Margins {sign}: not identified",
    "Margins {sign} (none)",
    "Margins {sign} | none",
    "Margins {sign}:\nNone",
    "Margins {sign}? No",
    "Margins are not {sign}",
    "The margins aren't {sign}",
    "None of the margins is {sign}",
    "No margin is {sign}",
    "No margin, superior, deep or lateral, is {sign}",
    "Neither the deep nor the lateral margin is {sign}",
    "No superior, inferior, deep margin is {sign}",
    "The margins are in no place {sign}",
    "If margins are {sign}, re-excision is advised",
    "Margin assessed to exclude that it is {sign}",
]
CALLED_NEGATIVE = ["negative", "clear", "free of tumor", "uninvolved", "completely excised", "R0"]
NOT_NEGATIVE = [
    "Margins are not {sign}",
    "The margins aren't {sign}",
    "None of the margins is {sign}",
    "No margin is {sign}",
    "The margin is never {sign}",
    "Margins {sign}: no",
    "Margins {sign}? No",
    "Margins cannot be called {sign}",
    "Margins are not, in our opinion, {sign}",
]


def margins_of(words: str) -> FieldResult:
    return extract_field("margins", Parts(f"{HEAD}{words}.\n"))


def called(words: str) -> set[str]:
    found = margins_of(words)
    return {one.value.status for one in found.items if isinstance(one.value, Margin)}


@grid("place", PLACES)
@grid("subject", SUBJECTS)
@grid("form", NOT_THERE)
def test_tumor_that_is_denied_at_a_margin_makes_it_negative_or_leaves_it_open(
    form: str, subject: str, place: str
) -> None:
    words = form.format(subject=subject, place=place)
    found = margins_of(words)
    assert called(words) != {"positive"}, words
    assert found.status is not Status.NOT_PRESENT, words


@grid("sign", CALLED_POSITIVE)
@grid("form", NOT_CALLED)
def test_a_denied_word_of_positive_margins_is_not_positive(form: str, sign: str) -> None:
    words = form.format(sign=sign)
    assert called(words) != {"positive"}, words


@grid("sign", CALLED_NEGATIVE)
@grid("form", NOT_NEGATIVE)
def test_a_denied_word_of_negative_margins_is_not_negative(form: str, sign: str) -> None:
    words = form.format(sign=sign)
    assert called(words) != {"negative"}, words


@grid(
    "words",
    [
        "Tumor is not present at the inked margin",
        "No tumor is present at the inked margin",
        "Carcinoma is not present at the margins",
        "Tumor does not extend to the margins",
        "Tumor not seen at the inked margin",
        "Margins positive: none",
        "No dysplasia or carcinoma is present at the deep margin",
        "No perineural invasion, completely excised",
        "Clear cell carcinoma. Margins uninvolved by tumor",
        "Tumor extends to within 2 mm of the deep margin",
        "No lymphovascular invasion, margins clear",
        "ER positive, HER2 negative, margins negative",
        "Two lymph nodes positive, margins negative",
    ],
)
def test_margins_that_are_clearly_negative(words: str) -> None:
    assert margins_of(words).status is Status.FOUND
    assert called(words) == {"negative"}


@grid(
    "words",
    [
        "Tumor is present at the inked margin",
        "Carcinoma extends to the deep margin",
        "No lymphovascular invasion; the deep margin is positive",
        "No dysplasia is seen and the deep margin is positive",
        "Lateral margin not involved, deep margin positive",
        "All margins are clear except the deep margin, which is involved",
        "All margins are clear but tumor is present at the deep margin",
        "Positive margins: deep",
        "Clear cell carcinoma with positive margin",
        "Tumor at the inked margin: yes",
        "Positive margin - no further surgery is planned",
        "Margins: anterior negative, posterior positive",
    ],
)
def test_margins_that_are_clearly_positive(words: str) -> None:
    found = margins_of(words)
    assert found.status is Status.FOUND
    assert called(words) == {"positive"}


@pytest.mark.parametrize(
    "words",
    [
        "Margins negative, tumor present at the inked margin",
        "Margin clear and positive",
        "Margins (positive/negative)",
        "A positive margin cannot be excluded",
        "No lymphovascular invasion with positive margins",
        "R0/R1 resection",
        "Margins negative deep margin positive",
    ],
)
def test_a_clause_that_says_both_or_leaves_it_open_is_ambiguous(words: str) -> None:
    found = margins_of(words)
    assert found.status is Status.AMBIGUOUS
    assert called(words) == {"positive", "negative"}


def test_a_suture_at_a_margin_says_nothing_of_tumor() -> None:
    assert called("A long suture is placed at the superior margin") == set()


def test_negative_margins_are_read_as_such_to_the_end() -> None:
    found = extract_text(HEAD + "Tumor is not present at the inked margin.").fields["margins"]
    assert found.value == Margin(status="negative")


def test_a_clause_that_never_ends_or_says_it_over_and_over_tells_nothing() -> None:
    """And takes no time: every sign was judged by all of the clause."""
    assert margin_of("involved at the margin " * 20) is None
    assert margin_of(f"margin negative {'as it was seen ' * 60}") is None
