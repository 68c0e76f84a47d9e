"""`attest evaluate claims FILE` as a user runs it (DESIGN section 5). No server is needed."""

import json
from pathlib import Path

import pytest

from cli.evaluate.claims import STEPS, curve, evaluate_claims, report
from tests.commands import Attest
from workers.verify.entailment.reader import Reading

CASES = (
    ("a", "Apixaban lowered the rate of stroke.", "We saw 9 cases. Apixaban lowered the rate of "
     "stroke.", "supported"),
    ("b", "Apixaban raised the rate of stroke.", "Apixaban lowered the rate of stroke.",
     "contradicted"),
    ("c", "Metformin prolongs life.", "Apixaban lowered the rate of stroke.", "not_enough"),
    ("d", "Metformin prolongs life.", "", "not_enough"),
)  # fmt: skip


def _line(key: str, claim: str, evidence: str, label: str) -> str:
    return json.dumps(
        {"id": key, "claim": claim, "evidence": evidence, "label": label, "kind": "ignored"}
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small file with a line of each label, and an empty line at its end."""
    path = tmp_path / "claims.jsonl"
    path.write_text("\n".join(_line(*case) for case in CASES) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def attest(tmp_path: Path) -> Attest:
    """Commands that nothing is running for."""
    return Attest({"ATTEST_DATA_DIR": str(tmp_path / "data")})


def test_the_last_line_is_the_report(attest: Attest, file: Path) -> None:
    done = attest.process("evaluate", "claims", str(file), "--curve")

    assert done.returncode == 0, done.stderr
    *table, last = done.stdout.splitlines()
    found = json.loads(last)
    assert {"macro_f1", "per_label", "unsafe_acceptance", "coverage", "confusion"} <= found.keys()
    assert found["coverage"] == 1.0
    assert 0.0 <= found["unsafe_acceptance"] <= 1.0
    assert found["confusion"]["not_enough"]["not_enough"] == 2
    assert table[0].split() == ["threshold", "coverage", "unsafe_acceptance"]


def test_json_alone_holds_the_curve_too(attest: Attest, file: Path) -> None:
    done = attest("evaluate", "claims", str(file), "--curve", "--json")

    (line,) = done.stdout.splitlines()
    thresholds = [point["threshold"] for point in json.loads(line)["curve"]]
    assert thresholds == sorted(STEPS)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([""], "holds no claim"),
        ([_line(*CASES[0]), "{"], "line 2: not JSON"),
        ([_line("a", "x", "y", "true")], "line 1: label: "),
        (['{"id": "a", "claim": "x", "label": "supported"}'], "line 1: evidence: "),
        (["[]"], "line 1: "),
        ([_line(*CASES[0])] * 2, "line 2: the id a occurs twice"),
    ],
)
def test_a_bad_file_is_named_in_one_line(tmp_path: Path, lines: list[str], message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")

    with pytest.raises(ValueError, match=message) as raised:
        evaluate_claims(path)
    assert "\n" not in str(raised.value)


def test_a_missing_file_ends_with_one_line_and_exit_code_1(attest: Attest, tmp_path: Path) -> None:
    done = attest("evaluate", "claims", str(tmp_path / "none.jsonl"))

    assert done.returncode == 1
    assert done.stderr.strip().endswith("none.jsonl is missing")


def test_every_claim_is_reported_as_progress(file: Path) -> None:
    seen: list[tuple[int, int]] = []

    evaluate_claims(file, lambda done, total: seen.append((done, total)))

    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_figures_are_those_of_the_design() -> None:
    found = report(
        ["supported", "supported", "contradicted", "not_enough", "not_enough"],
        ["supported", "not_enough", "supported", "not_enough", "contradicted"],
    )

    assert found["coverage"] == 0.5
    assert found["unsafe_acceptance"] == pytest.approx(1 / 3, abs=1e-4)
    assert found["per_label"]["supported"] == {
        "precision": 0.5, "recall": 0.5, "f1": 0.5, "total": 2,
    }  # fmt: skip
    assert found["macro_f1"] == pytest.approx((0.5 + 0 + 0.5) / 3, abs=1e-4)
    assert found["confusion"]["not_enough"] == {
        "supported": 0, "contradicted": 1, "not_enough": 1,
    }  # fmt: skip


def test_a_label_that_does_not_occur_does_not_lower_the_mean() -> None:
    assert report(["supported", "contradicted"], ["supported", "contradicted"])["macro_f1"] == 1.0


def test_the_curve_falls() -> None:
    read = [Reading(0.97, 0.0, 0.03), Reading(0.2, 0.7, 0.1), Reading(0.72, 0.1, 0.18)]

    points = curve(["supported", "supported", "contradicted"], read)

    assert points[0].coverage == 0.5
    assert points[0].unsafe_acceptance == 1.0
    assert [p.coverage for p in points] == sorted((p.coverage for p in points), reverse=True)
    assert points[-1].unsafe_acceptance == 0.0
