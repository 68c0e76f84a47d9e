"""Do identifiers and titles name the same work?"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.titles import same_title, title_match, title_words, whole_title
from tests.grid import grid
from workers.ingest.enrichment import Statement
from workers.ingest.identity import Named, disagreements, malformed_nct

LONG = "Made-up therapy guided by circulating tumour DNA in stage II colon cancer"


@grid(
    ("one", "other"),
    [
        (LONG, f"{LONG}."),
        (LONG, LONG.upper()),
        (LONG, f"{LONG}: a randomised trial"),
        (LONG, LONG.replace("tumour", "tumor")),
        (LONG, f"<i>{LONG}</i>"),
        (LONG, f"RETRACTED: {LONG}"),
        (LONG, f"[Retracted article] {LONG}"),
        ("Short title", "WITHDRAWN: Short title."),
        ("Café and naïve cells", "Cafe and naive cells"),
        ("Nonsmall cell cancer", "Non-small-cell cancer"),
        ("A &amp; B in made-up disease", "A & B in made-up disease"),
        ("H<sub>2</sub>O in practice", "H2O in practice"),
    ],
)
def test_a_title_is_known_again_however_a_source_writes_it(one: str, other: str) -> None:
    assert same_title(one, other)
    assert same_title(other, one)


@grid(
    ("one", "other"),
    [
        (LONG, "Something else entirely"),
        (f"{LONG}: part 1", f"{LONG}: part 2"),
        (f"{LONG}: part I", f"{LONG}: part II"),
        (LONG, LONG.replace("stage II", "stage III")),
        (LONG, "Colon cancer"),
        ("Art of care", "Heart of carefree"),
        ("Retraction: a made-up result", "A made-up result on mice and men"),
        ("", LONG),
    ],
)
def test_two_works_are_not_taken_for_one(one: str, other: str) -> None:
    assert not same_title(one, other)
    assert not same_title(other, one)


@given(st.text(max_size=80), st.text(max_size=80))
def test_sameness_of_titles_is_symmetric_and_every_title_is_its_own(one: str, other: str) -> None:
    assert same_title(one, one)
    assert same_title(one, other) == same_title(other, one)


@given(st.text(max_size=200))
def test_words_of_a_title_have_no_case_and_no_punctuation(title: str) -> None:
    assert all(word.isalnum() or any(c.isalnum() for c in word) for word in title_words(title))


@pytest.mark.requirement("EB-7.3")
@pytest.mark.parametrize(
    ("one", "other", "match"),
    [
        (LONG, f"RETRACTED: {LONG}", 1.0),
        (LONG, "", 0.0),
        ("", "", 1.0),
        ("a b c d", "a b e f", 2 / 6),
        ("made-up drug a", "made-up drug b", 3 / 5),
        ("part 1", "part 2", 1 / 3),
        ("Something else", LONG, 0.0),
    ],
)
def test_eb_7_3_how_far_two_titles_match_is_the_share_of_their_words_in_common(
    one: str, other: str, match: float
) -> None:
    assert title_match(one, other) == pytest.approx(match)
    assert title_match(other, one) == pytest.approx(match)


@given(st.text(max_size=80), st.text(max_size=80))
def test_titles_of_one_work_match_wholly_and_no_match_leaves_its_scale(
    one: str, other: str
) -> None:
    assert 0.0 <= title_match(one, other) <= 1.0
    assert not same_title(one, other) or title_match(one, other) == 1.0


HELD = Named(LONG, 2024, {"pmid": "1", "doi": "10.5555/x"})


@grid(
    ("said", "fields"),
    [
        ({}, []),
        ({"title": LONG, "pmid": "1", "doi": "10.5555/X", "year": 2024}, []),
        ({"title": LONG, "year": 2025}, []),
        ({"title": LONG, "year": 2026}, ["year"]),
        ({"pmid": "2"}, ["pmid"]),
        ({"pmcid": "PMC1"}, []),
        ({"title": "Something else entirely", "pmid": "2"}, ["pmid", "title"]),
        ({"title": LONG, "doi": "10.5555/prime"}, []),
    ],
)
def test_only_what_both_state_can_disagree(said: dict[str, Any], fields: list[str]) -> None:
    assert disagreements(HELD, Statement("pmid:1", "crossref", known=True, **said)) == fields


def test_a_title_that_pubmed_translated_is_not_compared() -> None:
    said = Statement("pmid:1", "crossref", known=True, title="Ein ausgedachter Titel", year=2024)
    assert disagreements(Named("[A made-up title].", 2024, {}), said) == []


@grid(
    ("text", "found"),
    [
        ("NCT01234567 and nct01234567, NCT 01234567, NCT-01234567 (NCT#01234567).", []),
        ("NCT0123456", ["NCT0123456"]),
        ("NCT: 012345678", ["NCT012345678"]),
        ("nct0123456 again NCT0123456", ["NCT0123456"]),
        ("NCT0123456X", ["NCT0123456X"]),
        ("NCT01234567/NCT012", ["NCT012"]),
        ("xNCT0123456 and DISTINCT 12", []),
        ("NCT with no number", []),
        ("NCT\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667", ["NCT٠١٢٣٤٥٦٧"]),
    ],
)
def test_a_registry_number_without_eight_digits_is_found(text: str, found: list[str]) -> None:
    assert list(malformed_nct(text)) == found


@given(st.text(alphabet="NCTnct0123456789 -#:a", max_size=300))
def test_what_is_found_in_any_text_is_short_and_there_once(text: str) -> None:
    found = list(malformed_nct(text))
    assert len(found) == len(set(found))
    assert all(len(one) <= 40 and one.startswith("NCT") for one in found)


@pytest.mark.parametrize(
    "around", ["Correction to: {}", "Protocol of {}", "{}: a letter", "Re: {}"]
)
def test_a_title_that_holds_another_is_not_the_whole_of_it(around: str) -> None:
    title = "Apixaban for Patients With Atrial Fibrillation on Hemodialysis"
    assert same_title(title, around.format(title))
    assert not whole_title(title, around.format(title))
    assert whole_title(title, f"<i>{title.upper()}</i>.")
