"""The files in `ops/` fit what the gateway exposes, what the policy says and what the docs tell."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from cli.main import app
from knowledge.operation.quality import quality_metrics
from tests.integration.gateway.conftest import Running, serving

ROOT = Path(__file__).resolve().parents[4]
OPS = ROOT / "ops"
SIGNS = {"below": "<", "at_most": "<=", "at_least": ">=", "above": ">"}
FUNCTIONS = {"and", "by", "increase", "max", "min", "on", "rate", "sum", "time"}
FUNCTIONS |= {"histogram_quantile"}


@pytest.fixture(scope="module")
def exposed(new_database: Callable[[], str], settings_for: Any) -> Iterator[set[str]]:
    """The names of all samples and families in an exposition of a real gateway."""
    with serving(settings_for(new_database())) as running:
        yield _names(running)


def _names(running: Running) -> set[str]:
    running.client.get("/healthz")
    text = running.client.get("/metrics").text
    assert "attest_database_up 1.0" in text
    families = re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)
    histograms = {
        f"{name}_{part}"
        for name, kind in families
        if kind == "histogram"
        for part in ("bucket", "sum", "count")
    }
    return {name for name, _ in families} | histograms


def rules() -> list[dict[str, Any]]:
    """Every alert."""
    groups = yaml.safe_load((OPS / "alerts.yml").read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    """Every panel of the dashboard that shows something."""
    board = json.loads((OPS / "grafana-dashboard.json").read_text("utf-8"))
    return [one for one in board["panels"] if one["type"] != "row"]


def expressions() -> list[str]:
    """Every expression in both files."""
    return [rule["expr"] for rule in rules()] + [
        target["expr"] for panel in panels() for target in panel["targets"]
    ]


@pytest.mark.requirement("OP-5.2")
def test_op_5_2_every_metric_of_an_alert_or_a_panel_is_exposed(exposed: set[str]) -> None:
    asked = {name for one in expressions() for name in re.findall(r"\battest_\w+", one)}
    assert len(asked) > 25
    assert asked - exposed == set()


def test_everything_that_is_gauged_by_stage_has_a_panel(exposed: set[str]) -> None:
    shown = " ".join(expressions())
    watched = {name for name in exposed if name.startswith(("attest_queue_", "attest_quality"))}
    assert {name for name in watched if name not in shown} == set()


@pytest.mark.parametrize("expression", expressions())
def test_an_expression_is_balanced_and_made_of_what_prometheus_knows(expression: str) -> None:
    bare = re.sub(r'"[^"]*"', '""', expression)
    for opened, closed in ("()", "{}", "[]"):
        assert bare.count(opened) == bare.count(closed)
    outside = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|on) \([^)]*\)", " ", bare)
    words = set(re.findall(r"[a-z]\w*", outside))
    assert {one for one in words if not one.startswith("attest_")} <= FUNCTIONS | {"up"}


def test_every_alert_says_what_it_means_and_what_to_do_and_stands_in_the_docs() -> None:
    docs = (ROOT / "docs" / "operations.md").read_text("utf-8")
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names))
    for rule in rules():
        assert rule["annotations"]["summary"]
        assert len(rule["annotations"]["action"]) > 30
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert re.fullmatch(r"\d+[mh]", rule["for"])
    assert [name for name in names if f"| `{name}` |" not in docs] == []
    told = set(re.findall(r"^\| `(Attest\w+)` \|", docs, re.MULTILINE))
    assert told == set(names)


def test_every_command_that_an_alert_names_exists() -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    named = {
        tuple(re.findall(r"--?[a-z-]+|[a-z][a-z-]*", words.split(" SOURCE")[0]))
        for rule in rules()
        for words in re.findall(r"`attest ([^`]+)`", rule["annotations"]["action"])
    }
    assert named
    for words in named:
        command = known[words[0]]
        for word in words[1:]:
            if word.startswith("-"):
                assert word in {flag for one in command.params for flag in one.opts}
                break
            command = command.commands[word]
        assert not hasattr(command, "commands"), f"attest {' '.join(words)} does nothing"


@pytest.mark.requirement("OP-5.3")
def test_op_5_3_the_alerts_on_quality_are_those_of_the_policy() -> None:
    found = {}
    for rule in rules():
        if matched := re.fullmatch(
            r'attest_quality\{metric="([\w.]+)"\} (\S+) (\S+) '
            r'and on \(metric\) attest_quality_over\{metric="([\w.]+)"\} >= (\d+)',
            rule["expr"],
        ):
            name, sign, limit, over, least = matched.groups()
            assert name == over
            found[name] = (sign, float(limit), int(least))
    wanted = {}
    for name, metric in quality_metrics().items():
        if metric.alert is not None:
            ((kind, limit),) = metric.alert.body().items()
            wanted[name] = (SIGNS[kind], limit, metric.least)
    assert found == wanted


def test_the_dashboard_can_be_imported_anywhere() -> None:
    board = json.loads((OPS / "grafana-dashboard.json").read_text("utf-8"))
    assert board["title"]
    assert board["templating"]["list"][0]["type"] == "datasource"
    ids = [one["id"] for one in board["panels"]]
    assert len(ids) == len(set(ids))
    for panel in panels():
        assert panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
    taken = [
        (one["gridPos"]["x"] + dx, one["gridPos"]["y"] + dy)
        for one in board["panels"]
        for dx in range(one["gridPos"]["w"])
        for dy in range(one["gridPos"]["h"])
    ]
    assert len(taken) == len(set(taken)), "two panels lie on one another"


def test_prometheus_scrapes_and_reads_the_alerts() -> None:
    config = yaml.safe_load((OPS / "prometheus.yml").read_text("utf-8"))
    assert config["rule_files"] == ["alerts.yml"]
    (job,) = config["scrape_configs"]
    assert job["job_name"] == "attest", "the alert on `up` names this job"
    assert job["metrics_path"] == "/metrics"
