"""Exports: no word of a source becomes a field, an entry or a heading of the format."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.questions.answer_view import answer_view
from api_gateway.questions.exports import bibtex, markdown, ris
from api_gateway.questions.view import question_view
from api_gateway.sources.view import ReferenceView
from benchmarks.pages import answer_body, question
from store.core.printable import acts
from tests.examples import examples
from tests.grid import grid

BODY = answer_body(2, 1)
REFERENCE = answer_view(BODY).references[0]
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60)
TAG = re.compile(r"^([A-Z][A-Z0-9])  - (.*)$")


def reference(**changes: object) -> ReferenceView:
    return replace(REFERENCE, **changes)  # type: ignore[arg-type]


def depth_of(text: str) -> list[int]:
    """How deep in braces each character stands, as BibTeX counts them."""
    found, depth = [], 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0, "a brace is closed that was not opened"
        found.append(depth)
    return found


def test_a_conflict_in_markdown_tells_what_each_side_is_of() -> None:
    day = "2024-03-01T00:00:00+00:00"
    source = {"name": "Example *Society*", "published_at": day, "published_precision": "month"}
    ages = {"fetched_at": "2026-11-20T00:00:00+00:00", "freshness_hours": 1.0, "sla_hours": 168.0}
    side = {
        **{"evidence_id": "E1", "document_id": None, "version_id": None, "start": 0, "end": 9},
        **{"quote": "It helps.", "statement": "", "title": "A made-up guideline"},
        **{"source": source, "clocks": ages | source},
    }
    old = side | {"evidence_id": "E1@1", "quote": "It harms.", "clocks": None}
    bare = {key: side[key] for key in ("evidence_id", "start", "end", "quote")}
    conflict = {"subject": "x", "resolved": False, "sides": [side, old, bare]}
    body = BODY | {"abstained": True, "evidence": [], "conflicts": [conflict]}
    lines = markdown(question_view(question(body), {}), answer_view(body)).splitlines()
    of = r"Example \*Society\*; published Mar 2024"
    assert f"- A made-up guideline ({of}; checked 20 Nov 2026 (fresh)): “It helps.”" in [
        line.replace("\\(", "(").replace("\\)", ")").replace("\\-", "-") for line in lines
    ]
    assert any("an earlier version" in one and "checked" not in one for one in lines)
    assert "- Source E1: “It helps.”" in lines


def test_a_reference_in_bibtex() -> None:
    text = bibtex([REFERENCE], {1: ["Tie J", "Wang Y", "The MADE-UP Group", "et al."]})
    assert text.startswith("@article{author2025,\n")
    assert "  title = {{Title of the made-up work 1}}," in text
    assert "  author = {Tie, J. and Wang, Y. and {The MADE-UP Group} and others}," in text
    assert "  year = {2025}," in text
    assert "  doi = {10.5555/work.1}," in text
    assert "  url = {https://example.org/works/1}," in text


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("50% of {A} & B_1 #2 $3", r"50\% of \textbraceleft{}A\textbraceright{} \& B\_1 \#2 \$3"),
        ("a~b^c\\d", r"a\textasciitilde{}b\textasciicircum{}c\textbackslash{}d"),
        ("},\n@misc{x, note={y}", None),
        ("unclosed {", None),
        ("closed }", None),
    ],
)
def test_no_title_breaks_out_of_its_field(title: str, written: str | None) -> None:
    text = bibtex([reference(title=title)])
    assert depth_of(text)[-1] == 0
    assert len(re.findall(r"^@", text, re.MULTILINE)) == 1
    if written is not None:
        assert written in text


@examples(200)
@given(title=WORDS, source=WORDS, authors=st.lists(WORDS, max_size=3), value=WORDS)
def test_whatever_a_source_says_bibtex_keeps_one_entry_and_its_braces(
    title: str, source: str, authors: list[str], value: str
) -> None:
    one = reference(title=title, source=source, identifiers=[("DOI", value)])
    text = bibtex([one], {1: authors})
    assert depth_of(text)[-1] == 0
    assert len(re.findall(r"^@", text, re.MULTILINE)) == 1
    for line in text.splitlines()[1:]:
        assert line in ("", "}") or re.match(r"  [a-z]+ = \{.*\},$", line)


def test_two_works_of_one_author_and_year_have_two_keys() -> None:
    text = bibtex([REFERENCE, replace(REFERENCE, n=2)])
    keys = re.findall(r"^@article\{(.+),$", text, re.MULTILINE)
    assert keys == ["author2025", "author2025-2"]


def test_a_reference_in_ris() -> None:
    lines = ris([REFERENCE], {1: ["Tie J", "The MADE-UP Group"]}).split("\r\n")
    assert lines[:7] == [
        "TY  - JOUR",
        "AU  - Tie, J.",
        "AU  - The MADE-UP Group",
        "TI  - Title of the made-up work 1",
        "T2  - A journal",
        "PY  - 2025",
        "DO  - 10.5555/work.1",
    ]
    assert "ER  - " in lines


@examples(200)
@given(title=WORDS, source=WORDS, authors=st.lists(WORDS, max_size=3))
def test_whatever_a_source_says_ris_has_the_tags_that_we_write(
    title: str, source: str, authors: list[str]
) -> None:
    text = ris([reference(title=title, source=source)], {1: authors})
    lines = [line for line in text.splitlines() if line]
    assert all(TAG.match(line) for line in lines)
    tags = [line[:2] for line in lines]
    assert tags[0] == "TY"
    assert tags.count("TY") == tags.count("ER") == 1
    assert set(tags) <= {"TY", "AU", "TI", "T2", "PY", "DO", "UR", "KW", "ER"}


def test_a_line_break_in_a_title_forges_no_tag() -> None:
    text = ris([reference(title="x\r\nER  - \r\nTY  - JOUR\u2028UR  - https://example.com/")])
    assert text.count("TY  - JOUR\r\n") == 1
    assert len([line for line in text.splitlines() if line.startswith("ER")]) == 1


def test_markdown_holds_claims_badges_citations_references_and_clocks() -> None:
    found = question(BODY)
    text = markdown(question_view(found, {}), answer_view(BODY))
    assert text.startswith("# Does xyzomab help in a made-up disease?\n")
    assert "## EVIDENCE" in text
    assert "**Verified**" in text
    assert r"\[1\], version 1, Results section, chunk\_0:10-90" in text
    assert "1. [Title of the made-up work 1](<https://example.org/works/1>)" in text
    assert r"Checked 21 Nov 2026 \(fresh\)." in text


@grid(
    "words",
    [
        "# heading",
        "- item",
        "1. item",
        "![x](https://example.com/x.png)",
        "[x](javascript:alert(1))",
        "<script>alert(1)</script>",
        "`code`",
        "a\n\n# b",
        "| a | b |",
        "===",
    ],
)
def test_no_claim_becomes_markup(words: str) -> None:
    body = answer_body(1, 1)
    body["claims"][0]["text"] = words
    body["references"][0]["title"] = words
    plain = answer_body(1, 1)
    texts = [markdown(question_view(question(one), {}), answer_view(one)) for one in (body, plain)]
    lines = [text.count("\n") for text in texts]
    assert lines[0] == lines[1]
    assert not re.search(r"(?<!\\)[<`|!]", texts[0].replace("](<", "").replace(">)", ""))
    # The only links are those of the references.
    assert len(re.findall(r"(?<!\\)\]\(", texts[0])) == 1


def test_nothing_that_acts_where_a_file_is_shown_reaches_an_export() -> None:
    hostile = "a\x1b[2J\x9b31m\x07\x08\u202eb\u2066c\u2028\rd"
    titled = f'"title": {json.dumps(hostile)[:-1]} '
    body = json.loads(json.dumps(BODY).replace('"title": "', titled))
    one = reference(
        title=hostile,
        source=hostile,
        authors=f"{hostile} AB, et al.",
        url=f"https://a.example/{hostile.replace(' ', '')}",
        identifiers=(("DOI", f"10.1000/{hostile}"),),
        badges=(hostile,),
    )
    view = replace(answer_view(body), references=(one,))
    written = [
        markdown(replace(question_view(question(body), {}), text=hostile), view),
        bibtex([one], {one.n: [hostile, f"{hostile} A"]}),
        ris([one]),
    ]
    for text in written:
        assert "b�c" in text
        assert not [sign for sign in text.replace("\r\n", "\n") if sign != "\n" and acts(sign)]
