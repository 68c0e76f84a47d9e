"""A document without its layout: each sign keeps its place, what layouts say stands as labels."""

import random

import pytest

from clinical_text.layouts.pairs import plain_pairs
from clinical_text.layouts.plain import plain_view
from clinical_text.layouts.segments import plain_segments
from clinical_text.layouts.sheet import FILL

MARKS = frozenset(" \n\t:;,.()|_" + FILL)
"""What a sign of a layout may become."""
FORM = "\n".join(f"[{n:2}] {name}: {said}" for n, (name, said) in enumerate(
    [("DATE", "3 May 2025"), ("FINAL DIAGNOSIS", "Gout"), ("HOSPITAL", "Hill"), ("PLAN", "rest")], 1
))  # fmt: skip
ROWS = """ID|DAY|PLACE|N|PART|WORDS
88|20250301|Hill Clinic|1|REASON|Pain in the foot
88|20250301|Hill Clinic|2|DRUGS|Allopurinol 100 mg
88|20250301|Hill Clinic|2|DRUGS|Colchicine 0.5 mg
88|20250301|Hill Clinic|3|PLAN|Review in a month, bloods
"""
MESSAGE = r"""MSH|^~\&|A|B
PID|1||77
OBX|1|TX|DX^Diagnosis||Gout, left foot||||||F
OBX|2|TX|PLN^Plan||Rest.\.br\Colchicine.||||||F
OBX|3|NM|CRP^CRP||12|mg/L|0-5|H|||F
OBX|4|TX|OLD^Remark||Deleted||||||D
"""
SETTINGS = """place = "Hill Clinic"
written_on = 2025-03-01
[drug.1]
action = NEW
name = "Allopurinol 100 mg"
[drug.2]
action = STOP
name = "Indometacin 50 mg"
[note]
text = "Review"
"""
SPOKEN = (
    "operation note hill clinic period new paragraph\nprocedure excision comma left arm new line\n"
    "findings colon a cyst of 2 cm over a period of a year comma no pus period new line\n"
    "plan colon sutures out in 7 days period end of dictation\n"
)
PAGE = """<report><lab name="Hill"/>
<variant gene="KRAS" protein="p.G12D"/>
<part><title>Plan</title><text>Rest</text></part>
<part><title>Diagnosis</title><text>Gout</text></part>
<part><title>History</title><text>Sister with gout</text></part>
</report>
"""
OBJECTS = """{"lab": "Hill", "issued": "2025-03-01", "plan": "rest",
"drugs": [{"drug": "A", "status": "active"},
 {"drug": "B", "status": "stopped"}]}"""
ONE_LINE = (
    "HILL HOSPITAL Ref 12 taken on 3 May 2025 CLINICAL NOTES Lump for a year. "
    "SPECIMEN Skin of the arm. MICROSCOPY A benign cyst. "
    "CONCLUSION Epidermal cyst, completely excised. Dr A Hill"
)
EVERY = [FORM, ROWS, MESSAGE, SETTINGS, SPOKEN, PAGE, OBJECTS, ONE_LINE]
PROSE = """Dear Dr Hill,

Thank you for seeing this man, who has had pain over a period of a year; he takes allopurinol,
100 mg daily, and colchicine. Colon: normal. His father had gout [1] and a comma-shaped scar.

1. Gout: continue allopurinol
2. Hypertension: stable, see letter
3. Diet: less beer

Test        Result   Range
Urate       520      200-420
CRP         12       0-5
"""


def plain(text: str) -> str:
    return plain_view(text).text


def words(text: str) -> list[str]:
    return [
        " ".join(line.replace(FILL, " ").split())
        for line in plain(text).split("\n")
        if line.strip()
    ]


@pytest.mark.parametrize("text", EVERY)
def test_each_sign_stays_in_its_place_or_gives_way_to_a_mark(text: str) -> None:
    assert plain(text) != text
    assert len(plain(text)) == len(text)
    for given, shown in zip(text, plain(text), strict=True):
        assert shown == given or shown in MARKS or shown in "<>&\"'"


def test_prose_letters_and_tables_stay_as_they_are() -> None:
    assert plain(PROSE) == PROSE
    for text in (
        "",
        "a",
        "\n\n",
        "x;y",
        "a, b, c\nd, e, f\ng, h, i",
        "Gout | rest",
        "{x}",
        "<5 mg",
    ):
        assert plain(text) == text


def test_pieces_of_any_layout_in_any_order_keep_their_length() -> None:
    drawn = random.Random(58)
    for _ in range(300):
        pieces = [one for text in (*EVERY, PROSE) for one in text.splitlines(keepends=True)]
        text = "".join(drawn.choices(pieces, k=drawn.randint(1, 30)))
        cut = text[drawn.randint(0, 20) : len(text) - drawn.randint(0, 20)]
        assert len(plain(cut)) == len(cut)


def test_numbers_of_a_form_give_way_and_those_of_a_list_stay() -> None:
    assert words(FORM)[1] == "FINAL DIAGNOSIS: Gout"
    listed = "Plan\n1. Gout: rest\n2. Pain: ice\n3. Diet: beer\n4. Sleep: more\n1. Again: no\n"
    assert plain(listed) == listed


def test_rows_are_labels_and_what_they_repeat_stands_once() -> None:
    assert words(ROWS) == [
        "20250301", "Hill Clinic", "REASON:Pain in the foot", "DRUGS:Allopurinol 100 mg",
        "Colchicine 0.5 mg", "PLAN:Review in a month, bloods",
    ]  # fmt: skip
    assert [one.title for one in plain_view(ROWS).named] == ["DAY", "PLACE"]


def test_the_only_row_below_a_head_is_named_by_it() -> None:
    text = "site,day,diagnosis,plan,loss\nHill Clinic,2025-03-01,Gout,Rest,30\n"
    named = {one.title: text[one.start : one.end] for one in plain_view(text).named}
    assert list(named) == ["site", "day", "diagnosis", "plan", "loss"]
    assert list(named.values()) == ["Hill Clinic", "2025-03-01", "Gout", "Rest", "30"]


def test_rows_of_results_keep_their_cells() -> None:
    text = "test;result;unit;low\nUrea;5,1;mmol/L;2,5\nSodium;140;mmol/L;135\nCRP;12;mg/L;0\n"
    assert words(text)[1] == "Urea|5,1|mmol/L|2,5"


def test_segments_of_words_are_labels_and_those_of_numbers_stay() -> None:
    assert "Diagnosis: Gout, left foot" in words(MESSAGE)
    assert words(MESSAGE)[3:5] == ["Plan: Rest.", "Colchicine."]
    assert "OBX|3|NM|CRP^CRP||12|mg/L|0-5|H|||F" in words(MESSAGE)
    assert "OBX|4|TX|OLD^Remark||Deleted||||||D" in words(MESSAGE), "a deleted result is no value"


def test_a_message_of_numbers_stays_as_it_is() -> None:
    text = "MSH|^~\\&|LAB|HILL\nOBR|1|5|5|58-2^CBC^LN\n" + "".join(
        f"OBX|{n}|NM|{n}-2^Test {n}^LN||{n}.7|g/L|1-9|H|||F\n" for n in range(1, 6)
    )
    assert plain(text) == text


def test_a_group_that_comes_again_is_a_line_with_what_was_done_to_it() -> None:
    assert words(SETTINGS) == [
        "place: Hill Clinic", "written on: 2025-03-01", "action: NEW;name: Allopurinol 100 mg",
        "action: STOP;name: Indometacin 50 mg", "note: Review",
    ]  # fmt: skip


def test_spoken_marks_are_marks_and_words_of_the_same_sound_stay() -> None:
    assert "procedure excision, left arm" in words(SPOKEN)
    assert "findings: a cyst of 2 cm over a period of a year, no pus." in words(SPOKEN)
    assert "plan: sutures out in 7 days." in words(SPOKEN)
    organs = "the sigmoid colon comma the descending colon comma and so on period "
    assert plain(organs * 3).count("colon") == 6


def test_attributes_are_labels_and_a_title_names_its_text() -> None:
    assert "variant.gene: KRAS protein: p.G12D" in words(PAGE)
    assert [one for one in words(PAGE) if "Gout" in one] == ["Diagnosis: Gout"]


def test_an_object_of_a_list_is_a_line() -> None:
    assert words(OBJECTS)[-2:] == ["drug : A status : active", "drug : B status : stopped"]


def test_what_stands_beside_a_list_or_in_it_is_not_lost() -> None:
    text = """{"report": {"findings": ["A cyst of 2 cm.", "No stone."], "impression": "Cyst"},
"signed": {"by": "Dr Hill"}, "extra": {"list": ["one", "two"]}, "n": 3}"""
    shown = " ".join(words(text))
    for said in ("findings : A cyst of 2 cm. No stone.", "impression : Cyst", "signed : Dr Hill",
                 "one two", "n : 3"):  # fmt: skip
        assert said in shown, shown


def test_the_answer_below_a_counted_question_is_its_value() -> None:
    asked = [("Operation performed", "Hernia repair"), ("Findings", "An indirect sac"),
             ("Complications", "none"), ("Plan", "Home today")]  # fmt: skip
    text = "".join(f"Q{n}. {name}?\n    {said}\n" for n, (name, said) in enumerate(asked, 1))
    assert words(text)[:2] == ["Operation performed:", "Hernia repair"]


def test_headings_in_capitals_begin_lines_of_a_report_in_one() -> None:
    assert "SPECIMEN:Skin of the arm." in words(ONE_LINE)
    shouted = ONE_LINE.upper()
    assert plain(shouted) == shouted


def test_a_message_of_as_many_segments_as_make_one_is_read() -> None:
    message = "MSH|^~\\&|A|B\nPID|1||77\nOBX|1|TX|DX^Diagnosis||Gout, left foot||||||F\n"
    assert "Gout, left foot" in plain_segments(message) != message
    assert plain_segments(message.removeprefix("MSH|^~\\&|A|B\n")) == message.removeprefix(
        "MSH|^~\\&|A|B\n"
    )


def test_entries_of_a_list_are_read_without_any_other_assignment() -> None:
    text = "- test: Haemoglobin\n  value: 11.2 g/dL\n- test: Sodium\n  value: 139 mmol/L\n"
    assert plain_pairs(text) != text
    assert plain_pairs(text.replace("- ", "  ")) == text.replace("- ", "  ")
