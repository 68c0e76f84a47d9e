"""The claims that are false by one word: each beside a true one that differs in one place alone."""

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import benchmarks.verifier
from benchmarks.verifier.strangers.__main__ import write

FOLDER = Path(benchmarks.verifier.__file__).parent / "one_word"
MOST_WORDS = 3


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def test_a_false_claim_is_its_true_twin_but_for_one_place() -> None:
    twins: defaultdict[str, dict[str, str]] = defaultdict(dict)
    spans: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for line in (FOLDER / "claims.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        twins[row["id"][:-1]][row["label"]] = row["claim"]
        spans[row["id"][:-1]].add(tuple(row["span"]))
    assert len(twins) == 100
    for key, both in twins.items():
        true, false = (both[label].split() for label in ("supported", "not_enough"))
        alike = _alike(true, false) + _alike(true[::-1], false[::-1])
        assert 0 < max(len(true), len(false)) - alike <= MOST_WORDS, key
        assert len(spans[key]) == 1


def test_another_folder_of_claims_is_written_likewise(tmp_path: Path) -> None:
    for name in ("documents", "claims"):
        (tmp_path / f"{name}.jsonl").write_text("", encoding="utf-8")
    write(tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "claims.jsonl").read_text(encoding="utf-8") == ""
