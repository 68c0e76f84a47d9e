"""Markup in titles and abstracts becomes words, and words that look like markup stay."""

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.grid import grid
from workers.ingest.parsers.inline_markup import paragraphs, words


@grid(
    ("markup", "expected"),
    [
        ("in <i>C. elegans</i> and", "in C. elegans and"),
        ("in &lt;i&gt;C. elegans&lt;/i&gt; and", "in C. elegans and"),
        ("PL <sup>pro</sup>", "PL pro"),
        ("10<sup>9</sup>/L and Ca<sup> 2+ </sup>", "10⁹/L and Ca²⁺"),
        ("CO<sub>2</sub>", "CO2"),
        ("R&amp;D, AT&T, 5&nbsp;mg", "R&D, AT&T, 5\xa0mg"),
        ("older than 5 and <1 year", "older than 5 and <1 year"),
        ("x <y and z> w", "x <y and z> w"),
        ("p&lt;0.05", "p<0.05"),
        ("a <unknown>b</unknown>", "a <unknown>b</unknown>"),
        ('<jats:p>One</jats:p><a href="https://x.example/">two</a>', "One two"),
        ("<mml:math><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>2</mml:mn></mml:math>", "x=2"),
        ("<mml:mtable><mml:mtd>x</mml:mtd></mml:mtable>", "x"),
        ("a <mtable>b</mtable>", "a <mtable>b</mtable>"),
        (" \n a\t b ", "a b"),
    ],
)
def test_a_title_is_its_words(markup: str, expected: str) -> None:
    assert words(markup) == expected


def test_headings_and_blocks_are_told_apart() -> None:
    markup = "<title>Abstract</title><h4>Aim</h4><p>One.</p><p>Two <b>bold</b>.<br/>Three.</p>"
    assert paragraphs(markup) == "# Abstract\n\n## Aim\n\nOne.\n\nTwo bold.\n\nThree."


def test_text_right_behind_a_number_and_a_heading_is_kept() -> None:
    assert paragraphs("aged <1 year.<h4>Methods</h4>x") == "aged <1 year.\n\n## Methods\n\nx"


def test_a_heading_that_never_ends_is_text() -> None:
    long = "words " * 100
    assert paragraphs(f"<h4>{long}") == long.strip()


@examples(200)
@given(
    st.lists(
        st.sampled_from(["<h4>", "</h4>", "<p>", "<sup>", "</sup>", "<i", ">", "&lt;", "&#0;", "9"])
        | st.text(max_size=5)
    ).map("".join)
)
def test_any_string_gives_paragraphs(markup: str) -> None:
    text = paragraphs(markup)
    assert text == text.strip(" ")
    assert "\n\n\n" not in text.replace("\r", "") or "\n\n\n" in markup
