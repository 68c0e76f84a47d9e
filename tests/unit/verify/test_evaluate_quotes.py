"""`attest evaluate quotes`: counts and one-line errors."""

import json
from pathlib import Path

import pytest

from cli.evaluate.quotes import evaluate_quotes

SHARED = Path(__file__).parents[4] / "shared" / "eval" / "quotes"


def _write(directory: Path, lines: list[str]) -> Path:
    (directory / "sources").mkdir()
    (directory / "sources" / "a.txt").write_bytes(b"Of 455 patients, 15% relapsed.\r\nNone died.")
    (directory / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return directory


def _case(quote: str, label: str, edit: str, source: str = "a.txt") -> str:
    return json.dumps({"id": edit, "quote": quote, "source": source, "label": label, "edit": edit})


def test_true_and_altered_quotations_are_counted_by_edit(tmp_path: Path) -> None:
    lines = [
        _case("Of 455 patients, 15% relapsed.", "verbatim", "none"),
        _case("15% relapsed. None died.", "verbatim", "folded"),
        "",
        _case("Of 455 patients, 51% relapsed.", "altered", "number"),
        _case("None died", "altered", "mislabelled"),
    ]
    seen: list[tuple[int, int]] = []
    result = evaluate_quotes(
        _write(tmp_path, lines), lambda done, total: seen.append((done, total))
    )
    microseconds = result.pop("us_per_check_p50")
    assert isinstance(microseconds, float)
    assert microseconds > 0
    assert result == {
        "true_accepted": 2,
        "true_total": 2,
        "altered_accepted": 1,
        "altered_total": 2,
        "by_edit": {
            "folded": {"accepted": 1, "total": 1},
            "mislabelled": {"accepted": 1, "total": 1},
            "none": {"accepted": 1, "total": 1},
            "number": {"accepted": 0, "total": 1},
        },
    }
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "holds no case"),
        ([_case("x", "verbatim", "none"), "{"], "line 2: not JSON"),
        ([_case("x", "true", "none")], "line 1: label: "),
        ([_case("x", "verbatim", "none", "../a.txt")], "line 1: source: "),
        ([_case("x", "verbatim", "none", "b.txt")], r"sources/b\.txt is missing"),
    ],
)
def test_unreadable_input_is_named_in_one_line(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        evaluate_quotes(_write(tmp_path, lines))
    assert "\n" not in str(error.value)


def test_a_missing_file_or_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cases\.jsonl is missing"):
        evaluate_quotes(tmp_path)
    (tmp_path / "cases.jsonl").write_text(_case("x", "verbatim", "none"))
    with pytest.raises(ValueError, match="sources is missing"):
        evaluate_quotes(tmp_path)


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} with the development cases is absent")
def test_on_the_development_cases_no_altered_quotation_is_accepted_and_every_true_one_is() -> None:
    result = evaluate_quotes(SHARED)
    assert result["altered_accepted"] == 0
    assert result["true_accepted"] == result["true_total"] == 748
    assert result["altered_total"] == 2488
