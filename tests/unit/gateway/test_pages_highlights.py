"""Spans in a text: whatever overlaps, what is marked is the span, to the letter."""

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from api_gateway.pages.highlights import Place, Run, runs
from api_gateway.pages.rendering import render

TEXTS = st.text(st.sampled_from("ab \n\r\t<>&\"'\u0301é日𝒳🧬\u200d\u202e"), min_size=0, max_size=60)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[Place]]:
    text = draw(TEXTS)
    bounds = st.tuples(st.integers(-3, len(text) + 3), st.integers(-3, len(text) + 3))
    spans = draw(st.lists(bounds, max_size=8))
    return text, [Place(f"f{n}", start, end) for n, (start, end) in enumerate(spans)]


def of(found: list[Run], name: str) -> str:
    return "".join(one.text for one in found if name in one.names)


@given(marked())
def test_the_runs_are_the_text_and_those_of_a_span_are_the_span(
    given: tuple[str, list[Place]],
) -> None:
    text, places = given
    found = runs(text, places)
    assert "".join(one.text for one in found) == text
    for place in places:
        fits = 0 <= place.start < place.end <= len(text)
        assert of(found, place.name) == (text[place.start : place.end] if fits else "")
        assert sum(place.name in one.begins for one in found) == fits


@given(marked(), st.integers(0, 7))
def test_the_chosen_span_stands_out_to_the_letter(given: tuple[str, list[Place]], n: int) -> None:
    text, places = given
    found = runs(text, places, f"f{n}")
    words = "".join(one.text for one in found if one.chosen)
    assert words == of(found, f"f{n}")
    assert sum(one.first for one in found) == bool(words)


@given(marked(), st.integers(0, 7))
def test_a_browser_reads_the_very_words_from_the_page(
    given: tuple[str, list[Place]], n: int
) -> None:
    text, places = given
    html = render("_source.html", runs=runs(text, places, f"f{n}"))
    root = etree.HTML(html)
    shown = "".join(root.xpath("//*[@id='text']")[0].itertext())
    assert shown == text
    for place in places:
        if 0 <= place.start < place.end <= len(text):
            parts = root.xpath(f"//*[contains(concat(' ', @data-spans, ' '), ' {place.name} ')]")
            words = "".join("".join(one.itertext()) for one in parts)
            assert words == text[place.start : place.end]
            assert len(root.xpath(f"//*[@id='at-{place.name}']")) == 1
    assert not root.xpath("//*[@id='text']//*[not(self::mark or self::span)]")


def test_spans_that_overlap_share_a_run() -> None:
    found = runs("a🧬bcd", [Place("x", 0, 3), Place("y", 1, 4)], "y")
    assert [(one.text, one.names, one.chosen) for one in found] == [
        ("a", ("x",), False),
        ("🧬b", ("x", "y"), True),
        ("c", ("y",), True),
        ("d", (), False),
    ]
