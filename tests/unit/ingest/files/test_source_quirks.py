"""What sources write oddly is read as people see it; formats that are not read say what to do."""

import html
import html.entities
import io
import string
from pathlib import Path

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from tests.unit.ingest.agencies.test_clinicaltrials_parser import _one, _study
from tests.unit.ingest.test_feeds import rss
from workers.file_formats import UnreadableDocument, read
from workers.ingest.parsers.pubmed.records import NO_TITLE, parse

DOCUMENTS = Path(__file__).parents[3] / "fixtures" / "documents"
WORDS = st.text(st.sampled_from("abc 129" + string.punctuation.replace("\\", "")), min_size=1)


@given(words=WORDS)
def test_the_registrys_escapes_are_its_signs(words: str) -> None:
    escaped = "".join(f"\\{sign}" if sign in string.punctuation else sign for sign in words)
    record = _one(_study(descriptionModule={"detailedDescription": f"Begins {escaped} ends."}))
    assert f"Begins {words} ends." in record.text


NAMED = sorted(name for name in html.entities.html5 if name.endswith(";"))


@given(name=st.sampled_from(NAMED), bare=st.sampled_from(["A & B", "AT&T", "a&b;c", "R&D"]))
def test_a_feed_is_read_whole_whatever_entities_it_has(name: str, bare: str) -> None:
    parsed = rss(
        f"<title>One &{name} {bare}</title><guid>g-1</guid>",
        "<title>Two</title><guid>g-2</guid><description><![CDATA[x&nbsp;y &amp; z]]></description>",
    )
    assert [record.key for record in parsed.records] == ["regulator:g-1", "regulator:g-2"]
    assert parsed.records[1].text == "x\xa0y & z"


CODECS = ["iso-8859-1", "windows-1252", "iso-8859-2", "iso-8859-15", "windows-1251", "koi8-r"]
CODECS += ["shift_jis", "gb2312", "big5", "euc-kr"]
SAMPLES = {"windows-1251": "Привет", "koi8-r": "Привет", "shift_jis": "日本", "gb2312": "中文"}
SAMPLES |= {"big5": "中文", "euc-kr": "한국", "iso-8859-2": "łódź"}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="{}">',
        '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={}">',
        "<meta charset='{}'/>",
    ],
)
def test_a_page_is_read_in_the_charset_that_it_declares(codec: str, head: str) -> None:
    words = SAMPLES.get(codec, "café 37 °C ± 0.5")
    page = (
        f"<html><head>{head.format(codec)}<title>T</title></head><body><p>{words}</p></body></html>"
    )
    (record,) = read(page.encode(codec), filename="a.html")
    assert words in record.text


@grid("codec", ["utf-7", "unicode_escape", "punycode", "hex", "no-such-one", ""])
def test_a_charset_whose_letters_are_no_letters_is_not_taken(codec: str) -> None:
    page = f'<html><meta charset="{codec}"><p>caf\xe9</p></html>'.encode("latin-1")
    with pytest.raises(UnreadableDocument, match="not UTF-8"):
        read(page, filename="a.html")


@grid(
    ("filename", "data", "advice"),
    [
        ("a.docx", b"PK\x03\x04", "word processor"),
        ("a.rtf", b"{\\rtf1 x}", "word processor"),
        ("a.doc", b"\xd0\xcf\x11\xe0", "word processor"),
        ("a.xml", b'<ClinicalDocument xmlns="urn:hl7-org:v3"/>', "style sheet"),
        ("a.ccda", b"<ClinicalDocument/>", "style sheet"),
        ("a.json", b'{"resourceType": "Bundle", "entry": []}', "narrative"),
        ("a.xlsx", b"PK\x03\x04", "each sheet"),
        ("a.png", b"\x89PNG", "OCR"),
        ("a.pptx", b"PK\x03\x04", "PDF"),
    ],
)
def test_a_format_that_is_not_read_says_what_to_do(filename: str, data: bytes, advice: str) -> None:
    with pytest.raises(UnreadableDocument, match=advice):
        read(data, filename=filename)


def test_a_message_of_hl7_v2_is_read_as_its_text() -> None:
    (record,) = read(b"MSH|^~\\&|LAB\rOBX|1|NM|K^Potassium||4.1|mmol/L\r", filename="a.hl7")
    assert record.text.splitlines()[1] == "OBX|1|NM|K^Potassium||4.1|mmol/L"


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256"])
def test_a_pdf_without_a_password_to_open_is_opened(algorithm: str) -> None:
    writer = pypdf.PdfWriter(clone_from=DOCUMENTS / "trial.pdf")
    writer.encrypt("", "owner", algorithm=algorithm)
    locked = io.BytesIO()
    writer.write(locked)
    (opened,) = read(locked.getvalue(), filename="a.pdf")
    (plain,) = read((DOCUMENTS / "trial.pdf").read_bytes(), filename="a.pdf")
    assert opened.text == plain.text


RECORD = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>
<Journal><Title>J</Title></Journal>{title}{abstract}<Language>ger</Language></Article>{others}
</MedlineCitation></PubmedArticle></PubmedArticleSet>"""
TITLE, ABSTRACT = (
    "<ArticleTitle>A title</ArticleTitle>",
    "<Abstract><AbstractText>Own words.</AbstractText></Abstract>",
)


def _other(words: str, language: str, kind: str = "Publisher") -> str:
    return (
        f'<OtherAbstract Type="{kind}" Language="{language}"><AbstractText>{words}</AbstractText>'
        "</OtherAbstract>"
    )


@grid(
    ("title", "abstract", "others", "text"),
    [
        (TITLE, "", [_other("Words.", "eng")], "## Abstract\n\nWords."),
        (TITLE, "", [_other("Worte.", "ger"), _other("Words.", "eng")], "## Abstract\n\nWords."),
        (TITLE, "", [_other("Worte.", "ger")], "## Abstract\n\nWorte."),
        (TITLE, ABSTRACT, [_other("Words.", "eng")], "## Abstract\n\nOwn words."),
        (TITLE, "", [], "A title"),
        ("<ArticleTitle/>", ABSTRACT, [], "## Abstract\n\nOwn words."),
        ("", "", [], NO_TITLE),
    ],
)
def test_an_abstract_of_somebody_else_stands_in_for_a_missing_one(
    title: str, abstract: str, others: list[str], text: str
) -> None:
    source = RECORD.format(title=title, abstract=abstract, others="".join(others))
    (record,) = parse(source.encode()).records
    assert record.text == text
    assert record.title == ("A title" if title == TITLE else NO_TITLE)
