"""XML of sources: no entity expands, nothing outside is fetched, and every fault is Malformed."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.markup import words
from workers.ingest.parsers.xml import MAX_DEPTH, parse_xml

BILLION_LAUGHS = (
    '<!DOCTYPE a [<!ENTITY l0 "ha">'
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + "]><a>&l9;</a>"
)
QUADRATIC = f'<!DOCTYPE a [<!ENTITY x "{"x" * 50_000}">]><a>{"&x;" * 50_000}</a>'

HOSTILE = {
    "billion laughs": BILLION_LAUGHS,
    "quadratic blow-up": QUADRATIC,
    "one harmless entity": '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    "a file": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>',
    "a parameter entity": '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://x.example/y">%x;]><a/>',
    "an unparsed entity": (
        '<!DOCTYPE a [<!NOTATION n SYSTEM "n"><!ENTITY x SYSTEM "y" NDATA n>]><a/>'
    ),
    "an entity behind a long prologue": (
        f'<?xml version="1.0"?><!--{"-x" * 5_000}--><!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'
    ),
}
BROKEN = {
    "empty": "",
    "cut": "<a><b>",
    "two roots": "<a/><b/>",
    "an undeclared entity": "<a>&nbsp;</a>",
    "an entity of a document type that is not fetched": '<!DOCTYPE a SYSTEM "a.dtd"><a>&nbsp;</a>',
    "NUL": "<a>\0</a>",
    "a prefix without a namespace": "<x:a/>",
    "an unknown encoding": '<?xml version="1.0" encoding="wonderful"?><a/>',
    "an encoding of several bytes": '<?xml version="1.0" encoding="big5"?><a/>',
    "JSON": '{"error": "no"}',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_declared_entities_are_refused_before_anything_expands(text: str) -> None:
    with pytest.raises(Malformed, match="declares entities or refers"):
        parse_xml(text.encode())


@grid("text", BROKEN.values())
def test_what_is_not_well_formed_is_malformed(text: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_xml(text.encode())
    assert "\n" not in str(caught.value)
    assert "nbsp" not in str(caught.value)


def test_a_document_type_alone_is_fine_and_not_fetched() -> None:
    root = parse_xml(b'<!DOCTYPE a PUBLIC "-//X" "http://nowhere.invalid/a.dtd"><a>&lt;&#945;</a>')
    assert root.text == "<α"


def test_names_keep_their_namespace() -> None:
    root = parse_xml(b'<a xmlns="urn:x" xml:lang="en"><b/></a>')
    assert (root.tag, root[0].tag) == ("{urn:x}a", "{urn:x}b")
    assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == "en"


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 20_000])
def test_nesting_without_end_is_malformed(depth: int) -> None:
    text = "<a>" * depth + "</a>" * depth
    with pytest.raises(Malformed, match="nested"):
        parse_xml(text.encode())


def test_nesting_up_to_the_limit_is_read() -> None:
    text = "<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH
    assert len(list(parse_xml(text.encode()).iter("a"))) == MAX_DEPTH


@examples(200)
@given(st.binary(max_size=300))
def test_any_bytes_give_a_tree_or_malformed(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        parse_xml(data)


MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML">{}</math>'


@grid(
    ("xml", "text"),
    [
        ("50×10<sup>9</sup>/L", "50×10⁹/L"),
        ("10<sup>-1</sup> and 10<sup>−1</sup>", "10⁻¹ and 10⁻¹"),
        ("the 5<sup>th</sup> day", "the 5th day"),
        ("CO<sub>2</sub> and <i>p</i>  =\n\t0.03", "CO2 and p = 0.03"),
        ("Ca<sup><b>2+</b></sup>", "Ca²⁺"),
        ("5\u00a0mg, 6\u2009mg", "5\u00a0mg, 6\u2009mg"),
        ("one<break/>two", "one two"),
        (MATH.format("<msup><mn>10</mn> <mn>9</mn></msup>"), "10⁹"),
        (MATH.format("<msup><mi>e</mi><mrow><mo>-</mo><mi>kt</mi></mrow></msup>"), "e^(-kt)"),
        (MATH.format("<mfrac><mn>1</mn><mn>2</mn></mfrac>"), "1/2"),
        (
            MATH.format("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>"),
            "(a+b)/c",
        ),
        (MATH.format("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>"), "√(x+1)"),
        (MATH.format("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"), "x1²"),
        (
            MATH.format(
                "<mmultiscripts><mi>C</mi><mprescripts/><none/><mn>13</mn></mmultiscripts>"
            ),
            "¹³C",
        ),
        (
            MATH.format("<semantics><mi>x</mi><annotation>\\\\alpha</annotation></semantics>"),
            "x",
        ),
        (
            f"<alternatives><tex-math>$x^2$</tex-math>{MATH.format('<mi>x</mi>')}</alternatives>",
            "x",
        ),
        (
            "<tex-math>\\usepackage{y}\\begin{document}$$x$$\\end{document}</tex-math>",
            "$$x$$",
        ),
    ],
)
def test_inline_markup_keeps_what_its_digits_mean(xml: str, text: str) -> None:
    assert words(parse_xml(f"<p> {xml} </p>".encode())) == text


def test_a_deep_and_wide_formula_is_read() -> None:
    deep = "<mrow>" * 150 + "<mn>1</mn>" * 20_000 + "</mrow>" * 150
    assert len(words(parse_xml(f"<p>{MATH.format(deep)}</p>".encode()))) == 20_000
