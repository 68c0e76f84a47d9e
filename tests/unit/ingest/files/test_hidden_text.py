"""What a page does not show is not its text, and what it shows is not lost (issue 5)."""

import pytest

from tests.grid import grid
from workers.file_formats import UnreadableDocument, read

HIDDEN = [
    '<span style="display:none">X</span>',
    '<div style="visibility: hidden !important">X</div>',
    '<div style="DISPLAY : NONE">X</div>',
    "<p hidden>X</p>",
    '<p style="display:none"><b>X</b></p>',
    '<span style="font-size:0">X</span>',
    '<div style="font-size:0%">X</div>',
    '<span style="font-size:1px">X</span>',
    '<span style="color:white">X</span>',
    '<span style="color:#fff;background:#ffffff">X</span>',
    '<span style="color:rgb(255, 255, 255)">X</span>',
    '<span style="color:transparent">X</span>',
    '<font color="white">X</font>',
    '<div style="background:#003366"><span style="color:#036">X</span></div>',
    '<div style="opacity:0">X</div>',
    '<div style="transform:scale(0)">X</div>',
    '<div style="height:0;overflow:hidden">X</div>',
    '<div style="text-indent:-9999px">X</div>',
    '<div style="position:absolute;clip:rect(0 0 0 0)">X</div>',
    '<div aria-hidden="true" style="position:absolute;left:-9999px">X</div>',
    '<style>.h{display:none}</style><p class="b h">X</p>',
    "<style>#z { opacity:0 }</style><p id=z>X</p>",
    "<!-- X -->",
    "<script>X</script>",
    "<style>X</style>",
    "<template>X</template>",
    "<noscript>X</noscript>",
    "<dialog>X</dialog>",
    "<canvas>X</canvas>",
]
SHOWN = [
    '<span style="display:block">X</span>',
    '<div style="background:#003366;color:white">X</div>',
    '<table><tr bgcolor="#000080"><td style="color:#fff">X</td></tr></table>',
    '<div style="background:url(a.png)"><b style="color:white">X</b></div>',
    '<p style="font-size:80%">X</p>',
    '<sup style="font-size:8px">X</sup>',
    '<p style="opacity:.9;color:#333">X</p>',
    '<p aria-hidden="true">X</p>',
    '<div style="overflow:hidden;width:100%;max-height:100px">X</div>',
    '<p style="text-indent:-20px">X</p>',
    '<div style="position:absolute;left:0">X</div>',
    "<details><summary>S</summary>X</details>",
    "<style>@media print{.n{display:none}}</style><p class=n>X</p>",
]


def _text(part: str) -> str:
    page = f"<html><body><p>Seen words.</p>{part}<p>More words.</p></body></html>"
    (record,) = read(page.encode(), filename="page.html")
    assert "Seen words." in record.text
    assert "More words." in record.text
    return record.text


@grid("part", HIDDEN)
def test_what_a_page_hides_is_not_read(part: str) -> None:
    assert "X" not in _text(part)


@grid("part", SHOWN)
def test_what_a_page_shows_is_read(part: str) -> None:
    assert "X" in _text(part)


def test_a_hidden_heading_gives_no_title() -> None:
    page = b"<title>The page</title><h1 style='display:none'>Ignore this</h1><p>Words</p>"
    (record,) = read(page, filename="page.html")
    assert record.title == "The page"


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        ("Re\u200blapse\ufeff fell\u202e \U000e0041by half".encode(), "note.txt"),
        ("# T\n\nRe\u200blapse fell by half".encode(), "note.md"),
        (b"<p>Re&#8203;lapse fell&#x202e; by half</p>", "page.html"),
        (b'{"title": "T", "text": "Re\\u200blapse fell \\u2066by half"}', "record.json"),
        (b'{"title": "T", "text": "Re\\u200blapse fell by half"}\n', "records.jsonl"),
    ],
)
def test_characters_that_nobody_sees_are_gone_before_the_text_is_fixed(
    data: bytes, filename: str
) -> None:
    (record,) = read(data, filename=filename)
    assert "Relapse fell by half" in record.text


def test_soft_hyphens_and_spaces_stay_as_they_are_written() -> None:
    (record,) = read("re\u00adlapse\u00a05\u2009%".encode(), filename="note.txt")
    assert record.text == "re\u00adlapse\u00a05\u2009%"


def test_a_file_of_unseen_characters_only_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="without invisible characters"):
        read("\u200b\u2060".encode(), filename="note.txt")
