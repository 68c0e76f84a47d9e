"""How much of a pasted text is compared: what multiplies is bounded, what is left out is told."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.quotes import Source, check, exact
from knowledge.loader import load
from store.core.spans import Span
from workers.verify.entailment.passages import sentences
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read
from workers.verify.hard_facts import hard_facts
from workers.verify.passages import locating
from workers.verify.passages.locating import CitedText, repeats
from workers.verify.pasted import check as checking
from workers.verify.pasted.markup import bare
from workers.verify.pasted.matching import Terms, nearest
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import TooLong, plain, statements
from workers.verify.pasted.taking_out import without

SENTENCE = "The drug lowered the pressure of adults by 9 mm Hg."
OTHER = "Cough was seen in a few children who were given the drug."
TABLE = "The drug lowered the pressure of adults by 9 mm Hg" + ", 9 mm Hg" * 600 + "."


def told(text: str, *documents: str) -> dict[str, Any]:
    found = statements(text)
    along = sent_along([{"title": "", "text": one} for one in documents], found)
    at = datetime(2026, 11, 26, tzinfo=UTC)
    return checked(text, found, along, against="documents", at=at)


def codes(line: Mapping[str, Any]) -> list[str]:
    return [one["code"] for one in line["findings"]]


def with_limits(monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    def changed(name: str) -> Any:
        return {**load(name), **limits} if name == "answering/verifying" else load(name)

    monkeypatch.setattr(checking, "load", changed)


@pytest.mark.parametrize(("piece", "what"), [("“a” ", "quotations"), ("PMID: 1 ", "identifiers")])
def test_a_text_of_too_many_marks_is_refused_with_their_number(piece: str, what: str) -> None:
    with pytest.raises(TooLong, match=rf"3,000 {what}; at most"):
        statements(piece * 3000)


@given(st.text(st.sampled_from(' \t\n\u00ad\u200b|-*#."“()[]'), max_size=40))
def test_a_source_of_marks_alone_bears_nothing_out(text: str) -> None:
    line = told(SENTENCE, text)["statements"][0]
    assert line["relation"] == told(SENTENCE, "Nothing of it.")["statements"][0]["relation"]


def test_documents_longer_than_is_compared_are_refused() -> None:
    with pytest.raises(TooLong, match="characters; a text is compared with at most"):
        sent_along([{"text": "a " * 500_000, "title": ""}] * 4, statements(SENTENCE))


def test_a_passage_longer_than_sentences_are_is_not_compared_and_the_statement_says_so() -> None:
    line = told("The drug lowered the pressure of all adults by 9 mm Hg.", TABLE)["statements"][0]
    assert (line["verdict"], codes(line)) == ("unchecked", ["too_long"])


def test_a_shorter_passage_is_compared_beside_one_that_is_too_long() -> None:
    assert told(SENTENCE, TABLE, SENTENCE)["statements"][0]["verdict"] == "supported"


def test_a_statement_longer_than_sentences_are_is_not_compared_though_a_source_has_it() -> None:
    line = told(TABLE, TABLE)["statements"][0]
    assert (line["verdict"], codes(line)) == ("unchecked", ["too_long"])


@pytest.mark.parametrize(
    "limit", ["compared_characters", "compared_products", "compared_sentences"]
)
def test_what_is_left_of_a_text_when_enough_was_compared_says_so(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = {"compared_characters": 120, "compared_products": 3000, "compared_sentences": 2}
    with_limits(monkeypatch, **{limit: once[limit]})
    first, second = told(f"{SENTENCE} {OTHER}", f"{SENTENCE} {OTHER}")["statements"]
    assert first["verdict"] == "supported"
    assert (second["verdict"], codes(second)) == ("unchecked", ["too_much"])


def test_what_is_left_of_a_text_says_so_when_enough_was_read_of_the_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_limits(monkeypatch, read_words=12)  # the first source has 11
    first, second, third = told(f"{SENTENCE} {OTHER} {SENTENCE}", SENTENCE, OTHER)["statements"]
    assert first["verdict"] == third["verdict"] == "supported"
    assert (second["verdict"], codes(second)) == ("unchecked", ["too_much"])


@given(st.integers(1, 4000), st.integers(0, 3999), st.integers(1, 300))
def test_what_is_read_around_a_passage_has_it_and_is_bounded(
    length: int, start: int, size: int
) -> None:
    place = Span(min(start, length - 1), min(start + size, length))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(locating, "WHOLE", 1000)
        part = CitedText(Source("x" * length), ()).surroundings(place)
    assert part.start <= place.start < place.end <= part.end <= length
    assert part.end - part.start <= 1000 + size
    assert length > 1000 or (part.start, part.end) == (0, length)


def test_a_source_longer_than_is_read_whole_is_read_around_the_passage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(locating, "WHOLE", 100)
    far = f"{SENTENCE} {OTHER} {'More was said. ' * 20}"
    assert told(SENTENCE, far)["statements"][0]["verdict"] == "supported"
    grounds = CitedText(Source(far), sentences(far)).grounds(Span(0, len(SENTENCE)))
    assert OTHER[:20] in grounds.text
    assert "More" not in grounds.text


def test_what_a_rejected_quotation_comes_from_is_not_shown_where_it_is_a_whole_document() -> None:
    source = f"{SENTENCE} {'More was said. ' * 400}{OTHER}"
    words = "lowered the pressure of adults ... seen in a few children"
    quotation = told(f"They wrote “{words}”.", source)["statements"][0]["quotations"][0]
    assert (quotation["quote_verdict"], quotation["found"]) == ("stitched", None)
    assert quotation["detail"].endswith("too long to be shown")


@given(st.text(alphabet="ab [1]\t\n", max_size=60))
def test_taking_out_takes_the_white_space_before_as_well(text: str) -> None:
    assert without(re.compile(r"\[1\]"), text) == re.sub(r"\s*\[1\]", "", text)


def test_a_marker_leaves_no_space_before_the_stop() -> None:
    assert bare("The drug works [1], [2-4] 【3†source】.", begins_line=True) == "The drug works,."
    assert plain("The drug works (PMID: 1) .") == "The drug works."


@given(st.text(alphabet='ab 1.“”"-–', max_size=30), st.text(alphabet="ab 1.“”-–", max_size=60))
def test_what_stands_exactly_is_what_a_check_accepts(quote: str, text: str) -> None:
    source = Source(text)
    whole = check(quote, source)
    assert exact(quote, source) == (whole if whole.accepted else None)


def test_what_follows_a_sentence_is_read_once_however_many_brackets_it_has() -> None:
    text = f"{SENTENCE[:-1]} {'[;]' * 60}x"
    cited = CitedText(Source(text), [Span(0, len(text))])
    assert not repeats(SENTENCE[:-1], cited, Span(0, len(text)))


def test_a_bracket_that_is_never_closed_holds_no_word() -> None:
    text = read("One (two (three four (five) six. Seven (eight).")
    assert [one.depth for one in text.tokens] == [0, 0, 0, 0, 1, 0, 0, 1]


@given(st.text(alphabet="ab. \t\u200b\n", max_size=40))
def test_no_sentence_of_a_passage_begins_or_ends_with_white_space(text: str) -> None:
    for one in sentences(text):
        assert one.of(text) == one.of(text).strip()


def test_what_is_too_long_to_be_compared_forbids_the_claim_unless_it_is_the_source() -> None:
    claim = "The drug raised the pressure of adults by 9 mm Hg."
    assert [one.code for one in hard_facts(claim, Grounds(TABLE, text=TABLE))] == ["too_long"]
    assert hard_facts(TABLE, Grounds(TABLE, text=TABLE)) == ()


def test_sentences_that_hold_too_few_words_are_no_beginning_of_a_passage() -> None:
    document = "Nothing was said. " * 5 + SENTENCE
    cited = CitedText(Source(document), [Span(0, 17), Span(18, 35), Span(90, len(document))])
    terms = Terms()
    found = nearest(SENTENCE, {"D1": cited}, (), terms)
    assert [one.place for one in found] == [Span(90, len(document))]
    assert nearest(SENTENCE, {"D1": cited}, (), terms) == found
