"""What comes back from a system is judged by rules that name no system."""

import pytest

from benchmarks.peers import material


@pytest.mark.parametrize(
    ("read", "held"),
    [
        ([material.OLD], "old"),
        ([material.NEW], "new"),
        ([material.OLD, material.NEW], "both"),
        (["Something else."], "neither"),
        ([], "neither"),
        ([f"Source 1:\n{material.NEW.replace(' ', '  ', 3)}\n"], "new"),
    ],
)
def test_which_advice_was_read(read: list[str], held: str) -> None:
    assert material.held(read) == held


def test_the_guideline_changes_in_its_advice_alone(tmp_path) -> None:
    material.write_guideline(tmp_path, changed=False)
    before = (tmp_path / material.GUIDELINE).read_text("utf-8")
    material.write_guideline(tmp_path, changed=True)
    after = (tmp_path / material.GUIDELINE).read_text("utf-8")
    assert before.replace(material.OLD, material.NEW) == after != before


def test_a_chunk_counts_where_it_is_to_the_letter() -> None:
    whole = "One ≥ two.\r\nThree – four."
    counted = material.compared(
        [
            (whole, "One ≥ two.", 0),
            (whole, "Three – four.", 12),
            (whole, "Three – four.", 11),
            (whole, "Three - four.", 12),
            (whole, "two.", None),
        ]
    )
    assert counted == {"chunks": 5, "verbatim": 4, "placed": 4, "in_place": 3}


def test_a_place_in_the_file_with_plain_ends_of_lines_counts_too() -> None:
    whole = "One.\r\nTwo.\r\nThree."
    counted = material.compared([(whole, "Two.\nThree.", 5), (whole, "Three.", 12)])
    assert counted == {"chunks": 2, "verbatim": 2, "placed": 2, "in_place": 2}
