"""`attest extract` and `attest reviews` against a gateway; the stage runs in this process."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli import main
from cli.main import app
from tests.integration.gateway.conftest import Running, working
from tests.integration.gateway.submissions.test_extractions import POOR
from tests.unit.extract.made import REPORT

Attest = Callable[..., Result]


def printed(result: Result) -> Any:
    """The JSON that a command printed; the worker's log shares its output here."""
    assert result.exit_code == 0, result.exception
    (line,) = [one for one in result.stdout.splitlines() if one.startswith("{")]
    return json.loads(line)


@pytest.fixture
def at_work(gateway: Running) -> Iterator[None]:
    """Somebody does what the gateway promises, as long as the test lasts."""
    with working(gateway):
        yield


@pytest.fixture
def attest(gateway: Running, monkeypatch: pytest.MonkeyPatch) -> Attest:
    """Runs `attest ARGUMENTS` as for an instance at the gateway's address."""
    port = int(gateway.url.rpartition(":")[2].rstrip("/"))
    settings = gateway.settings.model_copy(update={"port": port})
    monkeypatch.setattr(main, "get_settings", lambda: settings)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return run


@pytest.mark.requirement("MV-4")
@pytest.mark.usefixtures("at_work")
def test_mv_4_a_running_instance_extracts_and_each_iteration_is_shown(
    attest: Attest, tmp_path: Path
) -> None:
    path = tmp_path / "report.txt"
    path.write_text(REPORT, encoding="utf-8")
    shown = attest("extract", str(path))
    assert shown.exit_code == 0, shown.exception
    assert "pathology: iteration 1, score" in shown.stderr
    assert "histology" in shown.stdout
    result = attest("extract", str(path), "--json", "--profile", "clinical")
    body = printed(result)
    assert body["outcome"] == "extracted"
    assert body["provenance"]["generator"] == "rules"
    grade = body["fields"]["grade"]
    assert REPORT[grade["start"] : grade["end"]] == "Nottingham grade 2"


@pytest.mark.requirement("MV-7.1")
@pytest.mark.usefixtures("at_work")
def test_mv_7_1_debris_is_refused_in_one_line_by_a_running_instance(
    attest: Attest, tmp_path: Path
) -> None:
    path = tmp_path / "scan.txt"
    path.write_text("~^}{ ¤¦ xq |\\ §¬ zzk " * 30, encoding="utf-8")
    result = attest("extract", str(path))
    assert result.exit_code == 1
    assert "Document quality too low for extraction" in str(result.exception)
    assert "Upload a clearer scan" in str(result.exception)


@pytest.mark.usefixtures("at_work")
def test_a_pdf_without_a_suffix_is_sent_as_a_pdf(
    attest: Attest, gateway: Running, tmp_path: Path
) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"%PDF-1.7\nno pages")
    result = attest("extract", str(path))
    assert "claims to be" not in str(result.exception)
    assert gateway.count("extraction", "filename = 'report.pdf'") == 1


def test_what_the_gateway_refuses_is_said_with_a_way_out(attest: Attest, tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text(REPORT, encoding="utf-8")
    result = attest("extract", str(path), "--profile", "fast")
    assert result.exit_code == 1
    assert "profile" in str(result.exception)


@pytest.mark.requirement("MV-9.3")
@pytest.mark.usefixtures("at_work")
def test_mv_9_3_reviews_are_listed_corrected_and_accepted(attest: Attest, tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    for extra in ("", " Thank you."):
        path.write_text(POOR + extra, encoding="utf-8")
        assert attest("extract", str(path), "--type", "genomics").exit_code == 0
    first, second = printed(attest("reviews", "list", "--json"))["reviews"]
    shown = attest("reviews", "list").stdout
    assert first["id"] in shown
    assert second["id"] in shown
    twice = attest("reviews", "correct", first["id"], "--set", "mutations=a")
    assert twice.exit_code == 1
    assert "times" in str(twice.exception)
    corrected = attest(
        "reviews", "correct", first["id"], "--set", "mutations=BRCA1", "--absent", "tmb", "--json"
    )
    (mutation,) = printed(corrected)["corrected"]["mutations"]
    assert POOR[mutation["start"] : mutation["end"]] == "BRCA1"
    accepted = attest("reviews", "accept", second["id"])
    assert "accepted by operator\n" in accepted.stdout
    assert attest("reviews", "accept", second["id"]).exit_code == 1
    assert printed(attest("reviews", "list", "--json"))["reviews"] == []
    assert "corrected" in attest("reviews", "list", "--status", "corrected").stdout
