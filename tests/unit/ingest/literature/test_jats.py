"""Full texts in JATS become sections, paragraphs, tables and captions; references stay out."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.structure import segment
from store.documents.records import Notice, SourceRecord
from tests.examples import examples
from workers.http.errors import Malformed
from workers.ingest.parsers.jats.article import LEFT_OUT, parse_jats

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
FOLDER = SHARED / "data" / "pubmed_xml"

FRONT = """<front><journal-meta><journal-id journal-id-type="nlm-ta">J Made Up</journal-id>
<journal-title-group><journal-title>Journal of made-up medicine</journal-title>
</journal-title-group>
<issn pub-type="epub">0000-0000</issn><publisher><publisher-name>Made-Up Press</publisher-name>
</publisher></journal-meta>
<article-meta><article-id pub-id-type="pmc">77</article-id>
<article-id pub-id-type="pmid">7700</article-id>
<article-id pub-id-type="doi">10.5555/made.up.77</article-id>
<article-id pub-id-type="publisher-id">MU-77</article-id>
<article-categories><subj-group><subject>Research</subject></subj-group></article-categories>
<title-group><article-title>Made-up <italic>sleep</italic></article-title>
<subtitle>a story</subtitle></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Invent</surname>
<given-names>Ada Jean-Marie</given-names></name><xref ref-type="aff" rid="a1"/></contrib>
<contrib contrib-type="author"><collab>Made-Up Group</collab></contrib>
<contrib contrib-type="editor"><name><surname>Editor</surname></name></contrib></contrib-group>
<aff id="a1">Nowhere</aff>
<author-notes><corresp>ada@nowhere.invalid</corresp>
<fn fn-type="conflict"><p>None, as nobody exists.</p></fn></author-notes>
<pub-date pub-type="pmc-release"><year>2020</year></pub-date>
<pub-date pub-type="collection"><year>2024</year></pub-date>
<pub-date pub-type="epub"><day>3</day><month>11</month><year>2024</year></pub-date>
<pub-date pub-type="ppub"><month>1</month><year>2025</year></pub-date>
<volume>7</volume><issue>2</issue><fpage>11</fpage><lpage>19</lpage>
<history><date date-type="received"><day>1</day><month>2</month><year>2024</year></date></history>
<permissions><copyright-statement>© nobody</copyright-statement>
<license license-type="open-access" xlink:href="https://creativecommons.org/licenses/by/4.0/">
<license-p>Use it as you like.</license-p></license></permissions>
<related-object source-id="ClinicalTrials.gov" document-id="NCT00000077"/>
<abstract><sec><title>Background</title><p>Nobody sleeps.</p></sec>
<sec><title>Results</title><p>Twelve of 20 slept.</p></sec></abstract>
<abstract abstract-type="plain-language-summary"><title>In plain words</title>
<p>Sleep.</p></abstract>
<trans-abstract xml:lang="fr"><p>Personne ne dort.</p></trans-abstract>
<kwd-group><kwd>sleep</kwd></kwd-group>
<funding-group><award-group><funding-source>Nobody</funding-source></award-group></funding-group>
</article-meta></front>"""

BODY = """<body><sec><title>Introduction</title>
<p>Cells stayed at 50 × 10<sup>9</sup>/L
   [<xref ref-type="bibr" rid="r1">1</xref>].<disp-formula id="e1"><label>(1)</label>
   <alternatives><tex-math>\\frac{1}{2}</tex-math><mml:math><mml:mfrac><mml:mn>1</mml:mn>
   <mml:mn>2</mml:mn></mml:mfrac></mml:math></alternatives></disp-formula>Then all woke.</p></sec>
<sec><label>2.</label><title>Methods</title><sec><title>Patients</title>
<p>We took nobody.<list list-type="bullet"><list-item><p>adults</p></list-item>
<list-item><p>children</p><list list-type="order"><list-item><p>small</p></list-item></list>
</list-item></list></p>
<def-list><def-item><term>ECOG</term><def><p>a made-up scale</p></def></def-item></def-list></sec>
<sec><title>Empty</title></sec></sec>
<sec><title>Results</title>
<table-wrap id="t1"><label>Table 1</label><caption><title>Who slept</title></caption>
<table><thead><tr><th rowspan="2">Arm</th><th colspan="2">Slept</th></tr>
<tr><th>n</th><th>%</th></tr></thead><tbody><tr><td>A</td><td>12</td><td>60</td></tr><tr><td>B</td><td/><td>40</td></tr></tbody>
</table><table-wrap-foot><fn><label>a</label><p>All made up.</p></fn></table-wrap-foot></table-wrap>
<fig id="f1"><label>Figure 1.</label><caption><p>A made-up curve.</p></caption><graphic/></fig>
<supplementary-material><label>File S1</label><caption><p>More.</p></caption><media/>
</supplementary-material></sec></body>"""

BACK = """<back><ack><p>Thanks to nobody.</p></ack>
<app-group><app><title>Appendix A</title><p>Steps.</p></app></app-group>
<ref-list><title>References</title><ref id="r1"><mixed-citation>Another work.
<pub-id pub-id-type="doi">10.5555/not.its.own</pub-id></mixed-citation></ref></ref-list></back>"""

NAMESPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML"'
)


def _article(
    front: str = FRONT, body: str = BODY, back: str = BACK, kind: str = "research-article"
) -> str:
    return f'<article {NAMESPACES} article-type="{kind}">{front}{body}{back}</article>'


ARTICLE = _article()


def _record(text: str) -> SourceRecord:
    parsed = parse_jats(text.encode())
    assert not parsed.problems
    assert not parsed.unmapped
    (record,) = parsed.records
    return record


def test_the_front_of_an_article_becomes_a_record() -> None:
    record = _record(ARTICLE)
    assert record.key == "europepmc:fulltext:PMC77"
    assert record.url == "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/"
    assert record.identifiers.model_dump(exclude_none=True) == {
        "pmid": "7700",
        "pmcid": "PMC77",
        "doi": "10.5555/made.up.77",
    }
    assert record.title == "Made-up sleep: a story"
    assert record.authors == ("Invent AJM", "Made-Up Group")
    assert record.publisher == "Journal of made-up medicine"
    assert (record.publication_type, record.evidence_level) == ("Journal Article", None)
    assert (record.published_at, record.published_precision) == (
        datetime(2024, 11, 3, tzinfo=UTC),
        "day",
    )
    assert record.facts == {
        "has_full_text": True,
        "article_type": "research-article",
        "journal": {
            "abbreviation": "J Made Up",
            "issn": "0000-0000",
            "publisher": "Made-Up Press",
            "volume": "7",
            "issue": "2",
            "pages": "11-19",
        },
        "license": {
            "type": "open-access",
            "href": "https://creativecommons.org/licenses/by/4.0/",
            "text": "Use it as you like.",
        },
        "copyright": "© nobody",
        "categories": ["Research"],
        "keywords": ["sleep"],
        "funders": ["Nobody"],
        "conflict_of_interest": "None, as nobody exists.",
        "registry_ids": {"ClinicalTrials.gov": ["NCT00000077"]},
        "other_abstracts": [{"language": "fr", "text": "Personne ne dort."}],
        "received": "2024-02-01",
    }


def test_the_text_has_all_that_is_read_and_no_references() -> None:
    assert _record(ARTICLE).text == (
        "## Abstract\n\n### Background\n\nNobody sleeps.\n\n### Results\n\nTwelve of 20 slept.\n\n"
        "## In plain words\n\nSleep.\n\n"
        "## Introduction\n\nCells stayed at 50 × 10⁹/L [1].\n\n1/2 (1)\n\nThen all woke.\n\n"
        "## 2. Methods\n\n### Patients\n\nWe took nobody.\n\n- adults\n- children\n  1. small\n\n"
        "ECOG: a made-up scale\n\n"
        "## Results\n\nTable 1. Who slept\n\nArm | Slept\nArm | n | %\nA | 12 | 60\nB |  | 40\n\n"
        "a All made up.\n\nFigure 1. A made-up curve.\n\nFile S1. More.\n\n"
        "## Acknowledgements\n\nThanks to nobody.\n\n## Appendix A\n\nSteps."
    )


def test_the_section_finder_sees_the_sections() -> None:
    sections = segment(_record(ARTICLE).text).sections
    assert [section.title for section in sections] == [
        "Background",
        "Results",
        "In plain words",
        "Introduction",
        "Patients",
        "Results",
        "Acknowledgements",
        "Appendix A",
    ]


def test_an_article_without_body_says_that_its_text_is_only_an_abstract() -> None:
    record = _record(_article(body=""))
    assert record.facts["has_full_text"] is False
    assert record.text.startswith("## Abstract")


def test_an_article_without_any_text_has_its_title() -> None:
    front = re.sub(r"<abstract.*</trans-abstract>", "", FRONT, flags=re.DOTALL)
    record = _record(_article(front, body="", back=""))
    assert record.text == record.title


def test_figures_at_the_end_stand_under_a_heading_of_their_own() -> None:
    end = (
        "</back><floats-group><fig><label>Figure 2</label><caption><p>Late.</p></caption></fig>"
        "</floats-group>"
    )
    assert _record(ARTICLE.replace("</back>", end)).text.endswith(
        "## Figures and tables\n\nFigure 2. Late.\n\n## Acknowledgements\n\nThanks to nobody.\n\n"
        "## Appendix A\n\nSteps."
    )


def test_newer_files_write_the_pmcid_with_its_letters() -> None:
    record = _record(ARTICLE.replace('"pmc">77<', '"pmcid">PMC77<'))
    assert record.key == "europepmc:fulltext:PMC77"


def test_a_licence_can_stand_in_an_element_of_its_own() -> None:
    given = FRONT.replace(' xlink:href="https://creativecommons.org/licenses/by/4.0/"', "").replace(
        "<license-p>",
        '<ali:license_ref xmlns:ali="http://www.niso.org/schemas/ali/1.0/">'
        "https://creativecommons.org/licenses/by-nc/4.0/</ali:license_ref><license-p>",
    )
    facts = _record(_article(given)).facts
    assert facts["license"]["href"] == "https://creativecommons.org/licenses/by-nc/4.0/"


@pytest.mark.parametrize(
    ("kind", "relation", "notices", "facts"),
    [
        ("research-article", "retraction-forward", [("retraction", "doi:10.5555/n")], {}),
        ("research-article", "correction-forward", [("correction", "doi:10.5555/n")], {}),
        ("retraction", "retracted-article", [], {"retraction_of": ["doi:10.5555/n"]}),
        ("correction", "corrected-article", [], {"erratum_for": ["doi:10.5555/n"]}),
        ("research-article", "companion", [], {}),
    ],
)
def test_a_notice_is_not_what_it_retracts(
    kind: str, relation: str, notices: list[tuple[str, str]], facts: dict[str, list[str]]
) -> None:
    link = (
        f'<related-article related-article-type="{relation}" ext-link-type="doi" '
        'xlink:href="10.5555/N"/></article-meta>'
    )
    record = _record(_article(FRONT.replace("</article-meta>", link), kind=kind))
    assert record.notices == tuple(Notice(kind=k, notice_id=i) for k, i in notices)
    assert {name: record.facts[name] for name in facts} == facts
    assert (record.evidence_level == "notice") == (kind in ("retraction", "correction"))


def test_a_preprint_is_none_that_was_reviewed() -> None:
    meta = (
        "<custom-meta-group><custom-meta><meta-name>pmc-prop-preprint</meta-name><meta-value>yes"
        "</meta-value></custom-meta><custom-meta><meta-name>pmc-prop-open-access</meta-name>"
        "<meta-value>yes</meta-value></custom-meta></custom-meta-group></article-meta>"
    )
    record = _record(_article(FRONT.replace("</article-meta>", meta)))
    assert record.source_type == "preprint"
    assert record.facts["open_access"] is True


def test_a_set_may_hold_errors_beside_articles() -> None:
    payload = f'<pmc-articleset><error id="5">no</error>{ARTICLE}</pmc-articleset>'
    parsed = parse_jats(payload.encode())
    assert [record.key for record in parsed.records] == ["europepmc:fulltext:PMC77"]
    assert len(parsed.problems) == 1


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('<article-id pub-id-type="pmc">77</article-id>', "", "article-id"),
        ('"pmc">77<', '"pmc">seventy<', "article-id"),
        (
            "<article-title>Made-up <italic>sleep</italic></article-title>\n"
            "<subtitle>a story</subtitle>",
            "",
            "title",
        ),
    ],
)
def test_an_article_without_number_or_title_is_a_problem(old: str, new: str, reason: str) -> None:
    assert old in ARTICLE
    parsed = parse_jats(ARTICLE.replace(old, new).encode())
    assert not parsed.records
    (problem,) = parsed.problems
    assert problem.reason.startswith(reason)


def test_identifiers_that_cannot_be_are_doubted() -> None:
    parsed = parse_jats(ARTICLE.replace("10.5555/made.up.77", "made.up.77").encode())
    (record,) = parsed.records
    assert record.identifiers.doi is None
    assert [(doubt.source_id, doubt.kind) for doubt in parsed.doubts] == [(record.key, "doi")]


def test_unknown_parts_are_counted_and_their_words_kept() -> None:
    odd = FRONT.replace("</article-meta>", "<mood>calm</mood></article-meta>")
    body = BODY.replace("</body>", "<strange>But readable.</strange><empty/></body>")
    parsed = parse_jats(_article(odd, body).encode())
    assert parsed.unmapped == {"article-meta/mood": 1, "article//empty": 1}
    assert "But readable." in parsed.records[0].text
    assert all(LEFT_OUT.values())


@pytest.mark.parametrize(
    "payload",
    [b"", b"{}", b"<html/>", b"<errorBean><errCode>0</errCode></errorBean>", ARTICLE.encode()[:-9]],
)
def test_what_is_no_article_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse_jats(payload)


def _body_text(body: str) -> str:
    text = _record(_article(body=f"<body><sec><title>Here</title>{body}</sec></body>")).text
    return text.partition("## Here\n\n")[2].partition("\n\n## ")[0]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<table-wrap><table><tr><td><p>12.5</p><p>(10.1-15.2)</p></td>"
            "<td>a<list><list-item><p>x</p></list-item><list-item><p>y</p></list-item></list></td>"
            "</tr></table></table-wrap>",
            "12.5 (10.1-15.2) | a x y",
        ),
        (
            "<list><list-item><p>first<list><list-item><p>a</p></list-item><list-item><p>b</p>"
            "</list-item></list></p><p>second</p></list-item></list>",
            "- first a b second",
        ),
        (
            "<def-list><def-item><term>HR</term><def><p>a hazard</p><p>ratio</p></def></def-item>"
            "</def-list>",
            "HR: a hazard ratio",
        ),
        (
            "<fig><label>Figure 9</label><caption><title>Made up.</title><p>Of 12<list><list-item>"
            "<p>10 slept</p></list-item><list-item><p>2 woke</p></list-item></list></p></caption>"
            "</fig>",
            "Figure 9. Made up. Of 12 10 slept 2 woke",
        ),
        ("<p>5<fn><p>of all</p></fn> and 10<sup>9</sup>/L</p>", "5 of all and 10⁹/L"),
    ],
)
def test_blocks_on_one_line_do_not_run_together(body: str, text: str) -> None:
    assert _body_text(body) == text


def test_a_cell_over_rows_and_columns_keeps_every_later_cell_in_its_column() -> None:
    rows = (
        '<tr><th rowspan="2" colspan="2">Event</th><th>Arm A</th></tr><tr><th>n</th></tr>'
        "<tr><td>rash</td><td>mild</td><td>4</td></tr>"
    )
    text = _body_text(f"<table-wrap><table>{rows}</table></table-wrap>")
    assert text == "Event |  | Arm A\nEvent |  | n\nrash | mild | 4"


def test_broken_spans_do_not_blow_a_table_up() -> None:
    cell = '<td rowspan="99999999999" colspan="9999">x</td>'
    huge = '<td rowspan="999">' + "y" * 1000 + "</td>"
    rows = f"<tr>{cell * 50}{huge * 50}</tr>" + "<tr><td>z</td></tr>" * 200
    table = f"<table-wrap><table>{rows}</table></table-wrap>"
    text = _record(_article(body=f"<body>{table}</body>")).text
    assert len(text) < 400_000


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the shared data beside the repository")
@pytest.mark.parametrize(
    ("name", "key", "sections", "rows"),
    [
        ("biomcp/ncbi_efetch__pmc3040717.xml", "PMC3040717", ["Abstract", "Introduction"], 0),
        ("biomcp/ncbi_efetch__pmc6329583.xml", "PMC6329583", ["Methods", "Discussion"], 60),
        ("biopython/efetch_pmc.xml", "PMC8435807", [], 0),
        ("titipata/1471-2180-11-174.nxml", "PMC3166277", ["Background", "Conclusions"], 25),
        (
            "titipata/pone.0046493.nxml",
            "PMC3460867",
            ["Abstract", "Drug susceptibility testing"],
            20,
        ),
    ],
)
def test_real_articles_are_read_whole(name: str, key: str, sections: list[str], rows: int) -> None:
    data = (FOLDER / name).read_bytes()
    record = _record(data.decode())
    assert record.key == f"europepmc:fulltext:{key}"
    titles = [section.title for section in segment(record.text).sections]
    assert set(sections) <= set(titles)
    assert sum(" | " in line for line in record.text.split("\n")) >= rows
    assert record.published_at is not None
    assert record.facts["has_full_text"]
    body = re.sub(rb"<(ref-list|author-notes).*?</\1>", b"", data, flags=re.DOTALL)
    for paragraph in re.findall(rb"<p>([A-Z][^<>&]{40,})</p>", body):
        assert " ".join(paragraph.decode().split()) in record.text


DATA = ARTICLE.encode()


@examples(200)
@given(
    st.lists(
        st.tuples(st.integers(0, len(DATA)), st.integers(0, 40), st.binary(max_size=12)), max_size=4
    )
)
def test_mutated_bytes_give_an_article_or_malformed(changes: list[tuple[int, int, bytes]]) -> None:
    data = DATA
    for at, size, new in changes:
        data = data[:at] + new + data[at + size :]
    _survives(data)


TAGS = sorted(set(re.findall(rb"<([a-z-]+)", DATA)))
CHANGES: list[Callable[[bytes, bytes], bytes]] = [
    lambda element, tag: b"",
    lambda element, tag: element * 2,
    lambda element, tag: b"<%s>%s</%s>" % (tag, element, tag),
    lambda element, tag: re.sub(rb">[^<]*<", b"><", element),
    lambda element, tag: re.sub(rb"\s[\w:-]+=\"[^\"]*\"", b"", element),
]


@examples(200)
@given(
    st.lists(
        st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS), st.sampled_from(CHANGES)),
        max_size=6,
    )
)
def test_mutated_elements_give_an_article_or_malformed(
    changes: list[tuple[bytes, bytes, Callable[[bytes, bytes], bytes]]],
) -> None:
    data = DATA
    for tag, other, change in changes:
        found = re.search(rb"<%s\b[^>]*>.*?</%s>" % (tag, tag), data, re.DOTALL)
        if found:
            data = data.replace(found[0], change(found[0], other), 1)
    _survives(data)


def _survives(data: bytes) -> None:
    try:
        parsed = parse_jats(data)
    except Malformed:
        return
    for record in parsed.records:
        assert re.fullmatch(r"(europepmc|preprint):fulltext:PMC[1-9][0-9]*", record.key)
        segment(record.text)
