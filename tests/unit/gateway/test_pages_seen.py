"""On a page, words of others reorder nothing beside them; quotations stay as they were written."""

import re
from html import unescape
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from api_gateway.pages.rendering import _environment, render, seen
from store.core.printable import acts, printable

TEMPLATES = Path(__file__).resolve().parents[3] / "api_gateway" / "pages" / "templates"
HOSTILE = "a\x1b[2J\u202eb\u2066c\u2069d\x9b"
WORDS = "stage\r\nIII\tco\u00adoperate می\u200cخواهم 👩\u200d⚕️"


def in_template(source: str, **values: object) -> str:
    return _environment().from_string(source).render(**values)


def test_what_is_put_into_a_page_is_seen_whatever_template_puts_it_there() -> None:
    shown = printable(HOSTILE)
    assert (
        in_template("<p>{{ x }} {{ x|upper }}</p>", x=HOSTILE) == f"<p>{shown} {shown.upper()}</p>"
    )
    assert in_template('<a title="{{ x }}">', x=f'"{HOSTILE}') == f'<a title="&#34;{shown}">'
    assert in_template("{{ 3 }}{{ none }}", none=None) == "3None"
    problem = {"title": HOSTILE, "detail": HOSTILE, "status": 400}
    page = render(
        "error.html",
        problem=problem,
        request_id="1",
        nav=[],
        path="/",
        may=(),
        csrf="",
        signed_in=False,
    )
    assert "b�c" in page
    assert not [sign for sign in page if sign not in "\n\r\t" and acts(sign)]


def test_letters_line_ends_and_joiners_stay() -> None:
    assert seen(WORDS) == WORDS


def test_a_quotation_and_the_text_it_stands_in_are_exact() -> None:
    page = in_template("{{ quotation(x) }}{{ x|exact }}", x=HOSTILE)
    assert unescape(page).count(HOSTILE) == 2


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_seen_words_act_nowhere_and_are_as_long_as_before(text: str) -> None:
    assert not [sign for sign in seen(text) if sign not in "\n\r\t" and acts(sign)]
    assert len(seen(text)) == len(text)


EXACT = {
    "extractions/_fields.html": "an inline block of its own",
    "_source.html": "the source's text, alone in its block",
    "macros.html": "quotations and texts, alone in their blocks",
    "documents/diff.html": "cells of a table",
    "notes/note.html": "an inline block of its own",
    "extractions/extraction.html": "the document's text, alone in its block",
    "extractions/review.html": "paragraphs of their own, and what a form gives back",
    "verifications/verification.html": "the pasted text, through `seen`",
}
"""Templates that show exact words, and why these reorder nothing beside them."""


def test_exact_words_stand_alone_or_in_a_form() -> None:
    found = {}
    for path in sorted(TEMPLATES.rglob("*.html")):
        source = path.read_text("utf-8")
        plain = re.sub(r"<textarea[^>]*>\n[^<]*</textarea>|value=\"\{\{[^}]*\}\}\"", "", source)
        if "|exact" in plain:
            found[path.relative_to(TEMPLATES).as_posix()] = plain
    assert found.keys() == EXACT.keys()
    assert re.findall(r"[\w.]+(?:\|seen)?\|exact", found["verifications/verification.html"]) == [
        "run.text|seen|exact",
        "run.text|seen|exact",
    ]
    for name in ("extractions/_fields.html", "notes/note.html"):
        for before in re.findall(r"<[^<>]*>\{\{ [\w.]+\|exact", found[name]):
            assert "source-words-inline" in before, before
    css = (TEMPLATES.parent / "static" / "css" / "attest.css").read_text("utf-8")
    (rule,) = re.findall(r"\.source-words-inline \{([^}]*)\}", css)
    assert "display: inline-block;" in rule
