"""The layouts in which documents with gold fields come."""

from pathlib import Path

import pytest

from cli.evaluate.extraction import evaluate_extraction
from cli.evaluate.extraction_cases import read_cases
from workers.extract.fields import FieldResult, Item, Status
from workers.extract.gold import compare
from workers.extract.values import Measurement

SAMPLE = """# Task 19: Prostate volume
Label: 68

Notes: none

```
MRI of the prostate
Findings: The prostate volume is 68 cc. A lesion of 7 mm.
Conclusion: nothing new.
```
"""


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_a_sample_report_carries_its_gold_in_its_head(tmp_path: Path) -> None:
    _write(tmp_path, "Task019_prostate_volume_reg.md", SAMPLE)
    _write(tmp_path, "Task024_recist.md", SAMPLE.replace("Label: 68", "Label: 7, 12"))
    _write(tmp_path, "Task014_textual_entailment_clf.md", SAMPLE)
    _write(tmp_path, "Task019_without.md", "# Task 19\nno report here")
    one, two = read_cases(tmp_path)
    assert (one.type, one.fields) == ("radiology", {"prostate_volume": "68"})
    assert one.text.startswith("MRI of the prostate")
    assert "Label" not in one.text
    assert two.fields == {"measurements": {"includes": ["7 mm", "12 mm"]}}
    found = evaluate_extraction(tmp_path)
    assert found["by_field"] == {"prostate_volume": 1.0, "measurements": 0.5}


@pytest.mark.parametrize(
    ("wanted", "share"), [(["7 mm"], 1.0), (["7 mm", "12 mm"], 0.5), (["12 mm"], 0.0)]
)
def test_gold_that_names_some_values_does_not_mind_others(wanted: list[str], share: float) -> None:
    items = tuple(
        Item(value=Measurement(dimensions=(size,), unit="mm"), start=0, end=4)
        for size in (7.0, 30.0)
    )
    found = FieldResult(status=Status.FOUND, many=True, items=items)
    assert compare("measurements", {"includes": wanted}, found) == share
