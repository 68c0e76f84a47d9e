"""The data that the verifier is trained on: written pairs and open sets."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verifier import plan
from benchmarks.verifier.open_files import Row, joined
from benchmarks.verifier.open_sets import SETS, grouped, usable
from benchmarks.verifier.texts import Kept
from benchmarks.verifier.written import FOLDER, edited, written

NOTE = "Dose: 5 mg.\nNo bleeding was seen."


def write(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def claim(key: str, label: str, judge: tuple[str, str]) -> dict[str, Any]:
    bled: dict[str, Any] = {"spans": [[0, 11], [12, 33]], "claim": "Nobody bled.", "kind": "true"}
    return bled | {
        "id": key, "document": "own-1", "label": label, "judge": judge,
        "edits": [[12, 14, "Some"], [30, 34, "found"]],
    }  # fmt: skip


def test_a_claim_is_read_with_its_passage_and_with_the_edited_one(tmp_path: Path) -> None:
    write(tmp_path / "documents.jsonl", {"document": "own-1", "kind": "note", "text": NOTE})
    agreed = claim("a", "supported", ("supported", "contradicted"))
    unsure = claim("b", "supported", ("supported", "unsure"))
    parted = claim("c", "contradicted", ("supported", "supported"))
    write(tmp_path / "claims.jsonl", agreed, unsure, parted)
    plain, turned = "Dose: 5 mg. No bleeding was seen.", "Dose: 5 mg. Some bleeding was found."
    assert [(pair.key, pair.passage, pair.label) for pair in written(tmp_path, tmp_path)] == [
        ("a", plain, "supported"),
        ("a", turned, "contradicted"),
        ("b", plain, "supported"),
        ("c", turned, "supported"),
    ]


def test_a_text_of_another_length_is_refused(tmp_path: Path) -> None:
    review = {"pmid": "1", "abstract": "It was changed."}
    write(tmp_path / "pubmedrs200/dev/pubmedrs.jsonl", review)
    place = {"source": "pubmedrs200/dev/pubmedrs.jsonl#1", "characters": 99}
    write(tmp_path / "documents.jsonl", {"document": "rev-1", "kind": "review", **place})
    write(tmp_path / "claims.jsonl")
    with pytest.raises(ValueError, match="rev-1 has 15 characters, not 99"):
        list(written(tmp_path, tmp_path))


def test_only_invented_texts_are_committed() -> None:
    lines = (FOLDER / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    invented = [row for row in rows if row["document"].startswith("own")]
    assert len(invented) == 44
    assert all(row.keys() == {"document", "kind", "text"} for row in invented)
    others = [row for row in rows if row not in invented]
    assert all(row.keys() == {"document", "kind", "source", "characters"} for row in others)


def test_edits_are_made_one_after_the_other() -> None:
    assert edited("11 of 14", [(0, 2, "2"), (5, 7, "12")]) == "2 of 12"


def test_pairs_with_two_labels_and_evaluation_texts_are_left_out(tmp_path: Path) -> None:
    held = "one two three four five six seven eight nine ten eleven twelve thirteen"
    write(tmp_path / "set.jsonl", {"text": held}, {"text": "Aspirin is not warfarin"})
    rows = [
        Row("A claim of one", "The passage of it", "supported"),
        Row("A claim of two", "The passage of both", "supported"),
        Row("A claim of  two", "The passage of both", "not_enough"),
        Row("A claim beside it", f"So it was: {held}", "supported"),
        Row("Aspirin is not warfarin.", "The passage of it", "supported"),
        Row("A claim unlabelled", "The passage of it", ""),
    ]
    assert usable(rows, Kept(tmp_path)) == rows[:1]


def test_pairs_that_share_a_text_are_one_group() -> None:
    rows = [Row(*texts, "supported") for texts in (("a", "p"), ("b", "q"), ("b", "p"), ("c", "r"))]
    assert [row.group for row in grouped(rows)] == ["0", "0", "0", "1"]


def test_a_text_cut_into_tokens_is_put_together() -> None:
    cut = "The patients ' notes -LRB- `` old '' -RRB- say so ."
    assert joined(cut) == 'The patients\' notes ("old") say so.'
    assert joined("They did n't .") == "They didn't."


def test_every_open_set_is_listed_and_every_share_is_of_one() -> None:
    table = (Path(plan.__file__).parent / "OPEN_SETS.md").read_text(encoding="utf-8")
    for name, one in SETS.items():
        assert f"| {name} |" in table
        assert all(source.partition("@")[2] in table for source in one.sources)
    shares = {name for job in ("t1", "d0", "f", "c4", "cpu") for name in plan.job(job)["sources"]}
    assert {name for name in shares if name.startswith("open-")} <= {f"open-{n}" for n in SETS}
