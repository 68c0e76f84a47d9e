"""The evidence viewer: what is marked equals `text[start:end]`, to the letter."""

from collections.abc import Iterator

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.documents.evidence_view import SpanOutside, parts, structure_of
from api_gateway.pages.differences import Row, rows, sentences
from api_gateway.pages.rendering import render
from clinical_text.structure import segment
from store.core.spans import Span
from tests.examples import examples
from tests.grid import grid

TEMPLATE = "documents/own_source.html"
STRANGE = {
    "astral": "Dose 𝟙𝟚 mg 🧬 then 😀 stop.",
    "combining": "Cafe\u0301 nai\u0308ve A\u030a x\u0323\u0307 end.",
    "right to left": "قبل العلاج 12 mg ואחריו שוב then left.",
    "overrides": "safe\u202egnihton\u202c and \u2066isolated\u2069 words.",
    "zero width": "zero\u200bwidth\u200djoin\ufeffer and so\u00adft.",
    "line ends": "one\r\ntwo\rthree\nfour\x0bfive\x0csix\u2028seven\u2029eight\x85nine",
    "markup": "p < 0.05 & q > 1 <b>bold</b> &amp; &#60; \"x\" 'y' <!-- z --> ]]>",
    "leading breaks": "\n\n\n## Results\n\n\nWords.\n\n",
    "tabs and spaces": "a\t\tb   c\u00a0d\u2009e\u3000f",
    "controls": "bell\x07 escape\x1b[31m delete\x7f c1\x80\x9f end",
}


def shown(text: str, span: Span | None, *, structured: bool = True) -> BeautifulSoup:
    found = parts(text, segment(text) if structured else None, span)
    html = render(
        TEMPLATE, nav=[], path="/", title="A title", back="/verify/1", parts=found, span=span
    )
    # Left alone, BeautifulSoup makes one line feed of any white space.
    return BeautifulSoup(html, "html.parser", preserve_whitespace_tags={"div"})


def marked(page: BeautifulSoup) -> str:
    return "".join(one.get_text() for one in page.select("#text mark"))


def whole(page: BeautifulSoup) -> str:
    found = page.select_one("#text")
    assert found is not None
    return found.get_text()


def spans(text: str) -> Iterator[Span]:
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1, 3):
            yield Span(start, end)


@grid("name", STRANGE)
def test_every_span_of_a_strange_text_is_marked_to_the_letter(name: str) -> None:
    text = STRANGE[name]
    for span in list(spans(text))[::7]:
        page = shown(text, span)
        assert marked(page) == span.of(text)
        assert whole(page) == text


@st.composite
def texts_with_spans(draw: st.DrawFn) -> tuple[str, Span]:
    alphabet = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
    line = st.one_of(
        st.text(alphabet, max_size=40),
        st.sampled_from(["## Results", "METHODS:", "- item", "a | b", "<p>", "</div>", "&lt;"]),
    )
    ends = st.sampled_from(["\n", "\n\n", "\r\n", "\r", " "])
    text = "".join(
        part
        for pair in draw(st.lists(st.tuples(line, ends), min_size=1, max_size=8))
        for part in pair
    )
    start = draw(st.integers(0, len(text) - 1))
    return text, Span(start, draw(st.integers(start + 1, len(text))))


@examples(150)
@given(case=texts_with_spans(), structured=st.booleans())
def test_whatever_the_text_the_mark_is_the_span_and_the_page_is_the_text(
    case: tuple[str, Span], structured: bool
) -> None:
    text, span = case
    page = shown(text, span, structured=structured)
    assert marked(page) == span.of(text)
    assert whole(page) == text
    assert len(page.select("#span")) == 1


def test_a_span_over_two_sections_begins_once_and_is_marked_in_both() -> None:
    text = "## Methods\n\nFirst words.\n\n## Results\n\nLast words.\n"
    span = Span(text.index("words"), text.index("Last") + 4)
    page = shown(text, span)
    assert marked(page) == span.of(text)
    assert [one.get("id") for one in page.select("mark")].count("span") == 1


def test_headings_are_headings_and_keep_their_marks_as_text() -> None:
    page = shown("## Results\n\nWords of it.\n", None)
    assert [one.get_text() for one in page.select("#text h3")] == ["## Results"]
    assert not page.select("mark")


@pytest.mark.parametrize("span", [Span(3, 3), Span(4, 2), Span(0, 12), Span(-1, 2)])
def test_a_span_outside_the_text_is_refused(span: Span) -> None:
    with pytest.raises(SpanOutside, match="11 code points"):
        parts("hello world", None, span)


def test_a_structure_that_does_not_fit_the_text_is_not_used() -> None:
    other = segment("## A\n\nshort\n")
    text = "a longer text without any heading"
    page_parts = parts(text, other, Span(2, 8))
    assert "".join(p.text for one in page_parts for b in one.blocks for p in b.pieces) == text
    assert structure_of({}) is None or structure_of({}) is not other


def changed(found: list[Row], side: str) -> str:
    return "".join(one.text for row in found for one in getattr(row, side) if one.changed)


def test_a_changed_number_is_the_only_thing_that_differs() -> None:
    old = ["The rate was 12% in both arms.", "It was safe."]
    new = ["The rate was 21% in both arms.", "It was safe."]
    found = rows(old, new)
    assert [row.kind for row in found] == ["changed", "same"]
    assert (changed(found, "old"), changed(found, "new")) == ("12", "21")


def test_added_and_removed_sentences_stand_on_their_side_only() -> None:
    found = rows(["One.", "Two."], ["One.", "Two.", "Three."])
    assert found[-1].kind == "added"
    assert not found[-1].old
    found = rows(["Zero.", "One."], ["One."])
    assert found[0].kind == "removed"
    assert not found[0].new


def test_what_is_the_same_far_from_a_change_is_left_out_and_counted() -> None:
    same = [f"Sentence {n}." for n in range(50)]
    found = rows([*same, "Old."], [*same, "New."])
    assert [row.kind for row in found] == ["skipped", "same", "same", "changed"]
    assert found[0].skipped == 48


@examples(100)
@given(
    old=st.lists(st.text("abc .", min_size=1, max_size=6), max_size=8),
    new=st.lists(st.text("abc .", min_size=1, max_size=6), max_size=8),
)
def test_no_word_of_either_version_is_lost_in_the_difference(
    old: list[str], new: list[str]
) -> None:
    def told(side: str, sentences_of: list[str]) -> tuple[str, str]:
        words = "".join(one.text for row in rows(old, new) for one in getattr(row, side))
        return "".join(words.split()), "".join("".join(sentences_of).split())

    hidden = sum(row.skipped for row in rows(old, new))
    if not hidden:
        assert told("old", old)[0] == told("old", old)[1]
        assert told("new", new)[0] == told("new", new)[1]


def test_sentences_are_those_that_were_stored() -> None:
    text = "## Results\n\nIt was 0.5 mg. It was safe.\n"
    assert sentences(text, segment(text)) == ["## Results", "It was 0.5 mg.", "It was safe."]
    assert sentences("a\n\nb\n", None) == ["a", "b"]
