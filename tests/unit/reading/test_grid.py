"""Every cell of a table stands in its own column, however far the others reach."""

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.grid import Cell, Grid, span, whole
from tests.examples import examples


def _rows(*rows: list[Cell]) -> list[list[str]]:
    grid = Grid()
    return [grid.row(row) for row in rows]


def test_a_cell_over_rows_is_repeated_and_one_over_columns_is_followed_by_empty_ones() -> None:
    assert _rows(
        [Cell("Event", rows=2), Cell("Drug", columns=2), Cell("Placebo")],
        [Cell("all"), Cell("severe"), Cell("all")],
        [Cell("rash"), Cell("5%"), Cell("1%"), Cell("2%")],
    ) == [
        ["Event", "Drug", "", "Placebo"],
        ["Event", "all", "severe", "all"],
        ["rash", "5%", "1%", "2%"],
    ]


def test_a_cell_over_both_keeps_all_its_columns_in_every_row() -> None:
    assert _rows([Cell("A", rows=3, columns=2), Cell("b")], [Cell("c")], [Cell("d")]) == [
        ["A", "", "b"],
        ["A", "", "c"],
        ["A", "", "d"],
    ]


def test_empty_cells_are_kept_but_at_the_end() -> None:
    assert _rows([Cell("a"), Cell(""), Cell("c"), Cell("")], [Cell("")]) == [["a", "", "c"], []]


def test_spans_that_cannot_be_meant_are_one() -> None:
    assert [span(one) for one in (None, "", "0", "-2", "x", "2", " 3 ", "61", "9999")] == [
        *(1, 1, 1, 1, 1, 2, 3, 60, 1)
    ]
    assert [whole(one) for one in (None, "0", "7", "1000", "²")] == [None, None, 7, None, None]


@examples(200)
@given(
    st.lists(
        st.lists(
            st.builds(Cell, st.sampled_from(["x", "y", ""]), st.integers(1, 60), st.integers(1, 60))
        ),
        max_size=8,
    )
)
def test_no_word_is_lost_and_the_rows_stay_bounded(rows: list[list[Cell]]) -> None:
    laid = _rows(*rows)
    for row, given_cells in zip(laid, rows, strict=True):
        words = [cell.text for cell in given_cells if cell.text]
        assert len([text for text in row if text]) >= len(words)
    assert sum(map(len, laid)) <= 20_000 + sum(map(len, rows)) * 2
