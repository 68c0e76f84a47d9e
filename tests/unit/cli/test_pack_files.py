"""`attest evaluate packs`: what it finds wrong in the files of packs (EB-4.1)."""

import json
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from cli.evaluate import packs as module
from cli.evaluate.packs import Report, evaluate_packs
from cli.main import app

TITLE = "Made-up drug versus placebo in adults with an imagined disease"
TRIAL = {
    "kind": "pivotal_trial",
    "title": TITLE,
    "year": 2024,
    "trial": "MADE-UP-1",
    "pmid": "101",
    "doi": "10.5555/one",
    "nct_id": "NCT00000001",
    "confirmed": True,
    "basis": "title and identifiers together on one page",
}
REGISTERED = {
    "kind": "pivotal_trial",
    "title": "A study of an invented drug in invented patients",
    "year": 2020,
    "trial": "INVENTED-2",
    "nct_id": "NCT00000002",
    "confirmed": True,
    "basis": "title and number together on one page",
}
DOUBTFUL = {
    "kind": "guideline",
    "title": "A guideline that nobody saw",
    "year": 2025,
    "confirmed": False,
    "basis": "not confirmed: unseen",
}
WHAT_A_PACK_NEEDS = [
    {**TRIAL, "kind": kind, "title": f"{TITLE} {kind}", "pmid": None, "doi": None, "nct_id": None}
    | {"url": f"https://example.org/{kind}"}
    for kind in ("guideline", "systematic_review")
]


def pack(*entries: dict[str, Any], name: str = "made_up", **fields: Any) -> dict[str, str]:
    """A pack's file, by its name."""
    whole = {
        "name": name,
        "label": name,
        "diseases": ["sepsis"],
        "decisions": ["duration"],
        "reviewed_on": "2026-11-22",
        "entries": list(entries),
    }
    return {f"{name}.yaml": yaml.safe_dump(whole | fields)}


def problems(report: Report) -> list[str]:
    return [fault.problem for fault in report.faults]


def test_a_sound_pack_has_no_fault() -> None:
    report = evaluate_packs(pack(TRIAL, REGISTERED, DOUBTFUL, *WHAT_A_PACK_NEEDS))
    assert problems(report) == []
    (said,) = module.body(report)["packs"]
    assert (said["confirmed"], said["unconfirmed"], said["missing"]) == (4, 1, [])
    assert said["usable"] == {"guidelines": 1, "reviews": 1, "trials or cohorts": 2}


@pytest.mark.requirement("EB-4.1")
def test_eb_4_1_a_group_without_a_usable_entry_is_named() -> None:
    (said,) = module.body(evaluate_packs(pack(TRIAL, DOUBTFUL)))["packs"]
    assert said["missing"] == ["guidelines", "reviews"]
    cohort = {**TRIAL, "kind": "cohort"}
    (said,) = module.body(evaluate_packs(pack(cohort, *WHAT_A_PACK_NEEDS)))["packs"]
    assert said["missing"] == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"made_up.yaml": "name: [unclosed"}, "no YAML"),
        ({"made_up.yaml": "just words"}, "the file"),
        (pack({**TRIAL, "pmid": "0101"}), "entries.0.pmid"),
        (pack({**TRIAL, "kind": "editorial"}), "entries.0.kind"),
        (pack(TRIAL, diseases=["no_such_disease"]), "no_such_disease is no tag"),
        (pack(TRIAL, decisions=["no_such_decision"]), "no_such_decision is no tag"),
        ({"other.yaml": pack(TRIAL)["made_up.yaml"]}, "its file is called other.yaml"),
        (pack({**DOUBTFUL, "pmid": "7"}), "not confirmed, and yet it has pmid 7"),
        (pack({**DOUBTFUL, "confirmed": True}), "leads to no work"),
        (pack({**DOUBTFUL, "url": "https://example.org/search?q=x"}), "a search page"),
        (pack(TRIAL, {**REGISTERED, "doi": "10.5555/ONE"}), "doi 10.5555/one occurs 2 times"),
        (
            pack(TRIAL) | pack({**TRIAL, "title": "Another title"}, name="second"),
            "pmid 101: another title than in made_up",
        ),
        (
            pack(TRIAL) | pack({**TRIAL, "year": 2023}, name="second"),
            "doi 10.5555/one: another year than in made_up",
        ),
        (
            pack(TRIAL) | pack({**TRIAL, "kind": "cohort"}, name="second"),
            "nct_id nct00000001: another kind than in made_up",
        ),
    ],
)
def test_what_is_wrong_with_a_pack_is_said(files: dict[str, str], said: str) -> None:
    assert [problem for problem in problems(evaluate_packs(files)) if said in problem]


def test_one_bad_file_hides_no_other() -> None:
    report = evaluate_packs({"bad.yaml": "[]"} | pack(TRIAL))
    assert [one.name for one in report.packs] == ["made_up"]
    assert [fault.pack for fault in report.faults] == ["bad.yaml"]


def test_a_work_may_stand_in_two_packs() -> None:
    assert problems(evaluate_packs(pack(TRIAL) | pack(TRIAL, name="second"))) == []


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["evaluate", "packs", *arguments])
    return done.exit_code, done.stdout


def test_the_packs_that_the_product_ships_are_sound() -> None:
    code, out = run("--json")
    assert json.loads(out)["faults"] == []
    assert {one["name"]: one["missing"] for one in json.loads(out)["packs"] if one["missing"]} == {}
    assert code == 0
