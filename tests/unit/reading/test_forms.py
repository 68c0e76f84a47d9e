"""What a line is by its form: headings, contents, furniture."""

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.forms import headings_by_form, lines_of, without_furniture

WORD = st.sampled_from(["Orbital", "Review", "Lumps", "Zorvan", "Notes", "Bowel", "Skin", "Gait"])
TITLE = st.lists(WORD, min_size=1, max_size=3, unique=True).map(" ".join)
BODY = st.sampled_from(
    [
        "He took the tablets for 3 days.",
        "1. Something that was seen on that day",
        "Denies all of it;",
    ]
)
SHAPES = ("# {}", "## {}", "**{}**", "{upper}", "{}\n-----", "{}")


def titles(text: str) -> list[str]:
    return [one.title for one in headings_by_form(lines_of(text))]


@given(TITLE, BODY, st.sampled_from(SHAPES))
def test_a_line_that_looks_like_a_heading_is_one_whatever_it_says(
    title: str, body: str, shape: str
) -> None:
    line = shape.format(title, upper=title.upper())
    text = f"Something before.\n\n{line}\n{body}\n"
    assert [one.lower() for one in titles(text)] == [title.lower()]


@given(WORD, TITLE.filter(lambda words: len(words.split()) < 3), BODY)
def test_addresses_lists_and_sentences_are_no_headings(one: str, two: str, body: str) -> None:
    for text in (
        f"{one}\n{two}\n",
        f"- {one}\n{body}\n",
        f"{body}\n{one}\n{body}\n",
        f"{one}.\n{body}\n",
    ):
        assert titles(f"\n{text}") == [], text


@given(
    st.lists(TITLE, min_size=3, max_size=6, unique=True),
    st.sampled_from(["- {}", "{} ..... 3", "{}"]),
)
def test_a_table_of_contents_is_left_out_and_nothing_else(names: list[str], shape: str) -> None:
    contents = "\n".join(shape.format(one) for one in names)
    below = "\n\n".join(f"# {one}\n\nWords of {at}." for at, one in enumerate(names))
    text = f"Report\n\n{contents}\n\n{below}\n"
    plain = without_furniture(text)
    assert len(plain) == len(text)
    assert plain.endswith(below + "\n")
    assert not plain[6 : text.index(below)].strip()


@given(st.text())
def test_every_place_stays(text: str) -> None:
    plain = without_furniture(text)
    assert len(plain) == len(text)
    assert [one for one in plain if one == "\n"] == [one for one in text if one == "\n"]


def test_a_list_that_is_repeated_is_no_table_of_contents() -> None:
    drugs = "Aspirin\nMetoprolol\nAtorvastatin\n"
    text = f"Before:\n{drugs}\nAfter:\n{drugs}"
    assert without_furniture(text) == text


def test_marks_of_an_export_page_numbers_and_leading_points_say_nothing() -> None:
    text = 'Course\nHe slept.\n[end section id="7"]\n' + (
        "Page 2 of 3   Elsewhere\nHER2 (IHC) ...... Negative\n"
    )
    assert titles(text)[-1] == ""
    plain = without_furniture(text)
    assert "Page" not in plain
    assert "Elsewhere" in plain
    assert "HER2 (IHC)        Negative" in plain
